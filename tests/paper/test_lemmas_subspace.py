"""Section 4.4 on matrices near their population value: Lemma 4.8, Corollary 4.9 and Remark 4.10."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.paper import cluster_polynomial, cluster_polynomial_bound, clusters, sufficient_orders
from netlearn.subspace import eigenprojector, joint_span, sine
from tests.reference.population import moment_matrix, random_direction, towards

D, K = 6, 4
DELTA, TAU = 1e-3, 0.1
ETA, ETA_PRIME, NU = 1e-13, 1e-8, 1e-8


def subspace(network, g, orders, rng):
    """Lines 4 and 5 of Algorithm 1, from matrices at operator distance ETA from the population's."""
    bases = []
    for ell in orders:
        noise = rng.standard_normal((D, D))
        noise = noise + noise.T
        M_ell_hat = moment_matrix(network, g, ell) + ETA * noise / np.linalg.norm(noise, 2)
        bases.append(eigenprojector(M_ell_hat, ETA_PRIME))
    return joint_span(bases, NU)[0]


def worst_case(network, g):
    """For each big cluster: its members and the bound of Lemma 4.8 on u_i^T Pi_V^perp u_i, i a member.

    The proof's own terms in place of the printed ones: sum |p_ell| of the cluster's polynomial for
    O(1/Delta)^{O(k^2)}, Lemma 4.7 with its constants, and the left side of Proposition 4.1 for its right.
    """
    lam, units = network.coefficients, towards(network.units, g)
    parts = clusters(network, g, DELTA, TAU)
    order = np.concatenate(parts.members)
    nodes = parts.projections[order] ** 2
    trace = D * ((np.abs(lam).sum() + ETA) * NU + ETA + ETA_PRIME)
    for j in parts.big:
        inside = list(parts.members[j])
        a = int(np.flatnonzero(order == inside[0])[0]) + 1
        p = cluster_polynomial(nodes, a, a + len(inside) - 1)
        assert np.abs(p).sum() <= cluster_polynomial_bound(K, len(inside), DELTA**2)
        isolated = np.einsum("i,ia,ib->ab", lam[inside], units[inside], units[inside])
        spread = max(
            np.linalg.norm(parts.weights[j] * np.outer(units[i], units[i]) - isolated, 2) for i in inside
        )
        yield inside, (np.abs(p).sum() * trace + D * spread) / abs(parts.weights[j])


def squared_distances(units, V):
    return np.sum((units - units @ V @ V.T) ** 2, axis=1)


def separating_direction(network, n_clusters, rng):
    """Of 200 draws of g, the one along which the clusters are farthest apart.

    It keeps the polynomial's coefficients, and with them the bound of Lemma 4.8, small.
    """

    def least_gap(g):
        return np.sort(np.diff(np.sort(np.abs(network.units @ g))))[1 - n_clusters]

    return max((random_direction(rng, D) for _ in range(200)), key=least_gap)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("teacher", "shape", "n_clusters"),
    [(teachers.random, {}, 4), (teachers.clustered, {"angle": 1e-5}, 2), (teachers.hard_plane, {}, 4)],
)
def test_lemma_4_8_and_corollary_4_9(teacher, shape, n_clusters, seed):
    rng = np.random.default_rng(seed)
    network = teacher(K, D, rng, radius=2.0, **shape)
    g = separating_direction(network, n_clusters, rng)
    V = subspace(network, g, sufficient_orders(K), rng)
    bounds = list(worst_case(network, g))
    assert len(bounds) == n_clusters
    for inside, bound in bounds:
        assert np.all(squared_distances(network.units[inside], V) <= bound)
        assert bound < 0.5  # the statement is not empty


def test_too_few_orders_turn_corollary_4_9_red():
    rng = np.random.default_rng(0)
    network = teachers.hard_plane(K, D, rng, radius=2.0)
    g = separating_direction(network, K, rng)
    V = subspace(network, g, (2,), rng)
    for inside, bound in worst_case(network, g):
        assert np.all(squared_distances(network.units[inside], V) > bound)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_remark_4_10_on_the_hard_instance(k):
    rng = np.random.default_rng(k)
    network = teachers.hard_plane(k, D, rng)
    plane = np.linalg.svd(network.units)[2][:2].T
    g = random_direction(rng, D)
    orders = sufficient_orders(k, max_cluster=1)
    assert orders[-1] == 2 * k  # linear in k, where Algorithm 1 prints 2 k^2 + 2
    V = subspace(network, g, orders, rng)
    assert V.shape == (D, 2)
    assert sine(V, plane) <= 2 * ETA / ETA_PRIME
    # Below order k nothing is seen at all.
    below = [ell for ell in orders if ell < k]
    assert not below or subspace(network, g, below, rng).shape == (D, 0)
