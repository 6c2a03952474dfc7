"""How often Algorithm 1 succeeds, how often it claims too much, and how long it takes.

Runs `paper.netlearn` and its predecessor on planted networks (d = 6, epsilon = 0.25, R = 2), `netlearn` on
functions that are not such networks, and the subspace step alone on the hard plane with k = 4, d = 8.
Usage: python -m benchmarks.paper_acceptance [--seeds 50]
"""

import argparse
import time

import numpy as np

from netlearn import teachers
from netlearn.paper import Schedule, find_subspace, multi_stage, netlearn
from netlearn.subspace import sine

d, epsilon, R = 6, 0.25, 2.0


def rows_of(f, rng, n_features):
    def sample(n):
        X = rng.standard_normal((n, n_features))
        return X, f(X)

    return sample


def planted(learner, teacher, k, n_seeds):
    close = claimed = wrong = 0
    worst, slowest = 0.0, 0.0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        target = teacher(k, d, rng, radius=R)
        start = time.perf_counter()
        result = learner(rows_of(target, rng, d), d, k, epsilon, R, rng=rng)
        slowest = max(slowest, time.perf_counter() - start)
        distance = np.inf if result.network is None else target.distance(result.network)
        worst = max(worst, distance)
        close += distance <= epsilon
        claimed += result.success
        wrong += result.success and distance > epsilon
    print(
        f"{learner.__name__:12} {teacher.__name__:11} k={k}  within epsilon {close}/{n_seeds}  "
        f"claimed {claimed}  wrong claims {wrong}  largest distance {worst:.3f}  slowest {slowest:.2f} s"
    )


def not_a_network(name, f, n_seeds):
    failed = 0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        failed += not netlearn(rows_of(f, rng, d), d, 2, epsilon, R, rng=rng).success
    print(f"{name:28} Fail {failed}/{n_seeds}")


def hard_plane_subspace(n_rows, n_seeds):
    sines, dimensions, below = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        target = teachers.hard_plane(4, 8, rng, radius=R)
        schedule = Schedule.practical(8, 4, epsilon, R, n_rows=n_rows)
        found = find_subspace(rows_of(target, rng, 8), schedule, rng=rng)
        plane = np.linalg.svd(target.units)[2][:2].T
        dimensions.append(found.V.shape[1])
        sines.append(sine(plane, found.V) if found.V.shape[1] else 1.0)
        below += [abs(p.eigenvalues[0]) / p.noise_floor for p in found.probes if p.order < 4]
    print(
        f"hard_plane k=4 d=8 N={n_rows:,}: dim V = 2 in {dimensions.count(2)}/{n_seeds}, sine largest "
        f"{max(sines):.3f} median {np.median(sines):.3f}, M_2 / noise floor largest {max(below):.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="planted networks for each row of the table")
    n_seeds = parser.parse_args().seeds
    for learner in (netlearn, multi_stage):
        for teacher in (teachers.random, teachers.hard_plane):
            for k in (1, 2):
                planted(learner, teacher, k, n_seeds)
    not_a_network("sin(5 x_1)", lambda X: np.sin(5.0 * X[:, 0]), 10)
    not_a_network("cos(3 x_1)", lambda X: np.cos(3.0 * X[:, 0]), 10)
    hard_plane_subspace(1_000_000, 30)
    hard_plane_subspace(4_000_000, 10)


if __name__ == "__main__":
    main()
