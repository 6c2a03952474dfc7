r"""The distributions of inputs under which an L2 bound can be proved, and the slope of a function of them.

A function of x is a function of z ~ N(0, I) wherever x = T(z), and the bound of `envelope` needs its slope in z:

- **N(0, I)**: x = z.
- **N(mu, Sigma)**: x = mu + Sigma^{1/2} z. The slope along a vector v is |Sigma^{1/2} v|, the standard deviation of
  <v, x>, and the largest slope of a network is that along some one v. The sample deviation s_v over n fresh rows
  satisfies (n - 1) s_v^2 / |Sigma^{1/2} v|^2 ~ chi^2 with n - 1 degrees of freedom, and the largest sample deviation
  over any set of vectors is at least that along the one with the largest true deviation. So every norm of `slope`,
  computed with the sample covariance, times sqrt((n - 1) / chi^2 quantile) is an upper limit of the true one.
- **uniform on a box**: x_j = a_j + (b_j - a_j) Phi(z_j) has the slope (b_j - a_j) / sqrt(2 pi) at most. The range of n
  fresh rows, in units of b_j - a_j, is a Beta(n - 1, 2) variable, which limits b_j - a_j from above.

Whether rows come from one of these is an assumption; `recognised` says which one they do not contradict.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta, chi2, kurtosistest, skewtest

from netlearn.backend.linalg import upper_factor
from netlearn.certify.slope import Slopes, steepest

STANDARD, NORMAL, BOX = "N(0, I)", "normal", "box"
ASSUMPTIONS = {
    STANDARD: "the inputs are independent of each other and Gaussian with mean 0 and variance 1 (N(0, I))",
    NORMAL: "the inputs are Gaussian, with any means and correlations (N(mu, Sigma))",
    BOX: "the inputs are independent and uniform on a box",
}

# Rows below which a uniform or two-peaked column would pass for a Gaussian one; and rows that are looked at.
_FEWEST_ROWS, _MOST_ROWS = 200, 5_000
# Values that a column takes, below which it is not a continuous one.
_FEWEST_VALUES = 50
# Standard errors of skewness or kurtosis beyond which rows are not Gaussian. Of a thousand such numbers of Gaussian
# rows one in 1,700 samples has one beyond.
_MOST_ERRORS = 5.0
_N_PROJECTIONS = 64
_SEED = 0


def recognised(X: np.ndarray, *, standard: bool) -> str:
    """Return the law that the rows do not contradict, or an empty string where there is none.

    Skewness and kurtosis of columns and of random projections are compared with those of Gaussian rows; for a box, of
    the columns mapped to where they would be Gaussian. Constant columns count as Gaussian.

    Parameters
    ----------
    X : array of shape (n, d)
    standard : bool
        Whether mean and covariance are those of N(0, I).
    """
    X = np.asarray(X[:_MOST_ROWS], dtype=float)
    spread = np.ptp(X, axis=0)
    X, spread = X[:, spread > 0], spread[spread > 0]
    n, d = X.shape
    if n < _FEWEST_ROWS or d == 0:
        return ""
    if min(len(np.unique(column)) for column in X.T[:_MOST_ROWS]) < min(_FEWEST_VALUES, n // 4):
        return ""
    if _looks_normal(X / spread):
        return STANDARD if standard else NORMAL
    # Where between the smallest and the largest value; half a row's share inside, so that these two are finite.
    place = (X - X.min(axis=0)) / spread * (n - 1.0) / n + 0.5 / n
    scores = ndtri(place)
    # Mean and variance of normal scores of a uniform column are 0 and 1, within five standard errors.
    centred = np.all(np.abs(scores.mean(axis=0)) * math.sqrt(n) < _MOST_ERRORS)
    scaled = np.all(np.abs(scores.var(axis=0) - 1.0) * math.sqrt(n / 2.0) < _MOST_ERRORS)
    return BOX if centred and scaled and _looks_normal(scores) else ""


def _looks_normal(Z: np.ndarray) -> bool:
    """Whether skewness and kurtosis of columns and projections are those of Gaussian rows."""
    n, d = Z.shape
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    directions = np.random.default_rng(_SEED).standard_normal((d, _N_PROJECTIONS))
    s = np.hstack([Z, Z @ directions]) if d > 1 else Z
    beyond = [np.max(np.abs(test(s, axis=0).statistic)) for test in (skewtest, kurtosistest)]
    # Columns that are all a little off show it together, where correlations do not make them one.
    together = 0.0
    if 1 < d <= n / 10:
        values, vectors = np.linalg.eigh(Z.T @ Z / n)
        if values[0] > 1e-6 * values[-1]:
            white = Z @ (vectors / np.sqrt(values)) @ vectors.T
            together = abs(float(kurtosistest(white, axis=0).statistic.sum())) / math.sqrt(d)
    return max(*beyond, together) < _MOST_ERRORS


@dataclass(frozen=True)
class Spread:
    """What fresh rows show of the spread of the inputs, as far as a network needs it.

    Attributes
    ----------
    n_rows : int
    along : array of shape (n, m + k)
        The rows projected on the network's linear part and units.
    width : array of shape (d,)
        Largest less smallest value of each column.
    largest : float
        Root of the largest eigenvalue of the sample covariance; infinite where it was not computed.
    """

    n_rows: int
    along: np.ndarray
    width: np.ndarray
    largest: float = math.inf


def slope_in_normal(
    law: str, spread: Spread, slopes: Slopes, failure_prob: float
) -> tuple[float, Callable[[float], float]]:
    """Return the slope of a network as a function of z, and what takes a slope in x to one in z.

    Both are upper limits, together but for `failure_prob`; with N(0, I) they are certain.

    Parameters
    ----------
    law : {"N(0, I)", "normal", "box"}
    spread : Spread
        Of fresh rows, which the network does not depend on.
    slopes : tuple of arrays
        W, Lambda and U of the network, as in `slope`.
    failure_prob : float
    """
    W, Lambda, U = slopes
    n = spread.n_rows
    if law == STANDARD:
        return steepest(W, Lambda, U), lambda slope: slope
    if n < 3:
        return math.inf, lambda slope: math.inf
    if law == BOX:
        width = spread.width / beta.ppf(failure_prob / len(spread.width), n - 1, 2) / math.sqrt(2.0 * math.pi)
        return steepest(W * width, Lambda, U * width), lambda slope: slope * float(width.max())
    m, k = len(W), len(U)
    # Along each unit, and for the linear part, the two norms, the patterns and the target one vector each.
    factor = math.sqrt((n - 1) / chi2.ppf(failure_prob / (k + 5), n - 1))
    # The network's vectors in coordinates in which the sample covariance is the identity.
    R = upper_factor(spread.along - spread.along.mean(axis=0)).T / math.sqrt(n - 1)
    return factor * steepest(R[:m], Lambda, R[m:]), lambda slope: factor * spread.largest * slope
