import math

import numpy as np
import pytest

from netlearn.certify import certify, lipschitz_constant, mean_square_bound
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork


@pytest.fixture
def pair():
    target = ShallowNetwork(np.array([0.5, 0.0, 0.0]), np.array([1.0, -0.5]), np.eye(3)[:2])
    estimate = ShallowNetwork(np.array([0.4, 0.0, 0.0]), np.array([0.9, -0.5]), np.eye(3)[:2])
    return target, estimate


def rows(target, n, seed):
    X = np.random.default_rng(seed).standard_normal((n, target.n_features))
    return X, target(X)


def test_lipschitz_constant_bounds_every_slope(pair):
    target, _ = pair
    X, y = rows(target, 1000, 0)
    slopes = np.abs(np.diff(y)) / np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert slopes.max() <= lipschitz_constant(target) == 2.0


def test_certificate_is_lemma_2_5_for_the_difference(pair):
    target, estimate = pair
    X, y = rows(target, 20_000, 1)
    certificate = certify(estimate, X, y, failure_prob=0.05, target_lipschitz=2.0)
    mean_square = np.mean((y - estimate(X)) ** 2)
    expected = mean_square_bound(mean_square, 20_000, 2.0 + 1.8, 0.05)
    assert certificate.error_bound == pytest.approx(math.sqrt(expected))
    assert certificate.empirical_error == pytest.approx(math.sqrt(mean_square))
    assert target.distance(estimate) <= certificate.error_bound
    assert (certificate.n_val, certificate.method, certificate.confidence) == (20_000, "lipschitz", 0.95)
    assert any("2-Lipschitz" in assumption for assumption in certificate.assumptions)


def test_recheck_repeats_the_statement_on_other_rows(pair):
    target, estimate = pair
    certificate = certify(estimate, *rows(target, 5000, 2), failure_prob=0.05, target_lipschitz=2.0)
    again = certificate.recheck(estimate, *rows(target, 5000, 2))
    assert again.error_bound == pytest.approx(certificate.error_bound, rel=1e-12)
    assert (again.n_val, again.assumptions) == (certificate.n_val, certificate.assumptions)
    more = certificate.recheck(estimate, *rows(target, 50_000, 3))
    assert more.confidence == certificate.confidence
    assert more.error_bound < certificate.error_bound
    # Negative control: rows of another function do not confirm the estimate.
    X, _ = rows(target, 5000, 4)
    assert certificate.recheck(estimate, X, np.sin(5.0 * X[:, 0])).error_bound > 2 * certificate.error_bound


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 3)), np.zeros(4), "shapes"),
        (np.zeros((0, 3)), np.zeros(0), "n >= 1"),
        (np.full((3, 3), np.nan), np.zeros(3), "finite"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(pair, X, y, message):
    with pytest.raises(InputError, match=message):
        certify(pair[1], X, y, failure_prob=0.05, target_lipschitz=2.0)


def test_an_unknown_method_is_refused(pair):
    with pytest.raises(InputError, match='"method"'):
        certify(pair[1], np.zeros((3, 3)), np.zeros(3), failure_prob=0.05, method="hope")
