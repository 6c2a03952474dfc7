r"""Fits inside a subspace V, and the tilt of V that the fit asks for.

With a fit f_V(V^T x) in hand, even a poor one, the residual is to first order grad f_V(V^T x) . D^T x with D
the tilt of V, orthogonal to it: a linear least-squares problem with r d unknowns, whose modulators are the
partial derivatives of the fit. Solving it, V <- orth(V + D), and fitting again makes the angle to the true
subspace fall quadratically.

The first fits need not move a unit: with many hyperplanes drawn at random, the best linear combination of what lies
between them describes a function of few variables well enough, and costs one normal matrix. A ridge keeps it from
fitting noise, its weight chosen by generalised cross-validation.
"""

from __future__ import annotations

import numpy as np

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.fit import Fit, NormalEquations, Params, Problem, Shape, explore
from netlearn.fit.modulated import inner
from netlearn.fit.solve import conjugate_gradients
from netlearn.search import budget
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource, Source
from netlearn.source.blocks import over_blocks

# In units of the label variance: when the fit inside V is this good, a fit in full dimension takes over.
GOOD = 1e-8
# Mean square from which on units move, too; and the share of it that a tilt must take off to be followed by another.
_MOVE = 1e-3
_HELPS = 0.7
# Rows that a tilt is measured on, at least, and for each of its unknowns.
_TILT_ROWS = 50_000
# Weights of the ridge that are compared.
_RIDGES = 10.0 ** np.arange(1.0, -10.0, -1.0)
# Rounds of a fit inside V, and those in which it must gain 5 %.
_ROUNDS = 30
_PATIENCE = 5


def inside(rows: Source, V: np.ndarray, n_rows: int) -> ArraySource:
    """Return the first rows in the coordinates of V."""
    xp = namespace(rows.like)
    head = rows.head(min(rows.n_rows, n_rows))
    z, y = zip(*over_blocks(lambda block: (block[0] @ as_like(V, block[0]), block[1]), head), strict=True)
    return ArraySource(xp.concat(z), xp.concat(y))


def tilted(rows: Source, V: np.ndarray, gates: Params, a: np.ndarray) -> np.ndarray:
    """Return V after one Gauss-Newton step on the subspace itself.

    Parameters
    ----------
    rows : Source
    V : array of shape (d, r)
    gates : Params
        The signs of the fit inside V, in its coordinates.
    a : array of shape (K + 1, r + 1)
        The vectors that it has with these signs.
    """

    def linearise(X):
        z = X @ as_like(V, X)
        m, vectors = gates.linearise(z)[1], as_like(a, X)
        return inner(m, vectors, z), m @ vectors[:, :-1]

    def orthogonal_to_V(D):
        there = as_like(V, D)
        return D - (D @ there) @ there.T

    free = np.ones((V.shape[1], rows.n_features + 1))
    free[:, -1] = 0.0
    some = rows.head(min(rows.n_rows, max(_TILT_ROWS, int(budget.MATRIX) * V.size)))
    equations = NormalEquations(some, linearise, free, project=orthogonal_to_V)
    damping = 1e-8 * np.trace(to_numpy(equations.coupling))
    D, _ = conjugate_gradients(
        equations, damping, tolerance=1e-4, max_products=30, single=equations.can_be_single
    )
    return np.linalg.qr(V + D[:, :-1].T)[0]


def fixed_fit(problem: Problem, gates: Params) -> tuple[np.ndarray, float]:
    r"""Return the vectors that fit labels best with the signs of some units, and the error they are expected to have.

    Ridge regression; with H = Q diag(h) Q^T the normal matrix and g the gradient, the error left with weight lambda is
    1 - sum g^2 (h + 2 lambda) / (h + lambda)^2 in the basis Q, and generalised cross-validation divides it by
    (1 - sum h / (h + lambda) / n)^2.
    """
    equations = problem.equations(gates)
    free = equations.free.astype(bool)
    h, Q = np.linalg.eigh(to_numpy(equations.normal_matrix()))
    h, g = np.maximum(h, 0.0), Q.T @ to_numpy(equations.gradient)[free]
    errors = []
    for ridge in _RIDGES:
        left = equations.loss - np.sum(g**2 * (h + 2 * ridge) / (h + ridge) ** 2)
        freedom = min(np.sum(h / (h + ridge)) / problem.rows.n_rows, 0.99)
        errors.append(max(left, 0.0) / (1.0 - freedom) ** 2)
    best = int(np.argmin(errors))
    a = np.zeros(free.shape)
    a[free] = Q @ (g / (h + _RIDGES[best]))
    return a, float(errors[best])


def fit_in_subspace(
    problem: Problem, V: np.ndarray, width: int, rng: np.random.Generator, *, max_tilts: int
) -> tuple[Fit, np.ndarray]:
    """Alternate between wide fits inside V and tilts of V while that helps.

    Returns
    -------
    fit : Fit
        The wide fit inside V, in its coordinates.
    V : array of shape (d, r)
    """
    d, r = V.shape
    n_rows = budget.inside(Shape(width, r, biases=problem.biases), tilting=max_tilts > 0)

    def there(V):
        return problem.on(inside(problem.rows, V, n_rows))

    start, last = Params.from_planes(spread_planes(width, r, rng, biases=problem.biases)), np.inf
    for _ in range(max_tilts):
        a, error = fixed_fit(there(V), start)
        if r == d or error < _MOVE or error > _HELPS * last or problem.deadline():
            break
        V, last = tilted(problem.rows, V, start, a), error
    fit = explore(there(V), start, max_rounds=_ROUNDS, patience=_PATIENCE if r < d else 2 * _PATIENCE)
    best = fit, V
    for _ in range(max_tilts):
        if r == d or best[0].loss < GOOD or problem.deadline():
            break
        V = tilted(problem.rows, best[1], best[0].params, best[0].params.a)
        fit = explore(there(V), best[0].params, max_rounds=_ROUNDS, patience=_PATIENCE)
        helped = _helped(best[0].loss, fit.loss)
        if fit.loss < best[0].loss:
            best = fit.after(best[0]), V
        if not helped:
            break
    return best


def _helped(before: float, after: float) -> bool:
    """Whether the fit gained: a quarter of what was unexplained, or, under noise, a tenth of what is explained."""
    return after < 0.75 * before or 1 - after > 1.1 * max(1 - before, 0.0)
