"""Messy tables end in a model, or in one message that lists every problem; from Python and from the command line."""

import sys

import numpy as np
import pytest

from netlearn import FileSource, LearnResult, cli, learn
from netlearn.errors import InputError
from netlearn.source.problems import TableError
from tests.source.messy import CASES, CSV_CASES, WAYS, Case, csv, frame, with_cells


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(case: Case):
    table = case.make()
    if isinstance(table, str) and table.endswith(".xlsx"):
        pytest.importorskip("python_calamine")
    return table


def learned(table, case: Case) -> LearnResult:
    return learn(FileSource(table, case.target, **case.options), n_hidden=1, rng=0)


def check(call, case: Case):
    """Call, and compare what comes of it; gives the result of a model."""
    if case.names:
        result = call()
        assert (result.names or ("",) * result.network.n_features) == case.names
        assert sum(result.diagnostics.rows.values()) == case.n_rows
        assert np.isfinite(result.certificate.empirical_error)
        return result
    with pytest.raises(InputError) as refusal:
        call()
    for words in case.problems:
        assert words in str(refusal.value)
    if isinstance(refusal.value, TableError):
        assert len(refusal.value.problems) == max(len(case.problems), 1)
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_model_or_every_problem(name):
    case = CASES[name]
    table = made(case)
    result = check(lambda: learned(table, case), case)
    if result is not None:
        result.save("m.safetensors")
        assert LearnResult.load("m.safetensors").recipe == result.recipe


@pytest.mark.parametrize("name", CSV_CASES)
def test_the_same_without_pyarrow(name, monkeypatch):
    case = CASES[name]
    table = made(case)
    before = check(lambda: learned(table, case), case)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    after = check(lambda: learned(table, case), case)
    if before is not None:
        assert after.network == before.network
        assert after.recipe == before.recipe


def called(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["netlearn", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code or 0, *capsys.readouterr()


@pytest.mark.parametrize(
    "name", ["everything at once", "gaps", "text column", "identifiers, encoded", "xlsx"]
)
def test_the_command_line_says_the_same_in_lines(name, capsys, monkeypatch):
    case = CASES[name]
    table = made(case)
    options = [
        f"--{option}={value if isinstance(value, str) else value[0]}"
        for option, value in case.options.items()
    ]
    code, out, err = called(capsys, monkeypatch, "learn", table, "-t", "price", "-k", 1, *options)
    if case.names:
        assert code in (0, 3)
        return
    assert (code, out) == (2, "")
    assert err.startswith("netlearn: t.csv")
    assert "Traceback" not in err
    for words in case.problems:
        assert sum(words in line for line in err.splitlines()) == 1
    assert "--" in err


def test_the_table_of_cases_is_large():
    assert len(CASES) >= 40
    assert sum(bool(case.names) for case in CASES.values()) >= 20


def test_all_ways_to_say_missing_are_listed_as_such():
    table = csv(with_cells({(row, "age"): way for row, way in enumerate(WAYS)}, ["size", "age", "price"]))
    with pytest.raises(
        TableError, match=f"has {len(WAYS)} missing values, in rows 1, 2, 3, 4, 5 and {len(WAYS) - 5}"
    ):
        learn(table, "price")


def test_many_columns_are_listed_up_to_a_number():
    wide = frame().assign(**{f"t{i}": "x" for i in range(30)})
    with pytest.raises(TableError) as refusal:
        learn(wide, "price")
    assert len(refusal.value.problems) == 20
    assert "has 31 problems" in str(refusal.value)
    assert "and 11 problems more" in str(refusal.value)


def test_names_and_cells_cannot_fake_lines_of_the_message():
    table = frame().rename(columns={"size": "a\n  - all is well"}).assign(city="b\n\x1b[2J")
    with pytest.raises(TableError) as refusal:
        learn(table.assign(age=None), "price")
    assert str(refusal.value).count("\n  - ") == len(refusal.value.problems) + len(refusal.value.advice)
    assert "\x1b" not in str(refusal.value)
