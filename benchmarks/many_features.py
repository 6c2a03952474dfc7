"""Many features: a planted network of 5 units learned from rows in single precision, each line in a fresh process.

    python -m benchmarks.many_features
    python -m benchmarks.many_features --features 5000 --rows-per-unknown 3 --dtype float64 --teacher random

Rows are drawn block by block into one array, labels in double precision from the rows as they are stored. Peak memory
is that of the whole process, the rows included. A line whose rows do not fit into the memory that is free is left out.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from netlearn import learn, teachers

N_HIDDEN = 5
# Beside the rows: the rows that judge and certify in double precision, 7 % of all, and what a process needs anyway.
SHARE_BESIDE, BYTES_BESIDE = 0.15, 5e8
COLUMNS = "{:>8} {:>3} {:>9} {:>8} {:>9} {:>8} {:>9}  {}"


def planted(target, n_rows, dtype, rng):
    X, y = np.empty((n_rows, target.n_features), dtype), np.empty(n_rows)
    size = max(1, 2**22 // target.n_features)
    for start in range(0, n_rows, size):
        rows = slice(start, min(start + size, n_rows))
        X[rows] = rng.standard_normal((rows.stop - start, target.n_features))
        y[rows] = target(X[rows].astype(float))
    return X, y


def one_line(n_features, n_rows, dtype, teacher, time_limit):
    rng = np.random.default_rng(0)
    target = getattr(teachers, teacher)(N_HIDDEN, n_features, rng)
    X, y = planted(target, n_rows, dtype, rng)
    start = time.perf_counter()
    result = learn(X, y, n_hidden=N_HIDDEN, rng=0, time_limit=time_limit)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    error = result.network.distance(target) / target.norm()
    sizes = f"{n_features:,}", N_HIDDEN, f"{n_rows:,}", dtype
    print(COLUMNS.format(*sizes, f"{seconds:.1f}", f"{peak:,.0f}", f"{error:.1e}", result.status.name))
    print(" " * 8, {step: round(spent, 1) for step, spent in result.diagnostics.seconds.items()})


def free_bytes():
    lines = Path("/proc/meminfo").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def table(arguments):
    print(COLUMNS.format("d", "k", "N", "dtype", "seconds", "peak MB", "error", "status"))
    for n_features in arguments.features:
        n_rows = round(arguments.rows_per_unknown * (N_HIDDEN + 1) * n_features)
        size = n_rows * n_features * np.dtype(arguments.dtype).itemsize
        needed = (1 + SHARE_BESIDE) * size + BYTES_BESIDE
        if needed > free_bytes():
            print(f"{n_features:8,}: needs {needed / 2**30:.1f} GiB, {free_bytes() / 2**30:.1f} are free")
            continue
        line = [sys.executable, __file__, "--features", str(n_features), "--rows", str(n_rows)]
        line += ["--dtype", arguments.dtype, "--teacher", arguments.teacher]
        if arguments.time_limit is not None:
            line += ["--time-limit", str(arguments.time_limit)]
        subprocess.run(line, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, nargs="+", default=[1000, 5000, 20_000])
    parser.add_argument("--rows-per-unknown", type=float, default=2.0, help="of (k + 1) d")
    parser.add_argument("--rows", type=int, help="run one line, in this process")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--teacher", choices=["orthonormal", "positive", "random"], default="orthonormal")
    parser.add_argument("--time-limit", type=float)
    given = parser.parse_args()
    if given.rows is None:
        table(given)
    else:
        one_line(given.features[0], given.rows, given.dtype, given.teacher, given.time_limit)
