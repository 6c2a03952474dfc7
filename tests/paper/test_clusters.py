import numpy as np
import pytest

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.paper import clusters


def test_partition_of_a_small_example():
    z = np.array([0.1, 0.12, 0.5, 0.9])
    units = np.column_stack([z, np.sqrt(1.0 - z**2)])
    network = ShallowNetwork(np.zeros(2), np.array([1.0, -1.0, 0.3, 0.01]), units)
    parts = clusters(network, np.array([1.0, 0.0]), Delta=0.05, tau=0.05)
    z_of = [sorted(np.round(parts.projections[list(part)], 10)) for part in parts.members]
    assert z_of == [[0.1, 0.12], [0.5], [0.9]]
    np.testing.assert_allclose(parts.weights, [0.0, 0.3, 0.01])
    np.testing.assert_allclose(parts.projections[list(parts.leaders)], [0.1, 0.5, 0.9])
    assert parts.big == (1,)


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_close_inside_and_apart_outside(seed):
    rng = np.random.default_rng(seed)
    network = teachers.random(8, 5, rng)
    g = rng.standard_normal(5)
    Delta = 0.1
    parts = clusters(network, g / np.linalg.norm(g), Delta, tau=0.0)
    z = parts.projections
    assert sorted(sum(parts.members, ())) == list(range(8))
    for part in parts.members:
        assert np.all(np.diff(z[list(part)]) <= Delta)
    for left, right in zip(parts.members[:-1], parts.members[1:], strict=True):
        assert z[right[0]] - z[left[-1]] > Delta
    assert parts.weights.sum() == pytest.approx(network.coefficients.sum())


def test_projections_have_no_sign():
    # u and -u are the same neuron: |<u, g>| counts, and these two fall into one cluster.
    network = ShallowNetwork(np.zeros(2), np.array([1.0, 2.0]), np.array([[0.6, 0.8], [-0.6, 0.8]]))
    assert np.prod(network.units[:, 0]) < 0
    parts = clusters(network, np.array([1.0, 0.0]), Delta=0.1, tau=0.1)
    np.testing.assert_allclose(parts.projections, 0.6)
    np.testing.assert_allclose(parts.weights, [3.0])


def test_a_linear_network_has_no_clusters():
    network = ShallowNetwork(np.ones(3), np.zeros(0), np.zeros((0, 3)))
    parts = clusters(network, np.eye(3)[0], 0.1, 0.1)
    assert (parts.members, parts.leaders, parts.big) == ((), (), ())
