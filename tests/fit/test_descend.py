"""Gauss-Newton on activation patterns: `finish` never rises and ends exact, `explore` may rise and keeps the best."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import ROUNDING, Params, Problem, explore, finish
from netlearn.fit.descend import Explore, Point
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource
from tests.fit.twins import FAMILIES, planted, standardised
from tests.grains import cut


@pytest.mark.parametrize("family", FAMILIES)
def test_finish_from_near_the_truth_is_exact(family):
    network, biases, n = FAMILIES[family]
    rows, target = standardised(network, n, seed=101)
    start = Params.from_network(target)
    noise = 1e-2 * np.random.default_rng(0).standard_normal(start.a.shape)
    noise[1:, -1] *= biases
    fit = finish(Problem(rows, biases), start.moved(noise))
    assert fit.loss <= ROUNDING
    assert fit.params.to_network().distance(target) <= 1e-10
    if not biases:
        assert not fit.params.planes[:, -1].any()


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_finish_never_raises_the_loss_from_any_start(seed, noise):
    rows = planted(teachers.random(4, 10, seed), 600, seed, noise=noise)
    start = Params.from_planes(spread_planes(6, 10, np.random.default_rng(seed), biases=True))
    fit = finish(Problem(rows, True), start)
    assert np.all(np.diff(fit.trace) < 0)
    assert (
        fit.loss == fit.trace[-1] == pytest.approx(np.mean((rows.y - fit.params.linearise(rows.X)[0]) ** 2))
    )


def test_explore_lets_the_loss_rise_and_returns_the_best_it_met():
    # The negative control of the test above: over-relaxed steps do rise, so that the two can be told apart.
    rows, _ = standardised(FAMILIES["hard plane"][0], 2000, seed=100)
    risen = []
    for seed in range(4):
        start = Params.from_planes(spread_planes(6, 6, np.random.default_rng(seed), biases=False))
        fit = explore(Problem(rows, False), start)
        assert fit.loss == min(fit.trace)
        mean_square = np.mean((rows.y - fit.params.linearise(rows.X)[0]) ** 2)
        assert fit.loss == pytest.approx(mean_square, rel=1e-9)
        risen.append(bool(np.any(np.diff(fit.trace) > 0)))
    assert all(risen)


def relaxations(losses, patience, *, few_rows=True):
    """The lengths of the steps of an exploration that meets these losses, until it ends."""
    rule = Explore(len(losses), patience, 10)
    start = Params.from_planes(np.eye(3))
    rows = ArraySource(np.ones((10 if few_rows else 1000, 2)), np.zeros(10 if few_rows else 1000))
    rule.begin(Problem(rows, False), start)
    lengths, best = [], np.inf
    for loss in losses:
        best = min(best, loss)
        lengths.append(rule._relaxation)
        if rule.ended(Point(start, loss), Point(start, best)):
            break
    return np.array(lengths)


def test_steps_on_a_plateau_grow_long_and_are_shortened_bit_by_bit():
    lengths = relaxations(np.full(1000, 0.1), 40)
    tried = np.unique(lengths)[::-1]
    np.testing.assert_allclose(tried, [1.85, 1.8, 1.75, 1.7, 1.65, 1.6, 1.55, 1.5])
    assert np.all(lengths[:11] == 1.5)  # the plateau shows after a quarter of the patience
    assert np.all(np.diff(lengths[11:]) <= 0)
    assert 11 + 7 * 30 + 40 <= len(lengths) <= 15 + 7 * 30 + 45
    # Neither short patience nor many rows take any.
    assert set(relaxations(np.full(1000, 0.1), 10)) == {1.5}
    assert set(relaxations(np.full(1000, 0.1), 40, few_rows=False)) == {1.5}


@pytest.mark.parametrize(
    ("loss", "gain", "is_progress"),
    [(0.1, 0.06, True), (0.1, 0.04, False), (0.005, 0.06, False), (0.005, 0.21, True)],
)
def test_what_is_progress_depends_on_what_is_left(loss, gain, is_progress):
    losses = np.repeat(loss * (1 - gain) ** np.arange(5), 8)
    n_rounds = len(relaxations(losses, 10, few_rows=False))
    assert n_rounds == (len(losses) if is_progress else 11)


def test_long_steps_stay_long_while_the_mean_loss_falls():
    rng = np.random.default_rng(0)
    falling = 0.1 * 0.99 ** np.arange(300) * rng.uniform(0.95, 1.05, 300)
    lengths = relaxations(np.concatenate([np.full(12, 0.1), falling]), 40)
    assert np.all(lengths[12:] == 1.85)


@pytest.mark.parametrize("run", [explore, finish])
def test_a_deadline_that_has_passed_ends_the_run_at_once(run):
    rows, _ = standardised(FAMILIES["random"][0], 600, seed=100)
    start = Params.from_planes(spread_planes(4, 10, np.random.default_rng(0), biases=False))
    fit = run(Problem(rows, False, deadline=lambda: True), start)
    assert len(fit.trace) == 1
    np.testing.assert_array_equal(fit.params.a, start.a)


def test_blocks_change_the_last_digits_only(monkeypatch):
    network, _, n = FAMILIES["random"]
    rows = planted(network, n, 3, noise=0.1)
    whole = finish(Problem(rows, False), Params.from_network(network))
    cut(monkeypatch, least_rows=50, block_entries=1)
    blocks = finish(Problem(rows, False), Params.from_network(network))
    np.testing.assert_allclose(blocks.params.a, whole.params.a, atol=1e-9)
