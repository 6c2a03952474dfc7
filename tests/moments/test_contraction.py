"""The closed form against explicit Hermite tensors."""

import numpy as np
import pytest

from netlearn.moments import moment_matrices
from tests.reference.tensors import contract, hermite_tensor_sum, moment_tensor, paper_moment_matrix

ORDERS = (2, 4, 6, 8)


def sample(seed, n, d):
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(d)
    return rng.standard_normal((n, d)), rng.standard_normal(n), g / np.linalg.norm(g)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_moment_matrices_agree_with_explicit_tensors(d):
    X, y, g = sample(d, 6, d)
    for ell, M_ell_hat in zip(ORDERS, moment_matrices(X, y, g, ORDERS), strict=True):
        expected = paper_moment_matrix(X, y, g, ell)
        assert np.linalg.norm(M_ell_hat - expected) <= 1e-10 * np.linalg.norm(expected)


def test_the_printed_tensor_normalisation_is_told_apart():
    X, y, g = sample(0, 6, 4)
    for ell, M_ell_hat in zip(ORDERS, moment_matrices(X, y, g, ORDERS), strict=True):
        printed = paper_moment_matrix(X, y, g, ell, as_printed=True)
        assert np.linalg.norm(M_ell_hat - printed) > 0.01 * np.linalg.norm(M_ell_hat)


@pytest.mark.parametrize("ell", ORDERS)
def test_reference_tensor_evaluates_he_along_a_unit_vector(ell):
    # H_ell(x)(u, ..., u) = He_ell(<u, x>) for |u| = 1: the property Lemma 2.3 rests on, and an independent
    # check.
    X, _, u = sample(ell, 1, 3)
    value = u @ contract(hermite_tensor_sum(X, np.ones(1), ell), u) @ u
    He_ell = np.polynomial.hermite_e.HermiteE.basis(ell)
    assert value == pytest.approx(He_ell(X[0] @ u), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("ell", ORDERS)
def test_contracted_population_tensor_is_the_population_matrix(ell):
    rng = np.random.default_rng(ell)
    lam, units, g = rng.standard_normal(3), rng.standard_normal((3, 3)), rng.standard_normal(3)
    matrix = (units.T * (lam * (units @ g) ** (ell - 2))) @ units
    np.testing.assert_allclose(contract(moment_tensor(lam, units, ell), g), matrix, rtol=1e-10, atol=1e-12)


def test_order_200_is_finite_and_symmetric():
    X, y, g = sample(1, 500, 3)
    M = moment_matrices(X, y, g, [200])[0]
    assert np.all(np.isfinite(M))
    assert np.array_equal(M, M.T)
