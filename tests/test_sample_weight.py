"""Sample weights of `learn`: what they count for, what they do not, and which are refused."""

import numpy as np
import pytest

from netlearn import FileSource, Oracle, Status, learn, teachers
from netlearn.errors import InputError
from netlearn.source.samples import HoldOut, split

TARGET = teachers.random(2, 4, 0)


def rows(n, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, TARGET(X) + noise * rng.standard_normal(n)


def test_rows_of_weight_zero_are_left_out():
    X, y = rows(600)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 600)
    weight[::3] = 0.0
    spoiled = np.where(weight > 0, y, 1e6)
    result = learn(X, spoiled, sample_weight=weight, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(TARGET) < 1e-9
    assert sum(result.diagnostics.rows.values()) == 400
    assert not set(map(tuple, result.held_out.X)) & set(map(tuple, X[::3]))
    # Negative control: with their weights they spoil it.
    assert not learn(X, spoiled, n_hidden=2, rng=0, time_limit=1.0).success


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_equal_weights_change_no_bit(noise):
    X, y = rows(500, noise)
    plain = learn(X, y, n_hidden=2, rng=0)
    assert learn(X, y, sample_weight=np.full(500, 2.0), n_hidden=2, rng=0).network == plain.network


def test_the_last_fit_is_the_weighted_least_squares():
    # Without units the answer is known: weighted least squares on all rows but those of the certificate.
    X, y = rows(400, noise=0.5)
    weight = np.random.default_rng(1).uniform(0.0, 3.0, 400)
    result = learn(X, y, sample_weight=weight, n_hidden=0, rng=0)
    kept = ~np.isin(X[:, 0], result.held_out.X[:, 0])
    assert kept.sum() == 400 - result.certificate.n_val
    root = np.sqrt(weight[kept])[:, None]
    A = np.hstack([X[kept], np.ones((kept.sum(), 1))])
    expected = np.linalg.lstsq(root * A, root[:, 0] * y[kept], rcond=None)[0]
    np.testing.assert_allclose([*result.network.linear, result.network.intercept], expected, atol=1e-8)
    unweighted = np.linalg.lstsq(A, y[kept], rcond=None)[0]
    assert np.max(np.abs(unweighted - expected)) > 1e-3


def test_weights_follow_their_rows_through_the_division():
    X = np.arange(50.0)[:, None]
    samples = split(X, X[:, 0], np.random.default_rng(0), lambda n: HoldOut(n // 5, 7), np.arange(50.0))
    np.testing.assert_array_equal(samples.weight, samples.rows.in_memory().y)
    assert len(samples.weight) + samples.fresh.n_rows == 49
    assert samples.n_reserve == 7


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-np.ones(20), "must hold numbers >= 0; got -1"),
        (np.full(20, np.nan), "finite"),
        (np.full(20, np.inf), "finite"),
        (np.ones(19), "19 entries and 20 rows"),
        (np.ones((20, 1)), "1 axes"),
        (np.zeros(20), "above zero for at least 4 rows; it is for 0"),
        (np.arange(20) < 3, "real numbers"),
        ((np.arange(20) < 3).astype(float), "it is for 3"),
        (["heavy"] * 20, "real numbers"),
    ],
)
def test_bad_weights_are_refused_in_one_sentence(weight, words):
    X, y = rows(20)
    with pytest.raises(InputError, match=words) as caught:
        learn(X, y, sample_weight=weight)
    assert "sample_weight" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_are_for_arrays(tmp_path):
    np.save(tmp_path / "t.npy", np.ones((30, 3)))
    for source in (Oracle(TARGET, n_features=4), FileSource(tmp_path / "t.npy", target=2)):
        with pytest.raises(InputError, match=type(source).__name__):
            learn(source, sample_weight=np.ones(30))
