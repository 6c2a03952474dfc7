"""Blocks of rows in memory: all rows, once each, in order, as often as asked."""

import tracemalloc

import numpy as np
import pytest

from netlearn.backend.grain import grain
from netlearn.source import ArraySource, arrays
from netlearn.source.arrays import SelectedRows


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
    entries = grain(rows.X).block_entries
    assert sizes == [entries // 16, entries // 32, 512]


def test_head_is_a_view():
    X, y = np.zeros((10, 2)), np.zeros(10)
    head = ArraySource(X, y).head(3)
    assert (head.n_rows, head.n_features) == (3, 2)
    assert np.shares_memory(head.X, X)
    assert np.shares_memory(head.y, y)


def test_single_precision_comes_in_the_same_blocks():
    rng = np.random.default_rng(0)
    order = rng.permutation(3000)[:2000]
    X, y = rng.standard_normal((3000, 300)), rng.standard_normal(3000)
    for rows in (ArraySource(X, y), SelectedRows(X, y, order)):
        single = rows.single()
        assert np.shares_memory(rows.single().X, single.X)
        assert np.shares_memory(single.single().X, single.X)
        for (A, b), (A_single, b_single) in zip(rows.blocks(11), single.blocks(11), strict=True):
            assert A_single.dtype == np.float32
            np.testing.assert_array_equal(A_single, A.astype(np.float32))
            np.testing.assert_array_equal(b_single, b)


def test_heads_share_one_copy_in_single_precision():
    X, y = np.random.default_rng(0).standard_normal((100, 3)), np.zeros(100)
    rows = SelectedRows(X, y, np.arange(99, -1, -1))
    short, long = rows.head(10), rows.head(50)
    held = long.single().X
    assert np.shares_memory(short.single().X, held)
    np.testing.assert_array_equal(short.single().X, X[:89:-1].astype(np.float32))
    np.testing.assert_array_equal(rows.single().X, X[::-1].astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_selected_rows_are_those_of_the_index(dtype):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-99, 99, (4000, 7)).astype(dtype), rng.integers(-99, 99, 4000).astype(dtype)
    order = rng.permutation(4000)[:2500]
    rows = SelectedRows(X, y, order)
    for source, index in ((rows, order), (rows.head(600), order[:600]), (rows.between(7, 37), order[7:37])):
        held = source.in_memory()
        assert held.X.dtype == held.y.dtype == np.float64
        np.testing.assert_array_equal(held.X, X[index])
        np.testing.assert_array_equal(held.y, y[index])
        assert (source.n_rows, source.n_features) == X[index].shape


def test_selected_rows_can_change_coordinates():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    rows = SelectedRows(X, y, np.array([4, 0, 3])).changed(lambda block: (block[0][:, :1] + 1, -block[1]))
    assert rows.n_features == 1
    np.testing.assert_array_equal(rows.in_memory().X[:, 0], [9.0, 1.0, 7.0])
    np.testing.assert_array_equal(rows.head(2).in_memory().y, [-4.0, -0.0])
    np.testing.assert_array_equal(X, np.arange(12.0).reshape(6, 2))


def test_a_block_for_several_parts_is_as_many_times_longer():
    rows = ArraySource(np.zeros((40_000, 256)), np.zeros(40_000))
    assert len(next(rows.blocks(n_cached=16))[1]) == 16 * len(next(rows.blocks())[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_rows_in_single_precision_are_not_copied_into_it(dtype, monkeypatch):
    X, y = np.random.default_rng(0).standard_normal((100, 3)).astype(dtype), np.zeros(100)
    rows = SelectedRows(X, y, np.arange(99, -1, -1))
    assert rows.can_be_single
    monkeypatch.setattr(arrays, "_LARGE", 150)
    # A copy of doubles takes half their memory; one of singles as much as they do.
    assert rows.can_be_single == (dtype == np.float64)
    assert rows.head(50).can_be_single


def test_the_shorter_copy_is_gone_before_the_longer_one_is_made():
    X, y = np.zeros((40_000, 100)), np.zeros(40_000)
    rows = SelectedRows(X, y, np.arange(40_000))
    rows.head(35_000).single()
    tracemalloc.start()
    rows.single()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The longer copy is 16 MB, and beside it a few blocks of 1 MB; with the shorter one it would be 30 MB.
    assert kept <= peak < 16e6 + 8e6


def test_rows_of_integers_can_change_coordinates():
    X = np.arange(6).reshape(3, 2)
    rows = SelectedRows(X, np.zeros(3), np.array([2, 0])).changed(lambda block: (block[0] / 4, block[1]))
    np.testing.assert_array_equal(rows.in_memory().X, [[1.0, 1.25], [0.0, 0.25]])
