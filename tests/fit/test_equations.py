"""The sums over blocks against a dense F built row by row."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import NormalEquations, Params, Shape
from tests.fit.twins import dense, from_vectors, planted
from tests.grains import cut

N, D, K = 37, 4, 3


@pytest.fixture(params=[(1, 2**17), (1, 60), (5, 1), (512, 1)], ids=["one", "several", "fives", "least"])
def block_size(request, monkeypatch):
    """Blocks of all rows, of a few rows, of exactly five rows, and of the smallest block."""
    smallest, entries = request.param
    cut(monkeypatch, least_rows=smallest, block_entries=entries)


@pytest.fixture(params=[2**27, 0], ids=["kept", "recomputed"])
def keep_bytes(request, monkeypatch):
    cut(monkeypatch, kept_bytes=request.param)
    return request.param


def problem(biases):
    """Rows of one network, and another network, whose residuals are of order one."""
    rows = planted(teachers.random(K, D, 0, biases=1.0), N, seed=1)
    params = Params.from_network(teachers.random(K, D, 2, biases=float(biases)))
    return rows, params, Shape(K, D, biases=biases).free()


def projection():
    """An orthogonal projection of R^D onto the complement of a random direction."""
    v = np.random.default_rng(3).standard_normal(D)
    v /= np.linalg.norm(v)
    return lambda A: A - (A @ v)[:, None] * v


def tolerance(F, e, D=1.0):
    """1000 eps times the largest term of any of the means compared."""
    largest = np.max(np.abs(F))
    return (
        1000
        * np.finfo(float).eps
        * largest
        * max(np.max(np.abs(e)), largest * np.max(np.abs(D)) * F.shape[1])
    )


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("project", [None, projection()], ids=["free", "projected"])
@pytest.mark.parametrize("biases", [True, False])
def test_sums_are_those_of_the_dense_matrix(biases, project, keep_bytes):
    rows, params, free = problem(biases)
    sums = NormalEquations(rows, params.linearise, free, project)
    assert (sums._kept is None) == (keep_bytes == 0)
    F, e = dense(rows.X, rows.y, params.linearise)
    step = np.random.default_rng(4).standard_normal(free.shape)

    def admissible(A):
        A = free * A
        if project is not None:
            A[:, :-1] = project(A[:, :-1])
        return A

    atol = tolerance(F, e, step)
    assert sums.loss == pytest.approx(np.mean(e**2), rel=1e-13)
    np.testing.assert_allclose(sums.gradient, admissible((F.T @ e / N).reshape(free.shape)), atol=atol)
    m = F.reshape(N, K + 1, D + 1)[:, :, -1]
    np.testing.assert_allclose(sums.coupling, m.T @ m / N, atol=atol)
    step = admissible(step)
    expected = admissible((F.T @ (F @ step.ravel()) / N).reshape(free.shape))
    for _ in range(2):  # the rows can be read again
        np.testing.assert_allclose(sums.product(step), expected, atol=atol)
    mask = free.ravel().astype(bool)
    np.testing.assert_allclose(sums.normal_matrix(), (F.T @ F / N)[np.ix_(mask, mask)], atol=atol)
    # Negative control: a pattern with one sign wrong is far outside the tolerance.
    F[0, : D + 1] *= -1
    assert np.max(np.abs(admissible((F.T @ e / N).reshape(free.shape)) - sums.gradient)) > 1000 * atol


@pytest.mark.parametrize("biases", [True, False])
def test_normal_matrix_and_product_agree(biases):
    rows, params, free = problem(biases)
    sums = NormalEquations(rows, params.linearise, free)
    mask = free.astype(bool)
    for seed in range(3):
        step = np.zeros(free.shape)
        step[mask] = np.random.default_rng(seed).standard_normal(mask.sum())
        np.testing.assert_allclose(sums.product(step)[mask], sums.normal_matrix() @ step[mask], rtol=1e-11)


def test_the_gradient_is_that_of_the_loss():
    # Central differences of the mean square in every entry; the loss is quadratic between kinks, so that the
    # difference is exact but for rounding, eps * loss / h, unless a row lies within h of a kink.
    rows, params, free = problem(True)
    gradient = NormalEquations(rows, params.linearise, free).gradient
    h = 1e-6
    for place in np.ndindex(*free.shape):
        step = np.zeros(free.shape)
        step[place] = h
        up, down = (
            np.mean((rows.y - from_vectors(params.a + s, params.C).linearise(rows.X)[0]) ** 2)
            for s in (step, -step)
        )
        assert -(up - down) / (4 * h) == pytest.approx(gradient[place], abs=1e-8)


def test_inputs_are_not_modified():
    rows, params, free = problem(True)
    for array in (rows.X, rows.y, params.affine, params.planes, params.C, free):
        array.setflags(write=False)
    sums = NormalEquations(rows, params.linearise, free, projection())
    sums.product(sums.gradient)
    sums.normal_matrix()
