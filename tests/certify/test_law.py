"""Which inputs may carry an L2 bound, and how steep a network is in their normal coordinates."""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2

from netlearn import teachers
from netlearn.certify.law import BOX, NORMAL, STANDARD, Spread, recognised, slope_in_normal
from netlearn.certify.slope import parts
from tests import statistics

MIXING = np.array([[2.0, 1.0, 0.0], [0.0, 0.5, 3.0], [0.1, 0.0, 1.0]])


def rows(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, d))
    return {
        "normal": lambda: z,
        "correlated": lambda: z[:, :3] @ MIXING + 5.0,
        "singular": lambda: np.hstack([z, z[:, :1] + z[:, 1:2]]),
        "constant column": lambda: np.hstack([z, np.ones((n, 1))]),
        "box": lambda: rng.uniform(size=(n, d)) * np.arange(1, d + 1) - 2.0,
        "heavy tails": lambda: rng.standard_t(3, size=(n, d)),
        "two peaks": lambda: z + 3.0 * np.sign(rng.standard_normal((n, d))),
        "signs": lambda: np.sign(z),
        "counts": lambda: rng.poisson(3.0, (n, d)).astype(float),
        "log-normal": lambda: np.exp(z),
        "one-hot": lambda: np.eye(d)[rng.integers(d, size=n)],
        "mixed": lambda: np.hstack([z, np.sign(z[:, :1])]),
        "correlated uniform": lambda: rng.uniform(size=(n, d)) @ np.triu(np.ones((d, d))),
    }[kind]()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["normal", "correlated", "singular", "constant column"])
def test_gaussian_rows_are_recognised(kind, seed):
    X = rows(kind, 1000, 4, seed)
    assert recognised(X, standard=False) == NORMAL
    assert recognised(X, standard=True) == STANDARD


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "kind",
    ["heavy tails", "two peaks", "signs", "counts", "log-normal", "one-hot", "mixed", "correlated uniform"],
)
def test_other_rows_are_not(kind, seed):
    assert recognised(rows(kind, 400, 5, seed), standard=False) == ""


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_box_is_recognised(d, seed):
    assert recognised(rows("box", 1000, d, seed), standard=False) == BOX


def test_few_rows_tell_nothing():
    assert recognised(rows("normal", 199, 3, 0), standard=True) == ""


def spread_of(X, network, largest=math.inf):
    W, _, U = parts(network)
    return Spread(len(X), X @ np.vstack([W, U]).T, np.ptp(X, axis=0), largest)


def test_standard_rows_need_no_limit():
    f = teachers.random(3, 4, 0)
    own, in_normal = slope_in_normal(STANDARD, spread_of(np.zeros((5, 4)), f), parts(f), 0.0)
    W, Lambda, U = parts(f)
    signs = [[1 if (p >> i) & 1 else -1 for i in range(3)] for p in range(8)]
    assert own == pytest.approx(max(np.linalg.norm(W + (Lambda.T * np.array(s)) @ U) for s in signs))
    assert in_normal(2.5) == 2.5


@pytest.mark.statistical
def test_limits_under_a_covariance_are_exceeded_as_rarely_as_allowed():
    f, n, rate, n_draws = teachers.random(2, 3, 1), 30, 0.2, 500
    truth, _ = slope_in_normal(STANDARD, spread_of(np.zeros((5, 3)), f), parts(f.precompose(MIXING.T)), 0.0)
    largest = np.linalg.norm(MIXING, 2)
    rng = np.random.default_rng(2)
    own_broken = target_broken = plain_broken = 0
    factor = math.sqrt((n - 1) / chi2.ppf(rate / 7, n - 1))
    for _ in range(n_draws):
        X = rng.standard_normal((n, 3)) @ MIXING
        seen = np.linalg.norm(X - X.mean(axis=0), 2) / math.sqrt(n - 1)
        own, in_normal = slope_in_normal(NORMAL, spread_of(X, f, seen), parts(f), rate)
        own_broken += own < truth
        target_broken += in_normal(1.0) < largest
        plain_broken += own / factor < truth
    most = binom.isf(statistics.FALSE_ALARM_RATE, n_draws, rate)
    assert max(own_broken, target_broken) <= most
    assert plain_broken > most  # the sample's own deviations are no upper limits


@pytest.mark.statistical
def test_widths_of_a_box_are_exceeded_as_rarely_as_allowed():
    f, rate, n_draws = teachers.random(2, 3, 3), 0.2, 500
    width = np.array([1.0, 2.0, 5.0])
    truth, in_truth = slope_in_normal(
        STANDARD,
        spread_of(np.zeros((5, 3)), f),
        parts(f.precompose(np.diag(width / math.sqrt(2 * math.pi)))),
        0.0,
    )
    rng = np.random.default_rng(4)
    broken = plain = 0
    for _ in range(n_draws):
        X = width * rng.uniform(size=(20, 3))
        own, in_normal = slope_in_normal(BOX, spread_of(X, f), parts(f), rate)
        broken += own < truth or in_normal(1.0) < width.max() / math.sqrt(2 * math.pi)
        plain += np.ptp(X, axis=0).max() < width.max()
    assert broken <= binom.isf(statistics.FALSE_ALARM_RATE, n_draws, rate)
    assert plain == n_draws
    assert in_truth(1.0) == 1.0


def test_two_rows_limit_no_spread():
    f = teachers.random(1, 3, 0)
    for law in (NORMAL, BOX):
        own, in_normal = slope_in_normal(law, spread_of(np.eye(3)[:2], f), parts(f), 0.01)
        assert math.isinf(own)
        assert math.isinf(in_normal(1.0))
