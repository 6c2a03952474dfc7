"""The rooms import in one direction only; docs/architecture.md gives the order and the reasons."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "netlearn"

ROOMS = ("source", "inputs", "moments", "subspace", "fit", "search", "certify")
BELOW = {"network", "backend", "errors"}
MAY_IMPORT = {
    "errors": set(),
    "backend": {"errors"},
    "network": {"backend", "errors"},
    **{room: BELOW.union(ROOMS[:place]) for place, room in enumerate(ROOMS)},
    "fit": {*BELOW, "source"},  # takes any start, and knows of no moments or subspaces
    "teachers": {"network", "errors"},
    "words": {"certify"},
    "report": {*BELOW, "certify", "words"},
    "result": {*BELOW, "certify", "source", "inputs", "report", "words"},
    "run": {"errors"},
    "outcome": {"certify", "inputs", "fit", "search", "result", "words"},
    "evidence": {*BELOW, *ROOMS, "outcome", "run"},
    "asking": {*BELOW, *ROOMS, "result", "run", "words"},
    "fresh_rows": {*BELOW, *ROOMS, "run", "evidence"},
    "pipeline": {*BELOW, *ROOMS, "result", "run", "outcome", "evidence", "fresh_rows"},
    "learning": {*BELOW, "source", "inputs", "search", "certify", "result", "run", "asking", "pipeline"},
    "step_costs": {*BELOW, *ROOMS, "pipeline"},
    "cost": {*BELOW, *ROOMS, "pipeline", "learning", "step_costs"},
    "paper": {*BELOW, *ROOMS, "result"},
}
DOORS = {"__init__", "__main__", "estimator", "cli"}
PARTS = MAY_IMPORT.keys() | DOORS


def imports(path, package):
    """Parts of the package that a file imports when it runs, at the top or inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = []  # what only a type checker reads is never imported
    here = ("netlearn", *path.relative_to(package).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) + 1 - node.level] if node.level else ()
            origin = ".".join([*base, *([node.module] if node.module else [])])
            # "from netlearn import paper" names a part; "from netlearn.paper import x" names it before x.
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            root, *rest = name.split(".")
            if root == "netlearn":
                yield rest[0] if rest and rest[0] in PARTS else "__init__"


def violations(package):
    """Sentences, one for each import that goes the wrong way and each part without a place in the order."""
    found = []
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0].removesuffix(".py")
        if part not in PARTS:
            found.append(f"{part} has no place in the order")
        elif part not in DOORS:
            wrong = set(imports(path, package)) - MAY_IMPORT[part] - {part}
            found.extend(f"{part} imports {other}" for other in sorted(wrong))
    return found


def test_rooms_import_only_what_comes_before_them():
    assert violations(PACKAGE) == []


def test_the_page_names_files_that_exist_and_all_of_the_two_rooms_of_the_learner():
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)?\w+\.py)`", page)) - {"learn.py"}  # which it says there is not
    named = {path for path in named if not path.startswith("tests/")}
    folders = (PACKAGE, PACKAGE / "paper")
    assert [path for path in sorted(named) if not any((folder / path).exists() for folder in folders)] == []
    for room in ("fit", "search"):
        files = {f"{room}/{path.name}" for path in (PACKAGE / room).glob("*.py")} - {f"{room}/__init__.py"}
        assert files - named == set()


@pytest.mark.parametrize(
    ("file", "code", "sentence"),
    [
        ("moments/a.py", "from netlearn.search import nets", "moments imports search"),
        ("moments/a.py", "import netlearn.search.nets", "moments imports search"),
        ("moments/a.py", "from ..search import nets", "moments imports search"),
        ("moments/a.py", "from netlearn import search", "moments imports search"),
        ("moments/a.py", "def f():\n    from netlearn.search import nets", "moments imports search"),
        ("network/a.py", "from netlearn.moments import hermite", "network imports moments"),
        ("backend/a.py", "from netlearn.source import Source", "backend imports source"),
        ("certify/a.py", "from netlearn import LearnResult", "certify imports __init__"),
        ("certify/a.py", "from netlearn.cli import app", "certify imports cli"),
        ("fit/a.py", "from netlearn.search import budget", "fit imports search"),
        ("fit/a.py", "from netlearn.subspace.look import look", "fit imports subspace"),
        ("search/a.py", "from netlearn import pipeline", "search imports pipeline"),
        ("search/a.py", "from netlearn.certify import certify", "search imports certify"),
        ("pipeline.py", "from netlearn.learning import learn", "pipeline imports learning"),
        ("learning.py", "from netlearn.subspace.look import look", "learning imports subspace"),
        ("result.py", "from netlearn.search import nets", "result imports search"),
        ("report/a.py", "from netlearn.result import LearnResult", "report imports result"),
        ("paper/a.py", "from netlearn.estimator import NetLearnRegressor", "paper imports estimator"),
        ("utils.py", "", "utils has no place in the order"),
    ],
)
def test_a_wrong_import_is_found(tmp_path, file, code, sentence):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    assert violations(tmp_path) == [sentence]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("search/a.py", "import math\nfrom netlearn.subspace import sine\nfrom netlearn.search import nets"),
        ("search/a.py", "from . import nets\nfrom ..errors import InputError"),
        ("search/a.py", "from netlearn.fit import Fit\nfrom netlearn.moments import inputs"),
        ("pipeline.py", "from netlearn.search.units import find_units\nfrom netlearn.evidence import Fitted"),
        ("learning.py", "from netlearn import pipeline\nfrom netlearn.asking import Asking"),
        ("result.py", "if TYPE_CHECKING:\n    from netlearn.paper.schedule import Schedule"),
        ("paper/a.py", "from netlearn.certify import certify\nfrom netlearn.result import Status"),
        ("cli/a.py", "from netlearn import __version__, paper, teachers"),
    ],
)
def test_a_right_import_passes(tmp_path, file, code):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    assert violations(tmp_path) == []
