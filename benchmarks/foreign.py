"""Is success claimed where there is none to be had? Targets that are no small network, for both learners.

    python -m benchmarks.foreign                          # 1,000 of each learner
    python -m benchmarks.foreign --jobs 16                # several at a time; set OMP_NUM_THREADS=1 for this

RECOVERED is false for each of them, CERTIFIED where the error, measured on fresh rows, is above epsilon.
tests/reliability/test_statistics.py runs the same; `benchmarks.claims` measures what is said of planted networks.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from netlearn import LearnResult, Status, learn
from netlearn.paper import netlearn

EPSILON = 0.05
N_FRESH = 100_000


def foreign_targets(d: int, rng: np.random.Generator) -> dict[str, Callable]:
    """Functions of the rows that are no small network, as drawn from `rng`."""
    u = rng.standard_normal(d) / math.sqrt(d)
    A, B, c = (rng.standard_normal(shape) / 2 for shape in ((d, 8), (8, 8), 8))
    return {
        "sine": lambda X: np.sin(5.0 * X @ u),
        "product": lambda X: X[:, 0] * X[:, -1],
        "three layers": lambda X: np.maximum(np.maximum(X @ A, 0.0) @ B, 0.0) @ c,
        "pure noise": lambda X: rng.standard_normal(len(X)),
        "smooth units": lambda X: np.tanh(2.0 * X @ A) @ c,
        "steps": lambda X: np.sign(X @ A[:, :2] - 0.1) @ c[:2],
        "square": lambda X: (X @ u) ** 2,
        "bump": lambda X: np.exp(-np.sum(X**2, axis=1)),
    }


@dataclass(frozen=True)
class Claim:
    """What was said of a target that is no network, and whether that was false."""

    target: str
    status: Status
    false: bool


def _claim(name: str, f: Callable, d: int, epsilon: float, result: LearnResult, rng) -> Claim:
    """Judge a result: nothing was recovered, and an error that is certified must be that small."""
    false = result.status is Status.RECOVERED
    if result.status is Status.CERTIFIED:
        X = rng.standard_normal((N_FRESH, d))
        false = bool(np.sqrt(np.mean((f(X) - result.network(X)) ** 2)) > epsilon)
    return Claim(name, result.status, false)


def foreign(seed: int) -> Claim:
    """Ask `learn` for a small network where there is none."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    targets = foreign_targets(d, rng)
    name = list(targets)[seed % len(targets)]
    X = rng.standard_normal((int(rng.integers(100, 500)), d))
    y = targets[name](X)
    epsilon = EPSILON * float(np.std(y))
    # One in eight without a width, which takes longest.
    n_hidden = "auto" if seed // len(targets) % 8 == 0 else int(rng.integers(1, 4))
    result = learn(X, y, n_hidden=n_hidden, epsilon=epsilon, rng=seed)
    return _claim(name, targets[name], d, epsilon, result, rng)


def foreign_to_paper(seed: int) -> Claim:
    """Ask Algorithm 1 for a small network where there is none."""
    rng = np.random.default_rng(seed)
    d, k, epsilon = int(rng.integers(2, 4)), 1 + seed % 2, 0.3
    targets = foreign_targets(d, rng)
    name = list(targets)[seed % len(targets)]

    def sample(n):
        X = rng.standard_normal((n, d))
        return X, targets[name](X)

    result = netlearn(sample, d, k, epsilon, 1.0, rng=rng)
    return _claim(name, targets[name], d, epsilon, result, rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    options = parser.parse_args()
    wrong = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for learner, function in {"learn": foreign, "paper.netlearn": foreign_to_paper}.items():
            made = list(pool.map(function, range(options.runs)))
            false = sum(claim.false for claim in made)
            wrong += false
            print(f"{len(made)} targets that are no such network, {learner}: {false} false successes")
            for target in sorted({claim.target for claim in made}):
                statuses = Counter(claim.status.name for claim in made if claim.target == target)
                print(f"  {target:14} " + ", ".join(f"{name} {n}" for name, n in sorted(statuses.items())))
    raise SystemExit(int(wrong > 0))


if __name__ == "__main__":
    main()
