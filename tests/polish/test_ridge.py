"""The fit of few rows: its linear problem against dense algebra, its choice against what is known of the labels."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.moments.inputs import standardise
from netlearn.polish import Iterate, finish, ridge
from netlearn.polish.iterate import free_entries
from netlearn.polish.ridge import regularised
from netlearn.source import ArraySource
from netlearn.source.arrays import weighted
from tests.polish.twins import dense, planted

D, K = 3, 4
RIDGE = (0.03, 0.2)


def penalised(n, biases, seed=0):
    """Rows with weights 0.5 ... 3, noise for labels, and a pattern to keep."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 3.0, n)
    rows = ridge._Rows(rng.standard_normal((n, D)), rng.standard_normal(n), weight, biases)
    return rows, Iterate.from_network(teachers.random(K, D, seed, biases=float(biases)))


def stacked(rows, iterate):
    """Solve by least squares with the roots of the penalties as further rows; the intercept has none."""
    F, _ = dense(rows.X, rows.y, iterate.linearise)
    penalty = np.full((K + 1, D + 1), RIDGE[0])
    penalty[0] = RIDGE[1]
    penalty[0, -1] = 0.0
    free = free_entries(K, D, rows.biases).ravel().astype(bool)
    root = np.sqrt(rows.weight / rows.weight.sum())
    A = np.vstack([root[:, None] * F[:, free], np.diag(np.sqrt(penalty.ravel()[free]))])
    a = np.zeros(free.shape)
    a[free] = np.linalg.lstsq(A, np.concatenate([root * rows.y, np.zeros(free.sum())]), rcond=None)[0]
    return a.reshape(K + 1, D + 1)


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("n", [7, 60], ids=["fewer rows than unknowns", "more"])
def test_the_minimum_of_a_pattern_is_that_of_dense_least_squares(n, biases):
    rows, iterate = penalised(n, biases)
    np.testing.assert_allclose(rows.solved(iterate, RIDGE).a, stacked(rows, iterate), atol=1e-10)


@pytest.mark.parametrize("n", [7, 60])
def test_freedom_is_the_trace_of_labels_to_fit(n):
    rows, iterate = penalised(n, True)
    trace = 0.0
    for i in range(n):
        unit = ridge._Rows(rows.X, np.eye(n)[i], rows.weight, True)
        F, _ = dense(rows.X[i : i + 1], unit.y[i : i + 1], iterate.linearise)
        trace += float(F[0] @ unit.solved(iterate, RIDGE).a.ravel())
    assert rows.freedom(iterate, RIDGE) == pytest.approx(trace, rel=1e-8)
    assert 1 < trace < min(n, (K + 1) * (D + 1))


def test_a_row_of_weight_three_counts_as_three_rows():
    rows, iterate = penalised(20, True)
    counts = np.random.default_rng(1).integers(1, 4, 20)
    once = ridge._Rows(rows.X, rows.y, counts.astype(float), True)
    often = ridge._Rows(np.repeat(rows.X, counts, 0), np.repeat(rows.y, counts), np.ones(counts.sum()), True)
    for leaps in (0, 3):
        np.testing.assert_allclose(
            once.descended(iterate, RIDGE, leaps).a, often.descended(iterate, RIDGE, leaps).a, atol=1e-8
        )


def test_a_descent_ends_where_no_neighbour_is_lower():
    rows, iterate = penalised(60, True)
    ended = rows.descended(iterate, RIDGE, 3)

    def objective(a):
        f = Iterate(a, ended.sigma).linearise(rows.X)[0]
        squares = np.average((rows.y - f) ** 2, weights=rows.weight)
        return squares + RIDGE[1] * np.sum(a[0, :-1] ** 2) + RIDGE[0] * np.sum(a[1:] ** 2)

    rng = np.random.default_rng(2)
    steps = 0.1 * rng.standard_normal((200, *ended.a.shape))
    assert min(objective(ended.a + step) for step in steps) > objective(ended.a)
    # Negative control: from where it began, some of the same steps go down.
    assert min(objective(iterate.a + step) for step in steps) < objective(iterate.a)


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
    start = Iterate.from_network(teachers.random(6, 5, seed, biases=1.0))
    found = finish(ArraySource(X, y), start, biases=True)
    fit = regularised(ArraySource(X, y), found.iterate, 6, rng, biases=True)
    X_new = rng.standard_normal((2000, 5))
    error, unregularised = (
        np.mean(iterate.linearise(X_new)[0] ** 2) for iterate in (fit.iterate, found.iterate)
    )
    # The best answer is 0; least squares with 42 unknowns on 60 rows is off by more than the noise itself.
    assert error < 0.25
    assert unregularised > 1.0
    assert fit.freedom < 20


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_is_right_is_left_alone(seed):
    # Six rows per unknown and little noise: a ridge has nothing to gain.
    target = teachers.random(3, 6, seed, biases=0.5)
    rows = planted(target, 6 * 28, seed=seed, noise=0.02)
    found = finish(rows, Iterate.from_network(target), biases=True).iterate
    assert regularised(rows, found, 3, np.random.default_rng(seed), biases=True) is None


def test_many_rows_and_lack_of_time_leave_all_as_it_was():
    rng = np.random.default_rng(0)
    found = Iterate.from_network(teachers.random(1, 2, 0))
    enough = ArraySource(rng.standard_normal((60, 2)), rng.standard_normal(60))
    assert regularised(enough, found, 1, rng, biases=True) is None  # ten for each of six unknowns
    few = enough.head(59)
    assert regularised(few, found, 1, rng, biases=True, deadline=lambda: True) is None
    assert regularised(few, found, 1, rng, biases=True) is not None


def test_weights_reach_the_fit():
    # Two populations in one table, y = x and y = -x: it is the weights that say which one counts.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1))
    rows = ArraySource(X, np.where(np.arange(30) % 2, -1.0, 1.0) * X[:, 0])
    none = Iterate(np.zeros((1, 2)), np.zeros(0))
    for favoured, slope in ((0, 1.0), (1, -1.0)):
        weight = np.where(np.arange(30) % 2 == favoured, 1.0, 1e-3)
        fit = regularised(weighted(rows, weight), none, "auto", np.random.default_rng(0), biases=True)
        values = fit.iterate.linearise(np.array([[1.0], [-1.0]]))[0]
        np.testing.assert_allclose(values, [slope, -slope], atol=0.1)
