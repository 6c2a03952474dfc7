r"""The loss of every candidate up to a known margin, with one product of rows and atoms: a closed-form Gram matrix.

Under x ~ N(0, I) the Gram matrix of the atoms a_j = |<u_j, x>| is known,

    G_jl = E a_j a_l = (2/pi) (sqrt(1 - c^2) + c asin c),    c = <u_j, u_l>,

so rows are needed for the right-hand side only: O(n |N_u|) operations for n rows in place of O(n |N_u|^2). To put the
population's G in place of the rows' own costs accuracy, because the mean of f_hat^2 fluctuates by R^2 / sqrt(n), which
is not small against epsilon^2. What fluctuates is made small by a *baseline* f_0, any network fixed before the rows are
drawn, such as a proposal. With e = y - <w_hat, x> - f_0(x), which is small if f_0 is good, and q = f_hat - f_0,

    mean (e - q)^2 = mean e^2 - 2 mean e q + mean q^2,     H = mean e^2 - 2 mean e q + E q^2 :

only the mean of q^2 is replaced, not that of f_hat^2. H is again a quadratic form of the weights,

    H = (mean e^2 + 2 mean e f_0 + E f_0^2) - 2 lambda.(mean e a + E f_0 a) + lambda^T G lambda.

**The margin.** The root of the mean of q^2 concentrates (`netlearn.paper.validation`): outside an event of
probability exp(-t), with sigma = (R + |f_0|_1) / sqrt(n) and ||q||^2 = E q^2,

    H - mean (e - q)^2 = ||q||^2 - mean q^2 <= ||q||^2 - ((||q||^2 - sigma^2)_+^{1/2} - sigma sqrt(2 t))_+^2.

So a candidate that passes validation at epsilon^2/2 has H <= epsilon^2/2 + margin, and sets whose least H is larger
need no validation.
"""

import math

import numpy as np

from netlearn.network import ShallowNetwork
from netlearn.paper.bruteforce import ValidationLoss


def abs_gram(U: np.ndarray, W: np.ndarray) -> np.ndarray:
    """E |<u, x>| |<w, x>| for all rows u of `U` and w of `W`, unit vectors: (2/pi) (sqrt(1 - c^2) + c asin c)."""
    c = np.clip(U @ W.T, -1.0, 1.0)
    return (2.0 / math.pi) * (np.sqrt((1.0 - c) * (1.0 + c)) + c * np.arcsin(c))


class ScreeningSum:
    """Mergeable sum over rows behind the quadratic form H of the module docstring.

    Cost: O(n |N_u| d) per block of n rows.

    Parameters
    ----------
    linear : array of shape (d,)
        The estimated linear part w_hat, common to all candidates.
    directions : array of shape (n_directions, d)
        The net N_u.
    baseline : ShallowNetwork
        f_0, without a linear part.
    """

    def __init__(self, linear: np.ndarray, directions: np.ndarray, baseline: ShallowNetwork):
        self._linear, self._directions, self._baseline = linear, directions, baseline
        self._count, self._ee, self._ef, self._ea = 0, 0.0, 0.0, np.zeros(len(directions))

    def add(self, X: np.ndarray, y: np.ndarray) -> "ScreeningSum":
        """Add a block of rows."""
        f_0 = self._baseline(X)
        e = y - X @ self._linear - f_0
        self._count += len(y)
        self._ee += float(e @ e)
        self._ef += float(e @ f_0)
        for rows in np.array_split(np.arange(len(y)), max(1, len(y) * len(self._directions) >> 19)):
            self._ea += e[rows] @ np.abs(X[rows] @ self._directions.T)
        return self

    @property
    def residual(self) -> float:
        """Root mean square of e, what the baseline leaves of the labels."""
        return math.sqrt(self._ee / self._count)

    @property
    def baseline_weight(self) -> float:
        """Sum of the baseline's absolute weights, a Lipschitz constant of it."""
        return float(np.abs(self._baseline.coefficients).sum())

    def finalize(self) -> ValidationLoss:
        """Return the quadratic form H."""
        n, lam, units = self._count, self._baseline.coefficients, self._baseline.units
        constant = (self._ee + 2.0 * self._ef) / n + float(lam @ abs_gram(units, units) @ lam)
        correlations = self._ea / n + abs_gram(self._directions, units) @ lam
        return ValidationLoss(constant, correlations, abs_gram(self._directions, self._directions), n)


def screening_margin(norm: float, lipschitz: float, n_rows: int, failure_prob: float) -> float:
    """How far ||q||^2 may exceed the mean of q^2 over the rows: the margin of the module docstring.

    It grows with ||q||, so an upper bound on the norm gives an upper bound on the margin.

    Parameters
    ----------
    norm : float
        ||q||, or an upper bound on it.
    lipschitz : float
        A Lipschitz constant of q.
    n_rows : int
        Number of rows.
    failure_prob : float
        Probability with which the margin may be exceeded.
    """
    sigma, t = lipschitz / math.sqrt(n_rows), math.log(1.0 / failure_prob)
    least = math.sqrt(max(norm**2 - sigma**2, 0.0)) - sigma * math.sqrt(2.0 * t)
    return norm**2 - max(least, 0.0) ** 2
