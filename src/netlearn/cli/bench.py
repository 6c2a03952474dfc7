"""`netlearn bench`: the comparison with other methods, which lives beside the package in its repository."""

import math
import sys
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

import netlearn
from netlearn.cli.output import Answer, table, working
from netlearn.cli.outputs import check_output
from netlearn.errors import InputError

QUICK_FILE, FULL_FILE = "versus_quick.csv", "versus.csv"


def answer(quick: bool, out: str | None, jobs: int) -> Answer:
    """Run what the file of lines lacks, and show the table of all its lines."""
    path = Path(out or (QUICK_FILE if quick else FULL_FILE))
    check_output(str(path), "--out", (".csv",))
    _reach_benchmarks()
    from benchmarks.versus import run
    from benchmarks.versus.methods import METHODS
    from benchmarks.versus.objective import FAMILIES
    from benchmarks.versus.table import networks, not_first, summary

    fits = run.quick() if quick else run.plan(FAMILIES, METHODS, range(run.SEEDS))
    with working(f"Comparing {len(fits)} fits") as tell:
        run.run(fits, path, jobs, tell)
    lines = summary(run.read(path))
    losses = not_first(lines)
    shown = table("Medians over seeds", "", "error", "successes", "seconds", "seconds to 1e-3")
    for family, group in groupby(networks(lines), key=lambda line: line.family):
        shown.add_row(Text(family, style="bold"))
        for line in group:
            name, *figures = line.cells
            shown.add_row(f"  {name}", *figures)
        shown.add_section()
    words = [f"Where learn is not first: {sentence}" for sentence in losses]
    data = {"file": str(path), "lines": [_finite(asdict(line)) for line in lines], "not_first": losses}
    return Answer(data, Group(shown, Text("\n".join([*words, f"Every fit is in {path}."]))))


def _reach_benchmarks() -> None:
    """Make `benchmarks` importable, or say where it is."""
    root = Path(netlearn.__file__).parents[2]
    if not (root / "benchmarks" / "versus" / "run.py").exists():
        raise InputError(
            "netlearn bench runs in a copy of the repository, whose folder benchmarks/ is not part of the installed "
            "package: install it from there with pip install --editable '.[bench]'."
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))


def _finite(line: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in line.items()
    }
