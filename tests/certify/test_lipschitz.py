import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from netlearn.certify import mean_square_bound
from netlearn.errors import InputError

FALSE_ALARM = 1e-6


@settings(deadline=None, derandomize=True)
@given(
    mean_square=st.floats(0.0, 10.0),
    n_rows=st.integers(20, 10**7),
    lipschitz=st.floats(0.1, 20.0),
    failure_prob=st.floats(1e-4, 0.5),
)
def test_bound_is_the_larger_solution_of_the_tail_equation(mean_square, n_rows, lipschitz, failure_prob):
    mu = mean_square_bound(mean_square, n_rows, lipschitz, failure_prob)
    deviation = math.sqrt(2 * math.log(1 / failure_prob) / n_rows * (mu**2 + 4 * lipschitz**2 * mu))
    assert mu >= mean_square
    assert mu - deviation == pytest.approx(mean_square, abs=1e-9 * (1 + mu))


def test_too_few_rows_exclude_nothing():
    assert mean_square_bound(0.0, 2, 1.0, 0.01) == math.inf


@pytest.mark.statistical
def test_bound_covers_as_often_as_stated_and_the_empirical_mean_does_not():
    # F = |x_1| - |x_2| is sqrt(2)-Lipschitz with E F^2 = 2 - 4/pi.
    rng, runs, n_rows, failure_prob = np.random.default_rng(5), 2000, 50, 0.2
    exact = 2.0 - 4.0 / math.pi
    X = np.abs(rng.standard_normal((runs, n_rows, 2)))
    means = np.mean((X[..., 0] - X[..., 1]) ** 2, axis=1)
    bounds = [mean_square_bound(m, n_rows, math.sqrt(2.0), failure_prob) for m in means]
    allowed = binom.isf(FALSE_ALARM, runs, failure_prob)
    assert np.sum(np.array(bounds) < exact) <= allowed
    # Negative control: without the deviation term the same count is far beyond what is allowed.
    assert np.sum(means < exact) > allowed


@pytest.mark.parametrize("failure_prob", [0.0, 1.0, math.nan])
def test_failure_prob_must_be_a_probability(failure_prob):
    with pytest.raises(InputError, match='"failure_prob"'):
        mean_square_bound(1.0, 100, 1.0, failure_prob)
