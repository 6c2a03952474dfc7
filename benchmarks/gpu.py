"""Moments and whole fits on a GPU: one command, one table.

    python -m benchmarks.gpu --out benchmarks/results/gpu.csv

Rows are drawn on the device, from N(0, I), with labels of a planted network in double precision. Every fit is a whole
`learn` with the width given; the first line is run twice, as the first call on a device also loads its libraries.
Errors are exact distances in L2(gamma), relative to the norm of the network.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.machine import write
from netlearn import learn, teachers
from netlearn.moments import moment_matrices

DEVICE = "cuda"
# teacher, units, features, rows per unknown or rows, seconds allowed
FITS = {
    "wide-100": ("biases", 100, 100, 8.0, 2.0),
    "wide-256": ("biases", 256, 64, 8.0, 6.0),
    "wide-512": ("biases", 512, 128, 8.0, 60.0),
    "wide-1024": ("biases", 1024, 256, 8.0, 600.0),
    "many-features": ("random", 10, 4096, 500_000, 20.0),
}


def seconds(call, repeats=1):
    """Best time of some calls, each waited for to its end, and the last answer."""
    best = np.inf
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        answer = call()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best, answer


def draw(network, n_rows, seed):
    """Rows from N(0, I) on the device and the network's labels."""
    generator = torch.Generator(DEVICE).manual_seed(seed)
    X = torch.randn((n_rows, network.n_features), dtype=torch.float64, device=DEVICE, generator=generator)
    return X, network(X)


def matrix_rate(n=8192):
    """Operations per second of one product of square matrices in double precision."""
    A = torch.randn((n, n), dtype=torch.float64, device=DEVICE)
    best, _ = seconds(lambda: A @ A, repeats=5)
    return 2 * n**3 / best


def moments_line(n_rows=2_000_000, n_features=1024, n_hidden=4):
    """Measure all orders of Algorithm 1 for k = 4, at 3/2 N d^2 operations each, against the matrix rate."""
    orders = range(2, 2 * n_hidden**2 + 3, 2)
    network = teachers.random(n_hidden, n_features, 0)
    X, y = draw(network, n_rows, 0)
    g = torch.zeros(n_features, dtype=torch.float64, device=DEVICE)
    g[0] = 1.0
    rate = matrix_rate()
    best, _ = seconds(lambda: moment_matrices(X, y, g, orders), repeats=3)
    share = 1.5 * n_rows * n_features**2 * len(orders) / best / rate
    print(
        f"matrix rate {rate / 1e12:.1f} Tflop/s; {len(orders)} moment orders, d = {n_features}, "
        f"N = {n_rows:,}: {best:.3f} s, {share:.0%} of it",
        flush=True,
    )
    return {
        "line": "moments",
        "k": n_hidden,
        "d": n_features,
        "N": n_rows,
        "seed": 0,
        "seconds": f"{best:.4f}",
        "allowed": f"{1.5 * n_rows * n_features**2 * len(orders) / rate / 0.6:.4f}",
        "error": "",
        "status": f"{share:.2f} of {rate / 1e12:.1f} Tflop/s",
    }


def fit_line(name, seed):
    """Learn one planted network from rows on the device."""
    family, k, d, rows, allowed = FITS[name]
    biases = family == "biases"
    network = teachers.random(k, d, seed, biases=0.5) if biases else teachers.random(k, d, seed)
    n_rows = int(rows) if rows > 1000 else int(rows * (k + 1) * (d + 1))
    X, y = draw(network, n_rows, seed)
    took, result = seconds(lambda: learn(X, y, n_hidden=k, biases=biases, rng=seed, time_limit=5 * allowed))
    error = result.network.distance(network) / network.norm()
    print(
        f"{name:14s} k = {k:4d}, d = {d:4d}, N = {n_rows:9,}, seed {seed}: {took:7.2f} s (allowed {allowed:g}), "
        f"error {error:.1e}, {result.status.name}, seconds {result.diagnostics.seconds}",
        flush=True,
    )
    return {
        "line": name,
        "k": k,
        "d": d,
        "N": n_rows,
        "seed": seed,
        "seconds": f"{took:.3f}",
        "allowed": allowed,
        "error": f"{error:.2e}",
        "status": result.status.name,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="CSV to write")
    parser.add_argument("--lines", nargs="*", default=["moments", *FITS], choices=["moments", *FITS])
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    memory = torch.cuda.get_device_properties(DEVICE).total_memory / 2**30
    hardware = f"{torch.cuda.get_device_name(DEVICE)}, {memory:.0f} GiB"

    records = []
    fits = [name for name in arguments.lines if name in FITS]
    if fits:
        fit_line("wide-100", 0)  # loads the libraries
    if "moments" in arguments.lines:
        records.append(moments_line())
    records += [fit_line(name, seed) for name in fits for seed in range(arguments.seeds)]
    if arguments.out:
        write(arguments.out, records, "torch", hardware=hardware)


if __name__ == "__main__":
    main()
