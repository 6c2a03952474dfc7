"""Cost and success of `learn` against the number of units, from a few rows per unknown.

    OMP_NUM_THREADS=2 python -m benchmarks.width --minutes 10    # again, until no line is missing
    OMP_NUM_THREADS=2 python -m benchmarks.width --units 8 16 --seeds 0 1

Random networks in 32 dimensions with biases N(0, 0.5^2) and exact labels; the width is given. The error is the exact
L2(gamma) distance to the planted network over its norm. Lines go to benchmarks/results/width.csv, and
`python -m docs.images.evidence width` draws them.
"""

import argparse

import numpy as np

from benchmarks.resumable import Stopwatch, measure_missing
from netlearn import learn, teachers

N_FEATURES = 32
# Units, and the seeds that are affordable with them.
SEEDS = {8: 3, 16: 3, 32: 3, 64: 3, 128: 2, 256: 1}
ROWS_PER_UNKNOWN = (8, 4)


def measure(units: int, rows_per_unknown: int, seed: int) -> dict:
    """Learn one planted network."""
    network = teachers.random(units, N_FEATURES, seed, biases=0.5)
    n_rows = rows_per_unknown * (units + 1) * (N_FEATURES + 1)
    X = np.random.default_rng(1000 + seed).standard_normal((n_rows, N_FEATURES))
    y = network(X)
    spent = Stopwatch()
    result = learn(X, y, n_hidden=units, biases=True, rng=seed)
    return {
        "features": N_FEATURES,
        "rows": n_rows,
        **spent.columns(),
        "error": f"{result.network.distance(network) / network.norm():.2e}",
        "status": result.status.name,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, nargs="+", default=list(SEEDS), choices=list(SEEDS), metavar="K")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: 0 to 2, fewer for many units")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no line after this long")
    options = parser.parse_args()
    cells = [
        {"units": units, "rows_per_unknown": ratio, "seed": seed}
        for units in options.units
        for ratio in ROWS_PER_UNKNOWN
        for seed in options.seeds or range(SEEDS[units])
    ]
    measure_missing("width.csv", cells, measure, minutes=options.minutes)


if __name__ == "__main__":
    main()
