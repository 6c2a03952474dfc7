"""Wide starts, Gauss-Newton on activation patterns and pruning bring planted networks back to rounding."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.polish import ROUNDING, Iterate, explore, finish
from netlearn.polish.wide import CANDIDATE_GAIN, affordable_width, n_unknowns, wide_fit
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource
from tests.grains import cut
from tests.polish.twins import planted

FAMILIES = {
    "one unit": (teachers.random(1, 12, 7), False, 300),
    "random": (teachers.random(4, 10, 0), False, 600),
    "positive": (teachers.positive(4, 10, 1), False, 600),
    "orthonormal": (teachers.orthonormal(4, 10, 2), False, 600),
    "biases": (teachers.random(4, 6, 3, biases=1.0), True, 600),
    "clustered": (teachers.clustered(4, 8, 4, angle=0.3), False, 1500),
    "hard plane": (teachers.hard_plane(4, 6, 5), False, 2000),
    "crowded": (teachers.random(6, 3, 6), False, 1000),
}


def standardised(network, n, seed):
    """The rows with labels of mean zero and unit variance, as the polish expects them, and that network."""
    centre, scale = network.mean(), np.sqrt(network.variance())
    rows = planted(network, n, seed)
    target = Iterate.from_network(network)
    a = target.a / scale
    a[0, -1] -= centre / scale
    return ArraySource(rows.X, (rows.y - centre) / scale), Iterate(a, target.sigma).to_network()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_planted_networks_come_back_to_rounding(family, seed):
    network, biases, n = FAMILIES[family]
    rows, target = standardised(network, n, seed=100)
    fit = wide_fit(rows, network.n_hidden, np.random.default_rng(seed), biases=biases)
    fit = finish(rows, fit.iterate, biases=biases)
    assert fit.loss <= ROUNDING
    # The distance is sqrt(loss) times the condition of the least-squares problem, here below 1e3.
    assert fit.iterate.to_network().distance(target) <= 1e-10


@pytest.mark.parametrize("family", FAMILIES)
def test_finish_from_near_the_truth_is_exact(family):
    network, biases, n = FAMILIES[family]
    rows, target = standardised(network, n, seed=101)
    start = Iterate.from_network(target)
    noise = 1e-2 * np.random.default_rng(0).standard_normal(start.a.shape)
    noise[1:, -1] *= biases
    fit = finish(rows, start.moved(noise), biases=biases)
    assert fit.loss <= ROUNDING
    assert fit.iterate.to_network().distance(target) <= 1e-10
    if not biases:
        assert not fit.iterate.a[1:, -1].any()


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_finish_never_raises_the_loss_from_any_start(seed, noise):
    rows = planted(teachers.random(4, 10, seed), 600, seed, noise=noise)
    start = Iterate.from_planes(spread_planes(6, 10, np.random.default_rng(seed), biases=True))
    fit = finish(rows, start, biases=True)
    assert np.all(np.diff(fit.trace) < 0)
    assert (
        fit.loss == fit.trace[-1] == pytest.approx(np.mean((rows.y - fit.iterate.linearise(rows.X)[0]) ** 2))
    )


def test_explore_lets_the_loss_rise_and_returns_the_best_it_met():
    # The negative control of the test above: over-relaxed steps do rise, so that the two can be told apart.
    rows, _ = standardised(FAMILIES["hard plane"][0], 2000, seed=100)
    risen = []
    for seed in range(4):
        start = Iterate.from_planes(spread_planes(6, 6, np.random.default_rng(seed), biases=False))
        fit = explore(rows, start, biases=False)
        assert fit.loss == min(fit.trace)
        mean_square = np.mean((rows.y - fit.iterate.linearise(rows.X)[0]) ** 2)
        assert fit.loss == pytest.approx(mean_square, rel=1e-9)
        risen.append(bool(np.any(np.diff(fit.trace) > 0)))
    assert all(risen)


def test_conjugate_gradients_and_the_normal_matrix_find_the_same_network(monkeypatch):
    network, biases, n = FAMILIES["random"]
    rows, target = standardised(network, n, seed=100)
    # Without the direct solver every step is by conjugate gradients.
    monkeypatch.setattr("netlearn.polish.gauss_newton._UNKNOWNS_PER_PRODUCT", 0)
    fit = wide_fit(rows, network.n_hidden, np.random.default_rng(0), biases=biases)
    fit = finish(rows, fit.iterate, biases=biases)
    assert fit.iterate.to_network().distance(target) <= 1e-10
    start = Iterate.from_planes(spread_planes(4, 10, np.random.default_rng(0), biases=False))
    assert finish(rows, start, biases=False).n_products > 0


@pytest.mark.parametrize("run", [explore, finish])
def test_a_deadline_that_has_passed_ends_the_run_at_once(run):
    rows, _ = standardised(FAMILIES["random"][0], 600, seed=100)
    start = Iterate.from_planes(spread_planes(4, 10, np.random.default_rng(0), biases=False))
    fit = run(rows, start, biases=False, deadline=lambda: True)
    assert len(fit.trace) == 1
    np.testing.assert_array_equal(fit.iterate.a, start.a)


def test_blocks_change_the_last_digits_only(monkeypatch):
    network, _, n = FAMILIES["random"]
    rows = planted(network, n, 3, noise=0.1)
    whole = finish(rows, Iterate.from_network(network), biases=False)
    cut(monkeypatch, least_rows=50, block_entries=1)
    blocks = finish(rows, Iterate.from_network(network), biases=False)
    np.testing.assert_allclose(blocks.iterate.a, whole.iterate.a, atol=1e-9)


def test_rows_that_are_too_few_for_a_surplus_leave_the_width_alone():
    assert affordable_width(10, 10_000, 20, False, 1.25) == 15
    assert affordable_width(10, 300, 20, False, 1.25) == 10
    for biases in (True, False):
        per_unit = 20 + biases
        width = affordable_width(10, 470, 20, biases, 2.0)
        assert width > 10
        assert (width + 1) * per_unit * 1.8 <= 470
    assert n_unknowns(3, 5, True) == 24
    assert n_unknowns(3, 5, False) == 21
    assert 0 < CANDIDATE_GAIN < 1


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_starts_are_unit_directions_and_homogeneous_without_biases(n_features):
    rng = np.random.default_rng(0)
    planes = spread_planes(50, n_features, rng, biases=True)
    np.testing.assert_allclose(np.linalg.norm(planes[:, :-1], axis=1), 1.0)
    assert np.count_nonzero(planes[:, -1]) == (25 if n_features == 2 else 50)
    assert not spread_planes(50, n_features, rng, biases=False)[:, -1].any()
    if n_features == 2:
        # Equispaced over the half circle: no direction is further than half a step from one of them.
        angles = np.sort(np.arctan2(planes[:, 1], planes[:, 0]) % np.pi)
        np.testing.assert_allclose(np.diff(angles), np.pi / 50)
