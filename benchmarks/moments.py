"""All moment matrices of one pass, against as many bare weighted Gram products `X.T @ (W * X)`.

Algorithm 1 needs the orders ell = 2, 4, ..., 2 k^2 + 2: k^2 + 1 matrices, 17 for k = 4. Both sides run in
turn in the same process on the same rows; each reports its best time. The pass must stay below 1.3 times
the bare products.

    python -m benchmarks.moments --rows 100000 --features 200 --hidden 4
"""

import argparse
import time

import numpy as np

from netlearn.moments import moment_matrices


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--hidden", type=int, default=4, help="k; the orders are 2, 4, ..., 2 k^2 + 2")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()

    rng = np.random.default_rng(0)
    X = rng.standard_normal((arguments.rows, arguments.features))
    y = np.abs(X[:, : arguments.hidden]) @ np.ones(arguments.hidden)
    W = rng.standard_normal((arguments.rows, 1))
    g = rng.standard_normal(arguments.features)
    g /= np.linalg.norm(g)
    orders = range(2, 2 * arguments.hidden**2 + 3, 2)

    def bare_products():
        for _ in orders:
            X.T @ (W * X)

    def one_pass():
        moment_matrices(X, y, g, orders)

    bare, ours = np.min(
        [(seconds(bare_products), seconds(one_pass)) for _ in range(arguments.repeats)], axis=0
    )
    print(f"rows {arguments.rows}, features {arguments.features}, orders {len(orders)}")
    print(f"{len(orders)} bare products X.T @ (W * X)   {bare:8.3f} s")
    print(f"all moments, one pass             {ours:8.3f} s")
    print(f"ratio                             {ours / bare:8.3f}")


if __name__ == "__main__":
    main()
