"""Rows, and what is measured of them, in arrays that allow nothing beyond the array API standard."""

import array_api_strict as strict
import numpy as np
import pytest

from netlearn.inputs import standardise
from netlearn.inputs.duplicates import keys
from netlearn.inputs.outliers import far_rows
from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows
from netlearn.source.blocks import over_blocks
from netlearn.subspace import eigenprojector, joint_span, noise_floor, sine
from netlearn.subspace.probes import LabelProbe, QuarticProbe, RankProbe, TailProbe, measure
from tests.grains import cut

N, D = 700, 5
ORDER = np.random.default_rng(2).permutation(N)[:500]


def planted(outputs=()):
    X = np.random.default_rng(0).standard_normal((N, D))
    y = np.abs(X[:, 0]) - X[:, 1]
    return X, np.multiply.outer(y, np.arange(1.0, 1.0 + outputs[0])) if outputs else y


def sources(kind, outputs=()):
    """The same rows in NumPy's arrays and in strict ones."""
    for xp in (np, strict):
        X, y = map(xp.asarray, planted(outputs))
        if kind == "array":
            yield ArraySource(X, y)
        else:
            rows = SelectedRows(X, y, ORDER)
            yield rows if kind == "selected" else rows.changed(lambda block: (2.0 * block[0], -block[1]))


@pytest.mark.parametrize("outputs", [(), (3,)])
@pytest.mark.parametrize("kind", ["array", "selected", "changed"])
def test_blocks_sums_and_copies_are_the_same(kind, outputs, monkeypatch):
    cut(monkeypatch, least_rows=60, block_entries=1)

    def seen(rows):
        xp = np if isinstance(rows.like, np.ndarray) else strict
        blocks = list(over_blocks(lambda block: (xp.sum(block[0], axis=0), xp.sum(block[1], axis=0)), rows))
        held, short = rows.in_memory(), rows.head(33).relabelled(lambda X, y: 2.0 * y).in_memory()
        single = rows.single()
        parts = [part for block in blocks for part in block]
        parts += [held.X, held.y, short.X, short.y, single.X, single.y, rows.labels()]
        return [np.asarray(part) for part in parts]

    for expected, found in zip(*map(seen, sources(kind, outputs)), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("factor", [1.0, 3.0], ids=["standard", "scaled"])
def test_inputs_are_measured_alike(factor):
    made = []
    for xp in (np, strict):
        X, y = planted()
        X = xp.asarray(factor * X)
        inputs = standardise(ArraySource(X, xp.asarray(y)), np.random.default_rng(0))
        made.append((inputs, np.asarray(inputs.rows(X)), np.asarray(inputs.labels(xp.asarray(y)))))
    (expected, *parts), (found, *own_parts) = made
    assert (expected.W is None) == (found.W is None) == (factor == 1.0)
    assert found.departure == pytest.approx(expected.departure, rel=1e-9)
    for part, own in zip(parts, own_parts, strict=True):
        np.testing.assert_allclose(own, part, rtol=1e-10, atol=1e-12)


def test_far_rows_and_copies_are_found_alike():
    X, y = planted()
    X[3, 2] = 1e6
    assert far_rows(strict.asarray(X), strict.asarray(y)) == far_rows(X, y) == {3: "column 2 of X"}
    expected, found = (keys(rows) for rows in sources("selected"))
    np.testing.assert_array_equal(found, expected)


def test_moment_matrices_and_what_they_span_are_the_same():
    X, y = planted()
    mean = float(y.mean())
    r = y - mean
    probes = [LabelProbe(), RankProbe.from_residuals(r), TailProbe.from_residuals(r)]
    probes.append(QuarticProbe(np.eye(D), np.eye(D)))
    bases = []
    for expected, found in zip(
        *(measure(rows, lambda X, y: y - mean, probes) for rows in sources("array")), strict=True
    ):
        np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-9)
        assert found.noise_floor == pytest.approx(expected.noise_floor, rel=1e-6)
        bases.append(eigenprojector(strict.asarray(found.matrix), 1e-3))
    V, _ = joint_span(bases, 0.5)
    assert sine(V, V) < 1e-12
    halves = (strict.asarray(X[half::2, :].T @ X[half::2, :]) for half in (0, 1))
    expected = noise_floor(X[::2].T @ X[::2], X[1::2].T @ X[1::2])
    assert float(noise_floor(*halves)) == pytest.approx(float(expected), rel=1e-12)
