"""Sums with weights against a dense F whose rows are multiplied by the roots of the weights."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import NormalEquations, Params, Problem, Shape, finish
from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows, weighted
from tests.fit.twins import dense, planted
from tests.grains import cut

N, D, K = 41, 4, 3


def selected(X, y):
    """Store the rows backwards, so that the order matters."""
    return SelectedRows(X[::-1].copy(), y[::-1].copy(), np.arange(len(y))[::-1])


@pytest.mark.parametrize("source", [ArraySource, selected], ids=["arrays", "selected rows"])
@pytest.mark.parametrize("keep_bytes", [2**27, 0], ids=["kept", "recomputed"])
@pytest.mark.parametrize("smallest", [512, 5])
def test_every_sum_is_weighted(monkeypatch, source, keep_bytes, smallest):
    cut(monkeypatch, kept_bytes=keep_bytes, least_rows=smallest, block_entries=1)
    rows = planted(teachers.random(K, D, 0), N, seed=1)
    params = Params.from_network(teachers.random(K, D, 2, biases=1.0))
    weight = np.random.default_rng(3).uniform(0.1, 5.0, N)
    free = Shape(K, D).free()
    sums = NormalEquations(weighted(source(rows.X, rows.y), weight), params.linearise, free)
    root = np.sqrt(weight / weight.mean())
    F, e = dense(rows.X, rows.y, params.linearise)
    F, e = root[:, None] * F, root * e
    step = np.random.default_rng(4).standard_normal(free.shape)
    m = root[:, None] * params.linearise(rows.X)[1]
    for actual, expected in (
        (sums.loss, e @ e / N),
        (sums.gradient.ravel(), F.T @ e / N),
        (sums.coupling, m.T @ m / N),
        (sums.normal_matrix(), F.T @ F / N),
        (sums.product(step).ravel(), F.T @ (F @ step.ravel()) / N),
    ):
        np.testing.assert_allclose(actual, expected, atol=1e-11)


def test_whole_weights_are_repeated_rows_to_a_fit():
    rows = planted(teachers.random(K, D, 0), 200, seed=1, noise=0.3)
    start = Params.from_network(teachers.random(K, D, 0))
    counts = np.random.default_rng(2).integers(1, 5, 200)
    once = finish(Problem(weighted(rows, counts.astype(float)), True), start)
    repeated = ArraySource(np.repeat(rows.X, counts, 0), np.repeat(rows.y, counts))
    often = finish(Problem(repeated, True), start)
    np.testing.assert_allclose(once.params.a, often.params.a, atol=1e-7)
    assert once.loss == pytest.approx(often.loss, rel=1e-10)
    # Negative control: the weights matter.
    assert np.max(np.abs(finish(Problem(rows, True), start).params.a - often.params.a)) > 1e-3


def test_heads_and_no_weights_are_plain_rows():
    rows = planted(teachers.random(K, D, 0), 20, seed=1)
    assert weighted(rows, None) is rows
    heavy = weighted(rows, np.arange(1.0, 21.0))
    assert rows.weight is None  # the rows themselves are as they were
    assert heavy.weight.mean() == pytest.approx(1.0)
    assert heavy.head(10).weight is None
