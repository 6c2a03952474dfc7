"""Theorem 1.1, measured: rows for the moments and seconds that Algorithm 1 needs, against d, 1/epsilon and k.

    python -m benchmarks.theorem              # goes on where it was stopped

For every planted network the rows are doubled until the network that comes out of the moments and the search is within
epsilon, by its exact distance. Validation and certificate have row counts of their own, known beforehand, and are left
out: rows here are what the subspace and w_hat need. One line for each network goes to benchmarks/results/theorem.csv;
`python -m docs.images.theorem` draws them beside the theorem's exponents.
"""

import argparse
import time

import numpy as np

from benchmarks.paper import rows_of
from benchmarks.resumable import measure_missing
from netlearn import teachers
from netlearn.errors import BudgetError
from netlearn.paper import Schedule, find_subspace, search_subspace

FAMILIES, UNITS = ("random", "clustered", "hard_plane"), (1, 2, 3)
DIMENSIONS, ACCURACIES = (4, 6, 9, 14, 20), (4, 8, 16, 32)
D, ACCURACY, R = 6, 8, 2.0
# The hard plane of four neurons, whose moments vanish below order 4.
HARD = [(4, d) for d in (4, 6, 9, 14)]
SEEDS, FEWEST, MOST = 3, 250, 64_000_000


def measure(family, k, d, accuracy, seed):
    epsilon = 1.0 / accuracy
    rng = np.random.default_rng(seed)
    target = getattr(teachers, family)(k, d, rng, radius=R)
    n_rows, distance = FEWEST, np.inf
    while n_rows <= MOST:
        start = time.process_time()
        schedule = Schedule.practical(d, k, epsilon, R, n_rows=n_rows, n_val=20_000)
        sample = rows_of(target, rng, d)
        found = find_subspace(sample, schedule, rng=rng)
        try:
            # A budget of no sets: the proposal, or nothing.
            answer = search_subspace(sample, found.V, found.linear, found.schedule, budget=0, rng=rng)
            distance = target.distance(answer.network)
        except BudgetError:
            distance = np.inf
        seconds = time.process_time() - start
        if distance <= epsilon:
            break
        n_rows *= 2
    return {"rows": n_rows, "distance": f"{distance:.4g}", "cpu_seconds": f"{seconds:.3f}"}


def cells():
    sizes = [(k, d, ACCURACY) for k in UNITS for d in DIMENSIONS]
    sizes += [(k, D, accuracy) for k in UNITS for accuracy in ACCURACIES if accuracy != ACCURACY]
    planted = [(family, *size) for family in FAMILIES for size in sizes]
    planted += [("hard_plane", k, d, 12) for k, d in HARD]
    return [
        {"family": family, "k": k, "d": d, "accuracy": accuracy, "seed": seed}
        for family, k, d, accuracy in planted
        for seed in range(SEEDS)
    ]


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    measure_missing("theorem.csv", cells(), measure, "scipy")


if __name__ == "__main__":
    main()
