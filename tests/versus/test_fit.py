"""How fits end: with an answer, or as a failure that is told from others."""

import threading

import pytest

from benchmarks.versus.fit import RESULT, StoppedError, attempt, context
from benchmarks.versus.methods import Method
from benchmarks.versus.objective import Family

FAMILY = Family("random", 2, 3, 50)
NEVER, AT_ONCE = threading.Event(), threading.Event()
AT_ONCE.set()


@pytest.fixture
def end(monkeypatch):
    """Run a function of endings.py in a process of its own."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    processes = context()

    def call(function, limit=60.0, stop=NEVER, **options):
        method = Method(function, "tests.versus.endings", function, **options)
        return attempt(FAMILY, method, 0, limit, processes, stop, grace=limit)

    return call


@pytest.mark.parametrize(
    ("function", "failure"),
    [
        ("raises", "ArithmeticError: it does not add up"),
        ("is_too_large", "too large: 7 by 7"),
        ("vanishes", "the process ended with exit code 7"),
        ("finds_nothing", "no answer"),
        ("is_infinite", "the answer is not finite"),
    ],
)
def test_a_fit_that_does_not_end_well_is_a_failure_with_its_reason(end, function, failure):
    line = end(function)
    assert set(line) == set(RESULT)
    assert (line["status"], line["failure"], line["error"]) == ("failed", failure, None)


@pytest.mark.parametrize("function", ["spins", "sleeps"])
def test_a_fit_that_does_not_end_is_ended(end, function):
    line = end(function, limit=0.1)
    assert (line["status"], line["failure"], line["seconds"]) == ("failed", "time", 0.1)


@pytest.mark.parametrize("function", ["sleeps", "vanishes"])
def test_a_fit_that_is_stopped_from_outside_is_no_failure(end, function):
    with pytest.raises(StoppedError):
        end(function, stop=AT_ONCE)


def test_an_absent_package_is_named(end):
    line = end("is_right", packages=("numpy", "no_such_package.part"))
    assert line["failure"] == "not installed: no_such_package.part"


def test_an_answer_is_judged(end):
    line = end("is_right")
    assert (line["status"], line["failure"], line["error"]) == ("fitted", None, 0.0)
    assert 0 <= line["seconds_to_1e-3"] <= line["seconds"]
