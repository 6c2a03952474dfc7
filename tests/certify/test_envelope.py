"""The L2 bound from order statistics: against quadrature, simulated coverage, and controls that must fail."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import binom, norm

from netlearn.certify import envelope, envelope_bound, root_mean_square_bound
from netlearn.certify.share import quantile_level
from tests import statistics

DELTA, N_DRAWS = 0.2, 1000


def by_quadrature(values, lipschitz, positions, rates):
    """Slow twin: the minimum over all positions, integrated numerically."""
    values, n = np.sort(values), len(values)
    levels = [ndtri(quantile_level(i, n, rate)) for i, rate in zip(positions, rates, strict=True)]

    def square(s):
        e = min(
            values[i - 1] + lipschitz * max(s - level, 0.0)
            for i, level in zip(positions, levels, strict=True)
        )
        return e**2 * norm.pdf(s)

    points = sorted(level for level in levels if -9 < level < 9)
    ends = [-10.0, *points, 12.0]
    return math.sqrt(sum(quad(square, a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(ends)))


@pytest.mark.parametrize(("n", "expected"), [(400, 0.0499), (2000, 0.0194), (100_000, 0.0022)])
def test_at_zero_error_it_is_within_a_tenth_of_what_cannot_be_improved(n, expected):
    z = ndtri(0.01 ** (1 / n))
    best = math.sqrt((1 + z**2) * ndtr(-z) - z * norm.pdf(z))
    assert best == pytest.approx(expected, rel=0.02)
    assert best <= envelope_bound(np.zeros(n), 1.0, 0.01) <= 1.1 * expected


@pytest.mark.parametrize("n", [1, 2, 5, 40, 300])
@pytest.mark.parametrize("lipschitz", [0.3, 4.0])
def test_it_is_the_integral_of_the_envelope(n, lipschitz):
    values = np.abs(np.random.default_rng(n).standard_normal(n))
    beyond = envelope._positions(n)
    rates = np.full(len(beyond), 0.05 / max(len(beyond) - 1, 1))
    rates[-1] = 0.05 if len(beyond) > 1 else 0.1
    assert sum(rates) == pytest.approx(0.1)  # what the whole may fail with
    expected = by_quadrature(values, lipschitz, n - beyond, rates)
    assert envelope_bound(values, lipschitz, 0.1) == pytest.approx(expected, rel=1e-7)


def test_positions_start_at_the_largest_and_end_at_the_smallest_value():
    assert envelope._positions(1).tolist() == [0]
    beyond = envelope._positions(1000)
    assert (beyond[0], beyond[-1]) == (999, 0)
    assert np.all(np.diff(beyond) < 0)
    assert 25 <= len(beyond) <= 50


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_size_of_labels_does_not_matter(scale):
    values = np.abs(np.random.default_rng(0).standard_normal(50))
    expected = envelope_bound(values, 2.0, 0.01)
    assert envelope_bound(scale * values, scale * 2.0, 0.01) == pytest.approx(scale * expected, rel=1e-12)


def test_a_constant_function_is_what_it_shows():
    assert envelope_bound(np.array([3.0, 3.0]), 0.0, 0.01) == 3.0


def test_the_root_mean_square_form():
    # By hand from F = 0.1, L = 2, n = 100, z = Phi^{-1}(0.95): sigma = 0.2.
    z = 1.6448536269514722
    m1, m2 = z * 0.95 + norm.pdf(z), (1 + z**2) * 0.95 + z * norm.pdf(z)
    expected = math.sqrt(0.01 + 2 * 0.1 * 0.2 * m1 + 0.04 * m2)
    assert root_mean_square_bound(0.1, 100, 2.0, 0.05) == pytest.approx(expected, rel=1e-12)


# Lipschitz functions of one normal variable, L = 1, with their exact root mean squares; the last is the extreme one.
Z_EXTREME = float(ndtri(DELTA ** (1 / 60)))
FUNCTIONS = {
    "zero": (lambda x: 0.0 * x, 0.0),
    "constant": (lambda x: 0.5 + 0.0 * x, 0.5),
    "linear": (np.abs, 1.0),
    "kink at 1": (lambda x: np.maximum(x - 1, 0), math.sqrt(2 * ndtr(-1) - norm.pdf(1))),
    "sine": (lambda x: np.abs(np.sin(x)), math.sqrt((1 - math.exp(-2)) / 2)),
    "two sides": (
        lambda x: np.maximum(np.abs(x) - 1.5, 0),
        math.sqrt(2 * ((1 + 2.25) * ndtr(-1.5) - 1.5 * norm.pdf(1.5))),
    ),
    "extreme": (
        lambda x: np.maximum(x - Z_EXTREME, 0),
        math.sqrt((1 + Z_EXTREME**2) * ndtr(-Z_EXTREME) - Z_EXTREME * norm.pdf(Z_EXTREME)),
    ),
}


def failures(function, exact, bound, n=60, seed=0):
    x = np.random.default_rng(seed).standard_normal((N_DRAWS, n))
    return sum(exact > bound(function(row)) * (1 + 1e-12) for row in x)


@pytest.mark.statistical
@pytest.mark.parametrize("name", FUNCTIONS)
def test_coverage(name):
    function, exact = FUNCTIONS[name]
    most = binom.isf(statistics.FALSE_ALARM_RATE, N_DRAWS, DELTA)
    assert failures(function, exact, lambda h: envelope_bound(h, 1.0, DELTA)) <= most
    mean = failures(
        function, exact, lambda h: root_mean_square_bound(math.sqrt(np.mean(h**2)), len(h), 1.0, DELTA)
    )
    assert mean <= most


@pytest.mark.statistical
def test_controls_that_are_wrong_fail():
    """The extreme function is zero on all rows with probability DELTA: any bound below its norm is broken then."""
    function, exact = FUNCTIONS["extreme"]
    most = binom.isf(statistics.FALSE_ALARM_RATE, N_DRAWS, DELTA)
    # The sample quantile in place of its lower limit, and half of the slope.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(envelope, "quantile_level", lambda i, n, rate: i / n - 1e-9)
        assert failures(function, exact, lambda h: envelope_bound(h, 1.0, DELTA)) > most
    assert failures(function, exact, lambda h: envelope_bound(h, 0.5, DELTA)) > most
    linear, size = FUNCTIONS["linear"]
    assert failures(linear, size, lambda h: math.sqrt(np.mean(h**2))) > most
