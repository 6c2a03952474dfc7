from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.errors import InputError
from netlearn.paper import (
    cluster_polynomial,
    cluster_polynomial_bound,
    evaluate_cluster_polynomial,
    sufficient_orders,
)


@st.composite
def clustered_nodes(draw):
    """Nodes in [-1, 1] in clusters as tight as 1e-6; the interval a...b is one of the clusters."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    width = draw(st.sampled_from([1e-6, 1e-4, 1e-2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    centres = np.linspace(-0.8, 0.8, len(sizes)) + rng.uniform(-0.1, 0.1, len(sizes)) / len(sizes)
    parts = [
        centre + width * (np.arange(n) + rng.uniform(0.0, 0.5, n))
        for centre, n in zip(centres, sizes, strict=True)
    ]
    chosen = draw(st.integers(0, len(sizes) - 1))
    a = sum(sizes[:chosen]) + 1
    return np.concatenate(parts), a, a + sizes[chosen] - 1


def gap(x, a, b):
    """Smallest distance between a node of the cluster and another node; 1 if there is no other."""
    inside, outside = x[a - 1 : b], np.delete(x, slice(a - 1, b))
    return float(np.abs(outside[:, None] - inside).min(initial=1.0))


@settings(deadline=None, derandomize=True)
@given(clustered_nodes())
def test_lemma_3_1(nodes):
    x, a, b = nodes
    k, size = len(x), b - a + 1
    p = cluster_polynomial(x, a, b)
    # Degree.
    assert len(p) - 1 == size * (k - size) <= k**2
    # Coefficient bound.
    bound = cluster_polynomial_bound(k, size, gap(x, a, b))
    assert np.abs(p).sum() <= bound * (1 + 1e-9)
    # Values 1 and 0. The only error of p is one rounding of each coefficient, so evaluated exactly its values
    # are off by no more than half a unit in the last place of each term.
    unit = np.finfo(float).eps / 2
    for s, node in enumerate(x, start=1):
        value = sum(Fraction(c) * Fraction(node) ** i for i, c in enumerate(p))
        assert abs(value - (a <= s <= b)) <= unit * float(np.abs(p) @ np.abs(node) ** np.arange(len(p)))


@settings(deadline=None, derandomize=True)
@given(clustered_nodes())
def test_product_form_is_exact_at_the_nodes(nodes):
    x, a, b = nodes
    expected = [float(a <= s <= b) for s in range(1, len(x) + 1)]
    np.testing.assert_array_equal(evaluate_cluster_polynomial(x, a, b, x), expected)


@pytest.mark.parametrize(
    ("x", "a", "b"),
    [
        ([0.2, 0.2, 0.7], 1, 2),
        ([0.1, 0.5, 0.5, 0.5, 0.9], 2, 4),
        ([0.3, 0.3, 0.8, 0.8], 3, 4),
        ([0.5, 0.5], 1, 2),
    ],
)
def test_nodes_may_coincide_inside_the_cluster_and_outside(x, a, b):
    # Section 2.3 only has z_1 <= ... <= z_k: two neurons may have the same projection on g.
    p = cluster_polynomial(x, a, b)
    size = b - a + 1
    assert len(p) - 1 == size * (len(x) - size)
    expected = [float(a <= s <= b) for s in range(1, len(x) + 1)]
    np.testing.assert_allclose(np.polynomial.polynomial.polyval(x, p), expected, atol=1e-9)
    np.testing.assert_array_equal(evaluate_cluster_polynomial(x, a, b, np.array(x)), expected)
    assert np.abs(p).sum() <= cluster_polynomial_bound(len(x), size, gap(np.array(x), a, b)) * (1 + 1e-9)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 2), (2, 3)])
def test_a_tie_across_the_end_of_the_cluster_is_refused(a, b):
    with pytest.raises(InputError, match="gap on both sides"):
        cluster_polynomial([0.5, 0.5, 0.9], a, b)


def test_product_form_and_coefficients_are_one_polynomial():
    x, at = np.array([-0.9, -0.1, 0.1, 0.8]), np.linspace(-1.0, 1.0, 7)
    np.testing.assert_allclose(
        np.polynomial.polynomial.polyval(at, cluster_polynomial(x, 2, 3)),
        evaluate_cluster_polynomial(x, 2, 3, at),
        rtol=1e-12,
    )


def test_it_isolates_a_cluster_in_the_moment_matrices():
    # sum_ell p_ell M_{2 + 2 ell} = sum_{i in I} lambda_i u_i u_i^T, the identity behind Lemma 4.8.
    rng = np.random.default_rng(0)
    U = rng.standard_normal((4, 5))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    g, lam = np.ones(5) / np.sqrt(5.0), rng.standard_normal(4)
    U = U[np.argsort((U @ g) ** 2)]
    z = (U @ g) ** 2
    p = cluster_polynomial(z, 2, 3)
    M = [np.einsum("i,ia,ib->ab", lam * z**ell, U, U) for ell in range(len(p))]
    isolated = np.einsum("l,lab->ab", p, M)
    expected = np.einsum("i,ia,ib->ab", lam[1:3], U[1:3], U[1:3])
    np.testing.assert_allclose(isolated, expected, atol=1e-12 * np.abs(p).sum())


def test_the_whole_interval_gives_the_constant_one():
    np.testing.assert_array_equal(cluster_polynomial([-0.5, 0.5], 1, 2), [1.0])
    assert cluster_polynomial_bound(2, 2, 0.5) == 1.0


def test_bound_in_numbers():
    assert cluster_polynomial_bound(3, 1, 0.5) == pytest.approx((1 + 4.0) ** 2)
    assert cluster_polynomial_bound(4, 2, 0.1) == pytest.approx((1 + 20.0**2) ** 2)


@pytest.mark.parametrize(
    ("k", "max_cluster", "last"), [(1, None, 2), (2, None, 4), (4, None, 10), (4, 1, 8), (12, 1, 24)]
)
def test_degree_cap_of_remark_4_10(k, max_cluster, last):
    orders = sufficient_orders(k, max_cluster)
    assert orders == tuple(range(2, last + 1, 2))
    assert orders[-1] <= 2 * k**2 + 2


@pytest.mark.parametrize(
    ("x", "a", "b"), [([0.0, 0.5], 0, 1), ([0.0, 0.5], 2, 1), ([0.5, 0.4], 1, 1), ([0.0, 1.5], 1, 1)]
)
def test_bad_nodes_are_refused(x, a, b):
    with pytest.raises(InputError, match="must"):
        cluster_polynomial(x, a, b)


def test_bad_gap_is_refused():
    with pytest.raises(InputError, match='"Delta"'):
        cluster_polynomial_bound(3, 1, 0.0)
