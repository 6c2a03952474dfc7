r"""Least squares with modulated linear functions, the one linear problem behind every step of a fit.

Given residuals e(x), modulators m_1(x), ..., m_q(x) and the vectors a_j that a step starts from, find D_j with least

    mean over rows of ( e(x) - sum_j m_j(x) <D_j, (x,1)> )^2  +  sum_j p_j |a_j + D_j|^2  +  damping * sum_j |D_j|^2.

In a fit m_j are the activation signs of the units, in the tilt of a subspace V the partial derivatives of a fit inside
it. Only three sums over rows are needed: of e^2 and m e (x,1)^T, of m m^T, and of the normal product F^T F D; each is a
fold over blocks, so the rows may live anywhere. Where rows have weights w, e and m are multiplied by sqrt(w), which
makes every mean a weighted one. The penalty p makes a fit with many units prefer few of them (`search.hold`).
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import TypeGuard

import numpy as np

from netlearn.backend import Array, as_like, namespace
from netlearn.backend.grain import grain
from netlearn.backend.linalg import spd_solver
from netlearn.backend.rough import has_matrix_units, rough_products, roughly
from netlearn.fit.expected import Expected
from netlearn.fit.modulated import (
    in_double,
    in_single,
    inner,
    inner_of_whole,
    is_in_single,
    modulated,
    outer,
    outer_of_whole,
    padded,
    plus,
    taken,
    with_ones,
)
from netlearn.source import ArraySource, Source
from netlearn.source.blocks import Block, block_slices, mapped, over_blocks

# Operations of a product beyond which it is these that a GPU spends its time on, and not the start of it.
_HUGE = 2**36
# Mean square down to which values with three digits tell it: their own errors leave 1e-7 of the labels' variance.
_ROUGH_LOSS = 1e-4
# Rows of a block in single precision: products read all of X from memory anyway, and fewer blocks meet less often.
_SINGLE_ROWS = 2048
# Below this relative size an eigenvalue of a Gram matrix of signs is rounding.
_RELATIVE_RIDGE = 1e-12

Linearise = Callable[[Array], tuple[Array, Array]]


class NormalEquations:
    """The normal equations at one point, as sums over the rows of a source, in the library and on the device of these.

    Cost: 4 N d q operations and one reading of X for each product, 2 N q (d + q) to build.

    Parameters
    ----------
    rows : Source
    linearise : callable
        Takes X of shape (n, d), returns the values f(x) of shape (n,) and the modulators of shape (n, q), each an array
        like X.
    free : array of shape (q, d + 1)
        1 where an entry of D may differ from zero, 0 elsewhere.
    project : callable, optional
        A further orthogonal projection of D, rows of shape (q, d), that the solution must be fixed under.
    penalty : array of shape (q,), optional
        p; zero when left out.
    at : array of shape (q, d + 1), optional
        a; needed with a penalty.
    expected : callable, optional
        Takes an array, returns the matrix that Gaussian rows are expected to have, in its library and on its device;
        where the modulators are the signs of units.

    Attributes
    ----------
    loss : float
        Mean of e^2.
    gradient : array of shape (q, d + 1)
        F^T e / N, less p a.
    per_row : int
        Equations that a row gives: its labels.
    """

    per_row = 1

    def __init__(
        self,
        rows: Source,
        linearise: Linearise,
        free: np.ndarray,
        project: Callable | None = None,
        *,
        penalty: np.ndarray | None = None,
        at: np.ndarray | None = None,
        expected: Callable[[Array], Expected] | None = None,
    ):
        self.rows, self.linearise, self.free, self._project = rows, linearise, free, project
        self._expected = expected
        self.penalty = np.zeros(len(free)) if penalty is None else penalty
        self._mask = None if np.all(free) else as_like(free, in_double(rows.like))
        # Modulators that are not kept between products are computed anew: one more product with X per pass.
        n_bytes = 8 * rows.n_rows * self._n_columns
        self._kept: list[Array] | None = [] if n_bytes <= grain(rows.like).kept_bytes else None
        self._residuals: list[Array] = []
        self.loss: float = 0.0
        self.gradient: Array = 0.0
        rough = self.can_be_rough and is_single(rows)
        self._sum(rough=rough)
        if rough and self.loss < _ROUGH_LOSS:
            self._sum(rough=False)
        if penalty is not None:
            self.gradient = self.gradient - as_like(penalty[:, None] * at, self.gradient)
        self.gradient = self.project(self.gradient)

    def _sum(self, *, rough: bool) -> None:
        """Sum over the rows; roughly where three digits do."""
        self._residuals, total, gradient = [], 0.0, 0.0
        kept: list[Array] | None = None if self._kept is None else []
        terms = partial(self._terms, rough=rough)
        for e, loss, part, m in over_blocks(terms, self.rows, self._n_columns, beside=self._roots()):
            if kept is not None:
                kept.append(m)
                self._residuals.append(e)
            total = total + loss
            gradient = gradient + part
        self._kept, self.loss = kept, float(total) / self.rows.n_rows
        self.gradient = gradient / self.rows.n_rows

    @property
    def _n_columns(self) -> int:
        """Numbers that `linearise` gives for each row besides its value."""
        return len(self.free)

    def _roots(self) -> list[np.ndarray] | None:
        """Return the roots of the weights in the blocks of the rows; None where there are none."""
        if self.rows.weight is None:
            return None
        root = as_like(np.sqrt(self.rows.weight)[:, None], in_double(self.rows.like))
        slices = block_slices(self.rows.n_rows, self.rows.n_features + self._n_columns, like=root)
        return [root[rows, ...] for rows in slices]

    def _linearised(self, X, root):
        values, m = self.linearise(X)
        return values, m if root is None else m * root

    def _terms(self, block, root=None, *, rough: bool = False):
        X, y = block
        with rough_products(allowed=rough and is_in_single(X), like=X):
            values, m = self._linearised(X, root)
        e = y - values if root is None else (y - values) * root[:, 0]
        # Signs are exact even with three digits. The products e x lose some, but each by an error of its own, and a sum
        # over so many rows averages these out.
        are_signs = root is None and self._project is None and is_in_single(m)
        with rough_products(allowed=are_signs, like=m):
            return e, e @ e, self._back(m, as_like(e, X), X), m

    def _forward(self, m, D, X):
        """Return F D on the rows of a block."""
        return (inner_of_whole if self._is_whole(X) else inner)(m, D, X)

    def _back(self, m, e, X):
        """Return F^T e, summed over a block in double precision."""
        if self._is_whole(X):
            return outer_of_whole(m, e, X)[:, : self.rows.n_features + 1]
        return outer(m, e, X)

    def _is_whole(self, X) -> bool:
        """Whether X has its ones."""
        return X.shape[1] > self.rows.n_features

    def project(self, D):
        """Project onto the space of admissible D."""
        if self._mask is not None:
            D = D * self._mask[:, : D.shape[1]]
        if self._project is not None:
            D = namespace(D).concat([self._project(D[:, :-1]), D[:, -1:]], axis=1)
        return D

    def _over_modulated(self, term: Callable):
        """Yield term(X, m) for the blocks of X with their modulators, kept or computed anew."""
        if self._kept is None:
            return over_blocks(
                lambda block, root=None: term(block[0], self._linearised(block[0], root)[1]),
                self.rows,
                self._n_columns,
                beside=self._roots(),
            )
        return over_blocks(lambda block, m: term(block[0], m), self.rows, self._n_columns, beside=self._kept)

    @property
    def can_be_single(self) -> bool:
        """Whether products can be in single precision: X must be in memory, and its modulators kept."""
        return self._kept is not None and self.rows.can_be_single

    @property
    def can_be_rough(self) -> bool:
        """Whether two digits do for a product, and save a GPU time."""
        is_here = has_matrix_units(self.rows.like) and self._kept is not None
        return is_here and is_huge(self.rows, self.free.size)

    def ridge(self, damping: float) -> np.ndarray:
        """Return what stands beside F^T F / N on the diagonal, for each row of D; shape (q, 1)."""
        return (self.penalty + damping)[:, None]

    def product(self, D, *, single: bool = False, rough: bool = False):
        """Return F^T F D / N, projected; within blocks in single precision or with two digits where these do."""

        def term(X, m):
            return self._back(m, self._forward(m, as_like(D, X), X), X)

        if single or rough:
            X, m = self._with_two_digits if rough else self._in_single_precision
            D = namespace(X).astype(padded(D, axis=0), X.dtype)
            size = max(_SINGLE_ROWS, grain(X).block_entries // (X.shape[1] + m.shape[1]))
            n = self.rows.n_rows
            slices = (slice(start, min(start + size, n)) for start in range(0, n, size))
            parts = mapped(lambda rows: term(X[rows, ...], m[rows, ...]), slices, self.rows.like)
        else:
            parts = self._over_modulated(term)
        total: Array = sum(parts)
        return self.project(total[: len(self.free), :] / self.rows.n_rows)

    @cached_property
    def _in_single_precision(self) -> Block:
        """X and the padded m."""
        assert self._kept is not None  # which `can_be_single` has asked for
        X = self.rows.single().X
        xp = namespace(X)
        return X, xp.concat([padded(xp.astype(part, xp.float32, copy=False), axis=1) for part in self._kept])

    @cached_property
    def _with_two_digits(self) -> Block:
        """X with its ones, and the padded m."""
        assert self._kept is not None  # which `can_be_rough` has asked for
        m = namespace(self.rows.like).concat([roughly(padded(part, axis=1)) for part in self._kept])
        return self._whole(roughly(self.rows.single().X)), m

    def _whole(self, X):
        return with_ones(X)

    def preconditioner(self, damping: float) -> Callable:
        """Return the map of a residual D to an approximate solution.

        Through the matrix that Gaussian rows are expected to have. Where that is not known it is
        (G + damping)^{-1} (x) I with G the coupling.
        """
        if self._expected is None:
            G = self.coupling
            inverse = spd_solver(
                plus(G, self.ridge(damping + _RELATIVE_RIDGE * float(namespace(G).linalg.trace(G))))
            )
            return lambda r: self.project(inverse(r))
        return self._expected(self.gradient).solver(self.ridge(damping), self.project)

    @cached_property
    def coupling(self) -> Array:
        """Mean of m m^T, by which the rows of D are coupled wherever x is."""
        return self._mean_gram(lambda X, m: m)

    def normal_matrix(self, *, single: bool = False) -> Array:
        """Return F^T F / N over the free entries, in the order of `free.ravel()`; P x P, at N P^2 operations.

        Parameters
        ----------
        single : bool
            Whether products within blocks may be in single precision.
        """
        columns = np.flatnonzero(self.free)

        def features(X, m):
            F = modulated(m, X)
            return F if len(columns) == self.free.size else taken(F, columns, axis=1)

        return self._mean_gram(features, single)

    def _mean_gram(self, features: Callable, single: bool = False) -> Array:
        """Return the mean over rows of the Gram matrix of features(X, m)."""

        def term(X, m):
            F = features(in_single(X), in_single(m)) if single else features(X, m)
            return in_double(F.T @ F)

        total: Array = sum(self._over_modulated(term))
        return total / self.rows.n_rows


def is_huge(rows: Source, n_unknowns: int) -> bool:
    """Whether a product with so many unknowns takes a GPU so long that digits are worth giving away for its time."""
    return 4 * rows.n_rows * n_unknowns > _HUGE


def is_single(rows: Source) -> TypeGuard[ArraySource]:
    """Whether the rows are arrays in single precision, and not given anew in double for each pass."""
    return isinstance(rows, ArraySource) and is_in_single(rows.X)
