r"""Least squares with modulated linear functions, the one linear problem behind the polish and the tilt.

Given residuals e(x) and modulators m_1(x), ..., m_q(x), find the vectors D_j that minimise

    mean over rows of ( e(x) - sum_j m_j(x) <D_j, (x,1)> )^2  +  damping * sum_j |D_j|^2.

In the polish m_j are the activation signs of the units, in the tilt the partial derivatives of a fit inside
V. Only three sums over rows are needed: of e^2 and m e (x,1)^T, of m m^T, and of the normal product
F^T F D; each is a fold over blocks, so the rows may live anywhere.
"""

from collections.abc import Callable

import numpy as np

from netlearn.source import Source

# Modulators are kept between products while they stay below this size; beyond it they are computed anew,
# which costs one more product with X per pass.
_KEEP_BYTES = 2**27

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
        for X, y in rows.blocks(q):
            values, m = linearise(X)
            if self._kept is not None:
                self._kept.append(m)
            e = y - values
            self.loss += float(e @ e)
            self._add_outer(self.gradient, m, e, X)
            self.gram += m.T @ m
        self.loss /= rows.n_rows
        self.gram /= rows.n_rows
        self.gradient = self.project(self.gradient / rows.n_rows)

    @staticmethod
    def _add_outer(total: np.ndarray, m: np.ndarray, e: np.ndarray, X: np.ndarray) -> None:
        """Add the sum over rows of m e (x,1)^T."""
        weighted = m * e[:, None]
        total[:, :-1] += weighted.T @ X
        total[:, -1] += weighted.sum(axis=0)

    def project(self, D: np.ndarray) -> np.ndarray:
        """Project onto the space of admissible D."""
        D = D * self.free
        if self._project is not None:
            D[:, :-1] = self._project(D[:, :-1])
        return D

    def modulators(self):
        """Yield X and its modulators, block by block."""
        blocks = self.rows.blocks(len(self.free))
        if self._kept is None:
            for X, _ in blocks:
                yield X, self.linearise(X)[1]
        else:
            for (X, _), m in zip(blocks, self._kept, strict=True):
                yield X, m

    def product(self, D: np.ndarray) -> np.ndarray:
        """Return F^T F D / N, projected."""
        total = np.zeros(self.free.shape)
        for X, m in self.modulators():
            t = np.einsum("nj,nj->n", m, X @ D[:, :-1].T + D[:, -1])
            self._add_outer(total, m, t, X)
        return self.project(total / self.rows.n_rows)

    def normal_matrix(self) -> np.ndarray:
        """Return F^T F / N over the free entries, in the order of `free.ravel()`; P x P, at N P^2 operations."""
        free = self.free.ravel().astype(bool)
        total = np.zeros((free.sum(), free.sum()))
        for X, m in self.modulators():
            rows = np.einsum("nj,ni->nji", m, np.hstack([X, np.ones((len(X), 1))])).reshape(len(X), -1)
            rows = rows[:, free]
            total += rows.T @ rows
        return total / self.rows.n_rows
