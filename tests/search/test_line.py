"""One feature: all units are read off exact labels, and none off noisy ones."""

import numpy as np
import pytest

from netlearn import Status, learn
from netlearn.network import ShallowNetwork
from netlearn.search.line import read_off
from netlearn.source import ArraySource


def labelled(x, places, weights, slope=0.3):
    """Rows of a network with these units, and the network."""
    units = np.ones((len(places), 1))
    network = ShallowNetwork(np.array([slope]), np.asarray(weights), units, -np.asarray(places), 1.5)
    return ArraySource(x[:, None], network(x[:, None])), network


def drawn(k, n, seed):
    rng = np.random.default_rng(seed)
    weights = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    places = np.linspace(-1.5, 1.5, k + 2)[1:-1] + 0.005 * rng.uniform(size=k)
    return labelled(rng.standard_normal(n), places, weights)


def error(params, network):
    x = np.linspace(-4.0, 4.0, 1001)[:, None]
    return np.max(np.abs(params.to_network()(x) - network(x))) / np.std(network(x))


@pytest.mark.parametrize(("k", "n"), [(1, 20), (2, 50), (40, 2000), (200, 20_000)])
@pytest.mark.parametrize("seed", range(3))
def test_all_units_are_read_off(k, n, seed):
    rows, network = drawn(k, n, seed)
    params = read_off(rows)
    assert params.n_hidden == k
    # A slope from two rows at a distance h has an error of eps / h, with h 1e-4 or more.
    assert error(params, network) < 1e-9


def test_a_unit_on_a_row_counts_once():
    x = np.linspace(-1.0, 1.0, 21)
    rows, network = labelled(x, [x[7], x[15]], [1.0, -0.5])
    params = read_off(rows)
    assert params.n_hidden == 2
    assert error(params, network) < 1e-12


def test_two_rows_are_enough_for_a_line():
    x = np.array([-2.0, -1.0, -0.5, 0.1, 0.4, 1.0, 2.0, *np.linspace(3.0, 9.0, 30)])
    rows, network = labelled(x, [-0.2, 0.7], [1.0, 2.0])
    assert error(read_off(rows), network) < 1e-12


def test_rows_that_repeat_and_rows_out_of_order_do_not_matter():
    rows, network = drawn(5, 400, 0)
    order = np.random.default_rng(0).integers(400, size=3000)
    params = read_off(ArraySource(rows.X[order], rows.y[order]))
    assert params.n_hidden == 5
    assert error(params, network) < 1e-9


def test_noise_and_straight_lines_show_no_units():
    rows, _ = drawn(3, 500, 0)
    noisy = rows.y + 1e-6 * np.random.default_rng(0).standard_normal(500)
    assert read_off(ArraySource(rows.X, noisy)) is None
    assert read_off(ArraySource(rows.X, 2.0 * rows.X[:, 0] + 1.0)) is None
    assert read_off(rows.head(2)) is None


def test_learn_finds_forty_units_on_a_line():
    rows, network = drawn(40, 5000, 1)
    result = learn(rows.X, rows.y, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 40
    assert result.network.distance(network) < 1e-10


def test_a_smaller_width_that_was_asked_for_is_kept():
    rows, _ = drawn(40, 5000, 1)
    result = learn(rows.X, rows.y, n_hidden=10, rng=0)
    assert result.network.n_hidden <= 10
    assert result.status is not Status.RECOVERED
