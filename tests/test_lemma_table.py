"""docs/theory/lemmas.md is complete, what it names exists, and the tests in it call the functions beside them."""

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THEORY = ROOT / "docs" / "theory"

STATEMENTS = [
    "Theorem 1.1",
    "Theorem 1.1, time",
    "Section 1.1",
    "First footnote",
    "Lemma 2.1",
    "Proposition 2.2",
    "Lemma 2.3",
    "Lemma 2.3, rows",
    "Lemma 2.4",
    "Section 2.3, ties",
    "Lemma 2.5",
    "Lemma 2.5, sharper",
    "Lemma 3.1",
    "Algorithm 1, lines 6-7",
    "Algorithm 1, lines 8-13",
    "Algorithm 1, line 14",
    "Proposition 4.1",
    "Lemma 4.2",
    "Lemma 4.3",
    "Corollary 4.4",
    "Proposition 4.5",
    *(f"Lemma 4.{n}" for n in (6, 7, 8)),
    "Corollary 4.9",
    "Section 4.5",
    "Remark 4.10",
    "Last footnote",
]


def table(text):
    """Rows of the first Markdown table, without its two head lines, as lists of cells."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def is_importable(dotted):
    """Whether a dotted name leads from a module to an attribute of it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


def is_a_test(reference):
    """Whether `path::name` is a function at the top level of a file of the repository."""
    path, name = reference.split("::")
    file = ROOT / path
    return file.is_file() and any(
        isinstance(node, ast.FunctionDef) and node.name == name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
    )


def missing(text):
    """What a page of docs/theory names in backticks and is not there."""
    references = set(re.findall(r"`(tests/[\w/.]+::\w+)`", text))
    functions = set(re.findall(r"`(netlearn(?:\.\w+)+)`", text))
    return sorted(
        {name for name in references if not is_a_test(name)}
        | {name for name in functions if not is_importable(name)}
    )


def rows_of_the_table():
    return table((THEORY / "lemmas.md").read_text(encoding="utf-8"))


def test_every_statement_has_a_function_and_a_test():
    rows = rows_of_the_table()
    assert [row[0] for row in rows] == STATEMENTS
    for _, words, functions, tests in rows:
        assert words
        assert re.fullmatch(r"`netlearn[\w.]+`(, `netlearn[\w.]+`)*", functions)
        assert re.fullmatch(r"`tests/[\w/.]+::test_\w+`(, `tests/[\w/.]+::test_\w+`)*", tests)


@pytest.mark.parametrize("page", sorted(path.name for path in THEORY.glob("*.md")))
def test_what_the_page_names_exists(page):
    assert missing((THEORY / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "name",
    [
        "netlearn.paper.nonsense",
        "netlearn.nonsense.netlearn",
        "tests/paper/test_polynomial.py::test_lemma_3_2",
        "tests/paper/test_nonsense.py::test_lemma_3_1",
        "tests/paper/test_polynomial.py::clustered",
    ],
)
def test_a_name_that_leads_nowhere_is_found(name):
    good = "`netlearn.paper.Schedule.from_theory` `tests/paper/test_polynomial.py::test_lemma_3_1`"
    assert missing(f"{good} `{name}`") == [name]


def passing(pairs):
    """For each pair of functions and tests, the tests that pass although the functions raise."""
    command = [sys.executable, "-m", "tests.lemma_check"]
    done = subprocess.run(
        command, input=json.dumps(pairs), capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def functions_and_tests():
    for statement, _, functions, tests in rows_of_the_table():
        yield statement, re.findall(r"`([^`]+)`", functions), re.findall(r"`([^`]+)`", tests)


@pytest.mark.slow
def test_every_test_of_the_table_calls_a_function_beside_it():
    # With all functions of its row raising, no test passes.
    rows = list(functions_and_tests())
    left = passing([(functions, tests) for _, functions, tests in rows])
    assert [(row[0], tests) for row, tests in zip(rows, left, strict=True) if tests] == []


@pytest.mark.soak
def test_every_function_of_the_table_is_called_by_a_test_beside_it():
    # With one function of its row raising, some test fails.
    cases = [
        (statement, function, tests)
        for statement, functions, tests in functions_and_tests()
        for function in functions
    ]
    left = passing([([function], tests) for _, function, tests in cases])
    assert [case[:2] for case, passed in zip(cases, left, strict=True) if len(passed) == len(case[2])] == []


def test_a_test_that_does_not_call_its_function_is_found():
    functions = ["netlearn.paper.clusters"]
    good, bad = (f"tests/paper/{name}" for name in (
        "test_clusters.py::test_a_linear_network_has_no_clusters", "test_polynomial.py::test_bound_in_numbers"
    ))  # fmt: skip
    assert passing(
        [(functions, [good, bad]), (["netlearn.paper.cluster_polynomial_bound"], [good, bad])]
    ) == [
        [bad],
        [good],
    ]
