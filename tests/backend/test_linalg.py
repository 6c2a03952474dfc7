"""No factorisation ends a run: singular, indefinite and useless matrices have a next step."""

import numpy as np
import pytest

from netlearn.backend.linalg import spd_root, spd_solver

torch = pytest.importorskip("torch")


def matrix(kind, n=6):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = {
        "definite": np.geomspace(1.0, 1e-3, n),
        "singular": np.array([1.0, 0.5, 0.1, 0.0, 0.0, 0.0]),
        "indefinite": np.array([1.0, 0.5, 0.1, 1e-3, -1e-18, -1e-17]),
        "clearly indefinite": np.array([1.0, 0.5, 0.1, 1e-3, -0.1, -0.5]),
        "zero": np.zeros(n),
        "negative": -np.ones(n),
    }.get(kind, np.ones(n))
    A = (Q * values) @ Q.T
    if kind == "not finite":
        A[0, 0] = np.nan
    if kind == "infinite":
        A[1, 1] = np.inf
    return A, Q, values


KINDS = [
    "definite",
    "singular",
    "indefinite",
    "clearly indefinite",
    "zero",
    "negative",
    "not finite",
    "infinite",
]


@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_solution_always_comes_back(kind, library):
    A, Q, values = matrix(kind)
    b = np.random.default_rng(1).standard_normal((6, 2))
    x = np.asarray(spd_solver(library(A))(library(b)))
    assert np.all(np.isfinite(x))
    if kind in ("zero", "negative", "not finite", "infinite"):
        np.testing.assert_array_equal(x, 0.0)
    else:
        kept = values > 1e-14
        expected = (Q[:, kept] / values[kept]) @ Q[:, kept].T @ b
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_root_always_comes_back_and_is_triangular(kind):
    A, _, _ = matrix(kind)
    R = spd_root(A)
    assert np.all(np.isfinite(R))
    np.testing.assert_array_equal(np.tril(R, -1), 0.0)
    assert np.all(np.diag(R) != 0.0)
    if kind in ("definite", "singular", "indefinite"):
        np.testing.assert_allclose(R.T @ R, A, atol=1e-14)
