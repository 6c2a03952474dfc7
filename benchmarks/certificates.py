"""Do certificates hold? Runs of mixed size, with and without noise, and targets that are no such network.

    python benchmarks/certificates.py --runs 300
    python benchmarks/certificates.py --jobs 16    # several runs at a time; set OMP_NUM_THREADS=1 for this

The true error is exact: the L2(gamma) distance to the planted network, with the noise added in quadrature where
labels have noise, because there the bound is on the prediction error.
"""

import argparse
import math
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.stats import binom

from netlearn import Status, learn, teachers

FAILURE_PROB = 0.01


def planted(seed: int) -> tuple[float, float, str]:
    """Learn one planted network; return its true error, the bound, and the status."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 6)), int(rng.integers(6, 21))
    family = [teachers.random, teachers.positive, teachers.hard_plane, teachers.clustered][seed % 4]
    target = family(2 * k if family in (teachers.hard_plane, teachers.clustered) else k, d, rng)
    n = int(rng.integers(2, 12)) * (target.n_hidden + 1) * d
    X = rng.standard_normal((n, d))
    clean = target(X)
    noise = float(np.std(clean)) * [0.0, 0.1, 0.5][seed % 3]
    result = learn(
        X,
        clean + noise * rng.standard_normal(n),
        n_hidden=target.n_hidden,
        failure_prob=FAILURE_PROB,
        rng=seed,
        time_limit=20,
    )
    error = math.hypot(result.network.distance(target), noise)
    return error, result.certificate.error_bound, result.status.name


def foreign(seed: int) -> Status:
    """Learn something that is no small ReLU network, asking for epsilon = 0.05."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 10))
    deep = np.maximum(np.maximum(X @ rng.standard_normal((10, 20)), 0) @ rng.standard_normal((20, 20)), 0)
    y = [
        lambda: np.sin(5 * X[:, 0]),
        lambda: X[:, 0] * X[:, 1],
        lambda: deep @ rng.standard_normal(20) / 20,
        lambda: rng.standard_normal(len(X)),
    ][seed % 4]()
    return learn(X, y, epsilon=0.05, rng=seed, time_limit=30).status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--foreign", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    options = parser.parse_args()
    pool = ProcessPoolExecutor(options.jobs)
    runs = list(pool.map(planted, range(options.runs)))
    exceeded = sum(error > bound for error, bound, _ in runs)
    allowed = int(binom.isf(0.01, options.runs, FAILURE_PROB))
    print(
        f"{options.runs} certificates at failure_prob {FAILURE_PROB}: exceeded {exceeded}, allowed {allowed}"
    )
    for status in sorted({status for _, _, status in runs}):
        print(f"  {status:22} {sum(s == status for _, _, s in runs)}")
    statuses = list(pool.map(foreign, range(options.foreign)))
    pool.shutdown()
    claimed = sum(status in (Status.CERTIFIED, Status.RECOVERED) for status in statuses)
    print(f"{options.foreign} targets that are no such network: claimed {claimed}")
    print("  " + ", ".join(sorted({status.name for status in statuses})))
    raise SystemExit(int(exceeded > allowed or claimed > 0))


if __name__ == "__main__":
    main()
