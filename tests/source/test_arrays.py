"""Blocks of rows in memory: all rows, once each, in order, as often as asked."""

import numpy as np
import pytest

from netlearn.source import ArraySource


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 5000])
@pytest.mark.parametrize("width", [0, 3, 10**6])
def test_blocks_are_the_rows_in_order_every_time(n, width):
    X, y = np.arange(4.0 * n).reshape(n, 4), np.arange(float(n))
    rows = ArraySource(X, y)
    assert (rows.n_rows, rows.n_features) == (n, 4)
    for _ in range(2):
        blocks = list(rows.blocks(width))
        assert all(len(block_X) == len(block_y) for block_X, block_y in blocks)
        np.testing.assert_array_equal(np.concatenate([np.zeros((0, 4)), *(b for b, _ in blocks)]), X)
        np.testing.assert_array_equal(np.concatenate([np.zeros(0), *(b for _, b in blocks)]), y)


def test_wider_computations_get_shorter_blocks_down_to_a_least_size():
    rows = ArraySource(np.zeros((10_000, 16)), np.zeros(10_000))
    sizes = [len(next(rows.blocks(width))[1]) for width in (0, 16, 10**6)]
    assert sizes == [ArraySource._BLOCK_ENTRIES // 16, ArraySource._BLOCK_ENTRIES // 32, 512]


def test_head_is_a_view():
    X, y = np.zeros((10, 2)), np.zeros(10)
    head = ArraySource(X, y).head(3)
    assert (head.n_rows, head.n_features) == (3, 2)
    assert np.shares_memory(head.X, X)
    assert np.shares_memory(head.y, y)
