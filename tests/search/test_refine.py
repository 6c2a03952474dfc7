"""The last fit: exact labels met with no unit too many, wrong ones left out, noise no worse, few rows with a ridge."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import ROUNDING, Fit, Params, Problem, finish
from netlearn.inputs.whitening import ColumnWhitening
from netlearn.search import budget, refine
from netlearn.search.refine import on_all_rows, with_few_rows
from netlearn.source import ArraySource
from tests.fit import several
from tests.fit.twins import FAMILIES
from tests.search.searches import noisy


def rng():
    return np.random.default_rng(0)


def found_on(problem, start, **said):
    """A fit to these rows, with what a search would say of it."""
    return replace(finish(problem, start), score=0.5, route="found", **said)


# Exact labels


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_exact_labels_are_met_to_rounding(family, robust):
    network, biases, n = FAMILIES[family]
    rows, target = noisy(network, n, 1)
    true = Params.from_network(target)
    near = true.moved(1e-4 * rng().standard_normal(true.a.shape) * true.shape(biases).free())
    problem = Problem(rows, biases)
    found = Fit(near, problem.on(rows.head(n // 2)).equations(near).loss, (1.0,), score=0.5, route="found")
    fit = on_all_rows(problem, found, rng(), robust=robust)
    assert fit.loss <= ROUNDING
    assert fit.params.to_network().distance(target) < 1e-10
    # What the search has said of it stays, and its rounds come first.
    assert (fit.score, fit.route, fit.left_out) == (0.5, "found", ())
    assert fit.trace[0] == 1.0
    assert len(fit.trace) > 2


def test_units_too_many_are_taken_off():
    rows, target = noisy(teachers.random(3, 5, 0, biases=0.5), 1500, 1)
    true = Params.from_network(target)
    twin = true.keep(np.array([0]))
    parts = Params(true.affine, np.vstack([0.6 * true.planes[:1], true.planes[1:]]), true.C)
    surplus = parts.joined(Params(0.0 * true.affine, 0.4 * twin.planes, twin.C))
    problem = Problem(rows, True)
    fit = on_all_rows(problem, found_on(problem, surplus), rng())
    assert fit.params.n_hidden == 3
    assert fit.loss <= ROUNDING


@pytest.mark.parametrize("was_exact", [True, False])
def test_units_are_looked_for_again_where_labels_were_exact_on_some_rows_alone(monkeypatch, was_exact):
    rows, target = noisy(teachers.random(4, 5, 0, biases=0.5), 1500, 1)
    true, problem = Params.from_network(target), Problem(rows, True)
    asked = []

    def completed(problem, fit, at_most, rng):
        asked.append((fit.params.n_hidden, at_most))
        return finish(problem, true.keep(np.arange(fit.params.n_hidden + 1)))

    monkeypatch.setattr(refine, "completed", completed)
    found = Fit(true.keep(np.arange(2)), 1e-20 if was_exact else 1e-2, score=0.5)
    fit = on_all_rows(problem, found, rng(), at_most=5)
    # The first answer is better and not exact, the second one ends it.
    assert asked == ([(2, 5), (3, 5)] if was_exact else [])
    assert (fit.loss <= ROUNDING) == was_exact


def test_what_is_no_better_is_not_taken(monkeypatch):
    rows, target = noisy(teachers.random(4, 5, 0, biases=0.5), 1500, 1)
    true, problem = Params.from_network(target), Problem(rows, True)
    asked = []

    def completed(problem, fit, at_most, rng):
        asked.append(fit.params.n_hidden)
        return Fit(true.keep(np.arange(1)), 1.0)

    monkeypatch.setattr(refine, "completed", completed)
    fit = on_all_rows(problem, Fit(true.keep(np.arange(3)), 1e-20), rng())
    assert asked == [3]
    assert fit.params.n_hidden == 3


# Wrong labels


def with_wrong_labels(n_wrong, n=2000):
    rows, target = noisy(teachers.random(3, 5, 0, biases=0.5), n, 1)
    wrong = np.sort(rng().choice(n, n_wrong, replace=False))
    rows.y[wrong] += 3.0
    return rows, target, wrong


def test_a_few_wrong_labels_are_left_out_where_that_is_allowed():
    rows, target, wrong = with_wrong_labels(10)
    problem = Problem(rows, True)
    found = found_on(problem, Params.from_network(target))
    fit = on_all_rows(problem, found, rng(), robust=True)
    np.testing.assert_array_equal(fit.left_out, wrong)
    assert fit.params.to_network().distance(target) < 1e-10
    # Where it is not, they stay in, and move the fit.
    fit = on_all_rows(problem, found, rng())
    assert fit.left_out == ()
    assert fit.params.to_network().distance(target) > 1e-3


def test_small_contradictions_on_a_few_rows_are_left_out_in_any_case():
    rows, target, wrong = with_wrong_labels(3)
    rows.y[wrong] -= 2.99
    problem = Problem(rows, True)
    fit = on_all_rows(problem, found_on(problem, Params.from_network(target)), rng())
    np.testing.assert_array_equal(fit.left_out, wrong)
    assert fit.params.to_network().distance(target) < 1e-10


# Noise


@pytest.mark.parametrize("robust", [True, False])
def test_noise_ends_at_a_minimum_or_within_what_the_unknowns_may_hide(robust):
    for seed in range(5):
        rows, target = noisy(teachers.random(3, 5, seed), 3000, seed, 0.2)
        problem = Problem(rows, False)
        least = finish(problem, Params.from_network(target))
        fit = on_all_rows(problem, found_on(problem, Params.from_network(target)), rng(), robust=robust)
        unknowns = problem.shape(3).n_unknowns
        assert fit.loss <= least.loss * (1 + unknowns / 3000)
        assert fit.loss == pytest.approx(problem.equations(fit.params).loss)
        assert fit.left_out == ()
        errors = [one.params.to_network().distance(target) for one in (fit, least)]
        assert errors[0] < 1.25 * errors[1]


def many_rows(n=40_000, noise=0.1):
    """Many noisy rows for each unknown, and a fit to some of them."""
    rows, target = noisy(teachers.random(2, 6, 0, biases=0.5), n, 2, noise=noise)
    problem = Problem(rows, True)
    return problem, found_on(problem.on(rows.head(1000)), Params.from_network(target))


def test_very_many_rows_are_fitted_in_passes_to_the_same_minimum(monkeypatch):
    problem, found = many_rows()
    unknowns = problem.shape(2).n_unknowns
    assert problem.rows.n_rows > budget.ALIKE * unknowns
    asked = []
    monkeypatch.setattr(refine, "finish", lambda *a, **k: asked.append(a) or finish(*a, **k))
    in_passes = on_all_rows(problem, found, rng())
    assert not asked
    assert len(in_passes.trace) - len(found.trace) <= 6
    by_rounds = finish(problem, found.params)
    # Both are minima among dents: they differ by much less than statistics leave open, in the mean square P / N.
    assert abs(in_passes.loss / by_rounds.loss - 1) < 0.05 * unknowns / problem.rows.n_rows
    step = in_passes.params.to_network().distance(by_rounds.params.to_network())
    assert step < 0.2 * 0.1 * np.sqrt(unknowns / problem.rows.n_rows)


def test_a_last_step_that_is_small_costs_no_pass(monkeypatch):
    problem, found = many_rows()
    fits = []
    for unseen in (0.03, 0.0):
        monkeypatch.setattr("netlearn.fit.stream._UNSEEN", unseen)
        fits.append(on_all_rows(problem, found, rng()))
    unlooked, looked = fits
    assert len(unlooked.trace) < len(looked.trace)
    apart = unlooked.params.to_network().distance(looked.params.to_network())
    assert apart < 0.2 * 0.1 * np.sqrt(problem.shape(2).n_unknowns / problem.rows.n_rows)


def test_rows_that_are_not_like_the_first_ones_are_fitted_by_rounds_in_the_end():
    # The first rows hardly vary in one direction, so that their matrix takes steps along it that are much too long.
    problem, _ = many_rows()
    X, y, n_first = problem.rows.X.copy(), problem.rows.y.copy(), 2500
    X[:n_first, 0] *= 0.01
    network = teachers.random(2, 6, 0, biases=0.5)
    y = network(X) / np.std(network(X)) + 0.1 * rng().standard_normal(len(y))
    problem = problem.on(ArraySource(X, y))
    found = found_on(
        problem.on(problem.rows.head(n_first)), Params.from_network((1 / np.std(network(X))) * network)
    )
    final = on_all_rows(problem, found, rng())
    assert final.loss <= finish(problem, found.params).loss * (1 + 1e-4)


def test_biases_that_were_not_found_stay_away():
    rows, target = noisy(teachers.random(3, 5, 0), 2000, 1, 0.1)
    fit = on_all_rows(
        Problem(rows, True), found_on(Problem(rows, False), Params.from_network(target)), rng(), robust=False
    )
    assert not fit.params.has_biases


def test_several_outputs_are_fitted_together():
    network = several.network(3, 5, 2, 0)
    rows = several.planted(network, 1500, 1)
    problem = Problem(rows, True)
    start = Params.from_network(network)
    fit = on_all_rows(problem, found_on(problem, start), rng())
    assert fit.loss <= ROUNDING * np.mean(rows.y**2)
    assert fit.params.n_hidden == 3


# Few rows


def few(n, noise):
    rows, target = noisy(teachers.random(3, 8, 0), n, 1, noise)
    problem = Problem(rows, False)
    return problem, found_on(problem, Params.from_network(target)), target


def test_few_noisy_rows_get_a_ridge_where_it_helps():
    problem, found, target = few(60, 1.0)
    fit = with_few_rows(problem, found, 3, rng(), None)
    assert fit.freedom is not None
    assert fit.freedom < problem.shape(3).n_unknowns
    assert fit.loss > found.loss
    assert fit.params.to_network().distance(target) < found.params.to_network().distance(target)


def test_labels_that_are_explained_are_not_asked_for_a_ridge(monkeypatch):
    asked = []
    monkeypatch.setattr(refine, "regularised", lambda *arguments, **options: asked.append(arguments))
    problem, found, _ = few(60, 0.0)
    assert with_few_rows(problem, found, 3, rng(), None) is found
    assert not asked
    # As many unknowns as rows explain anything.
    problem, found, _ = few(30, 0.0)
    assert with_few_rows(problem, found, 3, rng(), None) is found
    assert len(asked) == 1


def test_no_ridge_where_rows_are_ample_or_nothing_was_asked_for():
    problem, found, _ = few(4000, 1.0)
    assert with_few_rows(problem, found, 3, rng(), None) is found
    problem, found, _ = few(60, 1.0)
    assert with_few_rows(problem, found, 0, rng(), None) is found
    columns = ColumnWhitening(np.ones(8), np.zeros((8, 0)), np.zeros(0))
    assert with_few_rows(problem, found, 3, rng(), columns) is found
    rows = several.planted(several.network(3, 5, 2, 0), 60, 1, noise=1.0)
    several_found = Fit(Params.from_network(several.network(3, 5, 2, 0)), 1.0)
    assert with_few_rows(Problem(rows, True), several_found, 3, rng(), None) is several_found
