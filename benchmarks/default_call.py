"""The call people make: the width not given, some noise, many rows or very few. Each figure beside what it is held to.

    python -m benchmarks.default_call width            # width not given against given: seconds and error, exact labels
    python -m benchmarks.default_call noise            # seconds and error against least squares started at the truth
    python -m benchmarks.default_call few shapes limit # few rows, edge shapes, the time limit
    python -m benchmarks.default_call rows             # a million rows in memory and in Parquet, 1e4 to 1e7 rows
    python -m benchmarks.default_call gpu              # two of these on a GPU
    python -m benchmarks.default_call noise --only hard_plane --first 3 --seeds 1
    python -m benchmarks.default_call width --jobs 16  # several runs at a time; set OMP_NUM_THREADS=1 for this

Times are ratios within one process; a line is the median over seeds, which begin at 1000, where no choice was made on.
The yardstick under noise is least squares started at the truth: its error, and its time by normal matrices where these
are small. Beside it stands the time in units of the library's own least squares, which conjugate gradients make several
times faster: a learner no slower than before would look slower by it. Errors are exact L2(gamma) distances over the
target's norm; labels have unit variance before noise is added. Results go
to benchmarks/results/default_call_<group>.csv where all of a group was run.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import RESULTS, write
from benchmarks.recovery import least_squares_from_truth, textbook_least_squares
from netlearn import ShallowNetwork, learn, teachers

EXACT = 1e-8
FIRST_SEED = 1000
GROUPS = ("width", "noise", "few", "shapes", "limit", "rows", "gpu")


@dataclass(frozen=True)
class Case:
    """A family with its rows; what its error, its time and the number of seeds that reach it are held to."""

    group: str
    name: str
    teacher: Callable[[int], ShallowNetwork]
    n_rows: int
    noise: float = 0.0
    given: bool = True
    limit: float = 180.0
    share: float = 1.0
    seeds: int = 5


def twins(n_pairs: int, d: int, seed: int, angle: float) -> ShallowNetwork:
    """Pairs of units of one sign, exactly this angle apart, with equal weights."""
    rng = np.random.default_rng(seed)
    one, other = np.linalg.qr(rng.standard_normal((n_pairs, d, 2)))[0].transpose(2, 0, 1)
    pairs = np.stack([one, np.cos(angle) * one + np.sin(angle) * other], axis=1).reshape(2 * n_pairs, d)
    weights = np.repeat(rng.choice([-1.0, 1.0], n_pairs) * rng.uniform(0.5, 1.5, n_pairs), 2)
    return ShallowNetwork.from_relu(pairs, weights)


def kinks(k: int, seed: int) -> ShallowNetwork:
    """Return a function of one variable with k kinks, at least 0.005 apart and within two standard deviations."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(size=k + 1)
    places = -2.0 + np.cumsum(0.005 + (4.0 - 0.005 * (k + 1)) * gaps / gaps.sum())[:k]
    weights = rng.choice([-1, 1], k) * rng.uniform(0.5, 1.5, k)
    return ShallowNetwork(np.zeros(1), weights, np.ones((k, 1)), -places, 0.0)


