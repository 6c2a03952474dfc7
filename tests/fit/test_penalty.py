"""Equations with a penalty on the vectors after a step, against dense ridge regression."""

import numpy as np
import pytest
import torch

from netlearn import teachers
from netlearn.backend import to_numpy
from netlearn.fit import Params
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.source import ArraySource
from netlearn.source.arrays import weighted
from tests.fit import several, twins

N, D, K = 200, 5, 3
# 1e-8 of a solution of order one: what the condition number of the normal matrix, below 1e4, leaves of 1e-12.
ATOL = 1e-8


def one_output(biases):
    """Rows of a network, another network, and the dense matrix and residuals at it."""
    rows = twins.planted(teachers.random(K, D, 0, biases=1.0), N, seed=1)
    params = Params.from_network(teachers.random(K, D, 2, biases=float(biases)))
    return rows, params, params.a, *twins.dense(rows.X, rows.y, params.linearise)


def three_outputs(biases):
    rows = several.planted(several.network(K, D, 3, 0), N, 1)
    params = Params.from_network(several.network(K, D, 3, 2, biases=0.5 * biases))
    F, e = several.dense(rows, params)
    # A turn of the weights, of which there is none before the step, counts to a unit's length.
    at = np.hstack([np.vstack([params.affine, params.planes]), np.zeros((3 + K, 2))])
    return rows, params, at, F.reshape(3 * N, -1), e.ravel()


CASES = pytest.mark.parametrize("case", [one_output, three_outputs])
BIASES = pytest.mark.parametrize("biases", [True, False])


def penalties(params, seed=5):
    """Random ones over four orders of magnitude, and one vector without any."""
    p = 10 ** np.random.default_rng(seed).uniform(-3, 1, params.n_outputs + params.n_hidden)
    p[-1] = 0.0
    return p


def dense_ridge(F, e, at, free, p, damping=0.0):
    """Minimise mean (e - F D)^2 + sum p_j |a_j + D_j|^2 + damping |D|^2 by least squares with further rows."""
    free = free.astype(bool)
    root = np.sqrt(np.broadcast_to(p[:, None], free.shape)[free])
    A = np.vstack([F[:, free.ravel()] / np.sqrt(N), np.diag(root), np.sqrt(damping) * np.eye(len(root))])
    b = np.concatenate([e / np.sqrt(N), -root * at[free], np.zeros(len(root))])
    step = np.zeros(free.shape)
    step[free] = np.linalg.lstsq(A, b, rcond=None)[0]
    return step


@CASES
@BIASES
@pytest.mark.parametrize("damping", [0.0, 1e-2])
def test_both_solvers_are_dense_ridge(case, biases, damping):
    rows, params, at, F, e = case(biases)
    p = penalties(params)
    equations = params.equations(rows, biases, p)
    expected = dense_ridge(F, e, at, equations.free, p, damping)
    np.testing.assert_allclose(direct(equations, damping), expected, atol=ATOL)
    step, n_steps = conjugate_gradients(equations, damping, tolerance=1e-13, max_products=500)
    assert n_steps < 500
    np.testing.assert_allclose(step, expected, atol=ATOL)
    # Negative control: the penalty matters.
    assert np.max(np.abs(direct(params.equations(rows, biases), damping) - expected)) > 1e-2


@CASES
@BIASES
def test_the_gradient_has_the_penalty_and_the_loss_has_not(case, biases):
    rows, params, at, F, e = case(biases)
    p = penalties(params)
    plain, equations = params.equations(rows, biases), params.equations(rows, biases, p)
    expected = ((F.T @ e / N).reshape(at.shape) - p[:, None] * at) * equations.free
    np.testing.assert_allclose(equations.gradient, expected, atol=1e-12)
    assert equations.loss == plain.loss == pytest.approx(np.mean(e**2), rel=1e-13)
    np.testing.assert_array_equal(equations.normal_matrix(), plain.normal_matrix())


def test_a_penalty_counts_beside_a_weighted_mean():
    rows, params, at, F, e = one_output(True)
    weight = np.random.default_rng(6).uniform(0.1, 5.0, N)
    p = penalties(params)
    equations = params.equations(weighted(rows, weight), True, p)
    root = np.sqrt(weight / weight.mean())
    expected = dense_ridge(root[:, None] * F, root * e, at, equations.free, p)
    np.testing.assert_allclose(direct(equations, 0.0), expected, atol=ATOL)


@pytest.mark.parametrize("case", [one_output, three_outputs])
def test_a_large_penalty_on_one_vector_takes_it_to_zero(case):
    rows, params, at, _, _ = case(True)
    p = np.zeros(len(at))
    p[-1] = 1e9
    step = direct(params.equations(rows, True, p), 0.0)
    np.testing.assert_allclose((at + step)[-1], 0.0, atol=1e-6)
    assert np.min(np.linalg.norm((at + step)[:-1], axis=1)) > 1e-2


@CASES
def test_torch_comes_to_the_same(case):
    rows, params, _, _, _ = case(True)
    there = ArraySource(torch.from_numpy(rows.X), torch.from_numpy(rows.y))
    p = penalties(params)
    pair = [params.equations(source, True, p) for source in (rows, there)]
    assert isinstance(pair[1].gradient, torch.Tensor)
    np.testing.assert_allclose(to_numpy(pair[1].gradient), pair[0].gradient, atol=1e-12)
    np.testing.assert_allclose(*(direct(equations, 1e-3) for equations in pair), atol=ATOL)
    steps = [conjugate_gradients(equations, 1e-3, tolerance=1e-13, max_products=500)[0] for equations in pair]
    np.testing.assert_allclose(*steps, atol=ATOL)
