"""Seconds of `learn` against units, features and rows, one of them varied at a time.

    OMP_NUM_THREADS=1 python -m benchmarks.growth --minutes 9    # again, until no line is missing

Random networks without biases and with exact labels; the width is given. Lines go to benchmarks/results/growth.csv, and
`python -m docs.images.evidence growth` draws them with the fitted exponents.
"""

import argparse

from benchmarks.resumable import Stopwatch, measure_missing
from benchmarks.speed import planted
from netlearn import learn

UNITS, FEATURES, ROWS = 5, 50, 40_000
VARIED = {
    "units": (2, 5, 10, 20, 40),
    "features": (25, 50, 100, 200, 400, 800),
    "rows": (10_000, 20_000, 40_000, 80_000, 160_000, 320_000),
}
SEEDS = range(3)


def measure(units: int, features: int, rows: int, seed: int) -> dict:
    """Learn one planted network."""
    network, X, y = planted(units, features, rows, seed)
    spent = Stopwatch()
    result = learn(X, y, n_hidden=units, rng=seed)
    return {
        **spent.columns(),
        "error": f"{result.network.distance(network) / network.norm():.2e}",
        "status": result.status.name,
    }


def sizes() -> list[dict]:
    """Return each size once; the middle one belongs to all three series."""
    middle = {"units": UNITS, "features": FEATURES, "rows": ROWS}
    series = [middle | {name: value} for name, values in VARIED.items() for value in values]
    return [size for place, size in enumerate(series) if size not in series[:place]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no line after this long")
    options = parser.parse_args()
    # One seed of every size after the other: a machine that is busy for a while then slows no series more than others.
    cells = [size | {"seed": seed} for seed in SEEDS for size in sizes()]
    measure_missing("growth.csv", cells, measure, minutes=options.minutes)


if __name__ == "__main__":
    main()
