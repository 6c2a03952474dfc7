"""What a fit leaves: noise looks like noise, and a missing unit does not."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Params, Problem, finish
from netlearn.network import ShallowNetwork
from netlearn.search import residual
from netlearn.search.residual import NOTHING, stands_for_two, unexplained
from netlearn.source import ArraySource
from tests.search.searches import noisy


def affine(d):
    return Params.affine_only(np.zeros((1, d + 1)))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "d", "biases"), [(500, 3, True), (2000, 6, True), (2000, 20, False), (300, 30, True)]
)
def test_noise_looks_like_noise(n, d, biases):
    # Were one seed in five hundred above, six of a hundred would come with probability 1e-7.
    values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows = ArraySource(rng.standard_normal((n, d)), rng.standard_normal(n))
        values.append(unexplained(Problem(rows, biases), affine(d), rng)[0])
    assert np.sum(np.array(values) < NOTHING) >= 95
    assert np.median(values) > 0.4  # nor is the bar out of reach


def lacking_one(seed, biases, noise):
    """A fit without the weakest unit, and that unit's plane."""
    rows, target = noisy(teachers.random(4, 6, seed, biases=biases), 3000, seed, noise)
    whole = Params.from_network(target)
    weakest = int(np.argmin(whole.kink_strengths()))
    problem = Problem(rows, biases > 0)
    fit = finish(problem, whole.keep(np.delete(np.arange(4), weakest)))
    return problem, fit.params, whole.planes[weakest]


@pytest.mark.parametrize("biases", [0.0, 0.5])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_missing_unit_is_seen(noise, biases):
    for seed in range(10):
        problem, fit, _ = lacking_one(seed, biases, noise)
        assert unexplained(problem, fit, np.random.default_rng(seed))[0] > NOTHING


@pytest.mark.parametrize("biases", [True, False])
def test_planes_are_of_length_one_and_the_first_fits_best(biases):
    problem, fit, missing = lacking_one(1, 0.5 if biases else 0.0, 0.0)
    _, planes = unexplained(problem, fit, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(planes, axis=1), 1.0)
    assert bool(planes[:, -1].any()) == biases
    e, X = problem.rows.y - fit.linearise(problem.rows.X)[0], problem.rows.X
    # What a unit there would be, to first order: of the first planes more than of the last.
    signs = np.sign(X @ planes[:, :-1].T + planes[:, -1])
    gains = np.linalg.norm(np.einsum("nj,n,ni->ji", signs, e, X) / len(X), axis=1)
    assert np.mean(gains[:12]) > np.mean(gains[-12:])
    cosines = np.abs(planes @ missing) / np.linalg.norm(missing)
    assert cosines[:12].max() > 0.5


def test_a_unit_that_is_there_is_not_missed():
    for seed in range(5):
        rows, target = noisy(teachers.random(4, 6, seed), 3000, seed, 0.1)
        fit = finish(Problem(rows, False), Params.from_network(target))
        assert unexplained(Problem(rows, False), fit.params, np.random.default_rng(seed))[0] < NOTHING


def test_no_more_rows_are_read_than_are_enough(monkeypatch):
    problem, fit, _ = lacking_one(0, 0.0, 0.1)
    monkeypatch.setattr(residual, "_MOST_ROWS", 1000)
    some = unexplained(problem, fit, np.random.default_rng(0))
    head = unexplained(problem.on(problem.rows.head(1000)), fit, np.random.default_rng(0))
    assert some[0] == head[0]
    np.testing.assert_array_equal(some[1], head[1])


def test_a_residual_of_zero_shows_nothing():
    rows, _ = noisy(teachers.random(2, 3, 0), 500, 0)
    rows.y = np.zeros(500)
    value, planes = unexplained(Problem(rows, True), affine(3), np.random.default_rng(0))
    assert value == 0.0
    assert np.all(np.isfinite(planes))


# One unit in the place of two.


def twin_fitted_by_one(angle, n=4000, noise=0.0):
    """A fit of two units to two that are twins and a third, with its problem."""
    u, v, w = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 3)))[0].T
    network = ShallowNetwork.from_relu(np.array([u, np.cos(angle) * u + np.sin(angle) * v, w]), np.ones(3))
    rows, target = noisy(network, n, 0, noise)
    whole = Params.from_network(target)
    both = Params(whole.affine, np.vstack([whole.planes[:2].sum(axis=0), whole.planes[2]]), np.ones((2, 1)))
    problem = Problem(rows, False)
    return problem, finish(problem, both).params


@pytest.mark.parametrize("angle", [0.02, 0.05, 0.2])
def test_a_unit_that_stands_for_twins_is_seen_by_its_own_rows_alone(angle):
    problem, fit = twin_fitted_by_one(angle)
    assert stands_for_two(problem, fit)


def test_a_pattern_does_not_see_what_twins_leave():
    problem, fit = twin_fitted_by_one(0.02)
    assert unexplained(problem, fit, np.random.default_rng(0))[0] < NOTHING


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["normal", "heavy tails", "larger for larger labels", "few rows off"])
def test_noise_of_any_law_is_not_taken_for_twins(law):
    # Four standard errors for one of three units; tails are heavier than normal, so one of forty is allowed.
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows, target = noisy(teachers.random(3, 5, seed), 1000, seed)
        draws = {
            "normal": rng.standard_normal(1000),
            "heavy tails": rng.standard_t(3, 1000),
            "larger for larger labels": rows.y * rng.uniform(-1, 1, 1000),
            "few rows off": 100.0 * (rng.uniform(size=1000) < 0.01),
        }
        problem = Problem(ArraySource(rows.X, rows.y + 1e-3 * draws[law]), False)
        wrong += stands_for_two(problem, finish(problem, Params.from_network(target)).params)
    assert wrong <= 1


def test_an_exact_fit_and_one_without_units_stand_for_nothing_else():
    rows, _ = noisy(teachers.random(2, 3, 0), 500, 0)
    assert not stands_for_two(Problem(rows, False), affine(3))
    exact = Params.affine_only(np.zeros((1, 4)))
    assert not stands_for_two(Problem(ArraySource(rows.X, np.zeros(500)), False), exact)
