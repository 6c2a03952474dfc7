"""Units that a fit lacks: found in what it leaves, or as the halves of one of its own."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Fit, Params, Problem, finish
from netlearn.network import ShallowNetwork
from netlearn.search.complete import completed, split
from tests.fit.twins import FAMILIES
from tests.search.searches import noisy


def rng():
    return np.random.default_rng(0)


def test_a_unit_that_is_missing_is_found():
    # In its place is one that switches on no row: no step can move it there.
    rows, target = noisy(FAMILIES["biases"][0], 1500, 5)
    problem = Problem(rows, True)
    dead = ShallowNetwork(np.zeros(6), [0.5], np.eye(6)[:1], [-9.0], 0.0)
    stuck = finish(problem, Params.from_network(target).keep(np.arange(3)).joined(Params.from_network(dead)))
    assert stuck.loss > 1e-3
    fit = stuck
    for _ in range(3):  # each time half of the units, or four, are added
        fit = completed(problem, fit, 4, rng())
    assert fit.params.n_hidden == 4
    assert fit.loss < 1e-20
    assert fit.trace[0] == stuck.trace[0]


def two_close_units(angle):
    one, other = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 2)))[0].T
    units = np.stack([one, np.cos(angle) * one + np.sin(angle) * other])
    return noisy(ShallowNetwork.from_relu(units, [1.0, 1.0]), 20_000, 2)


@pytest.mark.parametrize("angle", [0.1, 0.01])
@pytest.mark.parametrize("at_most", [2, None])
def test_a_unit_that_is_two_is_told_apart(angle, at_most):
    rows, target = two_close_units(angle)
    problem = Problem(rows, False)
    one = finish(problem, Params.from_network(target).keep(np.arange(1)))
    assert one.loss > 1e-10
    fit = completed(problem, one, at_most, rng())
    assert fit.params.n_hidden == 2
    assert fit.params.to_network().distance(target) < 1e-10


def test_the_width_asked_for_is_kept():
    rows, _ = noisy(teachers.random(6, 5, 0), 2000, 1)
    problem = Problem(rows, False)
    fit = completed(problem, finish(problem, Params.affine_only(np.zeros((1, 6)))), 3, rng())
    assert fit.params.n_hidden <= 3


def test_noise_adds_no_unit():
    rows, target = noisy(teachers.random(3, 5, 0), 6000, 1, 0.3)
    problem = Problem(rows, False)
    found = finish(problem, Params.from_network(target))
    assert completed(problem, found, None, rng()).params.n_hidden == 3


def test_time_that_is_up_ends_it():
    rows, target = two_close_units(0.01)
    one = finish(Problem(rows, False), Params.from_network(target).keep(np.arange(1)))
    fit = completed(Problem(rows, False, deadline=lambda: True), one, None, rng())
    assert isinstance(fit, Fit)


def test_halves_add_up_to_the_unit_and_lie_apart_as_the_loss_allows():
    params = Params.from_network(teachers.random(3, 6, 0, biases=0.5))
    halves = split(params, 1e-9, rng())
    assert halves.n_hidden == 6
    np.testing.assert_allclose(halves.planes[:3] + halves.planes[3:], params.planes, rtol=0.0, atol=1e-12)
    apart = halves.planes[:3] / 0.65 - halves.planes[3:] / 0.35
    size = np.linalg.norm(params.planes, axis=1)
    expected = np.cbrt(1e-9 / size**2) * size
    assert np.all(np.linalg.norm(apart, axis=1) / expected > 1.0)
    assert np.all(np.linalg.norm(apart, axis=1) / expected < 5.0)


def test_halves_of_units_without_biases_have_none():
    halves = split(Params.from_network(teachers.random(3, 6, 0)), 1e-3, rng())
    assert not halves.has_biases
