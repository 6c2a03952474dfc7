"""The averaged one-step estimate: bounded in the mean square, better in the error of twin units."""

import numpy as np
import pytest
from scipy import stats

from netlearn import teachers
from netlearn.polish import Iterate, Polished, finish, never
from netlearn.polish.smooth import smooth
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
        least_squares = finish(rows, Iterate.from_network(network), biases=False)
        smoothed = smooth(rows, least_squares, np.random.default_rng(seed), biases=False)
        table.append((network, rows, least_squares, smoothed))
    return table


def test_the_mean_square_stays_within_what_the_unknowns_may_hide(runs):
    for _, rows, least_squares, smoothed in runs:
        assert smoothed.loss <= least_squares.loss * (1 + P / N)
        values = smoothed.iterate.linearise(rows.X)[0]
        assert smoothed.loss == pytest.approx(np.mean((rows.y - values) ** 2))
        assert not smoothed.iterate.a[1:, -1].any()  # no biases were asked for, none came


@pytest.mark.statistical
def test_twin_units_come_out_better_and_never_much_worse(runs):
    # Were a run as likely to get worse as better, so few worse ones among those that changed at all would come
    # with probability FALSE_ALARM_RATE: smoothing does help. The median must fall as well, and the worst run
    # stay below 1.5 times the error of least squares started at the truth, which issue 3 allows.
    before, after = np.array(
        [(a.iterate.to_network().distance(f), b.iterate.to_network().distance(f)) for f, _, a, b in runs]
    ).T
    few = stats.binom.ppf(statistics.FALSE_ALARM_RATE, np.sum(after != before), 0.5)
    assert np.sum(after > before) <= few
    assert np.median(after) < np.median(before)
    assert np.max(after / before) <= 1.5
    # Negative control: perturbing without the Gauss-Newton step is no estimate at all.
    shaken = []
    for seed, (network, rows, least_squares, _) in enumerate(runs):
        noise = np.random.default_rng(seed).standard_normal(least_squares.iterate.a.shape)
        noise[1:, -1] = 0.0
        iterate = least_squares.iterate.moved(2 * np.sqrt(least_squares.loss / rows.n_rows) * noise)
        shaken.append(iterate.to_network().distance(network))
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
        found = finish(rows, Iterate.from_network(network), biases=False)
        smoothed = smooth(rows, found, np.random.default_rng(seed), biases=False)
        ratios.append(
            smoothed.iterate.to_network().distance(network) / found.iterate.to_network().distance(network)
        )
    assert np.median(ratios) <= 1.05


def test_unsound_cases_are_left_alone():
    network, rows = twin_rows(0)
    found = finish(rows, Iterate.from_network(network), biases=False)
    rng = np.random.default_rng(0)
    assert smooth(rows.head(2 * P - 1), found, rng, biases=False) is found
    assert smooth(rows, found, rng, biases=False, deadline=lambda: True) is found
    assert smooth(rows, found, rng, biases=False, deadline=never) is not found
    wide = Polished(Iterate.from_network(teachers.random(120, D, 0)), 1.0, (1.0,), 0)
    assert smooth(rows, wide, rng, biases=False) is wide


def test_the_same_rng_gives_the_same_estimate():
    network, rows = twin_rows(1)
    found = finish(rows, Iterate.from_network(network), biases=False)
    first, second = (smooth(rows, found, np.random.default_rng(5), biases=False) for _ in range(2))
    np.testing.assert_array_equal(first.iterate.a, second.iterate.a)
