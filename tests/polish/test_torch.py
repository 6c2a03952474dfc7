"""The polish on torch tensors against the polish on NumPy arrays."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.backend import as_like, to_numpy
from netlearn.polish import Iterate, ModulatedSystem, explore, finish
from netlearn.polish.iterate import free_entries
from netlearn.polish.solve import conjugate_gradients, direct
from netlearn.polish.tilt import inside, tilted
from netlearn.polish.wide import wide_fit
from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows, weighted
from tests.polish.twins import planted

torch = pytest.importorskip("torch")


def as_torch(rows):
    return ArraySource(torch.from_numpy(rows.X), torch.from_numpy(rows.y))


def systems(biases, weight=None):
    rows = planted(teachers.random(3, 5, 0, biases=1.0), 300, seed=1)
    iterate = Iterate.from_network(teachers.random(3, 5, 2, biases=float(biases)))
    free = free_entries(3, 5, biases)
    return [
        ModulatedSystem(weighted(source, weight), iterate.linearise, free)
        for source in (rows, as_torch(rows))
    ]


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("weight", [None, np.arange(300.0)], ids=["alike", "weighted"])
def test_sums_and_solutions_are_the_same(biases, weight):
    here, there = systems(biases, weight)
    assert isinstance(there.gradient, torch.Tensor)
    assert there.loss == pytest.approx(here.loss, rel=1e-13)
    for name in ("gradient", "gram"):
        np.testing.assert_allclose(to_numpy(getattr(there, name)), getattr(here, name), atol=1e-13)
    D = np.random.default_rng(0).standard_normal(here.free.shape)
    np.testing.assert_allclose(to_numpy(there.product(as_like(D, there.gram))), here.product(D), atol=1e-11)
    np.testing.assert_allclose(to_numpy(there.normal_matrix()), here.normal_matrix(), atol=1e-12)
    for damping in (0.0, 1e-3):
        np.testing.assert_allclose(direct(there, damping), direct(here, damping), atol=1e-10)
    span = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 3)))[0]
    for basis in (None, span):
        steps = [
            conjugate_gradients(system, 1e-5, tolerance=1e-12, max_steps=100, span=basis)[0]
            for system in (here, there)
        ]
        np.testing.assert_allclose(*steps, atol=1e-9)


def test_a_matrix_that_is_not_definite_is_solved_through_its_eigenvalues():
    rows = planted(teachers.random(3, 5, 0, biases=1.0), 12, seed=1)  # fewer rows than unknowns
    iterate = Iterate.from_network(teachers.random(3, 5, 2))
    free = free_entries(3, 5, True)
    steps = [
        direct(ModulatedSystem(source, iterate.linearise, free), 0.0) for source in (rows, as_torch(rows))
    ]
    np.testing.assert_allclose(*steps, atol=1e-8)
    assert np.all(np.isfinite(steps[0]))


def test_single_precision_is_close():
    for system in systems(True):
        D = np.random.default_rng(0).standard_normal(system.free.shape)
        D = as_like(D, system.gram)
        exact, single = (to_numpy(system.product(D, single=single)) for single in (False, True))
        # 300 terms of size about 10, each with a rounding of 1e-7, and far from none.
        assert 0 < np.max(np.abs(exact - single)) < 1e-4


@pytest.mark.parametrize("polish", [explore, finish])
def test_a_run_comes_to_the_same_place(polish):
    rows = planted(teachers.random(4, 6, 0), 2000, seed=1, noise=0.1)
    start = Iterate.from_network(teachers.random(5, 6, 3))
    here, there = (polish(source, start, biases=True, max_rounds=8) for source in (rows, as_torch(rows)))
    np.testing.assert_allclose(there.trace, here.trace, rtol=1e-6)
    assert isinstance(there.iterate.a, np.ndarray)


def test_a_network_is_found():
    network = teachers.random(6, 8, 0, biases=0.5)
    rows = as_torch(planted(network, 600, seed=1))
    fit = wide_fit(rows, 6, np.random.default_rng(0), biases=True)
    assert fit.iterate.to_network().distance(network) < 1e-10 * network.norm()


def test_a_subspace_is_tilted_alike():
    network = teachers.random(2, 6, 0)
    rows = planted(network, 3000, seed=1)
    V = np.linalg.qr(network.units.T + 0.1 * np.random.default_rng(2).standard_normal((6, 2)))[0]
    fit = Iterate.from_network(teachers.random(3, 2, 4))
    np.testing.assert_allclose(tilted(as_torch(rows), V, fit), tilted(rows, V, fit), atol=1e-10)
    np.testing.assert_allclose(to_numpy(inside(as_torch(rows), V, 50).X), rows.X[:50] @ V, atol=1e-13)


def test_selected_rows_stay_tensors():
    rows = planted(teachers.random(2, 3, 0), 40, seed=0)
    order = np.random.default_rng(0).permutation(40)[:31]
    chosen = SelectedRows(torch.from_numpy(rows.X).to(torch.float32), torch.from_numpy(rows.y), order)
    held = chosen.in_memory()
    assert held.X.dtype == torch.float64
    assert chosen.single().X.dtype == torch.float32
    np.testing.assert_array_equal(held.X.numpy(), rows.X[order].astype(np.float32))
    np.testing.assert_array_equal(chosen.head(7).in_memory().y.numpy(), rows.y[order[:7]])
