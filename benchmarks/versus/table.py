"""What the lines of a run say: medians and successes by family and method, and where `learn` is not first.

    python -m benchmarks.versus.table                # of benchmarks/results/versus.csv, as text
    python -m benchmarks.versus.table --markdown     # writes docs/evidence_table.md

A fit that failed counts as one of infinite error, which never gets anywhere. Under noise no error can fall below the
limit that it sets, and a success is an error of at most 1.1 times what least squares from the truth has on the same
rows.
"""

import argparse
import math
import os
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import RESULTS
from benchmarks.versus.methods import METHODS
from benchmarks.versus.objective import FAMILIES, REACHED
from benchmarks.versus.run import read

OURS, LIMIT = "learn", "least squares from the truth"
NEAR_LIMIT = 1.1
ROUNDING = 1e-7
"""Errors below this are a tie: what is left is a matter of when a method stops."""
PAGE = Path(__file__).parents[2] / "docs" / "evidence_table.md"


@dataclass(frozen=True)
class Line:
    """One method on one family.

    Attributes
    ----------
    family, method : str
    error, sine : float
        Medians; infinite where half of the fits have none.
    n_fits, n_reached : int
        Seeds, and successes among them.
    seconds, seconds_to : float
        Medians of the whole fit and up to an error of 1e-3; infinite where half of the fits do not get there.
    failure : str
        The most frequent one; empty where all fits gave an answer.
    """

    family: str
    method: str
    error: float
    sine: float
    n_fits: int
    n_reached: int
    seconds: float
    seconds_to: float
    failure: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Method, error, successes, seconds and seconds to 1e-3, for reading."""
        answer = self.failure.partition(":")[0] if math.isinf(self.error) else f"{self.error:.1e}"
        reached = f"{self.n_reached}/{self.n_fits}"
        return self.method, answer, reached, _seconds(self.seconds), _seconds(self.seconds_to)


def summary(records: list[dict]) -> list[Line]:
    """Return one line for each family and method, in the order of both lists."""
    limits = {(r["family"], r["seed"]): r["error"] for r in records if r["method"] == LIMIT}
    lines = []
    for family in FAMILIES:
        for method in METHODS:
            fits = [r for r in records if r["family"] == family and r["method"] == method]
            if fits:
                lines.append(_line(family, method, fits, limits))
    return lines


def networks(lines: Iterable[Line]) -> list[Line]:
    """Leave out the methods that look for the subspace alone."""
    return [line for line in lines if METHODS[line.method].finds == "network"]


def not_first(lines: list[Line]) -> list[str]:
    """Say where a rival has the smaller error, succeeds more often, or is sooner at 1e-3."""
    sentences = []
    for ours in (line for line in lines if line.method == OURS):
        rivals = [
            line
            for line in networks(lines)
            if line.family == ours.family and line.method not in (OURS, LIMIT) and math.isfinite(line.error)
        ]
        for rival in rivals:
            better = []
            if rival.error < ours.error and ours.error > ROUNDING:
                against = "none" if math.isinf(ours.error) else f"{ours.error:.2e}"
                better.append(f"error {rival.error:.2e} against {against}")
            if rival.n_reached > ours.n_reached:
                better.append(f"{rival.n_reached} successes against {ours.n_reached}")
            if rival.seconds_to < ours.seconds_to:
                ours_to = _seconds(ours.seconds_to) or "none"
                better.append(f"{_seconds(rival.seconds_to)} s to 1e-3 against {ours_to}")
            if better:
                sentences.append(f"{ours.family}: {rival.method}, {', '.join(better)}")
    return sentences


def markdown(records: list[dict]) -> str:
    """Return the part of the page that holds numbers."""
    lines = summary(records)
    families = list(dict.fromkeys(line.family for line in lines))
    seeds, limits = (sorted({r[name] for r in records}) for name in ("seed", "limit"))
    words = f"Seeds {seeds[0]} to {seeds[-1]}; a fit may take {' or '.join(f'{limit:g}' for limit in limits)} seconds."
    parts = [words, "## Successes", _successes(lines, families), "## Where `learn` is not first"]
    losses = not_first(lines)
    parts.append("\n".join(f"* {sentence}" for sentence in losses) or "Nowhere in these runs.")
    parts.append("## Family by family")
    for family in families:
        first = next(r for r in records if r["family"] == family)
        parts.append(f"### {family}, {first['N']:,} rows")
        rows = sorted(
            (line for line in networks(lines) if line.family == family), key=lambda line: line.error
        )
        headings = ("method", "median error", "successes", "seconds", "seconds to 1e-3")
        parts.append(_table(headings, [line.cells for line in rows]))
    parts += ["## The subspace alone", _angles(lines, families), _where(records)]
    return "\n\n".join(parts) + "\n"


def _line(family: str, method: str, fits: list[dict], limits: dict) -> Line:
    def median(name: str) -> float:
        return statistics.median(math.inf if r[name] is None else r[name] for r in fits)

    def reached(r: dict) -> bool:
        goal = NEAR_LIMIT * (limits.get((family, r["seed"])) or 0.0) if r["noise"] else REACHED
        return r["error"] is not None and r["error"] <= goal

    failures = Counter(r["failure"] for r in fits if r["failure"])
    return Line(
        family,
        method,
        median("error"),
        median("sine"),
        len(fits),
        sum(map(reached, fits)),
        median("seconds"),
        median("seconds_to_1e-3"),
        failures.most_common(1)[0][0] if failures else "",
    )


def _successes(lines: list[Line], families: list[str]) -> str:
    methods = [m for m in METHODS if m != LIMIT and any(line.method == m for line in networks(lines))]
    cells = {(line.family, line.method): f"{line.n_reached}/{line.n_fits}" for line in lines}
    rows = [(family, *(cells.get((family, method), "") for method in methods)) for family in families]
    return _table(("family", *methods), rows)


def _angles(lines: list[Line], families: list[str]) -> str:
    methods = [OURS, *(name for name, method in METHODS.items() if method.finds == "subspace")]
    cells = {(line.family, line.method): line.sine for line in lines}
    rows = [
        (family, *(_sine(cells.get((family, method), math.inf)) for method in methods)) for family in families
    ]
    return _table(("median sine of the largest angle", *methods), rows)


def _where(records: list[dict]) -> str:
    """Name the machines, versions and commits, with the number of fits of each."""
    runs = Counter((r["hardware"], r["versions"], r["commit"]) for r in records)
    return "\n".join(
        f"* {n:,} fits: {hardware}; {versions}; commit {commit}"
        for (hardware, versions, commit), n in runs.most_common()
    )


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    rule = ("---", *("---:" for _ in headings[1:]))
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, rule, *rows))


def _seconds(value: float) -> str:
    if math.isinf(value):
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _sine(value: float) -> str:
    return "" if math.isinf(value) else f"{value:.1e}"


def main() -> None:
    """Print the tables, or write their page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS / "versus.csv")
    parser.add_argument("--markdown", action="store_true", help=f"write {PAGE.name} instead")
    options = parser.parse_args()
    text = markdown(read(options.results))
    if not options.markdown:
        print(text)
        return
    beside = PAGE.with_name(f"{PAGE.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(PAGE)


if __name__ == "__main__":
    main()
