"""Where recovery succeeds: `learn` beside its best rival, over rows and units and over dimension and units.

    OMP_NUM_THREADS=1 python -m benchmarks.phase --jobs 16
    OMP_NUM_THREADS=1 python -m benchmarks.phase --diagram rows --seeds 1    # a small part of it

Two diagrams. *rows*: random networks in 16 dimensions, from a few rows for each of the (k + 1) d + 1 unknowns.
*planes*: hard planes from 10,000 rows. Labels are exact, there are no biases (which the rival takes for granted and
`learn` has to find out), and the width is given. The rival is variable projection, best of ten starts: of those in
benchmarks/versus the one that comes within 1e-6 of the truth most often. Both may take five seconds. Lines go to
benchmarks/results/phase.csv, and `python -m docs.images.evidence phase` draws them.
"""

import argparse

import numpy as np

from benchmarks.resumable import measure_missing
from benchmarks.versus.fit import judged
from benchmarks.versus.methods import METHODS
from benchmarks.versus.objective import Family

CONTESTANTS = ("learn", "variable projection")
N_FEATURES, ROWS_PER_UNKNOWN = 16, (1.1, 1.3, 1.6, 2.0, 2.5, 3.2, 4.0, 6.0)
DIMENSIONS, N_ROWS = (8, 16, 32, 64, 128), 10_000
UNITS = {"rows": (2, 4, 8, 16, 32), "planes": (4, 6, 8, 10, 12, 16)}
SEEDS, LIMIT, REACHED = 10, 5.0, 1e-6


def families(diagram: str) -> list[Family]:
    """Return the cells of a diagram, those with many units first: they take longest."""
    if diagram == "rows":
        return [
            Family("random", k, N_FEATURES, round(ratio * ((k + 1) * N_FEATURES + 1)))
            for k in reversed(UNITS[diagram])
            for ratio in ROWS_PER_UNKNOWN
        ]
    return [
        Family("hard_plane", k, d, N_ROWS) for k in reversed(UNITS[diagram]) for d in reversed(DIMENSIONS)
    ]


def measure(kind: str, units: int, features: int, rows: int, method: str, seed: int) -> dict:
    """Fit one planted network by one method."""
    with np.errstate(all="ignore"):
        line = judged(Family(kind, units, features, rows).problem(seed), METHODS[method], LIMIT)
    numbers = {name: "" if line[name] is None else f"{line[name]:.2e}" for name in ("error", "seconds")}
    return numbers | {"failure": line["failure"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, each in a process of its own")
    parser.add_argument("--diagram", nargs="+", default=list(UNITS), choices=list(UNITS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fit after this long")
    options = parser.parse_args()
    cells = [
        {
            "kind": family.kind,
            "units": family.k,
            "features": family.d,
            "rows": family.n_rows,
            "method": method,
            "seed": seed,
        }
        for diagram in options.diagram
        for family in families(diagram)
        for method in CONTESTANTS
        for seed in range(options.seeds)
    ]
    measure_missing("phase.csv", cells, measure, "scipy", jobs=options.jobs, minutes=options.minutes)


if __name__ == "__main__":
    main()
