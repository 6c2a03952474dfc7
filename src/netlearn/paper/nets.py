r"""Nets of directions for Algorithm 1, line 6: deterministic up to dimension 4, the paper's random ones beyond.

|<u, x>| does not change when u becomes -u, so directions are covered *up to sign*. The covering radius rho is a
Euclidean distance; alpha = 2 asin(rho / 2) is the angle it stands for.

* dim 1: one point. dim 2: n = ceil(pi / (2 alpha)) equispaced points of a half circle, and no fewer do.
* dim r = 3, 4: rings. Write a direction as (cos theta, sin theta q) with q on the sphere of dimension r - 1. Rings
  stand at the polar angles theta_i = pi/2 - i h, i = 0, 1, ..., m; the pole alone covers theta <= alpha, and
  h = (pi/2 - alpha) / (m + 1/2) closes the gap between it and the last ring. Ring i carries a net of the q's with
  covering angle beta_i. A direction (theta, q) with |theta - theta_i| <= h/2 then has a point p within

      cos(distance) = cos theta cos theta_i + sin theta sin theta_i cos beta,      beta <= beta_i,

  which as a function of theta is A cos(theta - phi), concave where it is positive, so least at an end of the
  interval. Hence beta_i is the largest angle with

      cos beta_i >= (cos alpha - cos theta cos theta_i) / (sin theta sin theta_i)    for theta = theta_i -+ h/2.

  The equator (i = 0) is covered up to sign, the other rings in full: they have no opposite ring in the net. The
  number of rings is the one with the fewest points.

About 3.3 / rho^2 points in dimension 3 and 7.1 / rho^3 in dimension 4. The paper's random net (`sphere_net`) has
log(1/rho) / rho^{r - 1} of them times a large factor, 10^3 in dimension 3, and covers with high probability only. From
dimension 5 on rings lose their advantage of being counted in a moment, and the random net is taken.
"""

import math
from functools import lru_cache

import numpy as np

from netlearn.errors import BudgetError, InputError
from netlearn.search import log10_sphere_net_size, sphere_net, sphere_net_size

DETERMINISTIC = 4
"""Largest dimension in which the net is made of rings."""

MAX_DIRECTIONS = 200_000
"""Nets with more points are refused: their Gram matrix alone would take 320 GB."""


def _ring_angles(alpha: float, n_rings: int) -> list[tuple[float, float]]:
    """Polar angle of every ring and the covering angle of its points, from the equator upwards."""
    h = (math.pi / 2.0 - alpha) / (n_rings - 0.5)
    rings = []
    for i in range(n_rings):
        theta_i = math.pi / 2.0 - i * h
        cosines = [
            (math.cos(alpha) - math.cos(theta) * math.cos(theta_i)) / (math.sin(theta) * math.sin(theta_i))
            for theta in (theta_i - h / 2.0, theta_i + h / 2.0)
        ]
        rings.append((theta_i, math.acos(max(-1.0, min(1.0, max(cosines))))))
    return rings


@lru_cache(maxsize=4096)
def _rings(dim: int, alpha: float, half: bool) -> tuple[float, tuple[tuple[float, float], ...]]:
    """Count the points of the cheapest rings that cover the half sphere or the sphere, and give these rings.

    With fewer rings each must be finer, with more there are more of them; the number of points has one valley.
    """
    fewest = math.ceil((math.pi / 2.0 - alpha) / (2.0 * alpha) + 0.5)
    best = math.inf
    best_rings: tuple[tuple[float, float], ...] = ()
    for n_rings in range(max(1, fewest), 2 * max(1, fewest) + 3):
        rings = _ring_angles(alpha, n_rings)
        if any(beta <= 1e-3 * alpha for _, beta in rings):
            continue  # rings so far apart that no number of points on them would do
        equator, others = rings[0], rings[1:]
        upper = 1.0 + sum(_size(dim - 1, beta, False) for _, beta in others)
        size = (
            upper + _size(dim - 1, equator[1], True)
            if half
            else 2.0 * upper + _size(dim - 1, equator[1], False)
        )
        if size < best:
            best, best_rings = size, tuple(rings)
    return best, best_rings


def _size(dim: int, alpha: float, half: bool) -> float:
    """Count the points of the net with covering angle `alpha`, of a sphere or up to sign (`half`)."""
    if dim == 1:
        return 1.0 if half else 2.0
    if alpha >= math.pi / (2.0 if half else 1.0):
        return 1.0
    if dim == 2:
        # The margin keeps a radius that fits n points exactly from asking for n + 1.
        return float(math.ceil(math.pi / ((2.0 if half else 1.0) * alpha) * (1.0 - 1e-12)))
    if alpha >= math.pi / 2.0:
        return 2.0
    return _rings(dim, alpha, half)[0]


