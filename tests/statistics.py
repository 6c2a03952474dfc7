"""Statistical tests with stated errors: tolerances are computed from a false-alarm rate, never tuned.

Seeds are fixed, so a test that passes once passes always; the rate says how likely it was that correct code
should have met a seed on which it fails.
"""

from math import ceil, log

import numpy as np
from scipy import stats

# Probability that correct code fails a test, divided over the statements the test makes.
FALSE_ALARM_RATE = 1e-6


def student_width(n_statements, degrees_of_freedom):
    """Standard errors that all of `n_statements` estimates stay within, except with FALSE_ALARM_RATE.

    Two-sided Student quantile at FALSE_ALARM_RATE / n_statements (union bound).
    """
    return stats.t.isf(FALSE_ALARM_RATE / n_statements / 2, degrees_of_freedom)


def binomial_range(n, p, n_statements=1):
    """Smallest and largest count of n successes of probability p consistent with FALSE_ALARM_RATE."""
    tail = FALSE_ALARM_RATE / n_statements / 2
    return stats.binom.ppf(tail, n, p), stats.binom.isf(tail, n, p)


def median_of_means_groups(n_statements=1):
    """Groups needed for `median_of_means` to fail with FALSE_ALARM_RATE / n_statements at most."""
    return ceil(8 * log(n_statements / FALSE_ALARM_RATE))


def median_of_means(draws, groups):
    """Median of the means of `groups` groups of rows, entry by entry; asks for a variance and no more."""
    n = len(draws) - len(draws) % groups
    return np.median(np.mean(draws[:n].reshape(groups, -1, *draws.shape[1:]), axis=1), axis=0)


def median_of_means_width(variance, n, groups):
    """Half-width around the mean that `median_of_means` leaves with probability exp(-groups/8) at most.

    A group mean is further than 2 sqrt(variance groups / n) away with probability 1/4 (Chebyshev); for the
    median to be, half of the groups must, which Hoeffding bounds by exp(-2 groups / 16).
    """
    return 2 * np.sqrt(variance * groups / n)
