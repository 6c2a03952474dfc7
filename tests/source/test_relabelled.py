"""Rows with other labels than their own."""

import numpy as np
import pytest

from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows
from tests.grains import cut

N, D, M = 23, 3, 2
ORDER = np.random.default_rng(1).permutation(N)[:17]


@pytest.fixture(params=["array", "selected", "selected and changed"])
def rows(request):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((N, D)), rng.standard_normal((N, M))
    if request.param == "array":
        return ArraySource(X, y)
    selected = SelectedRows(X, y, ORDER)
    return (
        selected if request.param == "selected" else selected.changed(lambda block: (2 * block[0], -block[1]))
    )


@pytest.mark.parametrize("outputs", [0, 2])
def test_labels_are_computed_from_the_rows_as_they_are(rows, outputs, monkeypatch):
    cut(monkeypatch, least_rows=5, block_entries=1)
    mixture = np.arange(1.0, M + 1) if outputs == 0 else np.arange(M * 2.0).reshape(M, 2)
    held = rows.in_memory()
    changed = rows.relabelled(lambda X, y: (X[:, :1] * y) @ mixture)
    expected = (held.X[:, :1] * held.y) @ mixture
    np.testing.assert_array_equal(changed.in_memory().X, held.X)
    np.testing.assert_allclose(changed.in_memory().y, expected, rtol=1e-14)
    np.testing.assert_allclose(changed.head(7).in_memory().y, expected[:7], rtol=1e-14)
    np.testing.assert_allclose(changed.single().y, expected, rtol=1e-6)
    # And again of these; the rows themselves stay what they were.
    again = changed.relabelled(lambda X, y: 3.0 * y)
    np.testing.assert_allclose(np.concatenate([y for _, y in again.blocks()]), 3 * expected, rtol=1e-14)
    np.testing.assert_array_equal(rows.in_memory().y, held.y)


def test_rows_that_are_not_to_be_copied_stay_so_with_other_labels():
    lean = ArraySource(np.ones((N, D)), np.ones(N), can_be_single=False)
    for rows in (
        lean.head(9),
        lean.relabelled(lambda X, y: 2.0 * y),
        lean.relabelled(lambda X, y: y).head(5),
    ):
        assert not rows.can_be_single
    assert ArraySource(np.ones((N, D)), np.ones(N)).relabelled(lambda X, y: y).can_be_single
