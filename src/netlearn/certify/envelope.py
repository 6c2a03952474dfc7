r"""The L2 error of a Lipschitz function of Gaussian rows, from the sizes of its values on fresh rows.

h >= 0 is L-Lipschitz, x ~ N(0, I), Phi and phi are the normal distribution function and density. Let h*(s) be the
quantile of h(x) at level Phi(s), so that h(x) has the distribution of h*(Z), Z ~ N(0, 1).

**h* is L-Lipschitz.** The set A = {h <= h*(s)} has probability at least Phi(s). Among all sets of that probability a
half-space grows least when every point within distance r is added (Borell; Sudakov and Tsirelson), so A enlarged by r
has probability at least Phi(s + r). But it lies in {h <= h*(s) + L r}; hence h*(s + r) <= h*(s) + L r.

**The envelope.** Of n fresh rows let y_(i) be the i-th smallest value of h, and l_i = Phi^{-1}(q_i) with the level q_i
of (1) in `share`, so that h*(l_i) <= y_(i) but for a probability delta_i. All of these hold together but for sum
delta_i, and then

    h*(s) <= e(s) = min_i ( y_(i) + L (s - l_i)_+ ),        E h^2 = E h*(Z)^2 <= E e(Z)^2.                           (2)

Half of the failure probability is spent on the largest value, which bounds the tail; the rest is divided among
positions whose number of larger values grows by a quarter each time. At y = 0 the largest value alone gives

    E h^2 <= L^2 m2(-z),    z = Phi^{-1}(failure_prob^(1/n)),    m2(z) = (1 + z^2) Phi(z) + z phi(z),                (3)

and this cannot be improved: h = L (x_1 - z)_+ shows n zeros with probability exactly failure_prob.

**The root mean square alone.** F = sqrt(mean of h^2 over the n rows) is L/sqrt(n)-Lipschitz in all rows together. Its
quantile function is, too, by the same argument; so with sigma = L/sqrt(n), z = Phi^{-1}(1 - failure_prob) and
m1(z) = z Phi(z) + phi(z),

    E h^2 = E F^2 <= F^2 + 2 F sigma m1(z) + sigma^2 m2(z).                                                          (4)

Cost of (2): sorting the n values.
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from netlearn.certify.share import quantile_level
from netlearn.errors import InputError

# By what factor the number of larger values grows from one position of the envelope to the next.
_GROWTH = 1.25
# Part of the failure probability that the largest value gets: the tail beyond it is most of the bound.
_FOR_LARGEST = 0.5


def envelope_bound(values: np.ndarray, lipschitz: float, failure_prob: float) -> float:
    """Upper confidence bound (2) for sqrt(E h^2).

    Parameters
    ----------
    values : array of shape (n,)
        h(x) >= 0 on n independent rows of N(0, I).
    lipschitz : float
        A Lipschitz constant L of h.
    failure_prob : float
        Probability, over the rows, with which the bound may be exceeded.

    Examples
    --------
    >>> round(envelope_bound(np.zeros(2000), 1.0, 0.01), 4)
    0.021
    """
    values = np.sort(values)
    if lipschitz == 0.0:
        return float(values[0])  # h is constant
    n = len(values)
    beyond = _positions(n)
    rates = np.full(len(beyond), (1.0 - _FOR_LARGEST) * failure_prob / max(len(beyond) - 1, 1))
    rates[-1] = _FOR_LARGEST * failure_prob if len(beyond) > 1 else failure_prob
    levels = [quantile_level(n - j, n, rate) for j, rate in zip(beyond, rates, strict=True)]
    # In units of L, so that neither tiny nor huge labels leave the range of floating-point numbers.
    return lipschitz * math.sqrt(_mean_square(values[n - 1 - beyond] / lipschitz, ndtri(levels)))


def _positions(n: int) -> np.ndarray:
    """Return how many values are larger, for each position of the envelope, falling to 0."""
    beyond = [0]
    while beyond[-1] < n - 1:
        beyond.append(min(max(beyond[-1] + 1, int(_GROWTH * beyond[-1])), n - 1))
    return np.array(beyond[::-1])


def _mean_square(y: np.ndarray, level: np.ndarray) -> float:
    """Return E e(Z)^2 of (2) for L = 1, y and l = level ascending.

    Between l_j and l_{j+1} the minimum is a_j + s, with a_j the least of y_i - l_i for i <= j, until that reaches
    y_{j+1}, and y_{j+1} from there on.
    """
    a = np.minimum.accumulate(y - level)
    turn = np.clip(y[1:] - a[:-1], level[:-1], level[1:])
    flat = y[1:] ** 2 @ (ndtr(level[1:]) - ndtr(turn))
    sloped = _integral(a[:-1], level[:-1], turn).sum() + _integral(a[-1], level[-1], np.inf)
    return float(y[0] ** 2 * ndtr(level[0]) + flat + sloped)


def _integral(a, u, v):
    """Integrate (a + s)^2 phi(s) over [u, v]."""

    def primitive(s):
        density = np.exp(-0.5 * s**2) / math.sqrt(2.0 * math.pi)
        edge = np.where(np.isinf(s), 0.0, np.where(np.isinf(s), 0.0, s) * density)
        # Minus the upper tail: both ends are on the right as a rule, where 1 - Phi keeps its digits.
        return -(a**2 + 1.0) * ndtr(-s) - edge - 2.0 * a * density

    return np.maximum(primitive(v) - primitive(u), 0.0)


def root_mean_square_bound(root: float, n_rows: int, lipschitz: float, failure_prob: float) -> float:
    """Upper confidence bound (4) for sqrt(E h^2), from the root mean square of h over n rows alone.

    Examples
    --------
    >>> round(root_mean_square_bound(0.0, 2000, 1.0, 0.01), 4)
    0.0566
    """
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f'"failure_prob" must be in (0, 1), got {failure_prob}.')
    sigma, z = lipschitz / math.sqrt(n_rows), -float(ndtri(failure_prob))
    density = math.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    m1, m2 = z * float(ndtr(z)) + density, (1.0 + z**2) * float(ndtr(z)) + z * density
    return math.hypot(math.sqrt(root * (root + 2.0 * sigma * m1)), sigma * math.sqrt(m2))
