r"""The empirical Bernstein bound: sharper than Lemma 2.5 where the errors on fresh rows are small.

For independent Z_i in [0, M] with sample variance V, outside an event of probability failure_prob
(Maurer and Pontil 2009, Theorem 4),

    E Z <= mean + sqrt(2 V t / n) + 7 M t / (3 (n - 1)),    t = log(2 / failure_prob).

Z = (y - f_hat(x))^2 is bounded only by assumption: M = (headroom * largest |y - f_hat| seen)^2. With
headroom 2 a normal error exceeds it about once in 5,000 rows after 20 rows have been seen, and once in 10^10
after 1,000. Nothing is assumed of the inputs, so this bound stands for any distribution of rows, and with
noisy labels it bounds the prediction risk.
"""

import math

import numpy as np

HEADROOM = 2.0


def bernstein_bound(squares: np.ndarray, failure_prob: float) -> float:
    """Upper confidence bound for the mean of `squares`, given independent rows; infinite for fewer than 2."""
    n = len(squares)
    if n < 2:
        return math.inf
    t = math.log(2.0 / failure_prob)
    # In units of the largest square, so that tiny errors do not underflow when squared again.
    largest = float(np.max(squares))
    if largest == 0.0:
        return 0.0
    z = squares / largest
    bound = np.mean(z) + math.sqrt(2.0 * np.var(z, ddof=1) * t / n) + 7.0 * HEADROOM**2 * t / (3.0 * (n - 1))
    return float(bound) * largest
