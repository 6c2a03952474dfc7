"""Estimates meet the population value within their own error bars, and a planted bug does not.

False alarms: each test fails on correct code with probability at most 1e-6 over its seeds, as far as group
means of 12,500 rows are normal; the width is the Student quantile that follows.
"""

import numpy as np
import pytest

from netlearn.moments import MomentSum, abs_hermite_coefficient, contraction, moment_matrices
from netlearn.moments.polynomials import noise_gain
from tests import statistics
from tests.reference.tensors import paper_moment_matrix

pytestmark = pytest.mark.statistical

N, D, K = 200_000, 4, 3
ORDERS = (2, 4, 6)
N_SEEDS = 20


def planted(seed):
    """Rows of a network with lambda of both signs and a linear part; g near its units keeps M_ell large."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(D)
    g /= np.linalg.norm(g)
    units = 2 * g + rng.standard_normal((K, D))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    lam, w = np.array([1.0, 0.8, -0.4]), rng.standard_normal(D) / 2
    X = rng.standard_normal((N, D))
    return X, X @ w + np.abs(X @ units.T) @ lam, g, w, lam, units


def estimate(seed):
    X, y, g, w, lam, units = planted(seed)
    total = MomentSum(g[None, :], ORDERS)
    total.add(X, y)
    M = np.stack([(units.T * (lam * (units @ g) ** (ell - 2))) @ units for ell in ORDERS])
    return total.finalize(), M, w


def worst_deviation(seed):
    """Largest deviation from the population in standard errors, over all entries of M_ell_hat and w_hat."""
    moments, M, w = estimate(seed)
    deviations = np.abs(moments.matrices[0] - M) / moments.standard_errors[0]
    return max(np.max(deviations), np.max(np.abs(moments.linear - w) / moments.linear_standard_errors))


N_ENTRIES = len(ORDERS) * D * (D + 1) // 2 + D
WIDTH = statistics.student_width(N_SEEDS * N_ENTRIES, degrees_of_freedom=15)


@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_estimates_lie_within_their_error_bars(seed):
    assert worst_deviation(seed) <= WIDTH


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda ell: 2 * noise_gain(ell), id="C_ell for 2 C_ell"),
        pytest.param(lambda ell: abs(noise_gain(ell)), id="sign of c_ell dropped"),
        pytest.param(lambda ell: noise_gain(ell + 2), id="c_ell of the next order"),
    ],
)
def test_a_wrong_coefficient_turns_the_test_red(monkeypatch, wrong):
    monkeypatch.setattr(contraction, "noise_gain", wrong)
    assert worst_deviation(0) > WIDTH


@pytest.mark.parametrize("ell", [2, 4])
def test_the_printed_tensor_factor_turns_the_test_red(ell):
    moments, M, _ = estimate(0)
    X, y, g, *_ = planted(0)
    printed = paper_moment_matrix(X, y, g, ell, as_printed=True)
    i = ORDERS.index(ell)
    assert np.max(np.abs(printed - M[i]) / moments.standard_errors[0, i]) > WIDTH


def test_error_bars_cover_as_often_as_they_say():
    # 95 % intervals in independent runs: a binomial count per entry, the range from the false-alarm rate.
    # It shuts out error bars that are too small (a factor 1.6 gives 81 %) and, through the count of misses,
    # too large ones.
    runs, n, level = 600, 800, 0.95
    rng = np.random.default_rng(0)
    entries = np.triu_indices(2)
    hits = np.zeros(len(entries[0]))
    width = statistics.stats.t.isf((1 - level) / 2, 15)
    for _ in range(runs):
        X = rng.standard_normal((n, 2))
        total = MomentSum(np.eye(2)[:1], (2,))
        total.add(X, np.abs(X[:, 0]) - X[:, 1])
        moments = total.finalize()
        deviations = np.abs(moments.matrices[0, 0] - np.diag([1.0, 0.0])) / moments.standard_errors[0, 0]
        hits += deviations[entries] <= width
    fewest, most = statistics.binomial_range(runs, level, n_statements=len(hits))
    assert np.all((hits >= fewest) & (hits <= most)), hits / runs
    too_small = statistics.stats.t.cdf(width / 1.6, 15) - statistics.stats.t.cdf(-width / 1.6, 15)
    assert runs * too_small < fewest


def test_matrices_are_unbiased_by_median_of_means():
    # Independent of the error bars under test, and free of any assumption but a variance, which is exact: at
    # d = 1 and for y = |x| a row's estimate is |x| He_4(x) / c_4, of mean 1, and its square is a polynomial.
    ell, n = 4, 2_000_000
    groups = statistics.median_of_means_groups()
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    He_ell = np.polynomial.hermite_e.HermiteE.basis(ell)
    second_moment = np.sum(weights * (nodes * He_ell(nodes)) ** 2) / np.sqrt(2 * np.pi)
    variance = second_moment / abs_hermite_coefficient(ell) ** 2 - 1
    width = statistics.median_of_means_width(variance, n, groups)
    assert 2 * width < 1  # a factor 2 in c_ell would be seen
    blocks = np.random.default_rng(1).standard_normal((groups, n // groups, 1))
    means = np.array([moment_matrices(X, np.abs(X[:, 0]), [1.0], [ell])[0, 0, 0] for X in blocks])
    assert abs(statistics.median_of_means(means, groups) - 1) <= width
