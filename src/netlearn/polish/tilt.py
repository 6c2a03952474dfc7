r"""Fits inside a subspace V, and the tilt of V that the fit asks for.

With a fit f_V(V^T x) in hand, even a poor one, the residual is to first order grad f_V(V^T x) . D^T x with D
the tilt of V, orthogonal to it: a linear least-squares problem with r d unknowns, whose modulators are the
partial derivatives of the fit. Solving it, V <- orth(V + D), and fitting again makes the angle to the true
subspace fall quadratically.
"""

from __future__ import annotations

import numpy as np

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.polish.gauss_newton import Deadline, Polished, explore, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.solve import conjugate_gradients
from netlearn.polish.system import ModulatedSystem
from netlearn.polish.wide import n_unknowns
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource, Source
from netlearn.source.arrays import over_blocks

# The fit inside V is in few dimensions, so rows for it are plenty. While V is off, most of the label is noise to
# it: a hundred rows per unknown, up to a number beyond which ten more for each do.
_ROWS_PER_UNKNOWN, _MANY_ROWS, _MORE_PER_UNKNOWN = 100, 20_000, 10
# Without a tilt the fit need only tell one unit from another.
_ROWS_WITHOUT_TILT = 15
# In units of the label variance: when the fit inside V is this good, the polish in full dimension takes over.
_GOOD = 1e-6


def inside(rows: Source, V: np.ndarray, n_rows: int) -> ArraySource:
    """Return the first rows in the coordinates of V."""
    xp = namespace(rows.like)
    head = rows.head(min(rows.n_rows, n_rows))
    z, y = zip(*over_blocks(lambda block: (block[0] @ as_like(V, block[0]), block[1]), head), strict=True)
    return ArraySource(xp.concat(z), xp.concat(y))


def lift(iterate: Iterate, V: np.ndarray) -> Iterate:
    """Return the network x -> f_V(V^T x)."""
    return Iterate(np.hstack([iterate.a[:, :-1] @ V.T, iterate.a[:, -1:]]), iterate.sigma)


def tilted(rows: Source, V: np.ndarray, fit: Iterate) -> np.ndarray:
    """Return V after one Gauss-Newton step on the subspace itself."""

    def linearise(X):
        values, m = fit.linearise(X @ as_like(V, X))
        return values, m @ as_like(fit.a[:, :-1], X)

    def orthogonal_to_V(D):
        there = as_like(V, D)
        return D - (D @ there) @ there.T

    free = np.ones((V.shape[1], rows.n_features + 1))
    free[:, -1] = 0.0
    system = ModulatedSystem(rows, linearise, free, project=orthogonal_to_V)
    damping = 1e-8 * np.trace(to_numpy(system.gram))
    D, _ = conjugate_gradients(system, damping, tolerance=1e-4, max_steps=30, single=system.is_large)
    return np.linalg.qr(V + D[:, :-1].T)[0]


def _helped(before: float, after: float) -> bool:
    """Whether the fit gained: a quarter of what was unexplained, or, under noise, a tenth of what is explained."""
    return after < 0.75 * before or 1 - after > 1.1 * max(1 - before, 0.0)


def fit_in_subspace(
    rows: Source,
    V: np.ndarray,
    width: int,
    rng: np.random.Generator,
    *,
    biases: bool,
    max_tilts: int,
    deadline: Deadline = never,
) -> tuple[Polished, np.ndarray]:
    """Alternate between wide fits inside V and tilts of V while that helps.

    Returns
    -------
    fit : Polished
        The wide fit inside V, in its coordinates.
    V : array of shape (d, r)
    """
    r = V.shape[1]
    P = n_unknowns(width, r, biases)
    per_unknown = _ROWS_PER_UNKNOWN if max_tilts else _ROWS_WITHOUT_TILT
    n_rows = max(4000, min(per_unknown * P, _MANY_ROWS + _MORE_PER_UNKNOWN * P))
    best: tuple[Polished, np.ndarray] | None = None
    for tilt in range(max_tilts + 1):
        start = Iterate.from_planes(spread_planes(width, r, rng, biases=biases))
        # Without a tilt to follow, a fit that has stalled is at what V leaves unexplained.
        fit = explore(
            inside(rows, V, n_rows),
            start,
            biases=biases,
            max_rounds=30,
            patience=30 if max_tilts else 4,
            deadline=deadline,
        )
        helped = best is None or _helped(best[0].loss, fit.loss)
        if best is None or fit.loss < best[0].loss:
            best = fit, V
        if fit.loss < _GOOD or not helped or r == rows.n_features or tilt == max_tilts or deadline():
            break
        V = tilted(rows, V, fit.iterate)
    return best
