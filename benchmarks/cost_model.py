"""The formulas of `netlearn.cost` against the clock: predicted and measured seconds of every step, for some sizes.

    python -m benchmarks.cost_model                # the table, some minutes
    python -m benchmarks.cost_model --repeats 5    # on a machine with other work to do

Of each rate the best of the repetitions counts, and of each step the shortest time: others on the machine only ever
make a run longer. Rows are in memory or in npy files, of which a part is held and the rest streamed.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from netlearn import FileSource, learn, teachers
from netlearn.backend.calibrate import Rates, calibrate
from netlearn.cost import plan

STEPS = ("samples", "moments", "subspace", "search", "fit", "certify")
# N, d, k, and whether in a file.
SIZES = (
    (20_000, 50, 5, False),
    (50_000, 100, 10, False),
    (100_000, 200, 5, False),
    (300_000, 100, 5, False),
    (60_000, 400, 3, False),
    (60_000, 800, 3, False),
    (30_000, 50, 30, False),
    (400_000, 200, 5, True),
    (250_000, 400, 3, True),
)


def planted(N, d, k, path):
    """Return rows of a planted network, and their labels; a source and None where they are written to a file."""
    rng = np.random.default_rng(0)
    target = teachers.random(k, d, rng)
    if path is None:
        X = rng.standard_normal((N, d))
        return X, target(X)
    rows = np.lib.format.open_memmap(path, "w+", shape=(N, d + 1))
    for start in range(0, N, 50_000):
        X = rng.standard_normal((min(50_000, N - start), d))
        rows[start : start + len(X)] = np.column_stack([X, target(X)])
    rows.flush()
    return FileSource(path), None


def compared(N, d, k, path, repeats):
    """Return pairs of predicted and measured seconds, one for each step and one for all."""
    X, y = planted(N, d, k, path)
    rates, runs = [], []
    for _ in range(repeats):
        rates.append(calibrate(k + 1, path))
        runs.append(learn(X, y, n_hidden=k, rng=0).diagnostics.seconds)
    best = Rates(*(max(getattr(r, name) for r in rates) for name in ("wide", "narrow", "memory", "disk")))
    expected = dict.fromkeys(STEPS, 0.0)
    for cost in plan(N, d, k, in_files=path is not None).passes:
        expected[cost.step] += cost.seconds(best)
    measured = {step: min(seconds[step] for seconds in runs) for step in STEPS}
    totals = sum(expected.values()), sum(measured.values())
    return [*((expected[step], measured[step]) for step in STEPS), totals]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'N':>9} {'d':>4} {'k':>3} {'rows in':7}" + "".join(f"{step:>15}" for step in (*STEPS, "all")))
    for N, d, k, in_file in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy" if in_file else None
            pairs = compared(N, d, k, path, options.repeats)
        cells = "".join(
            f"{expected:7.2f} {measured:6.2f}"
            + ("*" if max(expected, measured) > 2 * min(expected, measured) else " ")
            for expected, measured in pairs
        )
        print(f"{N:>9,} {d:>4} {k:>3} {'file' if in_file else 'memory':7} {cells}", flush=True)
    print("each step: predicted and measured seconds; * where they differ by more than a factor of 2")


if __name__ == "__main__":
    main()
