"""The share of new rows beyond the largest error seen.

Mutants of the formulas of the certificate that these tests and those of `test_envelope`, `test_certificate`,
`test_law` and `test_slope` were seen to catch, each by being put in and run:

1. share 1 - delta^(1/(n-1)), one row too few;
2. share with delta/2, or with 1 - delta in place of delta;
3. the lower and the upper tail of Beta exchanged in `quantile_level`;
4. Beta(i, n - i) or Beta(i + 1, n - i + 1), one position off;
5. the union over positions of the envelope dropped: each at the full failure probability;
6. all of the failure probability given to the largest value and again to the others;
7. the quantile of the normal distribution one-sided at the wrong end, l_i = -Phi^{-1}(q_i);
8. L halved; L of the network alone, without the target's; STEEPNESS 1 in place of 2;
9. the slope beyond the largest value left out (a flat tail);
10. the root mean square bound with m1 left out, or sigma = L/n;
11. the noise's share of the slope left out; its upper limit at the lower tail of chi^2;
12. the spread's upper limit replaced by the sample deviation;
13. the failure probability of the limits not taken off that of the envelope;
14. rounding of labels not added; the distance moved not added;
15. failure_prob instead of failure_prob / m for each of m outputs;
16. the width of a box without its limit, or without 1/sqrt(2 pi);
17. the sign patterns of `slope` cut to those of one unit.
"""

import numpy as np
import pytest
from scipy.stats import beta, binom

from netlearn.certify import rows_for_share, share_beyond
from netlearn.certify.share import quantile_level
from tests import statistics


@pytest.mark.parametrize(("n", "expected"), [(44, 0.0994), (90, 0.0499), (400, 0.0114), (2000, 0.0023)])
def test_the_share_of_the_largest_error(n, expected):
    assert share_beyond(n, 0.01) == pytest.approx(expected, rel=5e-3)
    # By hand: n rows below a level that holds a share q of all have probability q^n.
    assert (1 - share_beyond(n, 0.01)) ** n == pytest.approx(0.01)


@pytest.mark.parametrize(("n", "j"), [(50, 1), (100, 2), (400, 8), (30, 29)])
def test_the_share_beyond_all_but_a_few(n, j):
    share = share_beyond(n, 0.05, j)
    # At most j of n rows beyond a level that a share of all exceeds: a binomial tail.
    assert binom.cdf(j, n, share) == pytest.approx(0.05, rel=1e-9)


def test_more_rows_beyond_than_there_are_prove_nothing():
    assert share_beyond(3, 0.01, 3) == 1.0


@pytest.mark.parametrize("failure_prob", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.001])
def test_rows_for_a_share_are_the_fewest(share, failure_prob):
    n = rows_for_share(share, failure_prob)
    assert share_beyond(n, failure_prob) <= share
    assert n == 1 or share_beyond(n - 1, failure_prob) > share


@pytest.mark.parametrize(("i", "n"), [(1, 1), (1, 10), (7, 10), (10, 10), (399, 400)])
def test_quantile_levels_are_those_of_ordered_uniform_variables(i, n):
    assert beta.cdf(quantile_level(i, n, 0.03), i, n - i + 1) == pytest.approx(0.03)


@pytest.mark.statistical
@pytest.mark.parametrize("j", [0, 3])
def test_the_share_is_broken_as_often_as_allowed_and_no_more(j):
    """Errors of a continuous distribution break it with exactly the failure probability: the case is tight."""
    rng, n, failure_prob, n_draws = np.random.default_rng(5), 60, 0.2, 4000
    share = share_beyond(n, failure_prob, j)
    largest = np.sort(rng.uniform(size=(n_draws, n)), axis=1)[:, n - 1 - j]
    broken = int(np.sum(1 - largest > share))
    rate = statistics.FALSE_ALARM_RATE
    assert binom.ppf(rate, n_draws, failure_prob) <= broken <= binom.isf(rate, n_draws, failure_prob)


@pytest.mark.statistical
def test_ties_make_it_rarer():
    rng, n = np.random.default_rng(6), 40
    share = share_beyond(n, 0.2)
    errors = rng.choice([0.0, 1.0], p=[0.97, 0.03], size=(2000, n))
    # 3 % of all rows err: false only where the share is smaller, and here it is larger.
    beyond = np.where(errors.max(axis=1) == 0.0, 0.03, 0.0)
    assert np.mean(beyond > share) <= 0.2
