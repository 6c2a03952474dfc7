"""Rates on a clock that moves by a fixed tick whenever it is looked at: amounts of work over known times."""

import itertools
import tempfile

import numpy as np
import pytest

from netlearn.backend import calibrate as calibrate_module
from netlearn.backend.calibrate import calibrate, reading_rate
from netlearn.errors import InputError

TICK = 0.01


@pytest.fixture
def clock(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(calibrate_module.time, "perf_counter", lambda: next(ticks) * TICK)


def test_rates_are_the_operations_of_one_repetition_over_its_time(clock):
    rates = calibrate(width=7)
    n, d = 64 * 512, 256  # rows and columns of all blocks
    assert rates.wide == pytest.approx(n * d * d / TICK)
    # Two products of 2 n d operations for each of 7 vectors; a copy reads and writes 8 bytes for each number.
    assert rates.narrow == pytest.approx(2 * (2 * n * d * 7) / TICK)
    assert rates.memory == pytest.approx(2 * 8 * n * d / TICK)


def test_the_shortest_repetition_counts(monkeypatch):
    # Looks at the clock: the beginning; before and after three repetitions of 0.03, 0.01 and 0.05 s; and the end.
    looks = iter([0.0, 0.1, 0.13, 0.14, 0.15, 0.16, 0.21, 0.3])
    monkeypatch.setattr(calibrate_module.time, "perf_counter", lambda: next(looks))
    assert calibrate_module._least_seconds(lambda: None) == pytest.approx(0.01)


def test_reading_takes_the_largest_file_of_a_folder(clock, tmp_path):
    (tmp_path / "small").write_bytes(b"x")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "large").write_bytes(bytes(10 * 2**20))
    # Three pieces of at most 4 MiB and the end of the file: five looks at the clock after the first.
    assert reading_rate(tmp_path) == pytest.approx(10 * 2**20 / (5 * TICK))
    assert reading_rate(tmp_path / "small") == pytest.approx(1 / (3 * TICK))


def test_reading_stops_when_its_time_is_over(clock, tmp_path, monkeypatch):
    monkeypatch.setattr(calibrate_module, "_SHARE", 2.5 * TICK)
    (tmp_path / "large").write_bytes(bytes(64 * 2**20))
    # Two pieces are begun before 2.5 ticks are over, and a third look finds them over.
    assert reading_rate(tmp_path / "large") == pytest.approx(2 * 4 * 2**20 / (4 * TICK))


def test_a_temporary_file_is_read_where_none_is_given_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert 0 < reading_rate() < np.inf
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["missing", "empty", "folder"])
def test_nothing_to_read_is_refused_in_a_sentence(tmp_path, name):
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=f"Cannot measure reading on .*{name}"):
        reading_rate(tmp_path / name)
