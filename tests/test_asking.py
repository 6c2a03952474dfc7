"""Oracles with units that sleep on N(0, I)."""

import numpy as np
import pytest

from netlearn import Oracle, Status, asking, learn, learning, teachers
from netlearn.network import ShallowNetwork
from tests.fit.several import network


def with_biases(seed, biases, d=6):
    """A network of relu units with the biases given."""
    units = teachers.random(len(biases), d, seed)
    lam, b = units.coefficients, np.asarray(biases, float)
    return ShallowNetwork(lam @ units.units, lam, units.units, b, float(lam @ b))


def told(result, words):
    return any(words in note for note in result.diagnostics.notes)


def unit_errors(network, found):
    """Distance of each unit from the nearest one found, both with their coefficients."""
    true, near = (
        net.coefficients[:, None] * np.hstack([net.units, net.biases[:, None]]) for net in (network, found)
    )
    apart = [np.linalg.norm(true[:, None] + sign * near[None], axis=2) for sign in (-1, 1)]
    return np.min(apart, axis=(0, 2))


@pytest.mark.parametrize("seed", range(4))
def test_sleepers_are_found(seed):
    network = with_biases(seed, np.random.default_rng(seed).uniform(-4, 4, 8))
    oracle = Oracle(network, n_features=6, budget=100_000)
    result = learn(oracle, n_hidden=8, rng=seed)
    assert result.status is Status.RECOVERED
    assert np.max(unit_errors(network, result.network)) < 1e-8
    assert told(result, "queries were drawn 3 times wider than N(0, I)")
    assert oracle.n_queries <= 100_000


def test_a_unit_that_no_point_of_the_first_round_wakes_shows_further_out():
    network = with_biases(0, [0.3, -0.5, 7.0])  # beyond 7 standard deviations
    asked = Oracle(network, n_features=6)
    result = learn(asked, n_hidden=3, rng=0)
    assert result.network.n_hidden == 3
    assert np.max(unit_errors(network, result.network)) < 1e-8
    # Negative control: with no points left to compare with, the two that are seen are all there is.
    poor = learn(Oracle(network, n_features=6, budget=380), n_hidden=3, rng=0)
    assert poor.network.n_hidden == 2
    assert told(poor, "1 of the 3 units asked for are not seen")
    assert poor.status is Status.REPRODUCED  # a fifth of these points are fresh, 76
    # With some to compare with and too few to find it, it is named.
    short = learn(Oracle(network, n_features=6, budget=1000), n_hidden=3, rng=0)
    assert short.network.n_hidden == 2
    assert told(short, "the oracle and the network differ at points about 4 times as far out")


