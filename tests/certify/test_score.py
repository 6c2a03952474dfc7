import math

import numpy as np
import pytest
from sklearn.metrics import r2_score

from netlearn.certify import linear_signal, scored
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource


def linear(*slopes):
    return ShallowNetwork(np.array(slopes), np.zeros(0), np.zeros((0, len(slopes))))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(300)


def test_shares_of_variance_are_those_of_scikit_learn(rows):
    X, y = rows
    parts = ArraySource(X[:100], y[:100]), ArraySource(X[100:], y[100:])
    seen = scored(linear(1.0, 0.5), linear(1.0, 0.0), 0.1, *parts)
    assert seen.r2 == pytest.approx(r2_score(y, X @ [1.0, 0.5]))
    assert seen.r2_linear == pytest.approx(r2_score(y, X[:, 0]))
    assert seen.r2_mean == pytest.approx(r2_score(y, np.full(300, 0.1)))
    errors = y - X @ [1.0, 0.5]
    assert seen.rmse == pytest.approx(math.sqrt(np.mean(errors**2)))
    assert seen.rmse_error == pytest.approx(np.std(errors**2, ddof=1) / (2 * seen.rmse * math.sqrt(300)))
    assert (seen.n_rows, seen.r2_each) == (300, ())
    assert seen.beats_mean


def test_labels_that_nothing_predicts(rows):
    X, _ = rows
    y = np.random.default_rng(1).standard_normal(300)
    assert not scored(linear(0.01, 0.0), linear(0.0, 0.0), 0.0, ArraySource(X, y)).beats_mean
    assert not scored(linear(0.0, 0.0), linear(0.0, 0.0), 0.0, ArraySource(X, y)).beats_mean


@pytest.mark.statistical
def test_the_mean_is_beaten_by_chance_as_rarely_as_said():
    rng, lucky = np.random.default_rng(2), 0
    for _ in range(1000):
        X = rng.standard_normal((30, 1))
        lucky += scored(linear(0.1), linear(0.0), 0.0, ArraySource(X, rng.standard_normal(30))).beats_mean
    assert lucky <= 1000 * 0.01 + 5 * math.sqrt(1000 * 0.01)


def test_labels_that_do_not_vary_have_no_share():
    X = np.zeros((5, 1))
    seen = scored(linear(0.0), linear(0.0), 0.0, ArraySource(X, np.zeros(5)))
    assert (seen.r2, seen.r2_linear, seen.r2_mean, seen.rmse) == (None, None, None, 0.0)
    one = scored(linear(0.0), linear(0.0), 0.0, ArraySource(X[:1], np.ones(1)))
    assert one.r2 is None
    assert math.isinf(one.rmse_error)


@pytest.mark.parametrize("scale", [1e-180, 1e180])
def test_labels_of_any_size(rows, scale):
    X, y = rows
    seen = scored(linear(scale, 0.5 * scale), linear(0.0, 0.0), 0.0, ArraySource(X, scale * y))
    assert seen.r2 == pytest.approx(r2_score(y, X @ [1.0, 0.5]))
    assert seen.rmse == pytest.approx(scale * math.sqrt(np.mean((y - X @ [1.0, 0.5]) ** 2)))


def test_several_outputs_are_averaged(rows):
    X, y = rows
    both = ShallowNetwork(
        np.array([[1.0, 0.5], [0.0, 0.0]]), np.zeros((0, 2)), np.zeros((0, 2)), intercept=np.zeros(2)
    )
    labels = np.column_stack([y, X[:, 1]])
    seen = scored(both, both, np.zeros(2), ArraySource(X, labels))
    each = r2_score(labels, np.column_stack([X @ [1.0, 0.5], np.zeros(300)]), multioutput="raw_values")
    assert seen.r2_each == pytest.approx(tuple(each))
    assert seen.r2 == pytest.approx(np.mean(each))


@pytest.mark.statistical
def test_a_linear_signal_is_seen_in_the_rows_and_noise_is_not():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 10))
    A = np.column_stack([X, np.ones(400)])

    def loss(y):
        left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        return np.mean(left**2) / np.var(y)

    assert linear_signal(loss(0.5 * X[:, 0] + rng.standard_normal(400)), 400, 10)
    # One in a million such samples of noise would be called a signal.
    assert not any(linear_signal(loss(rng.standard_normal(400)), 400, 10) for _ in range(200))
    assert not linear_signal(0.0, 11, 10)
