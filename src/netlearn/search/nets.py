r"""Nets of directions and of output weights (Algorithm 1, lines 6 and 7).

A direction enters the network only through :math:`|\langle u, x\rangle|`, which does not change when u
becomes -u. So directions are covered *up to sign*: every unit u of V has a net point within the stated
radius of u or of -u, and half a sphere of points is enough.

* dim V = 1: the sphere is {v, -v}; the one point v covers it.
* dim V = 2: n equispaced angles over a half circle. The farthest direction is at angle pi / (2 n), that is
  at Euclidean distance 2 sin(pi / (4 n)); so n = ceil(pi / (4 asin(radius / 2))) covers, and no fewer do.
* dim V = r >= 3: the paper's random construction (end of section 4.5), with its constants. Put
  s = radius / 2. A maximal set of directions that are s apart up to sign is an s-net; its points and their
  negatives are centres of disjoint balls of radius s / 2, so it has at most (1 + 2/s)^r / 2 points. One
  uniform point falls within s of a given direction, up to sign, with probability

      p = I_q((r-1)/2, 1/2) >= q^a / (a B(a, 1/2)),   q = s^2 (1 - s^2/4),  a = (r-1)/2,

  the measure of two caps (I is the regularised incomplete beta function, B the beta function). With

      n = ceil( log((1 + 2/s)^r / (2 failure_prob)) / p )

  uniform points, every point of the s-net is hit with probability at least 1 - failure_prob, and then every
  direction lies within 2 s = radius of the random net.
"""

import math

import numpy as np
from scipy.special import betaln

from netlearn.errors import BudgetError, InputError

MAX_POINTS = 10_000_000
"""Nets with more points than this are refused: they would not fit in memory, nor in any search."""


def log10_sphere_net_size(dim: int, radius: float, failure_prob: float) -> float:
    """Decimal logarithm of the size of `sphere_net`, known without building it.

    The formulas are those of the module docstring. Theory schedules ask for nets whose size overflows
    float64, hence the logarithm.

    Parameters
    ----------
    dim : int
        Dimension of V; 0 gives an empty net, whose logarithm is minus infinity.
    radius : float
        Covering radius in Euclidean distance, in (0, 2).
    failure_prob : float
        Probability with which a random net (dim >= 3) may fail to cover.
    """
    if not 0.0 < radius < 2.0:
        raise InputError(f'"radius" of a net of unit vectors must be in (0, 2), got {radius}.')
    if dim == 0:
        return -math.inf
    if dim == 1:
        return 0.0
    if dim == 2:
        return math.log10(math.ceil(math.pi / (4.0 * math.asin(radius / 2.0))))
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f'"failure_prob" of a random net must be in (0, 1), got {failure_prob}.')
    s, a = radius / 2.0, (dim - 1) / 2.0
    log_p = a * math.log(s**2 * (1.0 - s**2 / 4.0)) - math.log(a) - float(betaln(a, 0.5))
    log_targets = dim * math.log1p(2.0 / s) - math.log(2.0)
    return (math.log(log_targets - math.log(failure_prob)) - log_p) / math.log(10.0)


def sphere_net_size(dim: int, radius: float, failure_prob: float) -> int:
    """Return the number of points of `sphere_net`; refuses a net that nobody could hold in memory."""
    log10_size = log10_sphere_net_size(dim, radius, failure_prob)
    if log10_size > math.log10(MAX_POINTS):
        raise BudgetError(
            f"A net of radius {radius:.3g} in dimension {dim} has 10^{log10_size:.1f} points, more than the "
            f"{MAX_POINTS:,} allowed: take a larger radius or a smaller subspace."
        )
    # The logarithm of a whole number is rounded; without the margin 76 could come back as 77.
    return math.ceil(10.0**log10_size * (1.0 - 1e-12)) if dim > 0 else 0


def sphere_net(
    V: np.ndarray, radius: float, *, failure_prob: float = 1e-3, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Give unit vectors of span(V) that cover its unit sphere up to sign (Algorithm 1, line 6).

    Exact and deterministic for dim V <= 2, the paper's random points beyond; derivation and sizes in the
    module docstring. The paper takes radius xi/2. Cost: O(n d dim V).

    Parameters
    ----------
    V : array of shape (d, r)
        Orthonormal columns.
    radius : float
        Covering radius in Euclidean distance, in (0, 2).
    failure_prob : float
        Probability with which the random net (r >= 3) may fail to cover.
    rng : numpy.random.Generator, optional
        Needed for r >= 3 only.

    Returns
    -------
    array of shape (n, d)
    """
    dim = V.shape[1]
    n = sphere_net_size(dim, radius, failure_prob)
    if dim <= 1:
        coordinates = np.ones((n, dim))
    elif dim == 2:
        angle = np.pi * np.arange(n) / n
        coordinates = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        if rng is None:
            raise InputError(f'"rng" of sphere_net must be a Generator for a V of {dim} columns, got None.')
        coordinates = rng.standard_normal((n, dim))
        coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
    return coordinates @ V.T


def interval_net_size(half_width: float, radius: float) -> int:
    """Return the number of points of `interval_net`: the smallest odd number >= half_width / radius."""
    if not (half_width > 0.0 and radius > 0.0):
        raise InputError(
            f'"half_width" and "radius" of a net of weights must be positive, got {half_width} and {radius}.'
        )
    return 2 * math.ceil((half_width / radius - 1.0) / 2.0) + 1 if radius < half_width else 1


def interval_net(half_width: float, radius: float) -> np.ndarray:
    """Net of [-half_width, half_width], ascending (Algorithm 1, line 7; there half_width = R, radius = xi).

    The centres of n equal cells, n odd: multiples j h of one step h = 2 half_width / n with |j| <= (n-1)/2.
    Zero is a point, and sums of points are points again as long as they stay inside the interval; the
    brute force uses both facts to try no function twice.
    """
    n = interval_net_size(half_width, radius)
    return (2.0 * half_width / n) * (np.arange(n) - (n - 1) // 2)