@pytest.mark.parametrize("n_hidden", [3, "auto"])
def test_random_lines_find_a_unit_that_no_wide_point_wakes(monkeypatch, n_hidden):
    network = with_biases(0, [0.3, -0.5, 50.0])
    result = learn(Oracle(network, n_features=6), n_hidden=n_hidden, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 3
    assert np.max(unit_errors(network, result.network)) < 1e-8
    assert told(result, "queries were drawn")
    # Negative control: without lines nothing shows it.
    monkeypatch.setattr(asking, "_N_LINES", 0)
    blind = learn(Oracle(network, n_features=6), n_hidden=n_hidden, rng=0)
    assert blind.network.n_hidden == 2
    assert not told(blind, "differ at points")


def test_random_lines_name_a_unit_that_may_not_be_found():
    network = with_biases(0, [0.3, -0.5, 50.0])
    oracle = Oracle(network, n_features=6)
    result = learn(oracle, n_hidden=2, rng=0)
    assert result.network.n_hidden == 2
    assert result.status is Status.RECOVERED  # of N(0, I), hardly a point in 10^500 would show the third
    (note,) = [note for note in result.diagnostics.notes if "differ at points" in note]
    # Distances are measured along the lines to a factor of 1.2; 50 times as far out is where the unit is for a line
    # along it, and the median line has a component of 0.67 along any direction of length one.
    assert 30 < float(note.split("about ")[1].split()[0]) < 300
    assert oracle.n_queries < 10_000  # more points would not help


def test_a_network_without_sleepers_costs_two_hundred_points_more():
    network = teachers.random(3, 6, 0, biases=0.5)
    oracle = Oracle(network, n_features=6)
    result = learn(oracle, n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert oracle.n_queries == sum(result.diagnostics.rows.values())
    # Eight questions repeated, a hundred points four times as far out, and both ends of fifty lines.
    assert result.diagnostics.rows["compare"] == 8 + 100 + 100
    assert not told(result, "wider than N(0, I)")


@pytest.mark.parametrize("seed", range(3))
def test_answers_in_single_precision_are_no_sleepers(seed):
    network = teachers.random(3, 6, seed, biases=0.5)
    oracle = Oracle(lambda X: network(X).astype(np.float32), n_features=6)
    result = learn(oracle, n_hidden=3, rng=seed)
    assert result.status is Status.RECOVERED
    assert result.diagnostics.rows["compare"] == 208
    assert not told(result, "wider than N(0, I)")
    assert not told(result, "differ at points")


@pytest.mark.parametrize(
    ("budget", "holdout", "n_fresh"),
    [(None, None, 2_000), (1_000, None, 200), (None, 0.5, 190), (300, 0.5, 150)],
)
def test_the_certificate_has_points_of_its_own(budget, holdout, n_fresh):
    network = teachers.random(3, 6, 0, biases=0.5)  # whose first round has 380 points
    oracle = Oracle(network, n_features=6, budget=budget)
    result = learn(oracle, n_hidden=3, holdout=holdout, rng=0)
    assert result.status is Status.RECOVERED
    assert result.certificate.n_val == result.certificate.n_bound == result.score.n_rows == n_fresh
    assert result.certificate.basis.law == "N(0, I)"
    fresh = oracle.bought[0][:n_fresh]
    np.testing.assert_array_equal(result.held_out.X, fresh[:1000])
    # They are no antithetic pairs, and some of them are asked again.
    assert not np.array_equal(fresh[0], -fresh[1])
    np.testing.assert_array_equal(oracle.bought[0][n_fresh : n_fresh + 8], fresh[:8])
    # What is known to be N(0, I) is not said to be anything else.
    assert not told(result, "not Gaussian")


def test_what_a_black_box_leaves_unexplained_is_noise_only_if_it_answers_anew():
    # A sine so fast that it looks like noise to every network.
    network = teachers.random(2, 4, 0, biases=0.5)
    rng = np.random.default_rng(0)
    boxes = {
        Status.NOT_A_SMALL_NETWORK: lambda X: network(X) + 0.1 * np.sin(1e3 * X[:, 0]),
        Status.NOISE_LIMITED: lambda X: network(X) + 0.07 * rng.standard_normal(len(X)),
    }
    for status, box in boxes.items():
        oracle = Oracle(box, n_features=4, budget=3_000)
        result = learn(oracle, n_hidden=2, rng=0)
        assert result.status is status
        assert result.r2 > 0.5


@pytest.mark.parametrize("budget", range(60, 800, 67))
def test_whatever_the_budget_leaves_for_comparing_there_is_an_answer(budget):
    network = teachers.random(1, 3, 0, biases=0.5)
    oracle = Oracle(network, n_features=3, budget=budget)
    result = learn(oracle, n_hidden=1, rng=0)
    assert result.status in (Status.RECOVERED, Status.REPRODUCED)
    assert result.network.distance(network) <= 1e-10 * network.norm()
    assert oracle.n_queries <= budget
    # With fewer than ninety fresh points nothing is called recovered.
    assert (result.status is Status.RECOVERED) == (result.certificate.n_val >= 90)


def test_all_attempts_are_made_where_no_points_are_left_for_another_round(monkeypatch):
    network, asked = teachers.random(3, 6, 0, biases=0.5), []
    learn_samples = learning._learn_from_samples

    def counted(*arguments, **options):
        asked.append(options.get("attempts"))
        return learn_samples(*arguments, **options)

    monkeypatch.setattr(learning, "_learn_from_samples", counted)
    for budget in (380, None):  # the first round takes 10 for each of 28 unknowns, and 100
        learn(Oracle(network, n_features=6, budget=budget), n_hidden=3, rng=0)
    assert asked == [None, 3]


@pytest.mark.parametrize("budget", [8, 30, 200, 1000])
def test_the_budget_is_never_exceeded(budget):
    network = with_biases(1, np.linspace(-4, 4, 8))
    oracle = Oracle(network, n_features=6, budget=budget)
    learn(oracle, n_hidden=8, rng=0)
    assert oracle.n_queries <= budget


@pytest.mark.parametrize(("copies", "fewest", "most"), [(False, 2_500, 4_000), (True, 9_000, 12_000)])
def test_a_point_with_ten_labels_counts_as_ten_unless_they_repeat_each_other(copies, fewest, most):
    # 17 x 41 unknowns for one output at ten points each, and 2,000 for the certificate; ten outputs share them.
    f = network(16, 40, 1 if copies else 10, 0)
    oracle = Oracle((lambda X: np.tile(f(X), 10)) if copies else f, n_features=40)
    result = learn(oracle, n_hidden=16, rng=0)
    assert result.status is Status.RECOVERED
    assert fewest < oracle.n_queries < most
