"""Both solvers against numpy's least squares on the dense matrix."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import NormalEquations, Params, Shape
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.source import ArraySource
from tests.fit.twins import dense, planted

N, D, K = 300, 5, 3


def problem(biases, project=None):
    rows = planted(teachers.random(K, D, 0, biases=1.0), N, seed=1)
    params = Params.from_network(teachers.random(K, D, 2, biases=float(biases)))
    system = NormalEquations(rows, params.linearise, Shape(K, D, biases=biases).free(), project)
    return system, *dense(rows.X, rows.y, params.linearise)


def least_squares(F, e, damping):
    """The minimiser of |e - F D|^2 / N + damping |D|^2, of least norm where there are several."""
    n, P = F.shape
    stacked = np.vstack([F / np.sqrt(n), np.sqrt(damping) * np.eye(P)])
    return np.linalg.lstsq(stacked, np.concatenate([e / np.sqrt(n), np.zeros(P)]), rcond=1e-10)[0]


@pytest.mark.parametrize("damping", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("biases", [True, False])
def test_direct_is_least_squares(biases, damping):
    system, F, e = problem(biases)
    mask = system.free.ravel().astype(bool)
    expected = least_squares(F[:, mask], e, damping)
    D_hat = direct(system, damping)
    assert not D_hat.ravel()[~mask].any()
    # The normal equations lose the condition number of F^T F, here below 1e4.
    np.testing.assert_allclose(D_hat.ravel()[mask], expected, atol=1000 * np.finfo(float).eps * 1e4)


@pytest.mark.parametrize("damping", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("biases", [True, False])
def test_conjugate_gradients_agree_with_direct(biases, damping):
    system, _, _ = problem(biases)
    D_hat, n_steps = conjugate_gradients(system, damping, tolerance=1e-13, max_products=200)
    assert n_steps < 200
    np.testing.assert_allclose(D_hat, direct(system, damping), atol=1e-9)


def test_conjugate_gradients_stay_inside_the_projection():
    v = np.random.default_rng(3).standard_normal(D)
    v /= np.linalg.norm(v)
    system, F, e = problem(False, project=lambda A: A - (A @ v)[:, None] * v)
    D_hat, _ = conjugate_gradients(system, 1e-3, tolerance=1e-13, max_products=200)
    assert np.max(np.abs(D_hat[:, :-1] @ v)) < 1e-12
    # The admissible D in coordinates: an orthonormal basis of them, found by projecting everything.
    P = system.free.size
    basis = np.linalg.svd([system.project(row.reshape(system.free.shape)).ravel() for row in np.eye(P)])
    B = basis[2][basis[1] > 0.5].T
    expected = B @ least_squares(F @ B, e, 1e-3)
    np.testing.assert_allclose(D_hat.ravel(), expected, atol=1e-9)


def test_the_step_count_is_the_number_of_products(monkeypatch):
    system, _, _ = problem(True)
    products = []
    product = system.product
    monkeypatch.setattr(
        system, "product", lambda A, **precision: products.append(1) or product(A, **precision)
    )
    for max_products in (1, 3, 100):
        products.clear()
        assert conjugate_gradients(system, 1e-5, tolerance=1e-6, max_products=max_products)[1] == len(
            products
        )
        assert len(products) <= max_products


def test_single_precision_loses_what_the_sums_and_the_condition_lose():
    # Single precision has eps = 6e-8, sums of 4096 terms lose up to their root, 64, and the condition number of the
    # matrix is below 100.
    rows = planted(teachers.random(3, 500, 0), 5000, seed=1)
    params = Params.from_network(teachers.random(3, 500, 2))
    system = NormalEquations(rows, params.linearise, Shape(3, 500).free())
    assert system.can_be_single
    single, double = (
        conjugate_gradients(system, 1e-5, tolerance=1e-9, max_products=100, single=single)[0]
        for single in (True, False)
    )
    error = np.linalg.norm(single - double) / np.linalg.norm(double)
    assert 1e-10 < error < 100 * 64 * 6e-8


def test_no_gradient_is_no_step():
    rows = planted(teachers.random(K, D, 0), N, seed=1)
    exact = ArraySource(rows.X, np.zeros(N))
    nothing = Params.affine_only(np.zeros((1, D + 1)))
    system = NormalEquations(exact, nothing.linearise, np.ones((1, D + 1)))
    step, n_steps = conjugate_gradients(system, 1e-5, tolerance=1e-3, max_products=10)
    assert n_steps == 0
    assert not step.any()
    assert not direct(system, 1e-5).any()


def test_a_singular_matrix_leaves_undetermined_directions_alone():
    # A column of zeros determines nothing: the least-squares solution of least norm has no entry there.
    rng = np.random.default_rng(5)
    X = np.hstack([rng.standard_normal((N, D - 1)), np.zeros((N, 1))])
    rows = ArraySource(X, teachers.random(K, D, 0)(X))
    params = Params.from_network(teachers.random(K, D, 2, biases=1.0))
    system = NormalEquations(rows, params.linearise, Shape(K, D).free())
    D_hat = direct(system, 0.0)
    F, e = dense(X, rows.y, params.linearise)
    np.testing.assert_allclose(D_hat.ravel(), least_squares(F, e, 0.0), atol=1e-9)
    assert np.max(np.abs(D_hat[:, -2])) < 1e-9


def test_duplicate_units_are_solved_as_one_function():
    # Two equal units make F^T F singular up to rounding; what they do together is still determined.
    rows = planted(teachers.random(K, D, 0, biases=1.0), N, seed=1)
    one = Params.from_network(teachers.random(K, D, 2, biases=1.0))
    twice = one.joined(Params(np.zeros((1, D + 1)), one.planes[:1], one.C[:1]))
    F, e = dense(rows.X, rows.y, twice.linearise)
    best = F @ least_squares(F, e, 0.0)
    system = NormalEquations(rows, twice.linearise, Shape(K + 1, D, biases=True).free())
    # With damping delta the prediction is off by at most delta |D| / (smallest singular value of F / sqrt N).
    for step in (
        direct(system, 1e-12),
        conjugate_gradients(system, 1e-12, tolerance=1e-10, max_products=300)[0],
    ):
        np.testing.assert_allclose(F @ step.ravel(), best, atol=1e-6)
