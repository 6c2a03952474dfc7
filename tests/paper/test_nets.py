"""Deterministic nets: that they cover is proved for each one built, by the facets of its convex hull."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from netlearn.errors import BudgetError, InputError
from netlearn.paper.nets import direction_net, direction_net_size, log10_direction_net_size
from netlearn.search import sphere_net_size


def covering_radius(net):
    """The exact one, up to sign: of points on the sphere the emptiest cap touches a facet of their convex hull.

    A facet at distance h from the origin cuts off a cap without points, of angle acos h.
    """
    hull = ConvexHull(np.concatenate([net, -net]))
    return 2.0 * math.sin(math.acos(np.abs(hull.equations[:, -1]).min()) / 2.0)


@pytest.mark.parametrize(
    ("dim", "radius"),
    [(3, 0.05), (3, 0.0625), (3, 0.11), (3, 0.3), (3, 0.77), (3, 1.2), (4, 0.2), (4, 0.35), (4, 0.9)],
)
def test_rings_cover_as_the_hull_proves_and_waste_little(dim, radius):
    net = direction_net(np.eye(dim), radius)
    np.testing.assert_allclose(np.linalg.norm(net, axis=1), 1.0, atol=1e-14)
    assert covering_radius(net) <= radius * (1 + 1e-9)
    # Negative control: a net for a radius a quarter larger does not cover with this one.
    if radius < 0.5:
        assert covering_radius(direction_net(np.eye(dim), 1.25 * radius)) > radius
        # Sizes that the time of a search rests on.
        assert len(net) * radius ** (dim - 1) <= {3: 3.6, 4: 9.0}[dim]


@settings(deadline=None, derandomize=True)
@given(radius=st.floats(1e-3, 1.4))
def test_net_of_a_plane_covers_and_one_point_less_would_not(radius):
    n = direction_net_size(2, radius, 0.01)
    assert len(direction_net(np.eye(2), radius)) == n
    assert 2.0 * math.sin(math.pi / (4 * n)) <= radius * (1 + 1e-9)
    if n > 1:
        assert 2.0 * math.sin(math.pi / (4 * (n - 1))) > radius * (1 - 1e-9)


def test_directions_lie_in_the_subspace():
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((7, 3)))[0]
    net = direction_net(V, 0.3)
    np.testing.assert_allclose(net @ V @ V.T, net, atol=1e-14)
    assert len(net) == direction_net_size(3, 0.3, 0.01)


def test_small_dimensions():
    assert direction_net(np.zeros((5, 0)), 0.1).shape == (0, 5)
    assert direction_net_size(0, 0.1, 0.01) == 0
    np.testing.assert_array_equal(direction_net(np.eye(5)[:, :1], 0.01), np.eye(5)[:1])


def test_beyond_dimension_four_the_random_net_is_taken():
    net = direction_net(np.eye(5), 1.2, failure_prob=0.1, rng=np.random.default_rng(0))
    assert len(net) == direction_net_size(5, 1.2, 0.1) == sphere_net_size(5, 1.2, 0.1)


@pytest.mark.parametrize(("dim", "radius"), [(2, 1e-9), (3, 1e-4), (4, 1e-3)])
def test_sizes_are_known_where_the_net_cannot_be_built(dim, radius):
    ratio = 10.0 ** log10_direction_net_size(dim, radius, 0.01) * radius ** (dim - 1)
    assert 1.5 < ratio < 8.5
    with pytest.raises(BudgetError, match="directions, more than the"):
        direction_net_size(dim, radius, 0.01)


@pytest.mark.parametrize("radius", [0.0, 1.5, -1.0, math.nan])
def test_radius_outside_its_range_is_refused(radius):
    with pytest.raises(InputError, match='"radius"'):
        direction_net(np.eye(3), radius)