def cases() -> list[Case]:
    t = teachers

    def per(ratio, k, d, biases=0):
        return int(np.ceil(ratio * (k + 1) * (d + biases)))

    width = [
        ("random 5/50", lambda s: t.random(5, 50, s), per(8, 5, 50)),
        ("random 20/100", lambda s: t.random(20, 100, s), per(8, 20, 100)),
        ("hard_plane 8/50", lambda s: t.hard_plane(8, 50, s), 20_000),
        ("hard_plane 16/100", lambda s: t.hard_plane(16, 100, s), 50_000),
        ("biases 30/40", lambda s: t.random(30, 40, s, biases=0.5), per(8, 30, 40, 1)),
        ("biases 100/50", lambda s: t.random(100, 50, s, biases=0.5), per(8, 100, 50, 1)),
        ("clustered 6/30", lambda s: t.clustered(6, 30, s), 20_000),
        ("twins 3 pairs/20", lambda s: twins(3, 20, s, 0.1), 20_000),
        ("two hard planes 12/60", lambda s: t.hard_plane(12, 60, s, planes=2), 100_000),
        ("15 in 3 dimensions/30", lambda s: t.random(15, 30, s, dimension=3), 40_000),
        ("20 biases in a plane/30", lambda s: t.random(20, 30, s, biases=0.5, dimension=2), 40_000),
    ]
    found = [Case("width", *line, given=given) for line in width for given in (True, False)]
    noisy = [
        ("random 5/50", lambda s: t.random(5, 50, s), 20_000),
        ("random 20/50", lambda s: t.random(20, 50, s), 50_000),
        ("biases 8/20", lambda s: t.random(8, 20, s, biases=0.5), 20_000),
        ("hard_plane 8/30", lambda s: t.hard_plane(8, 30, s), 20_000),
    ]
    found += [
        Case("noise", f"{name} noise {noise}", make, n, noise, given)
        for name, make, n in noisy
        for noise in (0.01, 0.1, 1.0)
        for given in (True, False)
    ]
    for ratio, limit, share, sizes in (
        (2, 30, 0.9, [(2, 16), (4, 16), (5, 50), (10, 30), (20, 50)]),
        (1.5, 60, 0.8, [(2, 16), (4, 16), (5, 50), (8, 20)]),
    ):
        found += [
            Case(
                "few",
                f"random {k}/{d} at {ratio}",
                lambda s, k=k, d=d: t.random(k, d, s),
                per(ratio, k, d),
                limit=limit,
                share=share,
                seeds=10,
            )
            for k, d in sizes
        ]
    found += [
        Case("few", "random 40/40 at 2", lambda s: t.random(40, 40, s), per(2, 40, 40), limit=120, share=0.6),
        Case(
            "few",
            "biases 30/10 at 2.5",
            lambda s: t.random(30, 10, s, biases=0.5),
            per(2.5, 30, 10, 1),
            given=False,
            share=0.9,
            seeds=10,
        ),
        Case(
            "few",
            "random 40/40 at 2.5",
            lambda s: t.random(40, 40, s),
            per(2.5, 40, 40),
            given=False,
            share=0.8,
        ),
        Case(
            "few",
            "orthonormal 20/50 at 4",
            lambda s: t.orthonormal(20, 50, s),
            per(4, 20, 50),
            given=False,
            share=0.9,
            seeds=10,
        ),
        Case(
            "few",
            "orthonormal 50/50 at 8",
            lambda s: t.orthonormal(50, 50, s),
            per(8, 50, 50),
            given=False,
            share=0.8,
        ),
        Case("shapes", "40 kinks in one dimension", lambda s: kinks(40, s), 20_000, given=False),
        Case(
            "shapes",
            "twins at 0.01 2 pairs/10",
            lambda s: twins(2, 10, s, 0.01),
            20_000,
            given=False,
        ),
        Case(
            "shapes",
            "weights over five decades 6/20",
            lambda s: t.random(6, 20, s, spread=1e5),
            20_000,
            given=False,
        ),
    ]
    found += [
        Case("gpu", f"biases 100/100 noise {noise}" if noise else "biases 100/100", wide, n, noise, given)
        for noise, n in ((0.0, per(8, 100, 100, 1)), (0.1, 500_000))
        for given in (True, False)
        for wide in [lambda s: t.random(100, 100, s, biases=0.5)]
    ]
    return found


def on_gpu(rows: np.ndarray):
    """Return the rows as a tensor on the GPU."""
    import torch

    return torch.from_numpy(rows).cuda()


def run(case: Case, seed: int) -> dict:
    """Learn once, and where there is noise also by least squares from the truth."""
    teacher = case.teacher(seed)
    rng = np.random.default_rng(seed + 1000)
    X = rng.standard_normal((case.n_rows, teacher.n_features))
    clean = teacher(X)
    teacher = (1.0 / np.std(clean)) * teacher
    y = clean / np.std(clean) + case.noise * rng.standard_normal(case.n_rows)
    spread = float(np.std(y))
    if case.group == "gpu":
        X, y = on_gpu(X), on_gpu(y)
        learn(X[:2000], y[:2000], n_hidden=1, rng=0)  # loads the libraries
    start = time.perf_counter()
    width = teacher.n_hidden if case.given else "auto"
    result = learn(X, y, n_hidden=width, rng=seed, time_limit=case.limit)
    seconds = time.perf_counter() - start
    record = {
        "group": case.group,
        "case": case.name,
        "given": case.given,
        "seed": seed,
        "n_hidden": result.network.n_hidden,
        "of": teacher.n_hidden,
        "error": result.network.distance(teacher) / teacher.norm(),
        "seconds": seconds,
        "status": result.status.name,
        "error_ratio": "",
        "time_ratio": "",
        "textbook_ratio": "",
    }
    if case.noise:
        start = time.perf_counter()
        best = least_squares_from_truth(teacher, X, y, spread)
        record["time_ratio"] = seconds / (time.perf_counter() - start)
        start = time.perf_counter()
        textbook_least_squares(teacher, X, y, spread)
        record["textbook_ratio"] = seconds / (time.perf_counter() - start)
        record["error_ratio"] = result.network.distance(teacher) / best.distance(teacher)
    return record


def run_numbered(index: int, seed: int) -> dict:
    """Run the case with this place in the list; teachers are functions, which no process could be sent."""
    return run(cases()[index], seed)


