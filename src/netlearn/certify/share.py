r"""The share of new rows that a network may get wrong, from the errors on fresh rows and nothing else.

Let e_(1) <= ... <= e_(n) be the sorted |y - f_hat(x)| of n rows that took no part in learning, and F the distribution
function of that error. F(e_(i)) is at least as large, in distribution, as the i-th smallest of n uniform variables, a
Beta(i, n - i + 1) variable; with continuous errors the two are equal. So for any i fixed beforehand

    P( F(e_(i)) < q ) <= failure_prob    for    q = BetaInv(failure_prob; i, n - i + 1),                             (1)

and with confidence 1 - failure_prob at most a share 1 - q of new rows has an error above e_(i). For the largest error,
i = n, the share is 1 - failure_prob^(1/n). Nothing is assumed of inputs, labels, noise or target but that all rows are
independent draws from one distribution.
"""

import math

from scipy.stats import beta

LARGEST_SHARE = 0.05
"""Share of new rows up to which rows that are all reproduced count as a recovered network."""


def quantile_level(i: int, n: int, failure_prob: float) -> float:
    """Return q of (1): the i-th smallest of n errors is at least the q-quantile of all, but for `failure_prob`."""
    if i == n:
        return math.exp(math.log(failure_prob) / n)
    return float(beta.ppf(failure_prob, i, n - i + 1))


def share_beyond(n: int, failure_prob: float, n_beyond: int = 0) -> float:
    """Largest share of new rows with an error above the (n_beyond + 1)-th largest of n fresh ones.

    Examples
    --------
    >>> [round(share_beyond(n, 0.01), 4) for n in (44, 90, 400, 2000)]
    [0.0994, 0.0499, 0.0114, 0.0023]
    """
    if n <= n_beyond:
        return 1.0
    if n_beyond == 0:
        return -math.expm1(math.log(failure_prob) / n)
    return 1.0 - quantile_level(n - n_beyond, n, failure_prob)


def rows_for_share(share: float, failure_prob: float) -> int:
    """Fresh rows that, all within the tolerance, prove that at most `share` of new ones is beyond it.

    Examples
    --------
    >>> rows_for_share(0.05, 0.01)
    90
    """
    return math.ceil(math.log(failure_prob) / math.log1p(-share))
