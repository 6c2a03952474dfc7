"""Does a change of the code change results? Sixty runs over all families, sizes, outputs and inputs, written down once.

    python -m benchmarks.pinned --write        # before a change: benchmarks/results/pinned.json
    python -m benchmarks.pinned                # after it: compares

A run is pinned by its status, its width, its certificate's tolerance and the network's values at eight points. What is
exact agrees to rounding; noisy fits agree to what the order of sums in another BLAS changes.
"""

import argparse
import json
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.machine import RESULTS
from netlearn import NetLearnRegressor, Oracle, ShallowNetwork, learn, teachers

N_POINTS = 8
TOLERANCE = 1e-7
PATH = RESULTS / "pinned.json"
FAMILIES = {
    "random": (3, 8),
    "positive": (4, 6),
    "orthonormal": (4, 10),
    "clustered": (4, 8),
    "cancelling": (4, 6),
    "hard_plane": (6, 12),
}


def runs() -> Iterator[tuple[str, ShallowNetwork, dict]]:
    """Yield a name, the learned network and what else is pinned for each run."""
    for name, X, y, options in problems():
        result = learn(X, y, rng=0, **options)
        yield name, result.network, {"status": result.status.name, "tolerance": result.certificate.tolerance}
    target = teachers.random(3, 6, 5, biases=0.5)
    for budget in (600, None):
        result = learn(Oracle(target, n_features=6, budget=budget), rng=0)
        yield f"oracle, budget {budget}", result.network, {"status": result.status.name, "tolerance": 0.0}
    X = np.random.default_rng(6).standard_normal((400, 6))
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(X, target(X))
    yield "estimator", model.network_, {"status": model.status_.name, "tolerance": 0.0}


def problems() -> Iterator[tuple[str, np.ndarray, np.ndarray, dict]]:
    """Yield a name, rows and options of `learn`."""
    for place, (family, (k, d)) in enumerate(FAMILIES.items()):
        for width in (k, "auto"):
            for noise in (0.0, 0.1):
                for n_rows in (12, 60):
                    rng = np.random.default_rng([place, n_rows])
                    target = getattr(teachers, family)(k, d, rng)
                    X = rng.standard_normal((n_rows * (k + 1) * (d + 1), d))
                    y = target(X)
                    y = y + noise * np.std(y) * rng.standard_normal(len(y))
                    yield f"{family} {width} noise {noise} rows {n_rows}", X, y, {"n_hidden": width}
    rng = np.random.default_rng(7)
    target = teachers.random(3, 5, rng, biases=0.7)
    z = rng.standard_normal((900, 5))
    for name, X in {
        "correlated": z @ rng.standard_normal((5, 5)) + 2.0,
        "uniform": rng.uniform(-2, 2, (900, 5)),
        "heavy tails": rng.standard_t(3, (900, 5)),
        "counts": rng.poisson(2.0, (900, 5)).astype(float),
        "float32": z.astype(np.float32),
    }.items():
        yield f"inputs {name}", X, target(np.asarray(X, dtype=float)), {"n_hidden": 3}
    v = rng.standard_normal((3, 5))
    for m in (2, 5):
        several = ShallowNetwork.from_relu(v, rng.standard_normal((3, m)), rng.standard_normal(3) / 2)
        yield f"{m} outputs", z, several(z), {"n_hidden": 3}
    yield "few rows", z[:40], target(z[:40]) + 0.3 * rng.standard_normal(40), {}
    yield "weights", z, target(z) + 0.1 * rng.standard_normal(900), {"sample_weight": rng.uniform(0, 2, 900)}


def pinned() -> dict[str, dict]:
    """Run everything; numbers as JSON can hold them."""
    found = {}
    for name, network, more in runs():
        points = np.random.default_rng(8).standard_normal((N_POINTS, network.n_features))
        found[name] = {"n_hidden": network.n_hidden, "values": network(points).ravel().tolist(), **more}
        print(f"{len(found):3} {name}: {more['status']}, {network.n_hidden} units", file=sys.stderr)
    return found


def differences(before: dict[str, dict], after: dict[str, dict]) -> list[str]:
    """Say in words what is not the same."""
    said = [f"{name}: only in one of the two" for name in before.keys() ^ after.keys()]
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        said += [
            f"{name}: {key} was {old[key]}, is {new[key]}"
            for key in ("status", "n_hidden")
            if old[key] != new[key]
        ]
        a, b = np.array(old["values"]), np.array(new["values"])
        if a.shape == b.shape and not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * np.max(np.abs(a))):
            said.append(f"{name}: values differ by {np.max(np.abs(a - b)):.2g}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the results down instead of comparing")
    options = parser.parse_args()
    found = pinned()
    if options.write:
        PATH.write_text(json.dumps(found, indent=1) + "\n")
        return
    said = differences(json.loads(PATH.read_text()), found)
    print(*said, f"{len(found)} runs, {len(said)} differences", sep="\n")
    raise SystemExit(bool(said))


if __name__ == "__main__":
    main()
