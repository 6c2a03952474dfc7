"""Proposals: what they are in the class, and that they find what is there."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.paper.propose import propose


def proposal(target, R, n=8000, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, target.n_features))
    weights, units = propose(Z, target(Z) - Z @ target.linear, target.n_hidden, R, good=1e-6, rng=rng)
    return weights, units, np.mean((target(Z) - Z @ target.linear - np.abs(Z @ units.T) @ weights) ** 2)


@pytest.mark.parametrize(
    ("teacher", "k", "r"),
    [
        (teachers.random, 1, 1),
        (teachers.random, 3, 3),
        (teachers.hard_plane, 4, 2),
        (teachers.hard_plane, 6, 2),
    ],
)
def test_planted_units_are_found(teacher, k, r):
    target = teacher(k, r, 3, radius=2.0)
    weights, units, left = proposal(target, 2.0 + 1e-9)
    assert len(weights) <= k
    assert left <= 1e-6
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1.0)


def test_weights_stay_in_the_class_where_the_target_does_not():
    target = teachers.random(2, 2, 1, radius=3.0)
    weights, _, left = proposal(target, 1.0)
    assert np.abs(weights).sum() <= 1.0 + 1e-9
    assert left < np.mean(target.norm() ** 2)


def test_without_a_subspace_there_is_nothing_to_propose():
    weights, units = propose(np.zeros((10, 0)), np.ones(10), 3, 1.0, good=0.0, rng=np.random.default_rng(0))
    assert weights.shape == (0,)
    assert units.shape == (0, 0)


def test_labels_that_are_zero_need_no_unit():
    rng = np.random.default_rng(0)
    weights, _ = propose(rng.standard_normal((100, 2)), np.zeros(100), 3, 1.0, good=0.0, rng=rng)
    assert len(weights) == 0
