"""The penalty empties surplus units, noise drops those that gain nothing, and limits hold."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Fit, Params, Problem, finish
from netlearn.fit.solve import direct
from netlearn.search import hold
from netlearn.search.hold import narrowed, penalty, worth
from netlearn.search.leap import leap
from netlearn.search.surplus import without_surplus
from tests.fit.twins import FAMILIES, dense
from tests.search.searches import noisy

NOISE = 0.1


def wide_fit(problem, width, seed):
    """A fit of more units than needed, at its minimum or near it."""
    wide = leap(problem, width, np.random.default_rng(seed))
    return finish(problem, wide.params, max_rounds=6).after(wide)


# The penalty


def lengths(*values):
    """A network with units of these lengths, in two dimensions."""
    planes = np.array(values)[:, None] * np.array([0.6, 0.0, 0.8])
    return Params(np.ones((1, 3)), planes, np.ones((len(values), 1)))


def test_the_penalty_is_its_formula():
    lam, floor = 0.02, 0.1
    sizes = [(length**2 + (floor * lam) ** 2) ** 0.5 for length in (2.0, 0.5, 0.0)]
    typical = sum(size**2 for size in sizes) / sum(sizes)
    expected = [0.0, *(lam * typical**0.5 / size**1.5 for size in sizes)]
    np.testing.assert_allclose(penalty(lengths(2.0, 0.5, 0.0), lam), expected, rtol=1e-12)


def test_the_penalty_pulls_as_a_sum_of_square_roots_would():
    # Half the gradient of p |a|^2 has the length p |a|; that of c |a|^(1/2) has c |a|^(-1/2) / 2, with one c for all.
    values = np.array([3.0, 1.0, 0.2, 0.05])
    pull = penalty(lengths(*values), 1e-4)[1:] * values
    common = pull * np.sqrt(values)
    np.testing.assert_allclose(common, common[0], rtol=1e-6)
    # Its level is the one that noise would reach: a unit of typical size is pulled by lambda.
    np.testing.assert_allclose(penalty(lengths(1.0, 1.0), 1e-4)[1:], 1e-4, rtol=1e-6)


# Exact labels


def test_surplus_units_of_exact_fits_vanish():
    # All 24 fits have the right units among theirs; a pair that only a few rows tell apart may be left in
    # place of one unit, and goes in the last fit.
    n_right = 0
    for network, biases, n in FAMILIES.values():
        rows, target = noisy(network, max(n, 2000), 100)
        problem = Problem(rows, biases)
        for seed in range(3):
            wide = wide_fit(problem, 2 * network.n_hidden + 1, seed)
            fit = narrowed(problem, wide)
            assert network.n_hidden <= fit.params.n_hidden <= network.n_hidden + 1
            n_right += fit.params.n_hidden == network.n_hidden
            final = without_surplus(problem, finish(problem, fit.params))
            assert final.params.n_hidden == network.n_hidden
            assert final.params.to_network().distance(target) < 1e-10
    assert n_right >= 18


def split(params, shares, signs):
    """The same function with every unit as several: shares of it, each written with either sign of q."""
    planes = [sign * abs(share) * q for q in params.planes for share, sign in zip(shares, signs, strict=True)]
    C = [np.sign(share) * c for c in params.C for share in shares]
    return Params(params.affine, np.array(planes), np.array(C))


@pytest.mark.parametrize("share", [0.9, 0.7, 0.55])
def test_of_two_copies_the_smaller_one_shrinks_as_its_ratio_to_the_power_one_and_a_half(share):
    # Copies share what they do in proportion to 1 / p, which is as |a|^1.5.
    rows, target = noisy(teachers.random(2, 4, 2, biases=0.5), 1500, 1)
    pair = split(Params.from_network(target), (share, 1 - share), (1, 1))
    for _ in range(3):
        before = np.linalg.norm(pair.planes, axis=1)
        pair = pair.moved(direct(pair.equations(rows, True, penalty(pair, 1e-6)), 0.0))
        after = np.linalg.norm(pair.planes, axis=1)
        np.testing.assert_allclose(after[1::2] / after[::2], (before[1::2] / before[::2]) ** 1.5, rtol=1e-3)
    assert pair.to_network().distance(target) < 1e-4


@pytest.mark.parametrize(
    ("shares", "signs"),
    [
        ((0.7, 0.3), (1, -1)),
        ((0.5, 0.3, 0.2), (-1, 1, 1)),
        ((1.5, -0.5), (1, 1)),
    ],
)
def test_copies_of_a_unit_become_one_and_the_function_stays(shares, signs):
    rows, target = noisy(teachers.random(3, 4, 2, biases=0.5), 1500, 1)
    problem, many = Problem(rows, True), split(Params.from_network(target), shares, signs)
    loss = problem.equations(many).loss
    assert loss < 1e-25
    fit = narrowed(problem, Fit(many, loss))
    assert fit.params.n_hidden == 3
    assert fit.params.to_network().distance(target) < 1e-10


@pytest.mark.parametrize("at_most", range(7))
@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_no_more_units_than_asked_for(at_most, noise):
    network, biases, n = FAMILIES["random"]
    rows, _ = noisy(network, n, 7, noise)
    problem = Problem(rows, biases)
    fit = narrowed(problem, wide_fit(problem, 8, 0), at_most)
    assert fit.params.n_hidden <= at_most
    assert fit.loss == pytest.approx(problem.equations(fit.params).loss)
    if not noise:  # with noise a unit may stay that does nothing
        assert fit.params.n_hidden == min(at_most, 4)


# Noisy labels


def stationary(d, k, biases, n):
    """Noisy rows, and the minimum of their mean square that is nearest to the truth."""
    rows, target = noisy(teachers.random(k, d, 0, biases=biases), n, 1, 0.2)
    problem = Problem(rows, biases > 0)
    return problem, finish(problem, Params.from_network(target), max_rounds=200, least_gain=1e-14)


def rises(problem, fit):
    """How much the least mean square rises, signs held, when all columns of a unit are left out; for each unit."""
    F, _ = dense(problem.rows.X, problem.rows.y, fit.params.linearise)
    free = fit.params.shape(problem.biases).free().astype(bool)

    def least(unknowns):
        solution, *_ = np.linalg.lstsq(F[:, unknowns.ravel()], problem.rows.y, rcond=None)
        return np.mean((problem.rows.y - F[:, unknowns.ravel()] @ solution) ** 2)

    found = []
    for unit in range(1, len(free)):
        without = free.copy()
        without[unit] = False
        found.append(least(without) - least(free))
    return np.array(found)


@pytest.mark.parametrize(("d", "k", "biases", "n"), [(5, 3, 0.5, 600), (6, 4, 0.0, 900), (12, 5, 0.0, 3000)])
def test_worth_is_what_least_squares_lose_without_a_unit(d, k, biases, n):
    # The signs change by themselves at the very last rows, so that the fit is a minimum up to a row or two.
    problem, fit = stationary(d, k, biases, n)
    np.testing.assert_allclose(worth(problem, fit.params), rises(problem, fit), rtol=0.05)


def test_worth_of_very_many_unknowns_is_told_by_the_signs_to_some_ten_per_cent(monkeypatch):
    rows, target = noisy(teachers.random(4, 40, 0), 12_000, 1, 0.2)
    problem, params = Problem(rows, False), Params.from_network(target)
    exact = worth(problem, params)
    monkeypatch.setattr(hold, "_MOST_UNKNOWNS", 0)
    found = worth(problem, params)
    m = params.linearise(rows.X)[1]
    inverse = np.linalg.inv(m.T @ m / len(m))
    assert found == pytest.approx(params.kink_strengths() ** 2 / np.diag(inverse)[1:], rel=1e-6)
    assert found == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", ["one unit", "random", "positive", "orthonormal", "biases", "hard plane"])
def test_noise_leaves_the_units_that_are_there(family, seed):
    network, biases, _ = FAMILIES[family]
    rows, _ = noisy(network, 10_000, 100 + seed, NOISE)
    problem = Problem(rows, biases)
    wide = wide_fit(problem, 2 * network.n_hidden + 2, seed)
    fit = narrowed(problem, wide)
    assert fit.params.n_hidden == network.n_hidden
    # What was dropped was fitted to noise: the mean square rises by no more than its share.
    unknowns = problem.shape(wide.params.n_hidden).n_unknowns
    assert fit.loss < wide.loss * (1 + 3 * unknowns / rows.n_rows)


def test_noise_takes_no_unit_below_what_was_asked_for():
    network, biases, _ = FAMILIES["random"]
    rows, _ = noisy(network, 10_000, 100, NOISE)
    problem = Problem(rows, biases)
    wide = wide_fit(problem, 10, 0)
    assert [narrowed(problem, wide, at_most).params.n_hidden for at_most in range(3, 9)] == list(range(3, 9))


def test_labels_without_units_leave_none():
    rng = np.random.default_rng(0)
    rows, _ = noisy(teachers.random(1, 5, 0), 4000, 0)
    rows.y = rows.X[:, 0] + 0.3 * rng.standard_normal(4000)
    problem = Problem(rows, True)
    assert narrowed(problem, wide_fit(problem, 6, 0)).params.n_hidden == 0


# Time


@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_out_of_time_the_longest_units_stay(noise):
    rows, _ = noisy(FAMILIES["random"][0], 2000, 3, noise)
    wide = wide_fit(Problem(rows, False), 8, 0)
    late = Problem(rows, False, deadline=lambda: True)
    fit = narrowed(late, wide, 3)
    assert fit.params.n_hidden == 3
    longest = np.sort(np.linalg.norm(wide.params.planes, axis=1))[-3:]
    np.testing.assert_allclose(np.sort(np.linalg.norm(fit.params.planes, axis=1)), longest)
    assert fit.loss == pytest.approx(late.equations(fit.params).loss)
