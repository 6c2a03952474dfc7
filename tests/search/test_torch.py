"""What is searched for on torch tensors is what is on NumPy arrays."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.backend import to_numpy
from netlearn.fit import Params, Problem
from netlearn.search.hold import narrowed, worth
from netlearn.search.leap import leap, settle
from netlearn.search.residual import unexplained
from netlearn.search.tilt import fixed_fit, inside, tilted
from netlearn.source import ArraySource
from tests.fit.twins import planted
from tests.search.searches import noisy

torch = pytest.importorskip("torch")


def as_torch(rows):
    return ArraySource(torch.from_numpy(rows.X), torch.from_numpy(rows.y))


def test_a_network_is_found():
    rows, target = noisy(teachers.random(6, 8, 0, biases=0.5), 1500, 1)
    problem = Problem(as_torch(rows), True)
    wide = leap(problem, 12, np.random.default_rng(0))
    fit = settle(problem, narrowed(problem, wide, 6).params)
    assert fit.params.n_hidden == 6
    assert fit.params.to_network().distance(target) < 1e-10


def test_units_are_weighed_alike():
    rows, target = noisy(teachers.random(4, 6, 0, biases=0.5), 1500, 1, 0.1)
    params = Params.from_network(target)
    here, there = Problem(rows, True), Problem(as_torch(rows), True)
    np.testing.assert_allclose(worth(there, params), worth(here, params), rtol=1e-9)
    less = params.keep(np.arange(3))
    values = [unexplained(problem, less, np.random.default_rng(0)) for problem in (here, there)]
    assert values[0][0] == pytest.approx(values[1][0], rel=1e-9)
    np.testing.assert_allclose(values[0][1], values[1][1], atol=1e-9)


def test_a_subspace_is_tilted_alike():
    network = teachers.random(2, 6, 0)
    rows = planted(network, 3000, seed=1)
    V = np.linalg.qr(network.units.T + 0.1 * np.random.default_rng(2).standard_normal((6, 2)))[0]
    gates = Params.from_network(teachers.random(3, 2, 4))
    a, error = fixed_fit(Problem(inside(rows, V, 3000), True), gates)
    a_there, error_there = fixed_fit(Problem(inside(as_torch(rows), V, 3000), True), gates)
    np.testing.assert_allclose(a_there, a, atol=1e-9)
    assert error_there == pytest.approx(error)
    # Its products are in single precision, whose sums of 3,000 terms lose their root times 6e-8.
    there, here = (tilted(source, V, gates, a) for source in (as_torch(rows), rows))
    np.testing.assert_allclose(there, here, atol=55 * 6e-8)
    np.testing.assert_allclose(to_numpy(inside(as_torch(rows), V, 50).X), rows.X[:50] @ V, atol=1e-13)
