"""Real networks from queries or logged rows: trained, wide, with units that rarely fire, with rounded answers.

    python -m benchmarks.extract                     # every line that needs no GPU
    python -m benchmarks.extract --lines digits-20 sleepers --seeds 0 1 --out extract.csv
    python -m benchmarks.extract --jobs 5         # several runs at a time; set OMP_NUM_THREADS for this

Lines with k = 512 and k = 1024 are those of benchmarks/gpu.py. `learn` is given the width.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks.machine import write
from netlearn import Oracle, ShallowNetwork, learn, teachers
from netlearn.fit import Params, Problem, finish
from netlearn.source import ArraySource

N_FRESH = 100_000


def standardised(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def queries(network: ShallowNetwork) -> int:
    return 10 * (network.n_hidden + 1) * (network.n_features + 1)


def regressor(load, k: int, seed: int):
    """Ask an MLPRegressor of k units trained on real rows; its values must come back to 1e-9, there and on N(0, I)."""
    X, y = standardised(load)
    model = MLPRegressor(hidden_layer_sizes=(k,), max_iter=3000, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any weights will do, the best or not
        model.fit(X, y)
    exact = ShallowNetwork.from_sklearn(model)
    oracle = Oracle(model.predict, n_features=X.shape[1], budget=queries(exact))
    result = learn(oracle, n_hidden=k, biases=True, rng=seed)
    fresh = np.random.default_rng(10_000 + seed).standard_normal((N_FRESH, X.shape[1]))
    error = max(np.abs(model.predict(rows) - result.network(rows)).max() for rows in (fresh, X))
    return result, error, 1e-9, f"{oracle.n_queries:,} queries"


def classifier(precision: torch.dtype, seed: int):
    """Ask for the ten logits of a 64-unit classifier of digits; in float32 within ten roundings of its own answers."""
    X, y = standardised(load_digits)
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).to(
        precision
    )
    rows, labels = torch.tensor(X, dtype=precision), torch.tensor(y)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(200):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(rows), labels).backward()
        optimiser.step()

    def f(X):
        with torch.no_grad():
            return module(torch.tensor(X, dtype=precision)).double().numpy()

    exact = ShallowNetwork.from_torch(module)
    oracle = Oracle(f, n_features=64, budget=queries(exact))
    result = learn(oracle, n_hidden=64, biases=True, rng=seed)
    fresh = np.random.default_rng(10_000 + seed).standard_normal((N_FRESH, 64))
    error = np.abs(f(fresh) - result.network(fresh)).max()
    rounding = np.abs(f(fresh)).max() * np.finfo(np.float32).eps
    allowed = 1e-9 if precision is torch.float64 else 10 * rounding
    return result, error, allowed, f"{oracle.n_queries:,} queries"


def wide(k: int, d: int, seed: int):
    """Learn a random network with biases from 8 rows per unknown."""
    network = teachers.random(k, d, seed, biases=0.5)
    X = np.random.default_rng(1000 + seed).standard_normal((8 * (k + 1) * (d + 1), d))
    result = learn(X, network(X), n_hidden=k, biases=True, rng=seed)
    return result, result.network.distance(network) / network.norm(), 1e-8, f"{len(X):,} rows"


def unit_errors(network: ShallowNetwork, found: ShallowNetwork) -> np.ndarray:
    """Distance of each unit, with its coefficient, from the nearest one found; in units of its length."""
    true, near = (
        net.coefficients[:, None] * np.hstack([net.units, net.biases[:, None]]) for net in (network, found)
    )
    # |<u,x> + b| does not know the sign of (u, b).
    apart = np.minimum(
        np.linalg.norm(true[:, None] - near[None], axis=2), np.linalg.norm(true[:, None] + near[None], axis=2)
    )
    return apart.min(axis=1, initial=np.inf) / np.linalg.norm(true, axis=1)


def sleepers(seed: int, k: int = 12, d: int = 20, n_rows: int = 20_000):
    """Learn from given rows; units that bend on at least 4 (d + 1) of them come back to 1e-6, the others are named."""
    network = teachers.random(k, d, seed, biases=1.6)
    X = np.random.default_rng(1000 + seed).standard_normal((n_rows, d))
    z = X @ network.units.T + network.biases
    bent = np.minimum((z > 0).sum(axis=0), (z < 0).sum(axis=0))
    result = learn(X, network(X), n_hidden=k, biases=True, rng=seed)
    error = unit_errors(network, result.network)[bent >= 4 * (d + 1)].max()
    unseen = network.coefficients[bent < 4 * (d + 1)]
    told = next((note for note in result.diagnostics.notes if "unseen" in note or "bend" in note), "")
    return result, error, 1e-6, f"{len(unseen)} units on fewer than {4 * (d + 1)} rows; {told}"


def asleep(seed: int, k: int = 20, d: int = 10):
    """Ask a network with biases uniform in [-4, 4]; every unit must be found."""
    rng = np.random.default_rng(seed)
    network = teachers.random(k, d, seed)
    biases = rng.uniform(-4.0, 4.0, k)
    # relu(<u,x> + b): half of the unit is |<u,x> + b|, the other half affine.
    lam = network.coefficients
    network = ShallowNetwork(lam @ network.units, lam, network.units, biases, float(lam @ biases))
    oracle = Oracle(network, n_features=d, budget=1_000_000)
    result = learn(oracle, n_hidden=k, biases=True, rng=seed)
    return result, unit_errors(network, result.network).max(), 1e-8, f"{oracle.n_queries:,} queries"


def rounded(seed: int, k: int = 20, d: int = 20, decimals: int = 3):
    """Learn from labels with 3 decimals; at most 1.2 times the error of least squares started at the truth."""
    network = teachers.random(k, d, seed, biases=0.5)
    X = np.random.default_rng(1000 + seed).standard_normal((50 * (k + 1) * (d + 1), d))
    y = np.round(network(X), decimals)
    result = learn(X, y, n_hidden=k, biases=True, rng=seed)
    best = finish(Problem(ArraySource(X, y), True), Params.from_network(network)).params.to_network()
    error, limit = (found.distance(network) / network.norm() for found in (result.network, best))
    return result, error, 1.2 * limit, f"least squares from the truth {limit:.2e}"


LINES = {
    **{
        f"{load.__name__[5:]}-{k}": (lambda seed, load=load, k=k: regressor(load, k, seed))
        for load in (load_diabetes, load_digits)
        for k in (8, 20, 50)
    },
    "logits-float64": lambda seed: classifier(torch.float64, seed),
    "logits-float32": lambda seed: classifier(torch.float32, seed),
    "sleepers": sleepers,
    "asleep": asleep,
    "rounded": rounded,
    "wide-256": lambda seed: wide(256, 64, seed),
}


def run(line: str, seed: int) -> dict:
    """Run one line; named, as no process could be sent its function."""
    start = time.perf_counter()
    result, error, allowed, told = LINES[line](seed)
    record = {
        "line": line,
        "seed": seed,
        "n_hidden": result.network.n_hidden,
        "error": f"{error:.2e}",
        "allowed": f"{allowed:.2e}",
        "holds": bool(error <= allowed),
        "status": result.status.name,
        "seconds": f"{time.perf_counter() - start:.1f}",
        "told": told,
    }
    print(*(f"{name} {value}" for name, value in record.items()), sep="  ", flush=True)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", nargs="+", default=list(LINES), choices=list(LINES), metavar="LINE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--out", type=Path, help="CSV to write")
    arguments = parser.parse_args()
    wanted = [(line, seed) for line in arguments.lines for seed in arguments.seeds]
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        records = list(pool.map(run, *zip(*wanted, strict=True)))
    print(f"{sum(record['holds'] for record in records)} of {len(records)} lines hold")
    if arguments.out:
        threads = os.environ.get("OMP_NUM_THREADS", "all")
        write(arguments.out, records, "torch", "scikit-learn", threads=threads)


if __name__ == "__main__":
    main()
