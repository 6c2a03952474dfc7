"""What the system is asked to fetch ahead: the bytes of the chosen columns, each once, and in time."""

import os

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from netlearn import FileSource
from netlearn.source import ahead as ahead_module
from netlearn.source.ahead import FetchedAhead

GROUP, N_GROUPS = 1000, 5


@pytest.fixture
def asked(monkeypatch):
    """Byte ranges asked for so far."""
    ranges = []

    def advise(descriptor, start, length, advice):
        assert advice == os.POSIX_FADV_WILLNEED
        ranges.append((start, start + length))

    monkeypatch.setattr(os, "posix_fadvise", advise)
    return ranges


@pytest.fixture
def file(tmp_path):
    X = np.random.default_rng(0).standard_normal((GROUP * N_GROUPS, 4))
    path = tmp_path / "rows.parquet"
    table = pyarrow.table(list(X.T), names=list("abcd"))
    parquet.write_table(table, path, row_group_size=GROUP, compression="none", use_dictionary=False)
    return path, X


def n_bytes(ranges):
    """Number of bytes in some ranges, no byte twice."""
    held = set()
    for start, stop in ranges:
        piece = set(range(start, stop))
        assert not held & piece
        held |= piece
    return len(held)


@pytest.mark.parametrize("columns", [list("abcd"), list("ad"), list("cb")])
def test_bytes_of_the_chosen_columns_are_asked_for_once(file, asked, columns):
    path, X = file
    source = FileSource(path, target=columns[-1], features=columns[:-1])
    read = np.vstack([np.column_stack(block) for block in source.blocks()])
    np.testing.assert_array_equal(read, X[:, ["abcd".index(name) for name in columns]])
    # A page of a column is its numbers and a header of some tens of bytes.
    numbers = 8 * GROUP * N_GROUPS * len(columns)
    assert numbers < n_bytes(asked) < numbers + 100 * N_GROUPS * len(columns)


def test_each_group_is_asked_for_evenly_while_the_one_before_is_read(asked, monkeypatch):
    monkeypatch.setattr(ahead_module, "_PIECE_BYTES", 10)
    ahead = FetchedAhead(0, [(100, [(0, 40)]), (200, [(50, 75), (90, 105)])])
    ahead.reached(0)
    # The first group at once, as no row comes before it. Of the second, five pieces over the 200 rows before row 100:
    # at -100, -60, -20, 20 and 60.
    assert asked == [(0, 10), (10, 20), (20, 30), (30, 40), (50, 60), (60, 70), (70, 75)]
    ahead.reached(19)
    assert len(asked) == 7
    ahead.reached(20)
    assert asked[7:] == [(90, 100)]
    ahead.reached(300)
    assert asked[8:] == [(100, 105)]


def test_systems_that_take_no_advice_read_all_the_same(file, monkeypatch):
    path, X = file
    monkeypatch.delattr(os, "posix_fadvise")
    np.testing.assert_array_equal(FileSource(path, target="d").arrays()[0], X[:, :3])
