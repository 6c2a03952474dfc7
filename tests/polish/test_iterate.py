"""The coordinates of the polish are another way to write the same network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.network import ShallowNetwork
from netlearn.polish import Iterate
from tests.polish.twins import dense

# Arrays are built from the seed, so a slow first draw (imports, caches) is no finding: no deadline.
laws = settings(max_examples=40, deadline=None, derandomize=True)
shapes = {"k": st.integers(0, 6), "d": st.integers(1, 5), "seed": st.integers(0, 2**32 - 1)}
ATOL = 1000 * np.finfo(float).eps * 30  # sums of up to 7 terms of size 5


def draw(k, d, seed):
    """A network with both signs and biases, and rows."""
    rng = np.random.default_rng(seed)
    network = ShallowNetwork(
        rng.standard_normal(d),
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        rng.standard_normal(k),
        rng.standard_normal(),
    )
    return network, rng.standard_normal((20, d)), rng


def values(iterate, X):
    return iterate.linearise(X)[0]


@laws
@given(**shapes)
def test_from_network_and_back_is_the_same_function(k, d, seed):
    network, X, _ = draw(k, d, seed)
    iterate = Iterate.from_network(network)
    assert iterate.n_hidden == network.n_hidden
    np.testing.assert_allclose(values(iterate, X), network(X), atol=ATOL)
    back = iterate.to_network()
    assert back.n_hidden == network.n_hidden
    assert back.distance(network) <= 1e-13 * (1 + network.norm())


@laws
@given(**shapes)
def test_values_are_modulators_times_linear_functions(k, d, seed):
    network, X, _ = draw(k, d, seed)
    iterate = Iterate.from_network(network)
    f, m = iterate.linearise(X)
    assert m.shape == (20, network.n_hidden + 1)
    assert set(np.unique(m)) <= {-1.0, 0.0, 1.0}
    for x, value, signs in zip(X, f, m, strict=True):
        by_hand = sum(s * (a[:-1] @ x + a[-1]) for s, a in zip(signs, iterate.a, strict=True))
        assert value == pytest.approx(by_hand, abs=ATOL)


@laws
@given(**shapes)
def test_sums_are_those_of_the_dense_matrix(k, d, seed):
    network, X, rng = draw(k, d, seed)
    iterate, y = Iterate.from_network(network), rng.standard_normal(20)
    F, e = dense(X, y, iterate.linearise)
    squares, gradient = iterate.sums(X, y)
    assert squares == pytest.approx(np.sum(e**2), rel=1e-12)
    assert gradient.shape == iterate.free(True).shape
    np.testing.assert_allclose(gradient.ravel(), F.T @ e, atol=ATOL * np.abs(F).sum() * np.abs(e).max())


@laws
@given(**shapes)
def test_joined_is_the_sum_and_keep_a_part_of_it(k, d, seed):
    network, X, rng = draw(k, d, seed)
    other, _, _ = draw(3, d, seed + 1)
    first, second = Iterate.from_network(network), Iterate.from_network(other)
    both = first.joined(second)
    np.testing.assert_allclose(values(both, X), network(X) + other(X), atol=2 * ATOL)
    mask = rng.random(both.n_hidden) < 0.5
    kept, rest = both.keep(mask), both.keep(np.flatnonzero(~mask))
    assert kept.n_hidden == mask.sum()
    affine = values(both.keep(np.zeros(both.n_hidden, dtype=bool)), X)
    np.testing.assert_allclose(values(kept, X) + values(rest, X) - affine, values(both, X), atol=4 * ATOL)


@laws
@given(**shapes, scale=st.sampled_from([-3.0, -1.0, 0.5, 2.0]))
def test_a_move_that_keeps_the_pattern_follows_the_linearisation(k, d, seed, scale):
    # Units scaled by any factor, negative ones included, keep their hyperplanes: f is linear on the way.
    network, X, rng = draw(k, d, seed)
    iterate = Iterate.from_network(network)
    step = (scale - 1.0) * iterate.a
    step[0] = rng.standard_normal(d + 1)
    _, m = iterate.linearise(X)
    predicted = np.einsum("nj,nj->n", m, X @ (iterate.a + step)[:, :-1].T + (iterate.a + step)[:, -1])
    np.testing.assert_allclose(values(iterate.moved(step), X), predicted, atol=4 * ATOL)
    # Negative control: without the change of sign the units would come out reflected.
    if scale < 0 and network.n_hidden:
        wrong = Iterate(iterate.a + step, iterate.sigma)
        assert np.max(np.abs(values(wrong, X) - predicted)) > 1e-6


@laws
@given(**shapes)
def test_a_start_from_planes_has_their_kinks_and_no_size(k, d, seed):
    _, X, rng = draw(k, d, seed)
    planes = rng.standard_normal((k + 1, d + 1))
    start = Iterate.from_planes(planes)
    f, m = start.linearise(X)
    np.testing.assert_array_equal(m[:, 1:], np.sign(X @ planes[:, :-1].T + planes[:, -1]))
    assert np.max(np.abs(f)) < 1e-7
