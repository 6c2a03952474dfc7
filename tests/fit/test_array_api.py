"""A fit on arrays that allow nothing beyond the array API standard, against one on NumPy's."""

import array_api_strict as strict
import numpy as np
import pytest

from netlearn import teachers
from netlearn.backend import as_like, to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.fit import Params, Problem, explore, finish
from netlearn.fit.modulated import inner, modulated, outer, padded, plus, taken
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.source import ArraySource
from netlearn.source.arrays import weighted
from tests.fit import several
from tests.fit.twins import planted

STRICT = type(strict.asarray(0.0))
N = 300
ATOL = 1e-11  # a few hundred roundings of numbers of size ten


def pair(rows):
    """The same rows in NumPy's arrays and in strict ones."""
    return rows, ArraySource(strict.asarray(rows.X), strict.asarray(rows.y))


def case(n_outputs, biases=True):
    """Rows of a network, and another one to take a step from."""
    if n_outputs == 1:
        rows = planted(teachers.random(3, 5, 0, biases=1.0), N, seed=1)
        return rows, Params.from_network(teachers.random(3, 5, 2, biases=float(biases)))
    rows = several.planted(several.network(3, 5, n_outputs, 0), N, seed=1)
    return rows, Params.from_network(several.network(3, 5, n_outputs, 2, biases=float(biases)))


def same(found, expected, **tolerance):
    """Whether strict arrays hold what NumPy's do."""
    assert isinstance(found, STRICT)
    np.testing.assert_allclose(to_numpy(found), expected, **(tolerance or {"atol": ATOL}))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_values_signs_and_sums_are_the_same(n_outputs):
    rows, params = case(n_outputs)
    here, there = pair(rows)
    for found, expected in zip(params.linearise(there.X), params.linearise(here.X), strict=True):
        same(found, expected)
    same(params.signs(there.X), params.signs(here.X))
    same(params.residual(there.X, there.y), params.residual(here.X, here.y))
    (loss, gradient), (own_loss, own_gradient) = params.sums(here.X, here.y), params.sums(there.X, there.y)
    assert own_loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(own_gradient, gradient, atol=1e-10)


def test_a_network_without_units_is_an_affine_function():
    rows, _ = case(1)
    here, there = pair(rows)
    params = Params.affine_only(np.arange(6.0)[None])
    for found, expected in zip(params.linearise(there.X), params.linearise(here.X), strict=True):
        same(found, expected)


def systems(n_outputs, biases=True, weight=None, penalty=None):
    rows, params = case(n_outputs, biases)
    return [params.equations(weighted(source, weight), biases, penalty) for source in pair(rows)]


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("weight", [None, np.arange(float(N))], ids=["alike", "weighted"])
@pytest.mark.parametrize("penalised", [True, False])
def test_normal_equations_are_the_same(n_outputs, biases, weight, penalised):
    penalty = np.linspace(0.0, 1.0, n_outputs + 3) if penalised else None
    here, there = systems(n_outputs, biases, weight, penalty)
    assert there.loss == pytest.approx(here.loss, rel=1e-12)
    same(there.gradient, here.gradient)
    same(there.coupling, here.coupling)
    same(there.normal_matrix(), here.normal_matrix())
    D = np.random.default_rng(0).standard_normal(here.free.shape)
    D_there = as_like(D, there.gradient)
    same(there.product(D_there), here.product(D))
    same(there.product(D_there, single=True), here.product(D, single=True), atol=1e-4)
    same(there.preconditioner(1e-3)(D_there), here.preconditioner(1e-3)(D), atol=1e-8)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_modulators_that_are_not_kept_are_computed_anew(monkeypatch, n_outputs):
    kept = systems(n_outputs)[0]
    monkeypatch.setattr("netlearn.fit.equations.grain", lambda like: _Nothing())
    here, there = systems(n_outputs)
    assert there._kept is here._kept is None
    D = np.random.default_rng(0).standard_normal(here.free.shape)
    same(there.product(as_like(D, there.gradient)), kept.product(D))


class _Nothing:
    kept_bytes = 0


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("biases", [True, False])
def test_solutions_are_the_same(n_outputs, biases):
    here, there = systems(n_outputs, biases)
    for damping in (0.0, 1e-3):
        np.testing.assert_allclose(direct(there, damping), direct(here, damping), atol=1e-9)
    for single in (False, True):
        steps = [
            conjugate_gradients(
                system, 1e-5, tolerance=1e-4 if single else 1e-12, max_products=200, single=single
            )[0]
            for system in (here, there)
        ]
        np.testing.assert_allclose(*steps, atol=1e-3 if single else 1e-8)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("fit", [explore, finish])
def test_a_run_comes_to_the_same_place(fit, n_outputs):
    rows, start = case(n_outputs)
    noise = 0.1 * np.random.default_rng(5).standard_normal(rows.y.shape)
    rows = ArraySource(rows.X, rows.y + noise)
    here, there = (fit(Problem(source, True), start, max_rounds=4) for source in pair(rows))
    np.testing.assert_allclose(there.trace, here.trace, rtol=1e-6)
    assert all(isinstance(array, np.ndarray) for array in vars(there.params).values())


def test_weights_of_given_hyperplanes_are_the_same():
    rows, params = case(3)
    here, there = (Params.fitted(params.planes, source) for source in pair(rows))
    for name, array in vars(here).items():
        np.testing.assert_allclose(getattr(there, name), array, atol=1e-9, err_msg=name)


# The pieces


def test_pieces_of_the_equations_are_the_same():
    rng = np.random.default_rng(0)
    for n_modulators in (2, 9):  # fewer and more than columns, which decides what is multiplied first
        m, X, e = (
            rng.standard_normal((20, n_modulators)),
            rng.standard_normal((20, 4)),
            rng.standard_normal(20),
        )
        D = rng.standard_normal((n_modulators, 5))
        own = [strict.asarray(part) for part in (m, X, e, D)]
        same(inner(own[0], own[3], own[1]), inner(m, D, X))
        same(outer(own[0], own[2], own[1]), outer(m, e, X))
        same(modulated(own[0], own[1]), modulated(m, X))
        same(padded(own[3], axis=0), padded(D, axis=0))
    A = m.T @ m
    same(plus(strict.asarray(A), 0.5), plus(A, 0.5))
    same(plus(strict.asarray(A), np.arange(9.0)), plus(A, np.arange(9.0)))
    same(taken(strict.asarray(A), np.array([3, 1]), axis=1), A[:, [3, 1]])


@pytest.mark.parametrize("rank", [4, 2], ids=["definite", "singular"])
def test_matrices_are_solved_alike(rank):
    rng = np.random.default_rng(0)
    root, b = rng.standard_normal((4, rank)), rng.standard_normal((4, 2))
    A = root @ root.T
    b = A @ b  # what a singular matrix can solve
    same(spd_solver(strict.asarray(A))(strict.asarray(b)), spd_solver(A)(b), atol=1e-9)
    assert not to_numpy(spd_solver(strict.asarray(np.full((2, 2), np.nan)))(strict.asarray(b[:2, :]))).any()
