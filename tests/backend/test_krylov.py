"""Krylov iteration against matrices whose spectrum is known."""

import numpy as np
import pytest

from netlearn.backend.krylov import Krylov


def symmetric(eigenvalues, seed):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(eigenvalues),) * 2))[0]
    return (Q * eigenvalues) @ Q.T, Q


def grown(A, n_vectors, n_products, seed=0):
    space = Krylov(np.random.default_rng(seed).standard_normal((len(A), n_vectors)))
    for _ in range(n_products):
        space.grow(A @ space.fresh)
    return space


def test_outliers_converge_and_nothing_leaves_the_spectrum():
    eigenvalues = np.concatenate([[5.0, -4.0], np.linspace(-1, 1, 198)])
    A, Q = symmetric(eigenvalues, 0)
    values, vectors = grown(A, 4, 8).ritz()
    # The polynomial of degree 7 that is largest at 4 among those bounded by 1 on [-1, 1] is cosh(7 arccosh 4) = 9e5
    # there: its inverse, times the root of 200 / 4 for the start, bounds the angle; its square, the eigenvalue's error.
    np.testing.assert_allclose(values[:2], [5.0, -4.0], atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(vectors[:, :2] * Q[:, :2], axis=0)), 1.0, atol=1e-8)
    assert np.all((values > -4.0 - 1e-12) & (values < 5.0 + 1e-12))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(32), atol=1e-12)


def test_a_space_as_large_as_the_whole_has_all_eigenvalues():
    eigenvalues = np.arange(1.0, 13.0)
    A, _ = symmetric(eigenvalues, 1)
    values, _ = grown(A, 3, 4).ritz()
    np.testing.assert_allclose(np.sort(values), eigenvalues, atol=1e-9)


@pytest.mark.parametrize("value", [1.0, -2.5])
def test_a_multiple_of_the_identity_shows_nothing_else(value):
    # All products lie in the start's span, and what is new in them is rounding.
    values, _ = grown(value * np.eye(50), 4, 3).ritz()
    np.testing.assert_allclose(values, value, atol=1e-12)
