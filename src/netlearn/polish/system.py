r"""Least squares with modulated linear functions, the one linear problem behind the polish and the tilt.

Given residuals e(x) and modulators m_1(x), ..., m_q(x), find the vectors D_j that minimise

    mean over rows of ( e(x) - sum_j m_j(x) <D_j, (x,1)> )^2  +  damping * sum_j |D_j|^2.

In the polish m_j are the activation signs of the units, in the tilt the partial derivatives of a fit inside
V. Only three sums over rows are needed: of e^2 and m e (x,1)^T, of m m^T, and of the normal product
F^T F D; each is a fold over blocks, so the rows may live anywhere. Where rows have weights w, e and m are multiplied
by sqrt(w), which makes every mean a weighted one.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from netlearn.backend.threads import in_order
from netlearn.source import Source
from netlearn.source.arrays import Block, block_slices, over_blocks

# Modulators are kept between products while they stay below this size; beyond it they are computed anew,
# which costs one more product with X per pass.
_KEEP_BYTES = 2**27
# Above this many entries X does not stay in cache between products, and reading half the bytes takes half the time.
_LARGE = 2**21
# With 16 modulators a product takes half the time that it takes with 11.
_LANES = 8
# Rows of a block in single precision: products read all of X from memory anyway, and fewer blocks meet less often.
_SINGLE_ROWS = 4096

Linearise = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class ModulatedSystem:
    """The normal equations at one point, as sums over the rows of a source.

    Cost: 4 N d q operations and one reading of X for each product, 2 N q (d + q) to build.

    Parameters
    ----------
    rows : Source
    linearise : callable
        Takes X of shape (n, d), returns the values f(x) of shape (n,) and the modulators of shape (n, q).
    free : array of shape (q, d + 1)
        1 where an entry of D may differ from zero, 0 elsewhere.
    project : callable, optional
        A further orthogonal projection of D, rows of shape (q, d), that the solution must be fixed under.

    Attributes
    ----------
    loss : float
        Mean of e^2.
    gradient : array of shape (q, d + 1)
        F^T e / N.
    gram : array of shape (q, q)
        Mean of m m^T.
    """

    def __init__(self, rows: Source, linearise: Linearise, free: np.ndarray, project=None):
        self.rows, self.linearise, self.free, self._project = rows, linearise, free, project
        q = len(free)
        self._kept = [] if rows.n_rows * q * 8 <= _KEEP_BYTES else None
        self.gradient = np.zeros(free.shape)
        self.gram = np.zeros((q, q))
        self.loss = 0.0
        for loss, gradient, gram, m in over_blocks(self._terms, rows, q, beside=self._roots()):
            if self._kept is not None:
                self._kept.append(m)
            self.loss += loss
            self.gradient += gradient
            self.gram += gram
        self.loss /= rows.n_rows
        self.gram /= rows.n_rows
        self.gradient = self.project(self.gradient / rows.n_rows)

    def _roots(self) -> list[np.ndarray] | None:
        """Return the roots of the weights in the blocks of the rows; None where there are none."""
        if self.rows.weight is None:
            return None
        root = np.sqrt(self.rows.weight)[:, None]
        slices = block_slices(self.rows.n_rows, self.rows.n_features + len(self.free))
        return [root[rows] for rows in slices]

    def _linearised(self, X, root):
        values, m = self.linearise(X)
        return values, m if root is None else m * root

    def _terms(self, block, root=None):
        X, y = block
        values, m = self._linearised(X, root)
        e = y - values if root is None else (y - values) * root[:, 0]
        return float(e @ e), outer(m, e.astype(X.dtype, copy=False), X), m.T @ m, m

    def project(self, D: np.ndarray) -> np.ndarray:
        """Project onto the space of admissible D."""
        D = D * self.free
        if self._project is not None:
            D[:, :-1] = self._project(D[:, :-1])
        return D

    def _over_modulated(self, term: Callable):
        """Yield term(X, m) for the blocks of X with their modulators, kept or computed anew."""
        if self._kept is None:
            return over_blocks(
                lambda block, root=None: term(block[0], self._linearised(block[0], root)[1]),
                self.rows,
                len(self.free),
                beside=self._roots(),
            )
        return over_blocks(lambda block, m: term(block[0], m), self.rows, len(self.free), beside=self._kept)

    @property
    def is_large(self) -> bool:
        """Whether products in single precision save anything: X must be large, in memory, and its modulators kept."""
        large = self.rows.n_rows * self.rows.n_features > _LARGE
        return large and self._kept is not None and hasattr(self.rows, "single")

    def product(self, D: np.ndarray, *, single: bool = False) -> np.ndarray:
        """Return F^T F D / N, projected; in single precision within blocks where that is enough."""
        if single:
            D = np.pad(D, ((0, -len(D) % _LANES), (0, 0))).astype(np.float32)

        def term(X, m):
            return outer(m, np.einsum("nj,nj->n", m, X @ D[:, :-1].T + D[:, -1]), X)

        if single:
            parts = in_order(lambda block: term(*block), self._in_single_precision)
        else:
            parts = self._over_modulated(term)
        total = np.zeros(D.shape)
        for part in parts:
            total += part
        return self.project(total[: len(self.free)] / self.rows.n_rows)

    @cached_property
    def _in_single_precision(self) -> list[Block]:
        """X and m in longer blocks, m padded with zeros to a number of columns that vector instructions like."""
        X = self.rows.single().X
        m = np.zeros((len(X), len(self.free) + -len(self.free) % _LANES), np.float32)
        np.concatenate(self._kept, out=m[:, : len(self.free)], casting="same_kind")
        return [
            (X[start : start + _SINGLE_ROWS], m[start : start + _SINGLE_ROWS])
            for start in range(0, len(X), _SINGLE_ROWS)
        ]

    def normal_matrix(self, basis: np.ndarray | None = None, max_rows: int | None = None) -> np.ndarray:
        """Return F^T F / N over the free entries, in the order of `free.ravel()`; P x P, at N P^2 operations.

        Parameters
        ----------
        basis : array of shape (d, r), optional
            Orthonormal columns: the matrix for D with rows in their span, in these coordinates.
        max_rows : int, optional
            Rows to take the mean over, to the next whole block. Default: all.
        """
        r = self.free.shape[1] if basis is None else basis.shape[1] + 1
        # Without biases only the last column has entries that are not free.
        free = np.hstack([self.free[:, : r - 1], self.free[:, -1:]]).ravel().astype(bool)
        total, n_rows = np.zeros((free.sum(), free.sum())), 0

        def term(X, m):
            z = X if basis is None else X @ basis.astype(X.dtype, copy=False)
            rows = np.einsum("nj,ni->nji", m, np.hstack([z, np.ones((len(z), 1), z.dtype)])).reshape(
                len(z), -1
            )
            rows = rows[:, free]
            return rows.T @ rows, len(z)

        for part, n in self._over_modulated(term):
            total += part
            n_rows += n
            if max_rows is not None and n_rows >= max_rows:
                break
        return total / n_rows


def outer(m: np.ndarray, e: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return the sum over rows of m e (x,1)^T."""
    weighted = m * e[:, None]
    return np.hstack([weighted.T @ X, weighted.sum(axis=0)[:, None]])