def _points(dim: int, alpha: float, half: bool) -> np.ndarray:
    """Build the net that `_size` counts, shape (n, dim)."""
    if dim == 1:
        return np.ones((1, 1)) if half else np.array([[1.0], [-1.0]])
    n = int(_size(dim, alpha, half))
    if n == 1 or (dim > 2 and alpha >= math.pi / 2.0):
        return np.eye(dim)[:1] * np.array([[1.0], [-1.0]])[:n]
    if dim == 2:
        angle = (np.pi if half else 2.0 * np.pi) * np.arange(n) / n
        return np.column_stack([np.cos(angle), np.sin(angle)])
    (_, beta), *others = _rings(dim, alpha, half)[1]
    upper = [np.eye(dim)[:1]]
    for theta, width in others:
        q = _points(dim - 1, width, False)
        upper.append(np.column_stack([np.full(len(q), math.cos(theta)), math.sin(theta) * q]))
    middle = _points(dim - 1, beta, half)
    parts = [np.column_stack([np.zeros(len(middle)), middle]), *upper]
    if not half:
        parts += [part * np.array([-1.0, *[1.0] * (dim - 1)]) for part in upper]
    return np.concatenate(parts)


def log10_direction_net_size(dim: int, radius: float, failure_prob: float) -> float:
    """Decimal logarithm of the number of points of `direction_net`; minus infinity for an empty subspace.

    Below a radius of 0.01 in dimension 3 and of 0.1 in dimension 4 the count is continued by its power law
    radius^{-(dim - 1)}: such nets serve a plan, and are never built.

    Parameters
    ----------
    dim : int
        Dimension of V.
    radius : float
        Covering radius in Euclidean distance, in (0, sqrt(2)]: no direction is farther from another, up to sign.
    failure_prob : float
        Probability with which a random net (dim >= 5) may fail to cover.
    """
    if not 0.0 < radius <= math.sqrt(2.0) * (1.0 + 1e-12):
        raise InputError(f'"radius" of a net of directions must be in (0, sqrt(2)], got {radius}.')
    if dim == 0:
        return -math.inf
    if dim > DETERMINISTIC:
        return log10_sphere_net_size(dim, radius, failure_prob)
    at = max(radius, {3: 0.01, 4: 0.1}.get(dim, 0.0))
    return math.log10(_size(dim, 2.0 * math.asin(at / 2.0), True)) + (dim - 1) * math.log10(at / radius)


def direction_net_size(dim: int, radius: float, failure_prob: float) -> int:
    """Return the number of points of `direction_net`; refuses a net that no search could use."""
    log10_size = log10_direction_net_size(dim, radius, failure_prob)
    if log10_size > math.log10(MAX_DIRECTIONS):
        raise BudgetError(
            f"A net of radius {radius:.3g} in dimension {dim} has 10^{log10_size:.1f} directions, more than the "
            f"{MAX_DIRECTIONS:,} allowed: take a larger epsilon or fewer neurons."
        )
    if dim > DETERMINISTIC:
        return sphere_net_size(dim, radius, failure_prob)
    return int(_size(dim, 2.0 * math.asin(radius / 2.0), True)) if dim else 0


def direction_net(
    V: np.ndarray, radius: float, *, failure_prob: float = 1e-3, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Give unit vectors of span(V) that cover its unit sphere up to sign (Algorithm 1, line 6).

    Departs from the paper, whose net is made of random points, up to dimension 4: there it is deterministic, covers
    with certainty and is smaller; derivation in the module docstring. Cost: O(n d dim V).

    Parameters
    ----------
    V : array of shape (d, r)
        Orthonormal columns.
    radius : float
        Covering radius in Euclidean distance, in (0, sqrt(2)].
    failure_prob : float
        Probability with which a random net (r >= 5) may fail to cover.
    rng : numpy.random.Generator, optional
        Needed for r >= 5 only.

    Returns
    -------
    array of shape (n, d)
    """
    n, dim = direction_net_size(V.shape[1], radius, failure_prob), V.shape[1]
    if dim == 0:
        return np.zeros((0, len(V)))
    if dim > DETERMINISTIC:
        return sphere_net(V, radius, failure_prob=failure_prob, rng=rng)
    points = _points(dim, 2.0 * math.asin(radius / 2.0), True)
    assert len(points) == n
    return points @ V.T
