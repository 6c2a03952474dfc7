"""The least number of rows with which `learn` recovers the hard plane, against d and against k.

    OMP_NUM_THREADS=1 python -m benchmarks.samples --jobs 16
    OMP_NUM_THREADS=1 python -m benchmarks.samples --dimensions 10 --units 4 --seeds 3    # a small part of it

A number of rows will do if at least eight of ten seeds come out with an error of 1e-6 of the norm. It is looked for by
bisection over powers of sqrt(2), which takes for granted that more rows never hurt by more than chance. Labels are
exact, the width is given. Every run is a line of benchmarks/results/samples.csv, so that a search that was cut off goes
on where it was; `python -m docs.images.evidence samples` draws them.
"""

import argparse
import math
import time

import numpy as np

from benchmarks.resumable import measure_missing, results
from netlearn import learn, teachers

FILE = "samples.csv"
DIMENSIONS, UNITS_AGAINST_D = (10, 20, 40, 80, 160), (4, 8)
UNITS, D_AGAINST_UNITS = (4, 8, 12, 16, 24, 32), 30
SEEDS, SHARE, REACHED = 10, 0.8, 1e-6
# Exponents of sqrt(2) to choose from: 32 to 131,072 rows.
FEWEST, MOST = 10, 34
TIME_LIMIT = 20.0


def n_rows(exponent: int) -> int:
    """Return the number of rows with this place on the grid."""
    return round(math.sqrt(2.0) ** exponent)


def measure(units: int, features: int, rows: int, seed: int) -> dict:
    """Learn one hard plane."""
    rng = np.random.default_rng(seed)
    network = teachers.hard_plane(units, features, rng)
    X = rng.standard_normal((rows, features))
    start = time.perf_counter()
    result = learn(X, network(X), n_hidden=units, rng=seed, time_limit=TIME_LIMIT)
    return {
        "error": f"{result.network.distance(network) / network.norm():.2e}",
        "status": result.status.name,
        "seconds": f"{time.perf_counter() - start:.2f}",
    }


def share_recovered(lines: list[dict[str, str]], units: int, features: int, rows: int) -> float | None:
    """Return the share of these runs that recovered the network; None if there are none."""
    size = (units, features, rows)
    errors = [
        float(line["error"])
        for line in lines
        if tuple(int(line[column]) for column in ("units", "features", "rows")) == size
    ]
    return sum(error <= REACHED for error in errors) / len(errors) if errors else None


def least_rows(lines: list[dict[str, str]], units: int, features: int) -> tuple[int, int]:
    """Return the ends of what bisection has left: exponents that will not do, and that will do."""
    low, high = FEWEST - 1, MOST + 1
    while high - low > 1:
        middle = (low + high) // 2
        share = share_recovered(lines, units, features, n_rows(middle))
        if share is None:
            break
        low, high = (low, middle) if share >= SHARE else (middle, high)
    return low, high


def sizes() -> list[tuple[int, int]]:
    """Return the (units, features) of both series."""
    against_d = [(k, d) for k in UNITS_AGAINST_D for d in DIMENSIONS]
    return against_d + [(k, D_AGAINST_UNITS) for k in UNITS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--units", type=int, nargs="+", help="only sizes with these")
    parser.add_argument("--dimensions", type=int, nargs="+", help="only sizes with these")
    options = parser.parse_args()
    wanted = [
        (k, d)
        for k, d in sizes()
        if (not options.units or k in options.units) and (not options.dimensions or d in options.dimensions)
    ]
    while True:
        lines = results(FILE)
        ends = {size: least_rows(lines, *size) for size in wanted}
        open_sizes = {size: sum(pair) // 2 for size, pair in ends.items() if pair[1] - pair[0] > 1}
        if not open_sizes:
            break
        # The largest first, so that no long run is begun last.
        cells = [
            {"units": k, "features": d, "rows": n_rows(exponent), "seed": seed}
            for (k, d), exponent in sorted(open_sizes.items(), key=lambda item: -item[0][0] * item[0][1])
            for seed in range(options.seeds)
        ]
        measure_missing(FILE, cells, measure, jobs=options.jobs)
    for (k, d), (_, high) in ends.items():
        print(f"hard plane of {k:2} units in {d:3} dimensions: ", end="")
        print(f"{n_rows(high):,} rows" if high <= MOST else f"more than {n_rows(MOST):,} rows")


if __name__ == "__main__":
    main()
