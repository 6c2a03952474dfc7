"""Copies of a unit become one unit, and what that changes is bounded by the cost that was allowed."""

import numpy as np
import pytest

from netlearn.fit import Params
from netlearn.fit.copies import merged


def values(params, X):
    return params.linearise(X)[0]


def with_copies(m, angle, seed, *, turned=0.0):
    """Five units far apart with weights of m outputs, each of them as two at about twice an angle."""
    rng = np.random.default_rng(seed)
    planes = np.linalg.qr(rng.standard_normal((7, 5)))[0].T * rng.uniform(0.5, 1.5, (5, 1))
    C = rng.standard_normal((5, m))
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    aside = np.linalg.norm(planes, axis=1, keepdims=True) * rng.standard_normal((5, 7)) / np.sqrt(7)
    share = rng.uniform(0.2, 0.8, (5, 1))
    flipped = np.where(np.arange(5) % 2 == 0, 1.0, -1.0)[:, None]  # a hyperplane has no orientation
    halves = np.vstack([share * (planes + angle * aside), flipped * (1 - share) * (planes - angle * aside)])
    turns = np.vstack([C, C]) + turned * rng.standard_normal((10, m)) * (m > 1)
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return Params(rng.standard_normal((m, 7)), halves, turns)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize(("angle", "turned"), [(0.0, 0.0), (0.01, 0.0), (0.03, 0.01)])
def test_copies_become_one_at_no_more_than_the_cost_allowed(m, angle, turned):
    X = np.random.default_rng(1).standard_normal((20_000, 6))
    for seed in range(3):
        params = with_copies(m, angle, seed, turned=turned)
        # Lengths are below two, and angles below 2.5 times the one asked for.
        level = 4 * (2.5 * angle) ** 3 + 4 * turned**2 + 1e-28
        fewer = merged(params, level)
        assert fewer.n_hidden == 5
        change = (values(params, X) - values(fewer, X)).reshape(len(X), -1)
        # Five pairs, each at most the level; the estimate is right up to a factor that is below two for N(0, I).
        assert np.mean(np.sum(change**2, axis=1)) <= 10 * level


@pytest.mark.parametrize("m", [1, 3])
def test_units_that_rows_can_tell_apart_stay_two(m):
    params = with_copies(m, 0.05, 0)
    length = np.linalg.norm(params.planes, axis=1).min()
    assert merged(params, 1e-3 * length**2 * 0.05**3).n_hidden == 10


def test_of_two_outputs_a_pair_on_one_hyperplane_is_one_unit_whatever_its_weights():
    planes = np.array([[1.0, 2.0, 0.5], [-0.5, -1.0, -0.25]])
    params = Params(np.zeros((2, 3)), planes, np.array([[1.0, 0.0], [0.0, 1.0]]))
    X = np.random.default_rng(0).standard_normal((50, 2))
    one = merged(params, 1e-20)
    assert one.n_hidden == 1
    np.testing.assert_allclose(values(one, X), values(params, X), atol=1e-13)


def test_a_unit_that_adds_nothing_goes_to_another():
    params = merged(with_copies(1, 0.0, 0), 1e-20)
    faint = params.joined(Params(np.zeros((1, 7)), 1e-6 * np.eye(7)[:1], np.ones((1, 1))))
    assert merged(faint, 1e-9).n_hidden == 5
    assert merged(faint, 1e-15).n_hidden == 6
