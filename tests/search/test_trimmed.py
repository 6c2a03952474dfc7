import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Params, Problem, finish
from netlearn.network import ShallowNetwork
from netlearn.search.trimmed import finish_trimmed, n_rarer_side
from netlearn.source import ArraySource
from tests.fit.twins import planted


def with_a_sleeper(seed, n_rows=4000, bias=3.2):
    """Rows of four units in six dimensions and of one more that wakes up on a few of them; the four, and those rows."""
    network = teachers.random(4, 6, seed, biases=0.5)
    rows = planted(network, n_rows, seed)
    u = np.random.default_rng(100 + seed).standard_normal(6)
    u /= np.linalg.norm(u)
    z = rows.X @ u - bias
    return network, ArraySource(rows.X, rows.y + 2.0 * np.maximum(z, 0.0)), np.flatnonzero(z > 0)


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_of_an_unseen_unit_are_set_aside_and_the_others_fitted_exactly(seed):
    network, rows, awake = with_a_sleeper(seed)
    assert 0 < len(awake) < 10  # fewer than the seven parameters and three to check
    found = finish(Problem(rows, True), Params.from_network(teachers.random(4, 6, seed, biases=0.5)))
    assert found.params.to_network().distance(network) > 1e-4
    fit = finish_trimmed(Problem(rows, True, zero_loss=1e-18), found)
    assert fit.params.to_network().distance(network) < 1e-10
    np.testing.assert_array_equal(fit.left_out, awake)


def test_a_unit_that_those_rows_alone_have_shown_is_left_out():
    network, rows, awake = with_a_sleeper(0)
    rare = ShallowNetwork(np.zeros(6), [1.0], -rows.X[awake[:1]] / 10, [1.0], 0.0)
    start = Params.from_network(network).joined(Params.from_network(rare))
    found = finish(Problem(rows, True), start, max_rounds=5)
    assert found.params.n_hidden == 5
    fit = finish_trimmed(Problem(rows, True, zero_loss=1e-18), found)
    assert fit.params.n_hidden == 4
    np.testing.assert_array_equal(fit.left_out, awake)


@pytest.mark.parametrize("noise", [0.1, 1e-6])
def test_noise_on_all_rows_is_no_matter_of_a_few(noise):
    network = teachers.random(3, 5, 0, biases=0.5)
    rows = planted(network, 3000, 0, noise=noise)
    found = finish(Problem(rows, True), Params.from_network(network))
    assert finish_trimmed(Problem(rows, True, zero_loss=1e-18), found) is None


def test_rows_are_counted_on_the_rarer_side():
    X = np.arange(10.0)[:, None]
    rows = ArraySource(X, np.zeros(10))
    network = ShallowNetwork(np.zeros(1), np.ones(3), np.ones((3, 1)), [-2.5, -7.5, 5.0], 0.0)
    np.testing.assert_array_equal(np.sort(n_rarer_side(rows, Params.from_network(network))), [0, 2, 3])
