"""What `learn` recovers: one line per family of planted networks, seeds 0-9 each.

    python -m benchmarks.recovery                 # the whole table, a CSV into benchmarks/results/
    python -m benchmarks.recovery --only hard_plane --seeds 3
    python -m benchmarks.recovery --auto          # the same with no width given
    python -m benchmarks.recovery --jobs 16       # several runs at a time; set OMP_NUM_THREADS=1 for this

Biases are N(0, 0.5^2): with wider ones some units bend on fewer rows than they have parameters, and no method
could find those. The error is the exact L2(gamma) distance to the planted network over its norm; with other
inputs than N(0, I) both networks are compared in whitened coordinates, where the inputs are N(0, I).
"""

import argparse
import math
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import write
from netlearn import ShallowNetwork, __version__, learn, teachers
from netlearn.fit import Params, Problem, finish
from netlearn.fit.descend import Finish, descend, first_lower
from netlearn.fit.solve import direct
from netlearn.source import ArraySource


@dataclass(frozen=True)
class Case:
    """One line of the table: a family of teachers, how many rows, and what must be reached by how many seeds."""

    name: str
    teacher: Callable[[np.random.Generator], ShallowNetwork]
    n_rows: int
    must_reach: float
    share: float = 1.0
    noise: float = 0.0
    n_hidden: int | str = "given"
    seeds: int = 10
    inputs: Callable[[np.random.Generator, int, int], tuple] | None = None


def standard(rng, n, d):
    return rng.standard_normal((n, d)), np.eye(d), np.zeros(d)


def stretched(rng, n, d):
    """Draw inputs with mean != 0 and condition number 1e4 of the covariance."""
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    root = Q * np.geomspace(1.0, 100.0, d)
    mean = rng.standard_normal(d) * 5.0
    return rng.standard_normal((n, d)) @ root.T + mean, root, mean


def affine(kind, d=20):
    def make(rng):
        linear = rng.standard_normal(d) if kind == "linear" else np.zeros(d)
        return ShallowNetwork(linear, np.zeros(0), np.zeros((0, d)), None, 0.0 if kind != "constant" else 3.0)

    return make


def table() -> list[Case]:
    t = teachers

    def rows(per_unknown, k, d, biases=False):
        return per_unknown * (k + 1) * (d + int(biases))

    cases = [
        Case("random 5/50", lambda r: t.random(5, 50, r), rows(3, 5, 50), 1e-10),
        Case("random 20/100", lambda r: t.random(20, 100, r), rows(3, 20, 100), 1e-10),
        Case("random biases 30/10", lambda r: t.random(30, 10, r, biases=0.5), rows(4, 30, 10, True), 1e-10),
        Case("random biases 50/50", lambda r: t.random(50, 50, r, biases=0.5), rows(6, 50, 50, True), 1e-10),
        Case(
            "random biases 100/50",
            lambda r: t.random(100, 50, r, biases=0.5),
            rows(8, 100, 50, True),
            1e-10,
            seeds=5,
        ),
        Case("orthonormal 20/50", lambda r: t.orthonormal(20, 50, r), rows(4, 20, 50), 1e-10),
        Case("positive 20/50", lambda r: t.positive(20, 50, r), rows(3, 20, 50), 1e-10),
        Case("clustered 6/30", lambda r: t.clustered(6, 30, r, angle=0.05), 20_000, 1e-8),
        Case("cancelling 6/30", lambda r: t.cancelling(6, 30, r, angle=0.05), 20_000, 1e-8),
        Case("weights 1...0.01 6/30", lambda r: t.random(6, 30, r, spread=100.0), 20_000, 1e-8),
        Case("15 in 3 dimensions /30", lambda r: t.random(15, 30, r, dimension=3), 40_000, 1e-8, 0.9),
        Case("hard_plane 4/50", lambda r: t.hard_plane(4, 50, r), 10_000, 1e-8),
        Case("hard_plane 8/50", lambda r: t.hard_plane(8, 50, r), 20_000, 1e-8),
        Case("hard_plane 12/100", lambda r: t.hard_plane(12, 100, r), 50_000, 1e-8),
        Case("hard_plane 16/50", lambda r: t.hard_plane(16, 50, r), 50_000, 1e-8),
        Case("hard_plane 32/100", lambda r: t.hard_plane(32, 100, r), 200_000, 1e-6, 0.9),
        Case("two hard planes 12/60", lambda r: t.hard_plane(12, 60, r, planes=2), 100_000, 1e-8, 0.9),
    ]
    for noise in (0.1, 1.0):
        for name, make in (
            ("random 5/50", lambda r: t.random(5, 50, r)),
            ("clustered 4/20", lambda r: t.clustered(4, 20, r)),
            ("hard_plane 6/20", lambda r: t.hard_plane(6, 20, r)),
        ):
            cases.append(Case(f"{name} noise {noise}", make, 20_000, 1.05, noise=noise))
    for noise in (0.0, 0.1):
        for k in range(1, 9):
            cases.append(
                Case(
                    f"auto {k}/30 noise {noise}",
                    lambda r, k=k: t.random(k, 30, r),
                    10_000,
                    math.inf,
                    0.95,
                    noise,
                    "auto",
                )
            )
    cases += [
        Case(f"{kind} 0/20", affine(kind), 2_000, 1e-12, n_hidden="auto")
        for kind in ("linear", "zero", "constant")
    ]
    cases += [
        Case("one neuron 1/20", lambda r: t.random(1, 20, r), 2_000, 1e-12, n_hidden="auto"),
        Case("mean, condition 1e4 5/30", lambda r: t.random(5, 30, r), 10_000, 1e-8, inputs=stretched),
    ]
    return cases


