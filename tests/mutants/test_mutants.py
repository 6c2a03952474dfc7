"""The list of mutants fits the code, and the tests notice every one of them."""

import re

import pytest

from tests.mutants.catalogue import MUTANTS, Mutant
from tests.mutants.run import ROOT, mutated, outcomes


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_has_its_place(mutant):
    text = (ROOT / "src" / mutant.file).read_text(encoding="utf-8")
    changed = mutated(text, mutant)
    assert changed != text
    compile(changed, mutant.file, "exec")
    assert all((ROOT / test).is_file() for test in mutant.tests)


def test_there_are_enough_and_the_six_are_among_them():
    assert len(MUTANTS) >= 40
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    names = "\n".join(mutant.name for mutant in MUTANTS)
    for words in (
        r"3\^ell dropped.*\n.*d\^2 dropped",
        r"eta\^-2 turned into eta\^-1",
        "union over candidates left out",
        "N_val: L = R",
        "upsilon = 10 epsilon",
        "no dependence on k",
    ):
        assert re.search(words, names), words


def test_a_change_that_changes_nothing_survives():
    # Negative control: the runner does not report a failure for anything that it runs.
    harmless = Mutant("harmless", "netlearn/paper/failure.py", "steps = fields(cls)", "steps = tuple(fields(cls))",
                      ("tests/paper/test_failure.py",))  # fmt: skip
    assert [noticed for _, noticed in outcomes([harmless])] == [False]


def test_a_place_that_is_gone_is_reported():
    gone = Mutant("gone", "netlearn/paper/failure.py", "no such line", "", ())
    with pytest.raises(ValueError, match="occurs 0 times"):
        mutated("text", gone)


@pytest.mark.soak
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_noticed(mutant):
    assert [noticed for _, noticed in outcomes([mutant])] == [True]
