"""docs/theory/lemmas.md is complete, and what docs/theory names exists."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THEORY = ROOT / "docs" / "theory"

STATEMENTS = [
    "Theorem 1.1",
    "Lemma 2.1",
    "Proposition 2.2",
    *(f"Lemma 2.{n}" for n in (3, 4, 5)),
    "Lemma 3.1",
    "Proposition 4.1",
    "Lemma 4.2",
    "Lemma 4.3",
    "Corollary 4.4",
    "Proposition 4.5",
    *(f"Lemma 4.{n}" for n in (6, 7, 8)),
    "Corollary 4.9",
    "Remark 4.10",
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


def test_every_statement_has_a_function_and_a_test():
    rows = table((THEORY / "lemmas.md").read_text(encoding="utf-8"))
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
