"""Error of `learn` against the noise of the labels, beside least squares that are started at the truth.

    OMP_NUM_THREADS=1 python -m benchmarks.noise --jobs 2 --minutes 9    # again, until no line is missing

The width is given. Noise is normal, in units of the standard deviation of the labels without it; errors are exact
L2(gamma) distances to the planted network over its norm. Lines go to benchmarks/results/noise.csv, and
`python -m docs.images.evidence noise` draws them.
"""

import argparse

import numpy as np

from benchmarks.recovery import least_squares_from_truth
from benchmarks.resumable import Stopwatch, measure_missing
from netlearn import learn, teachers

FAMILIES = {
    "random 5/50": (teachers.random, 5, 50),
    "clustered 4/20": (teachers.clustered, 4, 20),
    "hard_plane 6/20": (teachers.hard_plane, 6, 20),
}
LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
N_ROWS = 20_000
SEEDS = range(5)


def measure(family: str, noise: float, seed: int) -> dict:
    """Learn one planted network from noisy labels; fit it from the truth as well."""
    teacher, k, d = FAMILIES[family]
    rng = np.random.default_rng(seed)
    network = teacher(k, d, rng)
    X = rng.standard_normal((N_ROWS, d))
    clean = network(X)
    y = clean + noise * np.std(clean) * rng.standard_normal(N_ROWS)
    spent = Stopwatch()
    result = learn(X, y, n_hidden=k, rng=seed)
    spent = spent.columns()
    best = least_squares_from_truth(network, X, y, float(np.std(y)))
    error, limit = (found.distance(network) / network.norm() for found in (result.network, best))
    return {
        "rows": N_ROWS,
        "error": f"{error:.3e}",
        "limit": f"{limit:.3e}",
        "status": result.status.name,
        **spent,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no line after this long")
    options = parser.parse_args()
    cells = [
        {"family": family, "noise": noise, "seed": seed}
        for seed in SEEDS
        for family in FAMILIES
        for noise in LEVELS
    ]
    measure_missing("noise.csv", cells, measure, jobs=options.jobs, minutes=options.minutes)


if __name__ == "__main__":
    main()
