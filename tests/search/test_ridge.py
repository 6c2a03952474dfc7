"""The fit of few rows: its linear problem against dense algebra, its choice against what is known of the labels."""

import itertools

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Fit, Params, Problem, Shape, finish
from netlearn.inputs import standardise
from netlearn.search import ridge
from netlearn.search.ridge import regularised
from netlearn.source import ArraySource
from netlearn.source.arrays import weighted
from tests.fit.twins import dense, from_vectors, planted

D, K = 3, 4
RIDGE = (0.03, 0.2)


def penalised(n, biases, seed=0):
    """Rows with weights 0.5 ... 3, noise for labels, and a pattern to keep."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 3.0, n)
    rows = ridge._Rows(rng.standard_normal((n, D)), rng.standard_normal(n), weight, biases)
    return rows, Params.from_network(teachers.random(K, D, seed, biases=float(biases)))


def stacked(rows, params):
    """Solve by least squares with the roots of the penalties as further rows; the intercept has none."""
    F, _ = dense(rows.X, rows.y, params.linearise)
    penalty = np.full((K + 1, D + 1), RIDGE[0])
    penalty[0] = RIDGE[1]
    penalty[0, -1] = 0.0
    free = Shape(K, D, biases=rows.biases).free().ravel().astype(bool)
    root = np.sqrt(rows.weight / rows.weight.sum())
    A = np.vstack([root[:, None] * F[:, free], np.diag(np.sqrt(penalty.ravel()[free]))])
    a = np.zeros(free.shape)
    a[free] = np.linalg.lstsq(A, np.concatenate([root * rows.y, np.zeros(free.sum())]), rcond=None)[0]
    return a.reshape(K + 1, D + 1)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("n", [7, 60], ids=["fewer rows than unknowns", "more"])
def test_the_minimum_of_a_pattern_is_that_of_dense_least_squares(n, biases):
    rows, params = penalised(n, biases)
    np.testing.assert_allclose(rows.solved(params, RIDGE).a, stacked(rows, params), atol=1e-10)


@pytest.mark.parametrize("n", [7, 60])
def test_freedom_is_the_trace_of_labels_to_fit(n):
    rows, params = penalised(n, True)
    trace = 0.0
    for i in range(n):
        unit = ridge._Rows(rows.X, np.eye(n)[i], rows.weight, True)
        F, _ = dense(rows.X[i : i + 1], unit.y[i : i + 1], params.linearise)
        trace += float(F[0] @ unit.solved(params, RIDGE).a.ravel())
    assert rows.freedom(params, RIDGE) == pytest.approx(trace, rel=1e-8)
    assert 1 < trace < min(n, (K + 1) * (D + 1))


def test_a_row_of_weight_three_counts_as_three_rows():
    rows, params = penalised(20, True)
    counts = np.random.default_rng(1).integers(1, 4, 20)
    once = ridge._Rows(rows.X, rows.y, counts.astype(float), True)
    often = ridge._Rows(np.repeat(rows.X, counts, 0), np.repeat(rows.y, counts), np.ones(counts.sum()), True)
    for leaps in (0, 3):
        np.testing.assert_allclose(
            once.descended(params, RIDGE, leaps).a, often.descended(params, RIDGE, leaps).a, atol=1e-8
        )


def test_a_descent_ends_where_no_neighbour_is_lower():
    rows, params = penalised(60, True)
    ended = rows.descended(params, RIDGE, 3)

    def objective(a):
        f = from_vectors(a, ended.C).linearise(rows.X)[0]
        squares = np.average((rows.y - f) ** 2, weights=rows.weight)
        return squares + RIDGE[1] * np.sum(a[0, :-1] ** 2) + RIDGE[0] * np.sum(a[1:] ** 2)

    rng = np.random.default_rng(2)
    steps = 0.1 * rng.standard_normal((200, *ended.a.shape))
    assert min(objective(ended.a + step) for step in steps) > objective(ended.a)
    # Negative control: from where it began, some of the same steps go down.
    assert min(objective(params.a + step) for step in steps) < objective(params.a)


@pytest.mark.parametrize("n", [200, 6], ids=["whitened", "fewer rows than columns"])
def test_columns_are_those_of_the_user_with_unit_variance(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, 8)) + 5.0
    X[:, 3] = 1.0  # a column that does not vary
    inputs = standardise(ArraySource(X, rng.standard_normal(n)), rng)
    columns = inputs.rows(X) @ ridge._to_columns(inputs.W.shape[1], inputs.W)
    spread = X.std(axis=0)
    np.testing.assert_allclose(
        columns, (X - X.mean(axis=0)) / np.where(spread > 1e-12, spread, np.inf), atol=1e-8
    )


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_not_fitted(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 5)), rng.standard_normal(60)
    start = Params.from_network(teachers.random(6, 5, seed, biases=1.0))
    problem = Problem(ArraySource(X, y), True)
    found = finish(problem, start)
    fit = regularised(problem, found, 6, rng)
    X_new = rng.standard_normal((2000, 5))
    error, unregularised = (np.mean(params.linearise(X_new)[0] ** 2) for params in (fit.params, found.params))
    # The best answer is 0; least squares with 42 unknowns on 60 rows is off by more than the noise itself.
    assert error < 0.25
    assert unregularised > 1.0
    assert fit.freedom < 20


@pytest.mark.parametrize(("in_other_folds", "n_hidden"), [(True, 6), (False, 0)])
def test_units_must_be_ahead_in_other_folds_too(monkeypatch, in_other_folds, n_hidden):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    problem = Problem(ArraySource(X, np.abs(X[:, 0])), True)
    said = itertools.cycle([True, in_other_folds])
    monkeypatch.setattr(ridge, "_clearly_less", lambda *_: next(said))
    fit = regularised(problem, Fit(Params.affine_only(np.zeros((1, 6))), 1.0), 6, rng)
    assert fit.params.n_hidden == n_hidden


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_is_right_is_left_alone(seed):
    # Six rows per unknown and little noise: a ridge has nothing to gain.
    target = teachers.random(3, 6, seed, biases=0.5)
    rows = planted(target, 6 * 28, seed=seed, noise=0.02)
    problem = Problem(rows, True)
    found = finish(problem, Params.from_network(target))
    assert regularised(problem, found, 3, np.random.default_rng(seed)) is None


def test_many_rows_and_lack_of_time_leave_all_as_it_was():
    rng = np.random.default_rng(0)
    found = Fit(Params.from_network(teachers.random(1, 2, 0)), 1.0)
    enough = ArraySource(rng.standard_normal((60, 2)), rng.standard_normal(60))
    assert regularised(Problem(enough, True), found, 1, rng) is None  # ten for each of six unknowns
    few = enough.head(59)
    assert regularised(Problem(few, True, deadline=lambda: True), found, 1, rng) is None
    assert regularised(Problem(few, True), found, 1, rng) is not None


def test_weights_reach_the_fit():
    # Two populations in one table, y = x and y = -x: it is the weights that say which one counts.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1))
    rows = ArraySource(X, np.where(np.arange(30) % 2, -1.0, 1.0) * X[:, 0])
    none = Fit(Params.affine_only(np.zeros((1, 2))), 1.0)
    for favoured, slope in ((0, 1.0), (1, -1.0)):
        weight = np.where(np.arange(30) % 2 == favoured, 1.0, 1e-3)
        fit = regularised(Problem(weighted(rows, weight), True), none, "auto", np.random.default_rng(0))
        values = fit.params.linearise(np.array([[1.0], [-1.0]]))[0]
        np.testing.assert_allclose(values, [slope, -slope], atol=0.1)


def test_a_network_that_meets_any_labels_is_not_taken_for_one_that_predicts():
    # With 42 unknowns one unit meets 22 labels whatever they are; moved by its standard error, which is zero, it still
    # knows those that a fold leaves out.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((22, 20))
    y = X[:, 0] + 0.3 * rng.standard_normal(22)
    problem = Problem(ArraySource(X, y), biases=True)
    start = Params.from_planes(rng.standard_normal((1, 21)))
    found = finish(problem, start)
    assert found.loss < 1e-20
    fit = regularised(problem, found, "auto", rng)
    assert fit is not None
    assert fit.params.n_hidden == 0
