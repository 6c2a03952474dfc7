"""Before a release: tell whether anything is worse than in the committed benchmarks/results/guard.csv.

    OMP_NUM_THREADS=1 python -m benchmarks.guard             # exit code 1 if something has; a few minutes
    OMP_NUM_THREADS=1 python -m benchmarks.guard --update    # write the file anew, after a change that was meant

Three kinds of figures, each with the factor by which it may grow. *error*: relative to the planted network, seed 0 of
some lines of benchmarks/recovery.py; below 1e-10 all are as good. *noise*: the error over that of least squares from
the truth. *time*: processor seconds of a task over those of bare products with the same rows, in turn, the least of
some repetitions of each; machines differ less in these than in seconds.
"""

import argparse
import csv
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import machine, recovery
from netlearn import learn, teachers
from netlearn.moments import moment_matrices

COMMITTED = machine.RESULTS / "guard.csv"
MAY_GROW = {"error": 10.0, "noise": 1.2, "time": 1.5}
ROUNDING = 1e-10
RECOVERY = (
    "random 5/50",
    "random biases 30/10",
    "orthonormal 20/50",
    "positive 20/50",
    "clustered 6/30",
    "cancelling 6/30",
    "weights 1...0.01 6/30",
    "hard_plane 4/50",
    "hard_plane 8/50",
    "hard_plane 12/100",
    "auto 4/30 noise 0.0",
    "mean, condition 1e4 5/30",
    "random 5/50 noise 0.1",
    "hard_plane 6/20 noise 0.1",
)
REPEATS = 3


@dataclass(frozen=True)
class Figure:
    """One number, and its kind: a key of `MAY_GROW`."""

    name: str
    kind: str
    value: float

    @property
    def allowed(self) -> float:
        """The largest value that is not worse than this one."""
        at_least = ROUNDING if self.kind == "error" else 0.0
        return max(MAY_GROW[self.kind] * self.value, at_least)


def worse(now: list[Figure], before: list[Figure]) -> list[str]:
    """Say what has grown by more than its factor, and what is no longer measured."""
    measured = {figure.name: figure.value for figure in now}
    sentences = []
    for figure in before:
        value = measured.get(figure.name)
        if value is None:
            sentences.append(f"{figure.name} is no longer measured")
        elif not value <= figure.allowed:  # also where it is not a number
            sentences.append(
                f"{figure.name}: {figure.kind} {value:.3g}, at most {figure.allowed:.3g} is allowed "
                f"({figure.value:.3g} was committed)"
            )
    return sentences


def recovered(name: str) -> Figure:
    """Learn one line of the table of recovery; a wrong width counts as an infinite error."""
    case = next(case for case in recovery.table() if case.name == name)
    found = recovery.run(case, seed=0)
    given = case.n_hidden == "given"
    right_width = given or found["n_hidden"] == case.teacher(np.random.default_rng(0)).n_hidden
    kind = "noise" if case.noise and given else "error"
    return Figure(name, kind, found["figure"] if right_width else math.inf)


def moments_against_products() -> Figure:
    """All moment matrices of a pass for k = 3, over as many weighted Gram products."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((40_000, 120)), rng.standard_normal((40_000, 1))
    y, g = np.abs(X[:, :3]).sum(axis=1), np.ones(120) / math.sqrt(120)
    orders = range(2, 21, 2)

    def products() -> None:
        for _ in orders:
            X.T @ (W * X)

    return _ratio("moments, one pass", lambda: moment_matrices(X, y, g, orders), products)


def learning_against_product(name: str, k: int, d: int, n: int, products: int) -> Figure:
    """Learn a random network, over some products X^T X."""
    rng = np.random.default_rng(0)
    target = teachers.random(k, d, rng)
    X = rng.standard_normal((n, d))
    y = target(X)

    def bare() -> None:
        for _ in range(products):
            X.T @ X

    return _ratio(name, lambda: learn(X, y, n_hidden=k, rng=0), bare)


def _ratio(name: str, task: Callable[[], object], bare: Callable[[], object]) -> Figure:
    times = [(_seconds(task), _seconds(bare)) for _ in range(REPEATS)]
    ours, theirs = np.min(times, axis=0)
    return Figure(name, "time", float(ours / theirs))


def _seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def measure() -> list[Figure]:
    """Measure everything, telling each figure as it comes."""
    tasks = [
        *(lambda name=name: recovered(name) for name in RECOVERY),
        moments_against_products,
        lambda: learning_against_product("learn, many rows", 5, 50, 40_000, products=10),
        lambda: learning_against_product("learn, many features", 5, 400, 20_000, products=1),
    ]
    figures = []
    for task in tasks:
        figures.append(task())
        print(f"{figures[-1].name:28} {figures[-1].kind:6} {figures[-1].value:.3g}", flush=True)
    return figures


def read(path: Path) -> list[Figure]:
    """Read figures that `--update` wrote."""
    with path.open(newline="") as file:
        return [Figure(line["name"], line["kind"], float(line["value"])) for line in csv.DictReader(file)]


def main() -> int:
    """Measure, then write or compare; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the committed file anew")
    options = parser.parse_args()
    now = measure()
    if options.update:
        beside = COMMITTED.with_suffix(".new")
        machine.write(beside, [vars(figure) for figure in now], "scipy")
        beside.replace(COMMITTED)
        return 0
    sentences = worse(now, read(COMMITTED))
    print(*sentences or ["Nothing is worse than committed."], sep="\n")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
