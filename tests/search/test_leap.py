"""Wide fits from random units explain exact labels, and candidates are fitted on as many rows as they need."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import ROUNDING, Params, Problem, finish
from netlearn.search import budget
from netlearn.search import leap as module
from netlearn.search.leap import CANDIDATE_GAIN, few_rows, leap, rough, settle
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource
from tests.fit.twins import FAMILIES
from tests.search.searches import noisy

TEACHERS = {
    "random": (lambda seed: teachers.random(5, 8, seed), False),
    "orthonormal": (lambda seed: teachers.orthonormal(5, 8, seed), False),
    "biases": (lambda seed: teachers.random(5, 8, seed, biases=1.0), True),
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("family", TEACHERS)
def test_twice_the_units_explain_exact_labels_from_any_start(family, seed):
    make, biases = TEACHERS[family]
    rows, _ = noisy(make(seed), 1500, seed)
    problem = Problem(rows, biases)
    wide = leap(problem, 10, np.random.default_rng(seed))
    assert wide.params.n_hidden == 10
    assert wide.loss < 1e-6
    # Of rows that it has not seen it leaves little more.
    assert problem.on(noisy(make(seed), 1500, 100 + seed)[0]).equations(wide.params).loss < 1e-4


def test_too_few_units_do_not():
    rows, _ = noisy(teachers.orthonormal(5, 8, 0), 1500, 0)
    assert leap(Problem(rows, False), 3, np.random.default_rng(0)).loss > 1e-3


def test_conjugate_gradients_and_the_normal_matrix_find_the_same_network(monkeypatch):
    network, biases, n = FAMILIES["random"]
    rows, target = noisy(network, n, 100)
    # Without the direct solver every step is by conjugate gradients.
    monkeypatch.setattr("netlearn.fit.solve.matrix_is_cheaper", lambda *sizes: False)
    wide = leap(Problem(rows, biases), 2 * network.n_hidden, np.random.default_rng(0))
    assert wide.n_products > 0
    assert wide.loss < 1e-6
    start = Params.from_planes(spread_planes(4, 10, np.random.default_rng(0), biases=False))
    assert finish(Problem(rows, False), start).n_products > 0
    assert finish(Problem(rows, False), Params.from_network(target)).loss < ROUNDING


def test_units_that_are_known_are_gone_on_from():
    network, biases, n = FAMILIES["random"]
    rows, target = noisy(network, n, 100)
    known = Params.from_network(target).keep(np.arange(3))
    anew, further = (
        leap(Problem(rows, biases), 6, np.random.default_rng(0), known=start) for start in (None, known)
    )
    assert further.params.n_hidden == 6
    assert further.loss < 1e-6
    assert further.trace[0] < 0.5 * anew.trace[0]
    # As many as are asked for, or more: one new unit at least joins them.
    wider = leap(Problem(rows, biases), 2, np.random.default_rng(0), known=known)
    assert wider.params.n_hidden == 4


def test_huge_rounds_take_rows_in_single_precision_and_fill_whole_lanes(monkeypatch):
    rows, _ = noisy(teachers.random(5, 8, 0), 1500, 0)
    seen = []
    monkeypatch.setattr(module, "is_huge", lambda rows, unknowns: True)
    monkeypatch.setattr(module, "_LARGE", 0)
    monkeypatch.setattr(
        module, "explore", lambda problem, start, **limits: seen.append((problem.rows, start))
    )
    leap(Problem(rows, False), 10, np.random.default_rng(0))
    [(some, start)] = seen
    assert some.X.dtype == np.float32
    shape = Problem(rows, False).shape(10)
    assert some.n_rows == max(budget.FEWEST, np.ceil(budget.EXPLORE * shape.n_unknowns))
    assert start.n_hidden == 15  # with the affine part, two times eight modulators


def test_patience_ends_a_fit_that_gains_nothing():
    rng = np.random.default_rng(0)
    rows = ArraySource(rng.standard_normal((2000, 5)), rng.standard_normal(2000))
    short, long = (
        leap(Problem(rows, True), 4, np.random.default_rng(1), patience=patience) for patience in (3, 30)
    )
    assert len(short.trace) < len(long.trace)


# Rows for a candidate


@pytest.fixture
def large(monkeypatch):
    """Everything above 20,000 entries of X counts as large."""
    monkeypatch.setattr(module, "_LARGE", 20_000)


def test_few_rows_are_those_that_determine_exact_labels_where_more_would_cost(large):
    rows, _ = noisy(teachers.random(10, 20, 0), 20_000, 0)
    shape = Problem(rows, False).shape(30)
    assert few_rows(rows, shape).n_rows == budget.IF_EXACT * shape.n_unknowns
    small = rows.head(900)
    assert few_rows(small, shape).n_rows == 900
    assert rough(small) is small
    assert rough(rows).X.dtype == np.float32
    kept = ArraySource(rows.X, rows.y, can_be_single=False)
    assert rough(kept) is kept
    assert few_rows(kept, shape).n_rows == budget.enough(kept, shape).n_rows


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_large_rows_settle_where_all_of_them_would(large, noise):
    network = teachers.random(6, 20, 0)
    rows, target = noisy(network, 20_000, 0, noise)
    problem = Problem(rows, False)
    start = Params.from_network(target)
    start = start.moved(
        0.02 * np.random.default_rng(1).standard_normal(start.a.shape) * start.shape(False).free()
    )
    found = settle(problem, start)
    assert problem.equations(found.params).loss < max(ROUNDING, 1.1 * noise**2)
    if not noise:
        assert found.params.to_network().distance(target) < 1e-10
    # Its rounds are all in the trace, those on a few rows first.
    assert len(found.trace) > 2
    assert settle(problem, start, max_rounds=1).loss > found.loss


def test_labels_that_are_almost_exact_get_all_the_rows_that_are_enough(large):
    # The few rows that do for exact labels would leave noise * sqrt(1 / 3), with thirty for each unknown it is a third.
    noise, network = 1e-3, teachers.random(10, 20, 0)
    rows, target = noisy(network, 20_000, 0, noise)
    found = settle(Problem(rows, False), Params.from_network(target))
    assert found.params.to_network().distance(target) < 1.3 * noise * np.sqrt(1 / budget.FINISH)


def test_a_candidate_may_gain_less_than_all_in_a_round():
    assert 0 < CANDIDATE_GAIN < 1
