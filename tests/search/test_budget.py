"""Rows that each decision wants: no ratio is typed twice, and what the functions make of them."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from netlearn.fit import Shape
from netlearn.search import budget
from netlearn.step_costs import Rows

PACKAGE = Path(__file__).parents[2] / "src" / "netlearn"
HOME = PACKAGE / "search" / "budget.py"


def constants(text):
    """Return the constants of a module, as pairs of their names and what is said of them: above, beside or below."""
    lines, found = text.splitlines(), []
    body = ast.parse(text).body
    for place, node in enumerate(body):
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        if not all(name.isupper() for name in names):
            continue
        said = [line.partition("#")[2] for line in lines[node.lineno - 1 : node.end_lineno]]
        above = node.lineno - 2
        while above >= 0 and lines[above].strip() and not lines[above].startswith("#"):
            above -= 1  # a comment is for all constants below it, up to an empty line
        while above >= 0 and lines[above].startswith("#"):
            said.append(lines[above])
            above -= 1
        below = body[place + 1] if place + 1 < len(body) else None
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            said.append(str(below.value.value))
        found.append((names, " ".join(said)))
    return found


def ratios(text):
    """Return the names of the constants that are called ratios of rows to unknowns."""
    return [
        name for names, said in constants(text) if re.search(r"\bper unknown", said, re.I) for name in names
    ]


def test_no_ratio_is_typed_twice():
    names = [name for own, _ in constants(HOME.read_text(encoding="utf-8")) for name in own]
    values = {name: getattr(budget, name) for name in names}
    assert len(values) > 10
    of_kind = {kind: [value for value in values.values() if type(value) is kind] for kind in (float, int)}
    assert len(of_kind[float]) + len(of_kind[int]) == len(values)
    for kind in of_kind.values():
        assert len(set(kind)) == len(kind)


def test_whole_numbers_are_rows_and_say_so():
    for names, said in constants(HOME.read_text(encoding="utf-8")):
        whole = any(isinstance(getattr(budget, name), int) for name in names)
        assert whole == bool(re.match(r" rows\b", said)), names


def test_ratios_of_rows_to_unknowns_are_all_in_one_place():
    others = {
        path.relative_to(PACKAGE).as_posix(): ratios(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != HOME
    }
    assert {path: names for path, names in others.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "# Rows per unknown that are enough.\n_ENOUGH = 3.0\n",
        "_ENOUGH = 3.0  # rows per unknown\n",
        '_ENOUGH = 3.0\n"""Points per unknown."""\n',
        "# Units; and rows per unknown.\n_UNITS = 2\n_ENOUGH = 3.0\n",
        "# Rows per unknown, and other things.\n_ENOUGH, _OTHER = 3.0, 2\n",
        "# Rows of a block, at least\n# as many per unknown.\n_ENOUGH: float = 3.0\n",
    ],
)
def test_a_ratio_elsewhere_is_found(text):
    assert "_ENOUGH" in ratios("import math\n\n" + text)


def test_what_is_no_ratio_is_not_found():
    text = "# Rows per unknown.\n_ENOUGH = 3.0\n\n_OTHER = 1\n# Rows.\n_MOST = 2\nlower = 3  # rows per unknown\n"
    assert ratios(text) == ["_ENOUGH"]


@pytest.mark.parametrize(
    ("n_rows", "shape", "ratio", "wanted"),
    [
        (10_000, Shape(3, 5), budget.FINISH, 1000),  # 30 for each of 24 unknowns are fewer than cost anything
        (500, Shape(3, 5), budget.FINISH, 500),
        (10_000, Shape(9, 9), budget.FINISH, 3000),
        (2000, Shape(9, 9), budget.FINISH, 2000),
        (10_000, Shape(9, 9), 12.505, 1251),
        (10_000, Shape(9, 9, biases=False), budget.FINISH, 30 * 91),
        (10_000, Shape(9, 9, 2), budget.FINISH, 30 * (20 + 9 * 11)),
    ],
)
def test_enough_rows(n_rows, shape, ratio, wanted):
    assert budget.enough(Rows(n_rows, shape.n_features), shape, ratio).n_rows == wanted


def test_enough_is_enough_to_finish_unless_said_otherwise():
    rows, shape = Rows(100_000, 9), Shape(9, 9)
    assert budget.enough(rows, shape) == budget.enough(rows, shape, budget.FINISH)


@pytest.mark.parametrize(
    ("n_rows", "shape", "wanted"),
    [
        (40_000, Shape(9, 9), 40_000),
        (200_000, Shape(9, 9), 50_000),
        (200_000, Shape(99, 9), 100_000),  # 100 for each of 1000 unknowns
        (80_000, Shape(99, 9), 80_000),
    ],
)
def test_rows_that_rank(n_rows, shape, wanted):
    assert budget.ranking(Rows(n_rows, 9), shape).n_rows == wanted


@pytest.mark.parametrize(
    ("shape", "tilting", "wanted"),
    [
        (Shape(3, 5), True, 4000),
        (Shape(9, 9), True, 10_000),
        (Shape(9, 9), False, 4000),
        (Shape(99, 9), True, 30_000),  # 20,000, and ten more for each of 1000 unknowns
        (Shape(99, 9), False, 15_000),
    ],
)
def test_rows_inside_a_subspace(shape, tilting, wanted):
    assert budget.inside(shape, tilting=tilting) == wanted


def test_has_and_widest_are_two_forms_of_one_ratio():
    shape = Shape(3, 5)
    assert budget.has(Rows(48, 5), shape, 2.0)
    assert not budget.has(Rows(47, 5), shape, 2.0)
    for n_rows in (50, 99, 1000):
        k = budget.widest(n_rows, shape, 2.0)
        assert budget.has(Rows(n_rows, 5), shape.wider(k), 2.0)
        assert not budget.has(Rows(n_rows, 5), shape.wider(k + 1), 2.0)


def test_least_rows_are_a_tenth_more_than_tell_and_some_to_judge_and_certify():
    assert budget.least(24) == 80
    assert budget.least(0) == 40
    assert np.all(np.diff([budget.least(n) for n in range(100)]) >= 1)


def test_rows_that_are_too_few_for_a_surplus_leave_the_width_alone():
    assert budget.affordable(10, 10_000, Shape(10, 20, biases=False), 1.25) == 15
    assert budget.affordable(10, 300, Shape(10, 20, biases=False), 1.25) == 10
    for biases in (True, False):
        shape = Shape(10, 20, biases=biases)
        width = budget.affordable(10, 470, shape, 2.0)
        assert width > 10
        assert (width + 1) * (20 + biases) * budget.WIDE_START <= 470
