"""Section 2: Lemma 2.1, Proposition 2.2 and Lemma 2.4, with the constants that `Schedule` builds on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from netlearn import teachers
from netlearn.network import ShallowNetwork
from tests.reference.population import anticoncentration, random_direction
from tests.statistics import FALSE_ALARM_RATE

laws = settings(max_examples=50, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


@laws
@given(seeds, st.integers(1, 6), st.integers(1, 8))
def test_lemma_2_1(seed, k, d):
    rng = np.random.default_rng(seed)
    U, mu = rng.standard_normal((k, d)), rng.standard_normal(k)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    network = ShallowNetwork.from_relu(U, mu)
    X = rng.standard_normal((50, d))
    expected = np.maximum(X @ U.T, 0.0) @ mu
    np.testing.assert_allclose(network(X), expected, atol=1e-12 * np.abs(mu).sum() * np.abs(X).sum())
    # relu(t) = (t + |t|) / 2 gives the parameters; the last line is what lets one R bound both parts.
    np.testing.assert_allclose(network.linear, mu @ U / 2, atol=1e-14)
    assert network.n_hidden <= k
    assert np.linalg.norm(network.linear) <= np.abs(mu).sum() / 2 + 1e-14


def atom(u):
    return ShallowNetwork(np.zeros(len(u)), np.ones(1), u[None, :])


@laws
@given(seeds, st.integers(2, 6), st.floats(-12, 0))
def test_proposition_2_2_with_constant_one(seed, d, log10_size):
    rng = np.random.default_rng(seed)
    u, away = random_direction(rng, d), 10.0**log10_size * rng.standard_normal(d)
    v = (u + away) / np.linalg.norm(u + away)
    assert atom(u).distance(atom(v)) <= np.linalg.norm(u - v) * (1 + 1e-3)


def test_the_constant_of_proposition_2_2_cannot_be_smaller():
    for angle in (1e-2, 1e-4, 1e-6):
        u, v = np.array([1.0, 0.0]), np.array([np.cos(angle), np.sin(angle)])
        ratio = atom(u).distance(atom(v)) / np.linalg.norm(u - v)
        assert 1 - angle <= ratio <= 1 + 1e-9


# Lemma 2.4 leaves c and c' open. Each of the k^2 ratios is |<v, g>| for a fixed unit vector v.
# Lower side: <v, g> has density at most sqrt(d / (2 pi)), so a union bound gives 0.8 c <= 1/10 for c = 1/8.
# Upper side: P(|<v, g>| > t / sqrt(d)) <= 2 exp(-t^2 / 2), so 2 k^2 exp(-c'^2 log(k) / 2) <= 1/10 for
# c'^2 = 4 + 2 log(20) / log(2) and k >= 2. For k = 1 the printed upper side is 0 and cannot hold.
C_LOWER = 1 / 8
C_UPPER = np.sqrt(4 + 2 * np.log(20) / np.log(2))
DRAWS = 3000


def misses(units, rng, c_lower, c_upper):
    """How many of DRAWS directions g violate the lower side, the upper side, either."""
    k, d = units.shape
    low, high = c_lower / (np.sqrt(d) * k**2), c_upper * np.sqrt(np.log(k) / d)
    ratios = np.array([anticoncentration(units, random_direction(rng, d)) for _ in range(DRAWS)])
    below, above = ratios.min(axis=1) < low, ratios.max(axis=1) > high
    return below.sum(), above.sum(), (below | above).sum()


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [(2, 3), (3, 6), (5, 40)])
@pytest.mark.parametrize("teacher", [teachers.random, teachers.clustered, teachers.hard_plane])
def test_lemma_2_4(teacher, shape):
    # Fails on true statements with probability FALSE_ALARM_RATE: a binomial tail for each of the three counts.
    units = teacher(*shape, rng=1).units
    counts = misses(units, np.random.default_rng(2), C_LOWER, C_UPPER)
    for count, rate in zip(counts, (1 / 10, 1 / 10, 1 / 5), strict=True):
        assert count <= binom.isf(FALSE_ALARM_RATE / 3, DRAWS, rate)


@pytest.mark.statistical
def test_constants_that_ask_too_much_of_g_turn_the_test_red():
    units = teachers.random(5, 40, rng=1).units
    below, *_ = misses(units, np.random.default_rng(2), 8.0, C_UPPER)
    _, above, _ = misses(units, np.random.default_rng(2), C_LOWER, C_UPPER / 4)
    allowed = binom.isf(FALSE_ALARM_RATE / 3, DRAWS, 1 / 10)
    assert below > allowed
    assert above > allowed
