"""The expected normal matrix against rows, integrals and dense solutions; products against their prediction."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import ndtr
from scipy.stats import norm

from netlearn import teachers
from netlearn.fit import Params
from netlearn.fit.expected import Expected, products_needed
from netlearn.fit.solve import conjugate_gradients, direct
from tests.fit.twins import planted

K, D = 4, 3


def network(seed, n_outputs=1):
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((K, D + 1))
    planes[1] = -planes[0] + 0.05 * rng.standard_normal(D + 1)  # nearly opposite
    C = rng.standard_normal((K, n_outputs))
    return Params.from_planes(planes, C / np.linalg.norm(C, axis=1, keepdims=True))


def matrix(expected, shape):
    """The matrix as a dense one, from products with all unit vectors."""
    return np.array([expected.product(row.reshape(shape)).ravel() for row in np.eye(shape[0] * shape[1])])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_it_is_the_mean_of_the_normal_matrices_of_gaussian_rows(n_outputs):
    # Means of N products, each with a standard error of at most sqrt(E x^4 / N) = 0.0027: the largest of some 400 is
    # below five of them.
    params, N = network(0, n_outputs), 400_000
    H = matrix(params._expected(np.zeros(1)), (n_outputs + K, D + 1))
    rng, mean = np.random.default_rng(1), 0.0
    C = np.vstack([np.eye(n_outputs), params.C])
    for _ in range(20):
        Z = np.hstack([rng.standard_normal((N // 20, D)), np.ones((N // 20, 1))])
        s = np.hstack([np.ones((len(Z), n_outputs)), np.sign(Z @ params.planes.T)])
        F = (s[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
        mean = mean + F.T @ F / N
    mean = mean * np.kron(C @ C.T, np.ones((D + 1, D + 1)))
    np.testing.assert_allclose(H, mean, atol=5 * np.sqrt(3 / N))
    np.testing.assert_allclose(H, H.T, atol=1e-13)
    assert np.linalg.eigvalsh(H)[0] > 0
    # Negative control: units without their directions have another matrix.
    assert np.max(np.abs(np.kron(params._expected(np.zeros(1)).signs, np.eye(D + 1)) - mean)) > 0.1


@pytest.mark.parametrize("rho", [-0.999999, -0.9, -0.3, 0.0, 0.5, 0.99, 0.999999])
@pytest.mark.parametrize("b", [(0.0, 0.0), (0.7, 0.7), (1.2, -0.4), (0.5, 0.51)])
def test_signs_of_two_units_agree_as_often_as_they_should(rho, b):
    # E[s_i s_j] = E[s_i (2 Phi(t) - 1)] with t the bias of z_j given x along u_i, in units of its spread.
    r = np.sqrt((1 - rho) * (1 + rho))

    def integrand(x):
        return np.sign(x + b[0]) * (2 * ndtr((rho * x + b[1]) / r) - 1) * norm.pdf(x)

    edges = [-12.0, *sorted({-b[0], -b[1] / rho if rho else -b[0]}), 12.0]
    points = [point for edge in edges[1:-1] for point in (edge - 10 * r, edge, edge + 10 * r)]
    exact = integrate.quad(integrand, -12, 12, points=points, limit=500, epsabs=1e-13)[0]
    planes = np.array([[1.0, 0.0, b[0]], [rho, r, b[1]]])
    found = Expected(planes, np.ones((2, 1)), np.zeros(1)).signs[0, 1]
    # Relative to how often they differ, or agree, which is what tells units apart that hardly do.
    assert found == pytest.approx(exact, abs=0.01 * min(1 - exact, 1 + exact) + 1e-12)
    if abs(rho) < 0.95:
        assert found == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("dense", [0, 10**6], ids=["products", "factors"])
@pytest.mark.parametrize("biases", [True, False])
def test_equations_with_it_are_solved(monkeypatch, dense, biases):
    monkeypatch.setattr("netlearn.fit.expected._DENSE", dense)
    monkeypatch.setattr("netlearn.fit.expected._TOLERANCE", 1e-12)
    params = network(2)
    shape, free = (1 + K, D + 1), params.shape(biases).free()
    expected = params._expected(np.zeros(1))
    ridge = np.linspace(0.01, 1.0, 1 + K)[:, None]
    solve = expected.solver(ridge, lambda D: D * free)
    r = free * np.random.default_rng(3).standard_normal(shape)
    mask = free.ravel() > 0
    A = (matrix(expected, shape) + np.diag(np.repeat(ridge[:, 0], D + 1)))[np.ix_(mask, mask)]
    exact = np.zeros(mask.size)
    exact[mask] = np.linalg.solve(A, r.ravel()[mask])
    np.testing.assert_allclose(solve(r).ravel(), exact, atol=1e-9)


@pytest.mark.parametrize("n_features", [3, 8])
def test_factors_are_right_off_the_span_too(n_features):
    params = Params.from_network(teachers.random(3, n_features, 0, biases=1.0))
    shape = (4, n_features + 1)
    expected = params._expected(np.zeros(1))
    r = np.random.default_rng(1).standard_normal(shape)
    solution = expected.solver(np.full((4, 1), 1e-3), lambda D: D)(r)
    np.testing.assert_allclose(expected.product(solution) + 1e-3 * solution, r, atol=1e-10)


@pytest.mark.parametrize(("k", "d"), [(30, 10), (6, 40)])
@pytest.mark.parametrize("ratio", [2.5, 6.0, 20.0])
def test_as_many_products_as_predicted(k, d, ratio):
    params = Params.from_network(teachers.random(k, d, 0, biases=0.5))
    n = int(ratio * (k + 1) * (d + 1))
    system = params.equations(planted(teachers.random(k, d, 1, biases=0.5), n, seed=2), True)
    step, n_products = conjugate_gradients(system, 1e-9, tolerance=1e-4, max_products=200)
    predicted = products_needed(system.free.sum(), n, 1e-9, 1e-4)
    # A formula for independent features; these are not, and the inner solution is a rough one.
    assert 0.6 * predicted < n_products < 1.5 * predicted
    exact = direct(system, 1e-9)
    assert np.linalg.norm(step - exact) < 1e-2 * np.linalg.norm(exact)


def test_units_that_do_nothing_and_units_that_are_equal_do_no_harm():
    planes = np.vstack([np.zeros(D + 1), np.eye(D + 1)[-1], -np.eye(D + 1)[-1], np.ones((2, D + 1))])
    expected = Expected(planes, np.ones((5, 1)), np.zeros(1))
    H = matrix(expected, (5, D + 1))
    assert np.all(np.isfinite(H))
    assert np.linalg.eigvalsh(H)[0] > -1e-5
    # Signs that never change: their blocks are those of 1 and -1.
    np.testing.assert_allclose(H[: D + 1, D + 1 : 2 * D + 2], np.eye(D + 1), atol=1e-12)
    np.testing.assert_allclose(H[: D + 1, 2 * D + 2 : 3 * D + 3], -np.eye(D + 1), atol=1e-12)
