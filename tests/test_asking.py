"""Oracles with units that sleep on N(0, I)."""

import numpy as np
import pytest

from netlearn import Oracle, Status, corridor, learn, teachers
from netlearn.network import ShallowNetwork


def with_biases(seed, biases, d=6):
    """A network of relu units with the biases given."""
    units = teachers.random(len(biases), d, seed)
    lam, b = units.coefficients, np.asarray(biases, float)
    return ShallowNetwork(lam @ units.units, lam, units.units, b, float(lam @ b))


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
    assert any("3^2 I" in note for note in result.diagnostics.notes)
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
    assert any("unseen" in note for note in poor.diagnostics.notes)


def test_a_network_without_sleepers_costs_a_hundred_points_more():
    network = teachers.random(3, 6, 0, biases=0.5)
    oracle = Oracle(network, n_features=6)
    result = learn(oracle, n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert oracle.n_queries == sum(result.diagnostics.rows.values())
    assert result.diagnostics.rows["compare"] == 100
    assert not any("3^2 I" in note for note in result.diagnostics.notes)


def test_answers_in_single_precision_are_no_sleepers():
    network = teachers.random(3, 6, 0, biases=0.5)
    oracle = Oracle(lambda X: network(X).astype(np.float32), n_features=6)
    result = learn(oracle, n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert not any("3^2 I" in note for note in result.diagnostics.notes)


def test_all_attempts_are_made_where_no_points_are_left_for_another_round(monkeypatch):
    network, asked = teachers.random(3, 6, 0, biases=0.5), []
    learn_samples = corridor._learn_from_samples

    def counted(*arguments, **options):
        asked.append(options.get("attempts"))
        return learn_samples(*arguments, **options)

    monkeypatch.setattr(corridor, "_learn_from_samples", counted)
    for budget in (380, None):  # the first round takes 10 for each of 28 unknowns, and 100
        learn(Oracle(network, n_features=6, budget=budget), n_hidden=3, rng=0)
    assert asked == [None, 3]


@pytest.mark.parametrize("budget", [8, 30, 200, 1000])
def test_the_budget_is_never_exceeded(budget):
    network = with_biases(1, np.linspace(-4, 4, 8))
    oracle = Oracle(network, n_features=6, budget=budget)
    learn(oracle, n_hidden=8, rng=0)
    assert oracle.n_queries <= budget
