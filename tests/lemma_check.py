"""Run the tests of the lemma table with functions of the package replaced by ones that raise.

    python -m tests.lemma_check < pairs.json

reads a list of [functions, tests] and writes, for each, the tests that still pass: those that do not call any of the
functions. All runs share one process, because importing the package takes longer than most of the tests.
"""

import contextlib
import inspect
import io
import json
import sys
from importlib import import_module

import pytest


class ReplacedError(AssertionError):
    """Raised in place of a function."""


class Outcomes:
    """A pytest plugin that keeps the names of the tests that passed, without their parameters."""

    def __init__(self):
        self.passed, self.failed = set(), set()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            name = report.nodeid.split("[")[0]
            (self.passed if report.passed else self.failed).add(name)

    def pytest_collectreport(self, report):
        # A test module that calls the function while it is imported counts as a test that calls it.
        if report.failed:
            self.failed.add(report.nodeid)


def owner_of(dotted):
    """The module or class that holds a dotted name, and the last part of it."""
    *parts, name = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found, name
    raise ModuleNotFoundError(dotted)


def raising(dotted, original):
    """What stands in for a function, method, property or class."""

    def raiser(*args, **kwargs):
        raise ReplacedError(dotted)

    if isinstance(original, property):
        return property(raiser)
    if isinstance(original, classmethod):
        return classmethod(raiser)
    return raiser


@contextlib.contextmanager
def replaced(dotted):
    """Replace one name wherever the package holds it, and put it back."""
    owner, name = owner_of(dotted)
    original = inspect.getattr_static(owner, name)
    if inspect.isclass(original):
        with replaced(f"{dotted}.__init__"):
            yield
        return
    if inspect.isclass(owner):
        places = [owner]
    else:
        modules = [module for key, module in list(sys.modules.items()) if key.split(".")[0] == "netlearn"]
        places = [module for module in modules if vars(module).get(name) is original]
    for place in places:
        setattr(place, name, raising(dotted, original))
    try:
        yield
    finally:
        for place in places:
            setattr(place, name, original)


def survivors(functions, tests):
    """Tests that pass although the functions raise."""
    for key in [key for key in sys.modules if key.split(".")[0] == "tests" and key != __name__]:
        del sys.modules[key]  # test modules must import the replaced functions anew
    outcomes = Outcomes()
    with contextlib.ExitStack() as stack:
        for function in functions:
            stack.enter_context(replaced(function))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", "--no-header", *tests], plugins=[outcomes])
    assert outcomes.passed | outcomes.failed, f"none of {tests} was run"
    return sorted(outcomes.passed - outcomes.failed)


def main():
    """Answer the pairs on standard input."""
    import_module("netlearn.paper")
    pairs = json.load(sys.stdin)
    print(json.dumps([survivors(functions, tests) for functions, tests in pairs]))


if __name__ == "__main__":
    main()
