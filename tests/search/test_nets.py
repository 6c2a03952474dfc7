import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.errors import BudgetError, InputError
from netlearn.search import (
    interval_net,
    interval_net_size,
    log10_sphere_net_size,
    sphere_net,
    sphere_net_size,
)


def basis(d, r, rng):
    return np.linalg.qr(rng.standard_normal((d, r)))[0]


def distance_up_to_sign(points, net):
    """Distance of each point to the nearest of the net points and their negatives."""
    return np.sqrt(np.maximum(2.0 - 2.0 * np.abs(points @ net.T).max(axis=1), 0.0))


def test_no_directions_for_an_empty_subspace():
    assert sphere_net(np.zeros((5, 0)), 0.1).shape == (0, 5)
    assert log10_sphere_net_size(0, 0.1, 0.01) == -math.inf


def test_a_line_needs_one_direction():
    V = basis(5, 1, np.random.default_rng(0))
    np.testing.assert_allclose(sphere_net(V, 0.01), V.T)


@settings(deadline=None, derandomize=True)
@given(radius=st.floats(1e-3, 1.9))
def test_net_of_a_plane_covers_and_one_point_less_would_not(radius):
    n = sphere_net_size(2, radius, 0.01)
    assert len(sphere_net(np.eye(2), radius)) == n
    assert 2.0 * math.sin(math.pi / (4 * n)) <= radius * (1 + 1e-12)
    if n > 1:
        assert 2.0 * math.sin(math.pi / (4 * (n - 1))) > radius * (1 - 1e-9)


def test_net_of_a_plane_lies_in_it_and_covers_every_angle():
    V = basis(7, 2, np.random.default_rng(1))
    net = sphere_net(V, 0.05)
    np.testing.assert_allclose(np.linalg.norm(net, axis=1), 1.0)
    np.testing.assert_allclose(net @ V @ V.T, net, atol=1e-14)
    angle = np.linspace(0.0, 2.0 * np.pi, 10_001)
    points = np.column_stack([np.cos(angle), np.sin(angle)]) @ V.T
    assert distance_up_to_sign(points, net).max() <= 0.05 * (1 + 1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize(("dim", "radius"), [(3, 0.3), (4, 0.6)])
def test_random_net_covers_with_its_stated_probability(dim, radius):
    # The net may fail with probability 1e-6; given that it covers, no direction can be out of reach.
    rng = np.random.default_rng(2)
    net = sphere_net(basis(6, dim, rng), radius, failure_prob=1e-6, rng=rng)
    points = rng.standard_normal((20_000, dim))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)) @ np.linalg.svd(net)[2][:dim]
    assert distance_up_to_sign(points, net).max() <= radius
    # Negative control: the test sees a net that is too small.
    assert distance_up_to_sign(points, net[: len(net) // 200]).max() > radius


def test_size_is_known_in_logarithms_where_it_cannot_be_built():
    assert log10_sphere_net_size(10, 1e-40, 0.01) > 308
    with pytest.raises(BudgetError, match=r"radius 1e-05 in dimension 4 has 10\^"):
        sphere_net_size(4, 1e-5, 0.01)
    assert sphere_net_size(3, 0.5, 0.01) == math.ceil(10 ** log10_sphere_net_size(3, 0.5, 0.01))


@pytest.mark.parametrize("radius", [0.0, 2.0, -1.0, math.nan])
def test_radius_outside_its_range_is_refused(radius):
    with pytest.raises(InputError, match='"radius"'):
        sphere_net(np.eye(3), radius)


def test_a_random_net_needs_a_generator():
    with pytest.raises(InputError, match='"rng"'):
        sphere_net(np.eye(3), 0.5)


@settings(deadline=None, derandomize=True)
@given(half_width=st.floats(0.1, 10.0), radius=st.floats(0.01, 20.0))
def test_interval_net_covers_contains_zero_and_is_as_small_as_an_odd_net_can_be(half_width, radius):
    net = interval_net(half_width, radius)
    assert len(net) == interval_net_size(half_width, radius)
    ends = np.concatenate([[-half_width], (net[1:] + net[:-1]) / 2.0, [half_width]])
    assert np.abs(ends[:, None] - net).min(axis=1).max() <= radius * (1 + 1e-9)
    assert 0.0 in net
    np.testing.assert_allclose(net, -net[::-1])
    if len(net) > 1:
        assert half_width / (len(net) - 2) > radius * (1 - 1e-9)


def test_sums_of_weights_are_weights():
    net = interval_net(2.0, 0.15)
    sums = np.add.outer(net, net)
    inside = sums[np.abs(sums) <= net[-1] + 1e-9]
    assert np.abs(inside[:, None] - net).min(axis=1).max() < 1e-12
