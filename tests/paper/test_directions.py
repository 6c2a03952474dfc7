"""Lemma 2.4 with its constants: how often a random g is good, and cases in which each side is near its limit."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from netlearn import teachers
from netlearn.paper import anticoncentration, is_good_direction
from netlearn.paper.directions import LOWER, UPPER
from tests.reference.population import random_direction
from tests.statistics import FALSE_ALARM_RATE

DRAWS = 3000


def misses(units, rng, lower=LOWER, upper=UPPER):
    """How many of DRAWS directions g violate the lower side, the upper side, either."""
    g = [random_direction(rng, units.shape[1]) for _ in range(DRAWS)]
    below = sum(not is_good_direction(units, one, lower=lower, upper=math.inf) for one in g)
    above = sum(not is_good_direction(units, one, lower=0.0, upper=upper) for one in g)
    return below, above, sum(not is_good_direction(units, one, lower=lower, upper=upper) for one in g)


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [(2, 3), (3, 6), (5, 40)])
@pytest.mark.parametrize("teacher", [teachers.random, teachers.clustered, teachers.hard_plane])
def test_lemma_2_4(teacher, shape):
    # Fails on true statements with probability FALSE_ALARM_RATE: a binomial tail for each of the three counts.
    units = teacher(*shape, rng=1).units
    counts = misses(units, np.random.default_rng(2))
    for count, rate in zip(counts, (1 / 10, 1 / 10, 1 / 5), strict=True):
        assert count <= binom.isf(FALSE_ALARM_RATE / 3, DRAWS, rate)


@pytest.mark.statistical
def test_the_lower_side_is_near_its_limit_for_orthogonal_units():
    # Four ratios at k = 2, almost independent in a high dimension: the union bound of 1/10 is nearly the truth, 9.6 %.
    units = np.eye(200)[:2]
    below, *_ = misses(units, np.random.default_rng(3))
    assert below >= binom.ppf(FALSE_ALARM_RATE, DRAWS, 0.09)
    assert below <= binom.isf(FALSE_ALARM_RATE, DRAWS, 0.1)


@pytest.mark.statistical
def test_constants_that_ask_too_much_of_g_turn_the_test_red():
    units = teachers.random(5, 40, rng=1).units
    below, *_ = misses(units, np.random.default_rng(2), lower=2 * LOWER)
    _, above, _ = misses(units, np.random.default_rng(2), upper=UPPER / 2)
    allowed = binom.isf(FALSE_ALARM_RATE / 3, DRAWS, 1 / 10)
    assert below > allowed
    assert above > allowed


def test_ratios_by_hand():
    g = np.array([0.6, 0.8])
    expected = [0.6, 0.8, 1.4 / math.sqrt(2), 0.2 / math.sqrt(2)]
    np.testing.assert_allclose(anticoncentration(np.eye(2), g), expected)
    # k = 2, d = 2: the least ratio is 0.141, the limit LOWER / (4 sqrt(2)) = 0.022.
    assert is_good_direction(np.eye(2), g)
    assert not is_good_direction(np.eye(2), g, lower=0.15 * 4 * math.sqrt(2))
    assert not is_good_direction(np.eye(2), np.array([0.01, math.sqrt(1 - 1e-4)]))


def test_one_unit_has_an_upper_side_too():
    assert is_good_direction(np.eye(3)[:1], np.eye(3)[0])
