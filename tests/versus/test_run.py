"""The list of fits, and a file of lines that is gone on with."""

import csv

import pytest

from benchmarks.versus import run
from benchmarks.versus.fit import failed
from benchmarks.versus.methods import METHODS
from benchmarks.versus.objective import FAMILIES
from netlearn.errors import InputError

FAMILY, NOISY = "random 3/20", "random 5/50 noise 0.1"
ANSWER = failed("") | {"error": 1e-4, "seconds": 0.5, "status": "fitted", "failure": None}


@pytest.fixture
def fit_all(monkeypatch, tmp_path):
    """Run a plan without fitting anything; gives what would have been fitted, in order, and the file."""
    path = tmp_path / "lines.csv"

    def call(fits, ending=lambda *case: ANSWER):
        done = []

        def attempt(family, method, seed, limit, processes, stop):
            done.append((family.name, method.name, seed))
            return ending(*done[-1])

        monkeypatch.setattr(run, "attempt", attempt)
        monkeypatch.setattr(run, "context", lambda: None)
        run.run(fits, path, 1, lambda news: None)
        return done

    return call, path


def test_methods_are_planned_for_the_families_they_are_for():
    fits = run.plan([FAMILY, NOISY, "hard_plane 2/6"], METHODS, range(2))
    keys = {fit.key for fit in fits}
    assert ("hard_plane 2/6", "paper.netlearn", 1) in keys
    assert (FAMILY, "paper.netlearn", 0) not in keys
    assert (NOISY, "least squares from the truth", 0) in keys
    assert (FAMILY, "least squares from the truth", 0) not in keys
    expected = [fit.expected for fit in fits]
    assert expected == sorted(expected, reverse=True)


def test_no_fit_has_more_time_than_family_method_and_caller_allow():
    limits = {(fit.family.name, fit.method.name): fit.limit for fit in run.plan(FAMILIES, METHODS, [0])}
    assert limits[FAMILY, "Adam, width k"] == 60
    assert limits[FAMILY, "xrfm"] == 15
    assert limits["hard_plane 8/50", "Adam, width k"] == 20
    assert {fit.limit for fit in run.plan([FAMILY], METHODS, [0], most=5.0)} == {5.0}


def test_the_short_run_cannot_take_longer_than_ten_minutes():
    assert sum(fit.limit for fit in run.quick()) / 2 <= 15 * 60  # the most; few fits need it
    assert {fit.seed for fit in run.quick()} == {0, 1}


def test_a_run_goes_on_where_it_was(fit_all):
    call, path = fit_all
    first = run.plan([FAMILY], ["learn", "least_squares"], [0])
    assert len(call(first)) == 2
    whole = run.plan([FAMILY], ["learn", "least_squares"], [0, 1])
    assert sorted(call(whole)) == [(FAMILY, "learn", 1), (FAMILY, "least_squares", 1)]
    assert call(whole) == []
    lines = run.read(path)
    assert [line["error"] for line in lines] == [1e-4] * 4
    assert (lines[0]["k"], lines[0]["N"], lines[0]["sine"], lines[0]["failure"]) == (3, 10_000, None, "")
    with path.open(newline="") as file:
        header = next(csv.reader(file))
    assert header[:9] == ["family", "k", "d", "N", "noise", "method", "seed", "limit", "error"]
    assert header[-3:] == ["hardware", "versions", "commit"]


def test_lines_of_what_was_not_installed_are_replaced_once_it_is(fit_all, monkeypatch):
    call, path = fit_all
    fits = run.plan([FAMILY], ["learn", "least_squares"], [0])
    absent = {"learn": ANSWER, "least_squares": failed("not installed: scipy")}
    call(fits, lambda family, method, seed: absent[method])
    monkeypatch.setattr(type(METHODS["learn"]), "missing", ("scipy",))
    assert call(fits) == []
    monkeypatch.setattr(type(METHODS["learn"]), "missing", ())
    assert call(fits) == [(FAMILY, "least_squares", 0)]
    assert [line["failure"] for line in run.read(path)] == ["", ""]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_other_failures_stay(fit_all):
    call, path = fit_all
    fits = run.plan([FAMILY], ["learn"], [0])
    call(fits, lambda *case: failed("time", 60.0))
    assert call(fits) == []
    assert (run.read(path)[0]["failure"], run.read(path)[0]["seconds"]) == ("time", 60.0)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", ""])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(fit_all, text):
    call, path = fit_all
    path.write_text(text)
    with pytest.raises(InputError, match="must be a file of lines of this benchmark"):
        call(run.plan([FAMILY], ["learn"], [0]))
    assert path.read_text() == text


def test_a_run_that_is_stopped_begins_no_other_fit_and_keeps_what_has_ended(fit_all):
    call, path = fit_all
    fits = run.plan([FAMILY], ["learn"], range(5))

    def ending(family, method, seed):
        if seed == 2:
            raise KeyboardInterrupt
        return ANSWER

    with pytest.raises(KeyboardInterrupt):
        call(fits, ending)
    kept = {line["seed"] for line in run.read(path)}
    assert 2 not in kept
    assert {0, 1} <= kept
    assert {seed for _, _, seed in call(fits)} == set(range(5)) - kept
