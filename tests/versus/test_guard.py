"""The comparison with committed figures turns red on what is worse, and on nothing else."""

import csv
import math

import pytest

from benchmarks import guard
from benchmarks.guard import Figure, worse

BEFORE = [
    Figure("exact", "error", 1e-15),
    Figure("coarse", "error", 1e-6),
    Figure("noisy", "noise", 1.0),
    Figure("fast", "time", 2.0),
]


def now(**changed):
    return [Figure(f.name, f.kind, changed.get(f.name, f.value)) for f in BEFORE]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"exact": 9e-11},
        {"coarse": 9.9e-6},
        {"noisy": 1.19},
        {"fast": 2.99},
        {"coarse": 1e-12, "fast": 0.1},
    ],
)
def test_what_stays_within_its_factor_passes(changed):
    assert worse(now(**changed), BEFORE) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"exact": 1.1e-10},
        {"coarse": 1.1e-5},
        {"noisy": 1.21},
        {"fast": 3.01},
        {"coarse": math.inf},
        {"fast": math.nan},
    ],
)
def test_what_grows_beyond_its_factor_is_named(changed):
    (sentence,) = worse(now(**changed), BEFORE)
    assert sentence.startswith(f"{next(iter(changed))}: ")


def test_a_figure_that_is_no_longer_measured_is_named():
    assert worse(now()[:3], BEFORE) == ["fast is no longer measured"]


def test_the_exit_code_tells(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(guard, "COMMITTED", tmp_path / "guard.csv")
    monkeypatch.setattr(guard, "measure", now)
    monkeypatch.setattr("sys.argv", ["guard", "--update"])
    assert guard.main() == 0
    monkeypatch.setattr("sys.argv", ["guard"])
    assert guard.main() == 0
    monkeypatch.setattr(guard, "measure", lambda: now(fast=4.0))
    assert guard.main() == 1
    assert "fast: time 4, at most 3 is allowed (2 was committed)" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["guard.csv"]


def test_the_committed_file_has_every_figure_that_is_measured():
    with guard.COMMITTED.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["name"] for line in lines} >= set(guard.RECOVERY)
    assert [line["kind"] for line in lines].count("time") == 3
    assert lines[0]["hardware"]


def test_every_line_of_recovery_that_is_guarded_exists():
    assert set(guard.RECOVERY) <= {case.name for case in guard.recovery.table()}
