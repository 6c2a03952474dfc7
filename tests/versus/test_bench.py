"""`netlearn bench`, with the fits left out."""

import json
import sys

import pytest

import netlearn
from benchmarks.versus import run as runner
from benchmarks.versus.fit import failed
from netlearn import cli


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the command in this process and an empty folder; every fit answers at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def attempt(family, method, seed, limit, processes, stop):
        error = 1e-15 if method.name == "learn" else 0.5
        return failed("") | {"error": error, "seconds": 2.0, "status": "fitted", "failure": None}

    monkeypatch.setattr(runner, "attempt", attempt)
    monkeypatch.setattr(runner, "context", lambda: None)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["netlearn", "bench", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return call


def test_help_says_what_it_takes(run):
    code, out, _ = run("--help")
    assert code == 0
    assert all(option in out for option in ("--quick", "--out", "--jobs", "--json"))


def test_the_table_is_printed_and_every_fit_kept(run, tmp_path):
    code, out, _ = run("--quick", "--out", "lines.csv")
    assert code == 0
    assert "hard_plane 4/50" in out
    assert "1.0e-15" in out
    assert len(runner.read(tmp_path / "lines.csv")) == len(runner.quick())


def test_json_is_one_object_without_infinities(run):
    code, out, _ = run("--quick", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["file"] == "versus_quick.csv"
    assert found["not_first"] == []
    ours = next(line for line in found["lines"] if line["method"] == "learn")
    assert (ours["error"], ours["seconds_to"], ours["n_fits"]) == (1e-15, None, 2)


def test_an_installed_package_says_where_the_benchmark_is(run, monkeypatch, tmp_path):
    monkeypatch.setattr(netlearn, "__file__", str(tmp_path / "site-packages" / "netlearn" / "__init__.py"))
    code, _, err = run("--quick")
    assert code == 2
    assert "in a copy of the repository" in err
    assert len(err.strip().splitlines()) == 1


def test_a_file_that_is_no_csv_is_refused(run):
    code, _, err = run("--quick", "--out", "lines.txt")
    assert code == 2
    assert ".csv" in err
