"""Several outputs: sums against a dense matrix built by loops, steps against differences, one output as it was."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from netlearn import teachers
from netlearn.backend import as_like, to_numpy
from netlearn.fit import Params, Problem, Shape, finish
from netlearn.fit.several import Complements, SeveralOutputs
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.source import ArraySource
from netlearn.source.arrays import weighted
from tests.fit import twins
from tests.fit.several import dense, kink, network, planted
from tests.grains import cut

N, D, K, M = 61, 4, 3, 3


@pytest.fixture(params=[(1, 2**17), (1, 60), (7, 1)], ids=["one", "several", "sevens"])
def block_size(request, monkeypatch):
    """Blocks of all rows, of a few rows, and of exactly seven rows."""
    smallest, entries = request.param
    cut(monkeypatch, least_rows=smallest, block_entries=entries)


@pytest.fixture(params=[2**27, 0], ids=["kept", "recomputed"])
def keep_bytes(request, monkeypatch):
    cut(monkeypatch, kept_bytes=request.param)
    return request.param


def problem(m=M):
    """Rows of one network, and another network, whose residuals are of order one."""
    return planted(network(K, D, m, 0), N, 1), Params.from_network(network(K, D, m, 2))


def free_columns(system):
    return system.free.ravel().astype(bool)


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("weight", [None, np.arange(N) % 5 + 1.0], ids=["alike", "weighted"])
def test_sums_are_those_of_the_dense_matrix(biases, weight, keep_bytes):
    rows, at = problem()
    system = at.equations(weighted(rows, weight), biases)
    assert (system._kept is None) == (keep_bytes == 0)
    F, e = dense(rows, at)
    w = np.ones(N) if weight is None else weight / np.mean(weight)
    free = free_columns(system)
    assert free.sum() == M * (D + 1) + K * (D + biases) + K * (M - 1)
    F = F * free
    # 1000 roundings of the largest term of any mean.
    atol = 1000 * np.finfo(float).eps * np.max(np.abs(F)) ** 2 * np.max(np.abs(e)) * F.shape[2]
    assert system.loss == pytest.approx(np.mean(w[:, None] * e**2), rel=1e-13)
    gradient = np.einsum("n,nop,no->p", w, F, e) / N
    np.testing.assert_allclose(system.gradient.ravel(), gradient, atol=atol)
    H = np.einsum("n,nop,noq->pq", w, F, F) / N
    step = np.random.default_rng(4).standard_normal(system.free.shape) * system.free
    np.testing.assert_allclose(system.product(step).ravel(), H @ step.ravel(), atol=atol)
    np.testing.assert_allclose(system.normal_matrix(), H[np.ix_(free, free)], atol=atol)
    single = system.product(step, single=True) if keep_bytes else system.product(step)
    np.testing.assert_allclose(single.ravel(), H @ step.ravel(), atol=1e-4)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray], ids=["NumPy", "torch"])
def test_sums_over_a_stretch_are_those_of_the_dense_matrix_too(convert):
    rows, at = problem()
    squares, gradient = at.sums(convert(rows.X), convert(rows.y))
    F, e = dense(rows, at)
    assert squares == pytest.approx(np.sum(e**2) / M, rel=1e-13)
    atol = 1000 * np.finfo(float).eps * np.sum(np.abs(F)) * np.max(np.abs(e))
    free = at.shape(True).free()
    np.testing.assert_allclose(
        (gradient * free).ravel(), np.einsum("nop,no->p", F, e) * free.ravel(), atol=atol
    )


@pytest.mark.parametrize("m", [1, 2, 5])
def test_complements_are_orthonormal_and_orthogonal(m):
    C = np.random.default_rng(m).standard_normal((6, m))
    C[0] = np.eye(m)[0]
    C[1] = -np.eye(m)[0]
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    turn = Complements(C)
    basis = (
        np.stack([turn.vectors(np.tile(row, (6, 1))) for row in np.eye(m - 1)])
        if m > 1
        else np.zeros((0, 6, m))
    )
    np.testing.assert_allclose(np.einsum("jio,io->ji", basis, C), 0.0, atol=1e-15)
    grams = np.einsum("jio,lio->ijl", basis, basis)
    np.testing.assert_allclose(grams, np.tile(np.eye(m - 1), (6, 1, 1)), atol=1e-15)
    vectors = np.random.default_rng(9).standard_normal((6, m))
    projected = vectors - np.sum(vectors * C, axis=1, keepdims=True) * C
    np.testing.assert_allclose(turn.vectors(turn.coordinates(vectors)), projected, atol=1e-14)


@pytest.mark.parametrize("b", [0.0, 0.3, -1.2, 3.0])
def test_kinks_are_orthogonal_to_affine_functions(b):
    # Integrals over x = t u, where all of it lives; only there does the kink of the plane (u, b) vary.
    q = np.array([1.0, b])

    def moment(power):
        def integrand(t):
            return kink((t + b) / np.linalg.norm(q), q) * t**power * stats.norm.pdf(t)

        return integrate.quad(integrand, -12, 12, points=[-b], epsabs=1e-12)[0]

    assert moment(0) == pytest.approx(0.0, abs=1e-11)
    assert moment(1) == pytest.approx(0.0, abs=1e-11)


def test_a_step_is_the_derivative_of_a_move():
    # Central differences along random steps. The move is smooth between kinks, so halving h divides the error of the
    # values by four; a row within h of a kink would add more.
    rows, at = problem()
    system = at.equations(rows, True)
    F, _ = dense(rows, at)
    rng = np.random.default_rng(5)
    for _ in range(10):
        step = rng.standard_normal(system.free.shape) * system.free
        h = 1e-5
        up, down = (at.moved(s * step).linearise(rows.X)[0] for s in (h, -h))
        far = np.abs(rows.X @ at.planes[:, :-1].T + at.planes[:, -1]).min(axis=1) > 1e-3
        np.testing.assert_allclose(((up - down) / (2 * h))[far], (F @ step.ravel())[far], atol=1e-8)
        losses = [np.mean((rows.y - values)[far] ** 2) for values in (up, down)]
        e = rows.y - at.linearise(rows.X)[0]
        expected = -2 * np.mean(np.sum(e * (F @ step.ravel()), axis=1)[far]) / M
        assert (losses[0] - losses[1]) / (2 * h) == pytest.approx(expected, abs=1e-7)


def test_one_output_is_what_it_always_was():
    f = teachers.random(K, D, 0, biases=1.0)
    rows = twins.planted(f, N, 1)
    one = Params.from_network(teachers.random(K, D, 2, biases=1.0))

    def linearise(X):
        values, _ = one.linearise(X)
        z = X @ one.planes[:, :-1].T + one.planes[:, -1]
        return values[:, None], np.hstack([np.ones((len(X), 1)), np.sign(z), np.abs(z)])

    here = one.equations(rows, True)
    free, expected = Shape(K, D).free(), one._expected
    there = SeveralOutputs(ArraySource(rows.X, rows.y[:, None]), linearise, free, one.C, expected=expected)
    assert there.free.shape == here.free.shape
    assert there.loss == pytest.approx(here.loss, rel=1e-14)
    np.testing.assert_allclose(there.gradient, here.gradient, atol=1e-14)
    np.testing.assert_allclose(there.normal_matrix(), here.normal_matrix(), atol=1e-13)
    step = np.random.default_rng(4).standard_normal(here.free.shape)
    np.testing.assert_allclose(there.product(step), here.product(step), atol=1e-13)
    # The preconditioners are the same too, so the runs are, product by product.
    runs = [conjugate_gradients(system, 1e-3, tolerance=1e-8, max_products=50) for system in (here, there)]
    assert runs[0][1] == runs[1][1]
    np.testing.assert_allclose(runs[1][0], runs[0][0], atol=1e-11)


def test_two_outputs_that_are_copies_are_one_output():
    f = teachers.random(K, D, 0, biases=1.0)
    rows = twins.planted(f, N, 1)
    one = Params.from_network(teachers.random(K, D, 2, biases=1.0))
    # Both outputs have the same weights, of length 1 together, so each is one and the planes are longer by the root.
    root, both = np.sqrt(2), np.ones((1, 2))
    two = Params(np.vstack([one.affine, one.affine]), root * one.planes, one.C * both / root)
    X, Y = rows.X, rows.y[:, None] * both
    np.testing.assert_allclose(two.linearise(X)[0], one.linearise(X)[0][:, None] * both, atol=1e-13)
    # A long step, which turns some units over.
    step = 3 * np.random.default_rng(4).standard_normal(one.a.shape)
    twice = np.hstack([np.vstack([step[:1], step[:1], root * step[1:]]), np.zeros((K + 2, 1))])
    ends = one.moved(step), two.moved(twice).mixed(np.array([1.0, 0.0]))
    assert np.any(ends[0].C != one.C)
    np.testing.assert_array_equal(ends[1].C, ends[0].C)
    np.testing.assert_allclose(*(end.linearise(X)[0] for end in ends), atol=1e-13)
    fits = finish(Problem(rows, True), one), finish(Problem(ArraySource(X, Y), True), two)
    assert len(fits[0].trace) > 5
    np.testing.assert_allclose(fits[1].trace[:5], fits[0].trace[:5], rtol=1e-6)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("damping", [1e-6, 0.1])
def test_both_solvers_are_least_squares(damping, biases):
    rows, at = problem()
    system = at.equations(rows, biases)
    F, e = dense(rows, at)
    free = free_columns(system)
    F = F.reshape(N * M, -1)[:, free] / np.sqrt(N)
    stacked = np.vstack([F, np.sqrt(damping) * np.eye(free.sum())])
    expected = np.linalg.lstsq(stacked, np.append(e.ravel() / np.sqrt(N), np.zeros(free.sum())), rcond=None)[
        0
    ]
    steps = [direct(system, damping)]
    step, n_steps = conjugate_gradients(system, damping, tolerance=1e-12, max_products=500)
    assert n_steps < 500
    steps.append(step)
    for step in steps:
        assert not step.ravel()[~free].any()
        np.testing.assert_allclose(step.ravel()[free], expected, atol=1e-7 * np.max(np.abs(expected)))


def test_the_preconditioner_is_symmetric_and_positive():
    rows, at = problem()
    system = at.equations(rows, True)
    mask = free_columns(system)
    precondition = system.preconditioner(1e-3)
    P = np.array([precondition(row.reshape(system.free.shape)).ravel() for row in np.eye(mask.size)])
    P = P[np.ix_(mask, mask)]
    np.testing.assert_allclose(P, P.T, atol=1e-12 * np.max(np.abs(P)))
    assert np.linalg.eigvalsh(P)[0] > 0


def test_the_preconditioner_knows_units_that_are_seldom_bent(monkeypatch):
    # Biases of up to three lengths leave some kinks a variance of 1e-3.
    f = network(12, 30, 6, 0, biases=1.5)
    rows = planted(f, 8000, 1, noise=1.0)

    def n_products():
        return conjugate_gradients(
            Params.from_network(f).equations(rows, True), 1e-9, tolerance=1e-3, max_products=300
        )[1]

    usual = n_products()
    # Negative controls: with all of |z| in place of the kink, and without their Gram matrix.
    with monkeypatch.context() as patch:
        patch.setattr(Params, "_affine_parts", lambda self: 2 * (np.zeros(self.n_hidden),))
        assert n_products() > 2 * usual
    with monkeypatch.context() as patch:
        patch.setattr("netlearn.fit.several.plus", lambda A, ridge: np.eye(len(A)))
        assert n_products() > 2 * usual


def test_no_units_and_no_unknowns_beside_the_affine_part():
    rows, _ = problem()
    at = Params.fitted(np.zeros((0, D + 1)), rows)
    tilde = np.hstack([rows.X, np.ones((N, 1))])
    np.testing.assert_allclose(at.affine.T, np.linalg.lstsq(tilde, rows.y, rcond=None)[0], atol=1e-12)
    step, _ = conjugate_gradients(at.equations(rows, True), 1e-9, tolerance=1e-6, max_products=20)
    assert np.max(np.abs(step)) < 1e-12
    assert at.to_network().n_hidden == 0


@pytest.mark.parametrize("m", [2, 8])
def test_a_start_near_the_truth_comes_to_it(m):
    f = network(6, 8, m, 3)
    rows = planted(f, 1500, 4)
    planes = np.hstack([f.units, f.biases[:, None]])
    start = Params.fitted(planes + 0.03 * np.random.default_rng(5).standard_normal(planes.shape), rows)
    fit = finish(Problem(rows, True), start)
    assert fit.trace[0] > 1e-4
    assert fit.params.to_network().distance(f) < 1e-12 * f.norm()


def test_torch_comes_to_the_same():
    torch = pytest.importorskip("torch")
    rows, at = problem()
    rows_there = ArraySource(torch.from_numpy(rows.X), torch.from_numpy(rows.y))
    here, there = at.equations(rows, True), at.equations(rows_there, True)
    assert isinstance(there.gradient, torch.Tensor)
    assert there.loss == pytest.approx(here.loss, rel=1e-13)
    np.testing.assert_allclose(to_numpy(there.gradient), here.gradient, atol=1e-13)
    np.testing.assert_allclose(to_numpy(there.normal_matrix()), here.normal_matrix(), atol=1e-12)
    step = np.random.default_rng(0).standard_normal(here.free.shape) * here.free
    np.testing.assert_allclose(
        to_numpy(there.product(as_like(step, there.gradient))), here.product(step), atol=1e-12
    )
    steps = [
        conjugate_gradients(system, 1e-4, tolerance=1e-10, max_products=200)[0] for system in (here, there)
    ]
    np.testing.assert_allclose(*steps, atol=1e-8)
    np.testing.assert_allclose(direct(there, 1e-4), direct(here, 1e-4), atol=1e-9)
    found = [Params.fitted(at.planes, source).planes for source in (rows, rows_there)]
    np.testing.assert_allclose(*found, atol=1e-10)
    traces = [finish(Problem(source, True), at, max_rounds=5).trace for source in (rows, rows_there)]
    np.testing.assert_allclose(*traces, rtol=1e-6)