def told(case: Case, runs: list[dict]) -> str:
    """Say in one line how the runs of a case compare with what they are held to."""
    median = {name: statistics.median(r[name] for r in runs) for name in ("error", "seconds")}
    line = f"{case.name:32} {'given' if case.given else 'auto':6}"
    if case.noise:
        most = (1.02, 4) if case.given else (1.10, 8)
        names = ("error_ratio", "textbook_ratio", "time_ratio")
        error, slower, ours = (statistics.median(r[name] for r in runs) for name in names)
        ok = error <= most[0] and slower <= most[1]
        widths = " ".join(f"{r['n_hidden']}" for r in runs)
        return (
            f"{line} error {error:6.3f} (at most {most[0]}) time {slower:6.1f} (at most {most[1]}; of ours {ours:.1f}) "
            f"units {widths} of {runs[0]['of']}  {'ok' if ok else 'FAILED'}"
        )
    reached = sum(r["error"] <= EXACT for r in runs)
    right = sum(r["n_hidden"] == r["of"] for r in runs)
    ok = reached >= case.share * len(runs) and right >= case.share * len(runs)
    return (
        f"{line} exact {reached}/{len(runs)} right width {right}/{len(runs)} median error {median['error']:.0e} "
        f"{median['seconds']:7.2f} s, at most {max(r['seconds'] for r in runs):.1f} s  {'ok' if ok else 'FAILED'}"
    )


def of_limit() -> list[dict]:
    """Run fifty problems of all kinds with limits from a tenth of a second to ten seconds."""
    records, chosen = [], [case for case in cases() if case.n_rows <= 50_000]
    for i in range(50):
        case, limit = chosen[7 * i % len(chosen)], float(np.geomspace(0.1, 10.0, 50)[i])
        teacher = case.teacher(FIRST_SEED + i)
        rng = np.random.default_rng(i)
        X = rng.standard_normal((case.n_rows, teacher.n_features))
        y = teacher(X) + (0.1 * (i % 2)) * rng.standard_normal(case.n_rows)
        start = time.perf_counter()
        learn(X, y, n_hidden="auto" if i % 3 else teacher.n_hidden, rng=i, time_limit=limit)
        seconds = time.perf_counter() - start
        kept = seconds <= max(1.05 * limit, limit + 1.0)
        records.append({"case": case.name, "limit": limit, "seconds": seconds, "kept": kept})
        if not kept:
            print(f"  {case.name}: {seconds:.1f} s with a limit of {limit:.1f} s", flush=True)
    print(f"time limit kept in {sum(r['kept'] for r in records)} of {len(records)}")
    return records


def of_rows(most: int = 10_000_000) -> list[dict]:
    """Learn 1e4 to 1e7 rows of 20 features, 6 units, noise 0.1, in memory; a million in Parquet by the command line."""
    records = []
    teacher = teachers.random(6, 20, FIRST_SEED, biases=0.5)
    for n in (10_000, 100_000, 1_000_000, 10_000_000):
        if n > most:
            break
        rng = np.random.default_rng(n)
        X = rng.standard_normal((n, 20))
        clean = teacher(X)
        y = clean + 0.1 * np.std(clean) * rng.standard_normal(n)
        start = time.perf_counter()
        result = learn(X, y, rng=0)
        seconds = time.perf_counter() - start
        error = result.network.distance(teacher) / teacher.norm()
        records.append(
            {
                "rows": n,
                "from": "memory",
                "seconds": seconds,
                "units": result.network.n_hidden,
                "error": error,
                "gigabytes": "",
            }
        )
        print(
            f"{n:>12,} rows in memory: {seconds:7.1f} s, {result.network.n_hidden} units, error {error:.1e}"
        )
        if n == 1_000_000:
            records.append(_in_parquet(X, y, teacher))
    return records


def _in_parquet(X: np.ndarray, y: np.ndarray, teacher: ShallowNetwork) -> dict:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "rows.parquet", Path(folder) / "model.safetensors"
        names = [f"x{i}" for i in range(X.shape[1])]
        pq.write_table(pa.table({**dict(zip(names, X.T, strict=True)), "y": y}), path)
        call = [sys.executable, "-m", "netlearn", "learn", str(path), "--target", "y", "--out", str(model)]
        start = time.perf_counter()
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        network = ShallowNetwork.load(model)
    error = network.distance(teacher) / teacher.norm()
    gigabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20  # the only child there is
    print(
        f"   1,000,000 rows in Parquet: {seconds:7.1f} s, {network.n_hidden} units, error {error:.1e}, "
        f"{gigabytes:.2f} GB"
    )
    return {
        "rows": len(y),
        "from": "Parquet",
        "seconds": seconds,
        "units": network.n_hidden,
        "error": error,
        "gigabytes": gigabytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="+", choices=GROUPS)
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--most", type=int, default=10_000_000, help="rows of the group `rows` at most")
    options = parser.parse_args()
    for group in options.groups:
        if group == "limit":
            records = of_limit()
        elif group == "rows":
            records = of_rows(options.most)
        else:
            records = []
            chosen = {
                index: case
                for index, case in enumerate(cases())
                if case.group == group and options.only in case.name
            }
            with ProcessPoolExecutor(options.jobs) as pool:
                waiting = {
                    index: [
                        pool.submit(run_numbered, index, options.first + i)
                        for i in range(options.seeds or case.seeds)
                    ]
                    for index, case in chosen.items()
                }
                for index, futures in waiting.items():
                    runs = [future.result() for future in futures]
                    records += runs
                    print(told(chosen[index], runs), flush=True)
        if not options.only and options.seeds is None:
            write(RESULTS / f"default_call_{group}.csv", records)


if __name__ == "__main__":
    main()