def least_squares_from_truth(teacher, X, y, scale):
    """Return the network that the same least squares gives when it is started at the truth."""
    problem = Problem(ArraySource(X, y / scale), biases=bool(np.any(teacher.biases)))
    start = Params.from_network((1.0 / scale) * teacher)
    return scale * finish(problem, start, max_rounds=200).params.to_network()


# Unknowns up to which the yardstick of time forms normal matrices; beyond, conjugate gradients serve as before.
MOST_BY_MATRIX = 600


class ByNormalMatrices(Finish):
    """Steps as anyone would take them: by the P x P normal matrix in double precision, in every round."""

    def step(self, problem, point, best):
        """Solve, and go as far as the loss falls."""
        new = first_lower(problem, point, direct(point.equations, 1e-5 * min(1.0, point.loss)))
        if new is not None:
            self._idle = self._idle + 1 if 1.0 - new.loss / point.loss < self._least_gain else 0
        return new, 0


def textbook_least_squares(teacher, X, y, scale):
    """Do the same by normal matrices where unknowns are few: a yardstick of time that no solver of ours moves."""
    if (teacher.n_hidden + 1) * (teacher.n_features + 1) > MOST_BY_MATRIX:
        least_squares_from_truth(teacher, X, y, scale)
        return
    problem = Problem(ArraySource(X, y / scale), biases=bool(np.any(teacher.biases)))
    start = Params.from_network((1.0 / scale) * teacher)
    descend(problem, start, ByNormalMatrices(200, 1e-8, 0.0))


def run(case: Case, seed: int, auto: bool = False) -> dict:
    rng = np.random.default_rng(seed)
    teacher = case.teacher(rng)
    d = teacher.n_features
    X, root, mean = (case.inputs or standard)(rng, case.n_rows, d)
    clean = teacher(X)
    y = clean + case.noise * np.std(clean) * rng.standard_normal(len(clean))
    k = teacher.n_hidden if case.n_hidden == "given" and not auto else "auto"
    start = time.perf_counter()
    result = learn(X, y, n_hidden=k, rng=seed)
    seconds = time.perf_counter() - start
    truth, found = (f.precompose(root, mean) for f in (teacher, result.network))
    error = found.distance(truth) / (truth.norm() or 1.0)
    figure = error
    if case.noise and case.n_hidden == "given":
        best = least_squares_from_truth(teacher, X, y, float(np.std(y)))
        figure = error / (best.distance(teacher) / teacher.norm())
    right_width = (
        k != "auto"
        or (case.noise and case.n_hidden == "given")
        or result.network.n_hidden == teacher.n_hidden
    )
    return {
        "case": case.name,
        "seed": seed,
        "rows": case.n_rows,
        "error": error,
        "figure": figure,
        "passed": figure <= case.must_reach and right_width,
        "n_hidden": result.network.n_hidden,
        "status": result.status.name,
        "seconds": seconds,
    }


def run_numbered(index: int, seed: int, auto: bool) -> dict:
    """Run the case with this place in the table; teachers are functions, which no process could be sent."""
    return run(table()[index], seed, auto)


def judged(case: Case, runs: list[dict]) -> bool:
    """Noise with given width: the median and the worst ratio count; else the share of seeds that passed."""
    if case.noise and case.n_hidden == "given":
        ratios = [r["figure"] for r in runs]
        return statistics.median(ratios) <= case.must_reach and max(ratios) <= 1.5
    return sum(r["passed"] for r in runs) >= case.share * len(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--without", default=None, help="leave out the cases whose name contains this")
    parser.add_argument("--seeds", type=int, default=None, help="seeds per case (default: the case's own)")
    parser.add_argument("--auto", action="store_true", help="give no width")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--out", type=Path, default=None, help="CSV to write")
    options = parser.parse_args()
    records, verdicts = [], []
    print(f"{'case':28} {'passed':>7} {'median':>9} {'worst':>9} {'seconds':>8}")
    chosen = [
        index
        for index, case in enumerate(table())
        if options.only in case.name and not (options.without and options.without in case.name)
    ]
    pool = ProcessPoolExecutor(options.jobs)
    waiting = {
        index: [
            pool.submit(run_numbered, index, seed, options.auto)
            for seed in range(options.seeds or table()[index].seeds)
        ]
        for index in chosen
    }
    for index in chosen:
        case, runs = table()[index], [future.result() for future in waiting[index]]
        records += runs
        figures = [r["figure"] for r in runs]
        verdicts.append(judged(case, runs))
        print(
            f"{case.name:28} {sum(r['passed'] for r in runs):>3}/{len(runs):<3} {statistics.median(figures):9.1e} "
            f"{max(figures):9.1e} {max(r['seconds'] for r in runs):8.1f}  {'ok' if verdicts[-1] else 'FAILED'}",
            flush=True,
        )
    pool.shutdown()
    print(
        f"{sum(verdicts)} of {len(verdicts)} lines hold; netlearn {__version__}, {platform.processor() or '?'}"
    )
    if options.out:
        write(options.out, records)


if __name__ == "__main__":
    main()
