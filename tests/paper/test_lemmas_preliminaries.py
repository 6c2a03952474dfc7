"""Section 2: Lemma 2.1 and Proposition 2.2, with the constants that `Schedule` builds on."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.network import ShallowNetwork
from tests.reference.population import random_direction

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
