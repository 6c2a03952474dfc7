"""Moments of arrays that allow nothing beyond the array API standard are those of NumPy's."""

import array_api_strict as strict
import numpy as np
import pytest

from netlearn.moments import MomentSum, hermite, moment_matrices
from tests.grains import cut

D, ORDERS = 5, (2, 4, 6)
# The same operations in the same order, but for how NumPy sums arrays of another layout: a few roundings of numbers of
# the size of sum |y| |x|^6.
ATOL = 1e-9


def planted(n):
    X = np.random.default_rng(0).standard_normal((n, D))
    return X, np.abs(X[:, 0]) - X[:, 1]


def directions():
    g = np.random.default_rng(1).standard_normal((2, D))
    return g / np.linalg.norm(g, axis=1, keepdims=True)


def test_polynomials_and_matrices_are_the_same():
    X, y = planted(500)
    g = directions()[0]
    found = hermite(6, strict.asarray(y))
    assert isinstance(found, type(strict.asarray(y)))
    np.testing.assert_allclose(np.asarray(found), hermite(6, y), rtol=1e-13)
    matrices = moment_matrices(*map(strict.asarray, (X, y, g)), ORDERS)
    np.testing.assert_allclose(np.asarray(matrices), moment_matrices(X, y, g, ORDERS), atol=ATOL)


@pytest.mark.parametrize("size", [7, 300])  # fewer and more rows than groups
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_sums_over_blocks_are_the_same(size, dtype, monkeypatch):
    cut(monkeypatch, least_rows=4, block_entries=1)
    X, y = (np.round(3 * part).astype(dtype) for part in planted(200))
    totals = [MomentSum(g, ORDERS) for g in (directions(), strict.asarray(directions()))]
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        totals[0].add(X[rows], y[rows])
        totals[1].add(strict.asarray(X[rows]), strict.asarray(y[rows]))
    expected, found = (total.finalize() for total in totals)
    assert (found.count, found.degrees_of_freedom) == (expected.count, expected.degrees_of_freedom)
    assert found.mean_y == pytest.approx(expected.mean_y, abs=1e-12)
    for name in ("linear", "linear_standard_errors", "matrices", "standard_errors", "halves"):
        own = getattr(found, name)
        assert isinstance(own, type(strict.asarray(0.0)))
        np.testing.assert_allclose(
            np.asarray(own), getattr(expected, name), rtol=1e-10, atol=ATOL, err_msg=name
        )
