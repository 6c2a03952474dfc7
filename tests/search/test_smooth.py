"""The averaged one-step estimate: bounded in the mean square, better in the error of twin units."""

import numpy as np
import pytest
from scipy import stats

from netlearn import teachers
from netlearn.fit import Fit, Params, Problem, finish
from netlearn.search.smooth import smooth
from netlearn.source import ArraySource
from tests import statistics

D, K, N, ANGLE, NOISE = 6, 2, 2000, 0.05, 0.3
P = (K + 1) * D + 1
RUNS = 100


def twin_rows(seed, d=D, n=N, angle=ANGLE, noise=NOISE):
    rng = np.random.default_rng(1000 + seed)
    network = teachers.clustered(K, d, rng, angle=angle)
    X = rng.standard_normal((n, d))
    y = network(X)
    return network, ArraySource(X, y + noise * np.std(y) * rng.standard_normal(n))


@pytest.fixture(scope="module")
def runs():
    """For each seed: the network, least squares started at the truth, and the same smoothed."""
    table = []
    for seed in range(RUNS):
        network, rows = twin_rows(seed)
        least_squares = finish(Problem(rows, False), Params.from_network(network))
        smoothed = smooth(Problem(rows, False), least_squares, np.random.default_rng(seed))
        table.append((network, rows, least_squares, smoothed))
    return table


@pytest.mark.slow
def test_the_mean_square_stays_within_what_the_unknowns_may_hide(runs):
    for _, rows, least_squares, smoothed in runs:
        assert smoothed.loss <= least_squares.loss * (1 + P / N)
        values = smoothed.params.linearise(rows.X)[0]
        assert smoothed.loss == pytest.approx(np.mean((rows.y - values) ** 2))
        assert not smoothed.params.planes[:, -1].any()  # no biases were asked for, none came


@pytest.mark.statistical
def test_twin_units_come_out_better_and_never_much_worse(runs):
    # Were a run as likely to get worse as better, so few worse ones among those that changed at all would come
    # with probability FALSE_ALARM_RATE: smoothing does help. The median must fall as well, and the worst run
    # stay below 1.5 times the error of least squares started at the truth, which issue 3 allows.
    before, after = np.array(
        [(a.params.to_network().distance(f), b.params.to_network().distance(f)) for f, _, a, b in runs]
    ).T
    few = stats.binom.ppf(statistics.FALSE_ALARM_RATE, np.sum(after != before), 0.5)
    assert np.sum(after > before) <= few
    assert np.median(after) < np.median(before)
    assert np.max(after / before) <= 1.5
    # Negative control: perturbing without the Gauss-Newton step is no estimate at all.
    shaken = []
    for seed, (network, rows, least_squares, _) in enumerate(runs):
        noise = np.random.default_rng(seed).standard_normal(least_squares.params.a.shape)
        noise[1:, -1] = 0.0
        params = least_squares.params.moved(2 * np.sqrt(least_squares.loss / rows.n_rows) * noise)
        shaken.append(params.to_network().distance(network))
    assert np.sum(np.array(shaken) > before) > few
    assert np.median(shaken) > np.median(before)


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [(3, 1000, 0.1, 0.1), (4, 2000, 0.02, 0.3), (4, 2000, 0.1, 0.3)])
def test_where_it_does_not_help_it_does_not_hurt_by_more_than_a_twentieth(shape):
    # Twins far enough apart to be resolved gain nothing: here the median over runs of the ratio to least squares
    # started at the truth may reach 1.05, the factor of issue 3. Over 100 runs the share above it must be a half
    # at most.
    ratios = []
    for seed in range(RUNS):
        network, rows = twin_rows(seed, *shape)
        found = finish(Problem(rows, False), Params.from_network(network))
        smoothed = smooth(Problem(rows, False), found, np.random.default_rng(seed))
        ratios.append(
            smoothed.params.to_network().distance(network) / found.params.to_network().distance(network)
        )
    assert np.median(ratios) <= 1.05


def test_a_mean_square_without_dents_is_left_alone(monkeypatch):
    # Fewer rows change sides within a standard error than the bar asks for: there is nothing to average out.
    network, rows = twin_rows(1)
    problem = Problem(rows, False)
    found = finish(problem, Params.from_network(network))
    for bar, is_left in ((np.inf, True), (0.0, False)):
        monkeypatch.setattr("netlearn.search.smooth._DENTS", bar)
        assert (smooth(problem, found, np.random.default_rng(0)) is found) == is_left
    # No noise, no error, so that no row changes sides.
    exact = Problem(ArraySource(rows.X, network(rows.X)), False)
    found = finish(exact, Params.from_network(network))
    assert smooth(exact, found, np.random.default_rng(0)) is found


def test_unsound_cases_are_left_alone(monkeypatch):
    monkeypatch.setattr("netlearn.search.smooth._DENTS", 0.0)
    network, rows = twin_rows(1)
    found = finish(Problem(rows, False), Params.from_network(network))
    rng = np.random.default_rng(0)
    assert smooth(Problem(rows.head(2 * P - 1), False), found, rng) is found
    assert smooth(Problem(rows, False, deadline=lambda: True), found, rng) is found
    assert smooth(Problem(rows, False), found, rng) is not found
    wide = Fit(Params.from_network(teachers.random(120, D, 0)), 1.0, (1.0,))
    assert smooth(Problem(rows, False), wide, rng) is wide


def test_the_same_rng_gives_the_same_estimate():
    network, rows = twin_rows(1)
    found = finish(Problem(rows, False), Params.from_network(network))
    first, second = (smooth(Problem(rows, False), found, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first.params.a, second.params.a)


def test_averages_around_averages_leave_less_to_chance(monkeypatch):
    # A few strong dents: what two streams of random numbers make of one fit differs less with more averages.
    rng = np.random.default_rng(3)
    network = teachers.random(5, 12, rng)
    X = rng.standard_normal((3000, 12))
    y = network(X)
    problem = Problem(ArraySource(X, y / np.std(y) + rng.standard_normal(3000)), False)
    found = finish(problem, Params.from_network((1 / np.std(y)) * network))
    apart = {}
    for most in (1, 8):
        monkeypatch.setattr("netlearn.search.smooth._MOST_AVERAGES", most)
        monkeypatch.setattr("netlearn.search.smooth._RANDOM", 0.0)
        fits = [smooth(problem, found, np.random.default_rng(seed)).params.to_network() for seed in range(6)]
        apart[most] = np.mean([a.distance(b) ** 2 for a in fits for b in fits])
    assert apart[8] < 0.5 * apart[1]  # of seven means a seventh would be left, were they independent
