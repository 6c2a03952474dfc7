"""Trained networks recovered from queries alone: what others train, asked as a black box.

    python -m benchmarks.blackbox                    # both networks, float64 and float32, seeds 0-2
    python -m benchmarks.blackbox --only torch --seeds 1

The networks are a torch module 10-30-1 with default initialisation, trained shortly on a smooth function, and a
scikit-learn MLPRegressor with 20 units fitted on the standardised diabetes data. The error is the largest difference
between the box and the network found, on fresh points of N(0, I). In float64 it must not exceed 1e-9. In float32 the
box itself differs from the function its weights define, by rounding; the error must not exceed that difference by
more than a factor of 2. `learn` is told neither the width nor how many points to ask for.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from netlearn import Oracle, ShallowNetwork, learn

N_FRESH = 100_000
EXACT, ROUNDINGS = 1e-9, 2.0

Box = tuple[Callable, ShallowNetwork]


def torch_box(seed: int, dtype: str) -> Box:
    """Train Linear(10, 30), ReLU, Linear(30, 1) for 300 steps of Adam on sin(x_1) + x_2 x_3."""
    precision = getattr(torch, dtype)
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(10, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1)).to(
        precision
    )
    X = torch.randn(2000, 10, dtype=precision)
    y = torch.sin(X[:, :1]) + X[:, 1:2] * X[:, 2:3]
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    for _ in range(300):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(module(X), y).backward()
        optimiser.step()

    def f(X):
        with torch.no_grad():
            return module(torch.tensor(X, dtype=precision))[:, 0].double().numpy()

    return f, ShallowNetwork.from_torch(module)


def sklearn_box(seed: int, dtype: str) -> Box:
    """Fit MLPRegressor(hidden_layer_sizes=(20,)) on diabetes; float32 rows make it train and answer in float32."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(dtype)
    model = MLPRegressor(hidden_layer_sizes=(20,), max_iter=3000, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any weights will do, the best or not
        model.fit(X, y)
    return lambda X: model.predict(X.astype(dtype)).astype(float), ShallowNetwork.from_sklearn(model)


BOXES = {"torch 10-30-1": torch_box, "sklearn diabetes 20": sklearn_box}


def run(name: str, dtype: str, seed: int) -> dict:
    f, exact = BOXES[name](seed, dtype)
    d = exact.n_features
    oracle = Oracle(f, n_features=d)
    start = time.perf_counter()
    result = learn(oracle, rng=seed)
    seconds = time.perf_counter() - start
    X = np.random.default_rng(10_000 + seed).standard_normal((N_FRESH, d))
    error = np.abs(f(X) - result.network(X)).max()
    rounding = np.abs(f(X) - exact(X)).max()
    return {
        "box": name,
        "dtype": dtype,
        "seed": seed,
        "n_hidden": result.network.n_hidden,
        "status": result.status.name,
        "error": error,
        "rounding": rounding,
        "largest": np.abs(f(X)).max(),
        "queries": oracle.n_queries,
        "seconds": seconds,
        "passed": bool(error <= (EXACT if dtype == "float64" else ROUNDINGS * rounding)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="run the boxes whose name contains this")
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"], help="precisions to run")
    parser.add_argument("--seeds", type=int, default=3, help="seeds per line")
    parser.add_argument("--out", type=Path, default=None, help="CSV to write")
    options = parser.parse_args()
    records = []
    print(
        f"{'box':20} {'dtype':8} {'seed':>4} {'units':>5} {'max |f|':>8} {'error':>8} {'rounding':>8} "
        f"{'queries':>8} {'seconds':>8}  status"
    )
    for name in BOXES:
        for dtype in options.dtypes:
            for seed in range(options.seeds if options.only in name else 0):
                r = run(name, dtype, seed)
                records.append(r)
                print(
                    f"{name:20} {dtype:8} {seed:>4} {r['n_hidden']:>5} {r['largest']:8.3g} {r['error']:8.1e} "
                    f"{r['rounding']:8.1e} {r['queries']:>8,} {r['seconds']:8.1f}  {r['status']} "
                    f"{'' if r['passed'] else 'FAILED'}",
                    flush=True,
                )
    print(f"{sum(r['passed'] for r in records)} of {len(records)} lines hold")
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(records[0]))
            writer.writeheader()
            writer.writerows(records)


if __name__ == "__main__":
    main()
