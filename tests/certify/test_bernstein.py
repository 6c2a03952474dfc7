"""The empirical Bernstein bound: its formula, its coverage, its behaviour at the ends."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from netlearn.certify import bernstein_bound, certify
from netlearn.certify.bernstein import HEADROOM
from netlearn.network import ShallowNetwork
from tests.statistics import FALSE_ALARM_RATE


def printed(z, failure_prob, largest):
    """Theorem 4 of Maurer and Pontil for values in [0, largest], with the variance as a sum over pairs."""
    n = len(z)
    V = sum((a - b) ** 2 for i, a in enumerate(z) for b in z[:i]) / (n * (n - 1))
    t = math.log(2 / failure_prob)
    return sum(z) / n + math.sqrt(2 * V * t / n) + 7 * largest * t / (3 * (n - 1))


@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize("failure_prob", [0.5, 0.01, 1e-6])
def test_the_bound_is_the_printed_one(n, failure_prob):
    z = np.random.default_rng(n).exponential(size=n)
    expected = printed(z.tolist(), failure_prob, HEADROOM**2 * z.max())
    assert bernstein_bound(z, failure_prob) == pytest.approx(expected)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-6, 1e6, 1e150, 1e300])
def test_the_bound_scales_with_the_squares(scale):
    z = np.random.default_rng(0).uniform(size=100)
    assert bernstein_bound(scale * z, 0.01) == pytest.approx(scale * bernstein_bound(z, 0.01))


def test_the_ends():
    assert bernstein_bound(np.array([]), 0.01) == math.inf
    assert bernstein_bound(np.array([1.0]), 0.01) == math.inf
    assert bernstein_bound(np.zeros(10), 0.01) == 0.0
    z = np.random.default_rng(0).uniform(size=1000)
    bounds = [bernstein_bound(z, p) for p in (0.5, 0.1, 1e-3, 1e-9)]
    assert np.mean(z) < bounds[0]
    assert np.all(np.diff(bounds) > 0)


@pytest.mark.statistical
@pytest.mark.parametrize("n", [30, 300])
def test_bound_covers_as_often_as_stated_and_the_empirical_mean_does_not(n):
    # Squares of normal errors, mean one: not bounded, so the assumption of twice the largest error seen is on
    # trial too. The count of failures is at most binomial(runs, failure_prob).
    rng, runs, failure_prob = np.random.default_rng(n), 2000, 0.05
    squares = rng.standard_normal((runs, n)) ** 2
    bounds = np.array([bernstein_bound(z, failure_prob) for z in squares])
    allowed = binom.isf(FALSE_ALARM_RATE, runs, failure_prob)
    assert np.sum(bounds < 1.0) <= allowed
    # Negative control: the mean alone, without its two deviation terms.
    assert np.sum(squares.mean(axis=1) < 1.0) > allowed


def test_the_certificate_is_the_bound_on_the_squared_errors():
    network = ShallowNetwork(np.array([1.0, 0.0]), np.array([0.5]), np.eye(2)[:1])
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (500, 2))  # nothing is assumed of the inputs
    noise = 0.1 * rng.standard_normal(500)
    certificate = certify(network, X, network(X) + noise, failure_prob=0.02, method="bernstein")
    assert certificate.error_bound == pytest.approx(math.sqrt(bernstein_bound(noise**2, 0.02)))
    assert certificate.empirical_error == pytest.approx(math.sqrt(np.mean(noise**2)))
    assert (certificate.method, certificate.n_val, certificate.confidence) == ("bernstein", 500, 0.98)
    assert certificate.error_bound >= 0.1  # the prediction risk, noise included
    assert any(f"{2 * np.max(np.abs(noise)):.3g}" in assumption for assumption in certificate.assumptions)
    again = certificate.recheck(network, X, network(X) + noise)
    assert again.error_bound == pytest.approx(certificate.error_bound, rel=1e-12)


def test_errors_of_any_size_can_be_certified():
    network = ShallowNetwork(np.zeros(2), np.zeros(0), np.zeros((0, 2)))
    X, e = np.zeros((50, 2)), np.random.default_rng(2).standard_normal(50)
    reference = certify(network, X, e, failure_prob=0.01, method="bernstein")
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        certificate = certify(network, X, scale * e, failure_prob=0.01, method="bernstein")
        assert certificate.error_bound == pytest.approx(scale * reference.error_bound)
        assert certificate.empirical_error == pytest.approx(scale * reference.empirical_error)
    exact = certify(network, X, np.zeros(50), failure_prob=0.01, method="bernstein")
    assert (exact.error_bound, exact.empirical_error) == (0.0, 0.0)
