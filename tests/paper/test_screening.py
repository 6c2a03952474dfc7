"""The closed-form Gram matrix, the quadratic form H with its baseline, and the margin between H and the rows."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.paper import direction_net
from netlearn.paper.bruteforce import ValidationSum
from netlearn.paper.screening import ScreeningSum, abs_gram, screening_margin
from tests.statistics import FALSE_ALARM_RATE

D = 4


def networks(seed):
    rng = np.random.default_rng(seed)
    return rng, teachers.random(3, D, rng), ShallowNetwork(np.zeros(D), np.array([0.5, -0.3]), np.eye(D)[:2])


def test_gram_is_that_of_the_networks():
    _, target, _ = networks(0)
    G = abs_gram(target.units, target.units)
    norm = ShallowNetwork(np.zeros(D), target.coefficients, target.units).norm()
    assert target.coefficients @ G @ target.coefficients == pytest.approx(norm**2, rel=1e-12)
    np.testing.assert_allclose(np.diag(G), 1.0)
    assert abs_gram(np.eye(2)[:1], np.eye(2)[1:])[0, 0] == pytest.approx(2 / math.pi)


def screened(target, baseline, net, X):
    return ScreeningSum(target.linear, net, baseline).add(X, target(X))


def test_form_is_the_mean_square_with_the_population_in_place_of_one_mean():
    rng, target, baseline = networks(1)
    net, X = direction_net(np.eye(D), 0.9), rng.standard_normal((300, D))
    loss = screened(target, baseline, net, X).finalize()
    for S, lam in (((), ()), ((1,), (0.4,)), ((0, 2, 3), (0.4, -0.2, 0.1))):
        candidate = ShallowNetwork(np.zeros(D), np.array(lam), net[list(S)])
        q = candidate(X) - baseline(X)
        e = target(X) - X @ target.linear - baseline(X)
        expected = np.mean(e**2) - 2.0 * np.mean(e * q) + candidate.distance(baseline) ** 2
        assert loss.of(S, np.array([lam]))[0] == pytest.approx(expected, rel=1e-9)


def test_an_exact_baseline_leaves_no_noise_and_none_leaves_much():
    # With f_0 = f the form is the squared distance itself; with f_0 = 0 it is off by the fluctuation of f_hat^2.
    rng, target, _ = networks(2)
    exact = ShallowNetwork(np.zeros(D), target.coefficients, target.units)
    zero = ShallowNetwork(np.zeros(D), np.zeros(0), np.zeros((0, D)))
    net, X = direction_net(np.eye(D), 0.9), rng.standard_normal((300, D))
    S, lam = (0, 3), np.array([0.7, -0.4])
    distance = ShallowNetwork(np.zeros(D), lam, net[list(S)]).distance(exact) ** 2
    assert screened(target, exact, net, X).finalize().of(S, lam[None])[0] == pytest.approx(
        distance, abs=1e-12
    )
    assert abs(screened(target, zero, net, X).finalize().of(S, lam[None])[0] - distance) > 1e-3


def test_blocks_do_not_matter():
    rng, target, baseline = networks(3)
    net, X = direction_net(np.eye(D), 0.5), rng.standard_normal((500, D))
    whole = screened(target, baseline, net, X)
    parts = screened(target, baseline, net, X[:17]).add(X[17:], target(X[17:]))
    assert parts.residual == pytest.approx(whole.residual)
    np.testing.assert_allclose(parts.finalize().correlations, whole.finalize().correlations, atol=1e-12)
    assert parts.finalize().residual == pytest.approx(whole.finalize().residual)
    assert whole.finalize().n_rows == 500


def test_correlations_agree_with_the_printed_sum():
    rng, target, _ = networks(4)
    zero = ShallowNetwork(np.zeros(D), np.zeros(0), np.zeros((0, D)))
    net, X = direction_net(np.eye(D), 0.5), rng.standard_normal((500, D))
    printed = ValidationSum(target.linear, net).add(X, target(X)).finalize()
    ours = screened(target, zero, net, X).finalize()
    np.testing.assert_allclose(ours.correlations, printed.correlations, atol=1e-12)
    assert ours.residual == pytest.approx(printed.residual)


@pytest.mark.statistical
def test_margin_holds_as_often_as_stated_and_half_of_it_does_not():
    # q = 4 + x_1 is 1-Lipschitz with ||q||^2 = 17. Its root mean square is nearly normal with deviation sigma, the
    # largest that the bound allows, so the margin is exceeded nearly as often as a normal variable exceeds
    # sqrt(2 log(1/0.2)) = 1.8: 4 % of the time, where 20 % are allowed. Half the margin is exceeded 18 %.
    rng, runs, n, p = np.random.default_rng(5), 4000, 60, 0.2
    means = np.mean((4.0 + rng.standard_normal((runs, n))) ** 2, axis=1)
    margin = screening_margin(math.sqrt(17.0), 1.0, n, p)
    assert np.sum(17.0 - means > margin) <= binom.isf(FALSE_ALARM_RATE, runs, p)
    assert np.sum(17.0 - means > margin) >= binom.ppf(FALSE_ALARM_RATE, runs, 0.02)
    assert np.sum(17.0 - means > margin / 2) > binom.isf(FALSE_ALARM_RATE, runs, 0.1)


def test_margin_grows_with_the_norm_and_is_the_norm_where_rows_are_few():
    norms = np.linspace(0.0, 3.0, 50)
    margins = [screening_margin(norm, 1.0, 100, 0.01) for norm in norms]
    assert np.all(np.diff(margins) > 0.0)
    assert screening_margin(0.2, 1.0, 10, 0.01) == pytest.approx(0.04)
    sigma, root = 0.1, math.sqrt(2.0 * math.log(100.0))
    assert margins[-1] == pytest.approx(9.0 - (math.sqrt(9.0 - sigma**2) - sigma * root) ** 2)
