"""Certificates of networks with several outputs: of all together, and of each."""

import math

import numpy as np
import pytest

from netlearn.certify import bernstein_bound, certify, lipschitz_constant, mean_square_bound
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from tests.polish.several import network


@pytest.fixture
def pair():
    f, g = network(3, 4, 2, 0), network(3, 4, 2, 1)
    return f, f + 0.1 * g


def rows(f, n, seed):
    X = np.random.default_rng(seed).standard_normal((n, f.n_features))
    return X, f(X)


def test_the_lipschitz_constant_bounds_every_slope_and_is_met():
    f = network(5, 4, 3, 0)
    X, y = rows(f, 2000, 0)
    slopes = np.linalg.norm(np.diff(y, axis=0), axis=1) / np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert slopes.max() <= lipschitz_constant(f)
    # Met where unit and linear part pull the same way: f(x) = (3 x_1 + 4 |x_1|, 0) rises by 7 for x_1 > 0.
    aligned = ShallowNetwork([[3.0, 0.0], [0.0, 0.0]], [[4.0, 0.0]], np.eye(2)[:1])
    assert lipschitz_constant(aligned) == pytest.approx(7.0)
    # Singular value and length, not sums over outputs: 5 = |(3, 4)| twice.
    both = ShallowNetwork([[3.0, 0.0], [4.0, 0.0]], [[3.0, 4.0]], np.eye(2)[:1])
    assert lipschitz_constant(both) == pytest.approx(10.0)
    huge = ShallowNetwork(1e200 * np.array([[3.0, 0.0], [4.0, 0.0]]), [[3e200, 4e200]], np.eye(2)[:1])
    assert lipschitz_constant(huge) == pytest.approx(1e201)


def test_bernstein_is_about_the_length_of_the_error(pair):
    f, g = pair
    X, y = rows(f, 500, 1)
    certificate = certify(g, X, y, failure_prob=0.04, method="bernstein")
    errors = y - g(X)
    squares = np.array([error @ error for error in errors])
    assert certificate.error_bound == pytest.approx(math.sqrt(bernstein_bound(squares, 0.04)))
    assert certificate.empirical_error == pytest.approx(math.sqrt(squares.mean()))
    assert f.distance(g) <= certificate.error_bound
    assert len(certificate.per_output) == 2
    for o, own in enumerate(certificate.per_output):
        assert own.error_bound == pytest.approx(math.sqrt(bernstein_bound(errors[:, o] ** 2, 0.02)))
        assert own.empirical_error == pytest.approx(math.sqrt(np.mean(errors[:, o] ** 2)))
        assert own.confidence == pytest.approx(0.98)
        assert (own.n_val, own.method, own.per_output) == (500, "bernstein", ())
        assert any("one of 2 bounds" in words and "confidence 0.96" in words for words in own.assumptions)


def test_the_largest_error_is_the_longest(pair):
    f, _ = pair
    X, y = rows(f, 50, 1)
    certificate = certify(f, X, y + np.array([0.3, -0.4]), failure_prob=0.04, method="bernstein")
    assert any("exceeds 1, twice" in assumption for assumption in certificate.assumptions)
    largest = [next(words for words in own.assumptions if "twice" in words) for own in certificate.per_output]
    assert "exceeds 0.6" in largest[0]
    assert "exceeds 0.8" in largest[1]


def test_lemma_2_5_takes_the_lipschitz_constants_of_the_vectors(pair):
    f, g = pair
    X, y = rows(f, 5000, 2)
    certificate = certify(g, X, y, failure_prob=0.04, target_lipschitz=lipschitz_constant(f))
    squares = np.sum((y - g(X)) ** 2, axis=1)
    L = lipschitz_constant(f) + lipschitz_constant(g)
    assert certificate.error_bound == pytest.approx(
        math.sqrt(mean_square_bound(squares.mean(), 5000, L, 0.04))
    )
    assert f.distance(g) <= certificate.error_bound
    for o, own in enumerate(certificate.per_output):
        slope = np.linalg.norm(g.linear[o]) + np.abs(g.coefficients[:, o]).sum()
        mean = np.mean((y - g(X))[:, o] ** 2)
        expected = mean_square_bound(mean, 5000, lipschitz_constant(f) + slope, 0.02)
        assert own.error_bound == pytest.approx(math.sqrt(expected))


def test_recheck_repeats_all_of_it(pair):
    f, g = pair
    first = certify(g, *rows(f, 300, 3), failure_prob=0.04, method="bernstein")
    again = first.recheck(g, *rows(f, 300, 3))
    assert again.error_bound == pytest.approx(first.error_bound)
    assert [own.error_bound for own in again.per_output] == pytest.approx(
        [own.error_bound for own in first.per_output]
    )


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (4, 2)])
def test_labels_must_be_of_the_networks_shape(pair, shape):
    with pytest.raises(InputError, match=r"shapes \(n, d\) and \(n, m\) with n >= 1 and m = 2, got \(5, 4\)"):
        certify(pair[0], np.zeros((5, 4)), np.zeros(shape), failure_prob=0.04, method="bernstein")


def test_labels_of_one_output_have_no_columns():
    one = ShallowNetwork(np.zeros(2), np.ones(1), np.eye(2)[:1])
    with pytest.raises(
        InputError, match=r"shapes \(n, d\) and \(n,\) with n >= 1, got \(5, 2\) and \(5, 1\)"
    ):
        certify(one, np.zeros((5, 2)), np.zeros((5, 1)), failure_prob=0.04, method="bernstein")
