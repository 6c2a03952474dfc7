"""Fit every family with every method, and write one line per fit as it ends.

    python -m benchmarks.versus --quick                     # some families, two seeds, less time for each fit
    python -m benchmarks.versus --jobs 16                   # all of it, into benchmarks/results/versus.csv
    python -m benchmarks.versus --methods learn --families 'hard_plane 4/50' --seeds 3

Fits whose line is in the file are not repeated, so a run that was interrupted goes on where it was. Lines of methods
that were not installed are replaced once they are.
"""

import argparse
import csv
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.machine import RESULTS, append, provenance
from benchmarks.versus.fit import RESULT, attempt, context
from benchmarks.versus.methods import METHODS, Method
from benchmarks.versus.objective import FAMILIES, Family
from netlearn.errors import InputError

CASE = ("family", "k", "d", "N", "noise", "method", "seed", "limit")
PACKAGES = ("scipy", "torch", "scikit-learn", "statsmodels", "pyscnn", "xrfm")
QUICK_FAMILIES = (
    "random 3/20",
    "random 10/30",
    "hard_plane 4/50",
    "hard_plane 8/50",
    "random 5/50 noise 0.1",
)
SEEDS, QUICK_SEEDS = 10, 2
QUICK_LIMIT = 12.0

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Fit:
    """One line that is to be written."""

    family: Family
    method: Method
    seed: int
    limit: float

    @property
    def key(self) -> Key:
        """What tells its line from others."""
        return self.family.name, self.method.name, self.seed

    @property
    def expected(self) -> float:
        """Rough seconds: fits on many numbers take longer, and none takes longer than it may."""
        size = (self.family.n_rows * self.family.d / 1e6) ** 0.5
        return min(self.limit, self.method.expected * size)

    def record(self, result: dict) -> dict:
        """Return its line."""
        family = self.family
        sizes = (family.k, family.d, family.n_rows, family.noise)
        case = (family.name, *sizes, self.method.name, self.seed, self.limit)
        return dict(zip(CASE, case, strict=True)) | result


def plan(
    families: Iterable[str], methods: Iterable[str], seeds: Iterable[int], most: float = 60.0
) -> list[Fit]:
    """List the fits, longest first, so that the last to end are short."""
    fits = [
        Fit(FAMILIES[family], METHODS[method], seed, min(most, FAMILIES[family].limit, METHODS[method].limit))
        for family in families
        for method in methods
        for seed in seeds
        if METHODS[method].fits(FAMILIES[family])
    ]
    return sorted(fits, key=lambda fit: -fit.expected)


def quick() -> list[Fit]:
    """List the fits of the short run."""
    return plan(QUICK_FAMILIES, METHODS, range(QUICK_SEEDS), QUICK_LIMIT)


def run(fits: list[Fit], path: Path, jobs: int, tell: Callable[[str], None]) -> None:
    """Fit what the file lacks, adding each line as soon as it is known."""
    done = _kept(path)
    todo = [fit for fit in fits if fit.key not in done]
    where = provenance(*(package for package in PACKAGES if _is_installed(package)))
    writing, stop, processes = threading.Lock(), threading.Event(), context()
    tell(f"{len(todo)} fits to do, {len(fits) - len(todo)} done before in {path}")

    def do(fit: Fit) -> tuple[Fit, dict]:
        line = fit.record(attempt(fit.family, fit.method, fit.seed, fit.limit, processes, stop))
        with writing:
            append(path, line | where)
        return fit, line

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for count, future in enumerate(as_completed([pool.submit(do, fit) for fit in todo]), 1):
                fit, line = future.result()
                tell(f"{count:4}/{len(todo)}  {' | '.join(map(str, fit.key))}: {_ending(line)}")
        except BaseException:  # a signal, most often: fits that have not ended leave no line
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def read(path: Path) -> list[dict]:
    """Read the lines of a file, numbers as numbers and what is empty as None."""
    with path.open(newline="") as file:
        lines = csv.DictReader(file)
        absent = {*CASE, *RESULT} - set(lines.fieldnames or ())
        if absent:
            raise InputError(
                f"{path} must be a file of lines of this benchmark; it has no column {sorted(absent)[0]}."
            )
        return [{name: _value(name, text) for name, text in line.items()} for line in lines]


def _value(name: str, text: str) -> str | int | float | None:
    if name in ("k", "d", "N", "seed"):
        return int(text)
    if name in ("noise", "limit", "error", "sine", "seconds", "seconds_to_1e-3"):
        return float(text) if text else None
    return text


def _kept(path: Path) -> set[Key]:
    """Take the lines of methods that can be run by now out of the file, and tell which are left."""
    if not path.exists():
        return set()
    lines = read(path)
    kept = [line for line in lines if not _can_run_now(line)]
    if len(kept) < len(lines):
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        for line in kept:
            append(beside, line)
        if kept:
            beside.replace(path)
        else:
            path.unlink()
    return {(line["family"], line["method"], line["seed"]) for line in kept}


def _can_run_now(line: dict) -> bool:
    return line["failure"].startswith("not installed") and not METHODS[line["method"]].missing


def _ending(line: dict) -> str:
    if line["failure"]:
        return line["failure"]
    figures = [f"{name} {line[name]:.1e}" for name in ("error", "sine") if line[name] is not None]
    return f"{', '.join(figures)} in {line['seconds']:.1f} s"


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=FAMILIES, metavar="FAMILY")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds 0, 1, ... up to this many")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, one thread each")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="most seconds of one fit, if less than its own"
    )
    parser.add_argument("--quick", action="store_true", help="the short run, whatever the options above")
    parser.add_argument("--out", type=Path, default=None, help="CSV to write to and to go on from")
    options = parser.parse_args()
    fits = (
        quick()
        if options.quick
        else plan(options.families, options.methods, range(options.seeds), options.limit)
    )
    out = options.out or (Path("versus_quick.csv") if options.quick else RESULTS / "versus.csv")
    run(fits, out, options.jobs, partial(print, flush=True))


if __name__ == "__main__":
    main()
