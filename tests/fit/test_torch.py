"""A fit on torch tensors against one on NumPy arrays."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.backend import as_like, to_numpy
from netlearn.fit import NormalEquations, Params, Problem, Shape, explore, finish
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows, weighted
from tests.fit.twins import planted

torch = pytest.importorskip("torch")


def as_torch(rows):
    return ArraySource(torch.from_numpy(rows.X), torch.from_numpy(rows.y))


def systems(biases, weight=None):
    rows = planted(teachers.random(3, 5, 0, biases=1.0), 300, seed=1)
    params = Params.from_network(teachers.random(3, 5, 2, biases=float(biases)))
    free = Shape(3, 5, biases=biases).free()
    return [
        NormalEquations(weighted(source, weight), params.linearise, free) for source in (rows, as_torch(rows))
    ]


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("weight", [None, np.arange(300.0)], ids=["alike", "weighted"])
def test_sums_and_solutions_are_the_same(biases, weight):
    here, there = systems(biases, weight)
    assert isinstance(there.gradient, torch.Tensor)
    assert there.loss == pytest.approx(here.loss, rel=1e-13)
    for name in ("gradient", "coupling"):
        np.testing.assert_allclose(to_numpy(getattr(there, name)), getattr(here, name), atol=1e-13)
    D = np.random.default_rng(0).standard_normal(here.free.shape)
    np.testing.assert_allclose(
        to_numpy(there.product(as_like(D, there.gradient))), here.product(D), atol=1e-11
    )
    np.testing.assert_allclose(to_numpy(there.normal_matrix()), here.normal_matrix(), atol=1e-12)
    for damping in (0.0, 1e-3):
        np.testing.assert_allclose(direct(there, damping), direct(here, damping), atol=1e-10)
    steps = [
        conjugate_gradients(system, 1e-5, tolerance=1e-12, max_products=100)[0] for system in (here, there)
    ]
    np.testing.assert_allclose(*steps, atol=1e-9)


def test_a_matrix_that_is_not_definite_is_solved_through_its_eigenvalues():
    rows = planted(teachers.random(3, 5, 0, biases=1.0), 12, seed=1)  # fewer rows than unknowns
    params = Params.from_network(teachers.random(3, 5, 2))
    free = Shape(3, 5).free()
    steps = [
        direct(NormalEquations(source, params.linearise, free), 0.0) for source in (rows, as_torch(rows))
    ]
    np.testing.assert_allclose(*steps, atol=1e-8)
    assert np.all(np.isfinite(steps[0]))


@pytest.mark.parametrize("K", [3, 40], ids=["few units", "more units than features"])
def test_two_digits_are_close(K):
    rows = as_torch(planted(teachers.random(3, 20, 0, biases=1.0), 300, seed=1))
    params = Params.from_network(teachers.random(K, 20, 2, biases=1.0))
    system = params.equations(rows, True)
    D = as_like(np.random.default_rng(0).standard_normal(system.free.shape), system.gradient)
    exact, rough = (to_numpy(system.product(D, rough=rough)) for rough in (False, True))
    # Each factor is rounded to a part in 256, and so is each of the two sums.
    assert 0 < np.linalg.norm(exact - rough) < 4 / 256 * np.linalg.norm(exact)


def test_single_precision_is_close():
    for system in systems(True):
        D = np.random.default_rng(0).standard_normal(system.free.shape)
        D = as_like(D, system.gradient)
        exact, single = (to_numpy(system.product(D, single=single)) for single in (False, True))
        # 300 terms of size about 10, each with a rounding of 1e-7, and far from none.
        assert 0 < np.max(np.abs(exact - single)) < 1e-4


@pytest.mark.parametrize("fit", [explore, finish])
def test_a_run_comes_to_the_same_place(fit):
    rows = planted(teachers.random(4, 6, 0), 2000, seed=1, noise=0.1)
    start = Params.from_network(teachers.random(5, 6, 3))
    here, there = (fit(Problem(source, True), start, max_rounds=8) for source in (rows, as_torch(rows)))
    np.testing.assert_allclose(there.trace, here.trace, rtol=1e-6)
    assert all(isinstance(array, np.ndarray) for array in vars(there.params).values())


def test_selected_rows_stay_tensors():
    rows = planted(teachers.random(2, 3, 0), 40, seed=0)
    order = np.random.default_rng(0).permutation(40)[:31]
    chosen = SelectedRows(torch.from_numpy(rows.X).to(torch.float32), torch.from_numpy(rows.y), order)
    held = chosen.in_memory()
    assert held.X.dtype == torch.float64
    assert chosen.single().X.dtype == torch.float32
    np.testing.assert_array_equal(held.X.numpy(), rows.X[order].astype(np.float32))
    np.testing.assert_array_equal(chosen.head(7).in_memory().y.numpy(), rows.y[order[:7]])
