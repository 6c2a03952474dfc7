"""Records: whole classifiers from few queries, wide and hard networks from few rows.

    python -m benchmarks.records laptop                     # lines for one core, three seeds each (OMP_NUM_THREADS=1)
    python -m benchmarks.records gpu                        # lines for one GPU
    python -m benchmarks.records gpu --lines digits-128 wide-512 --seeds 1
    python -m benchmarks.records markdown                   # writes docs/records_table.md from what was measured

A classifier has one hidden layer, PyTorch's own initialisation, and is trained with Adam on digits enlarged to the size
named and shifted at random. It is asked for its logits at points of N(0, I); a query gives ten numbers. Its error is
the largest one over 20,000 fresh points, in units of the spread of the logits. The errors of planted networks are exact
distances in L2(gamma), relative to the norm. `allowed` is what a line is held to, in seconds.
"""

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits

from benchmarks.machine import RESULTS, write
from netlearn import learn, teachers

PAGE = Path(__file__).parents[1] / "docs" / "records_table.md"
N_FRESH = 20_000
N_CLASSES = 10


@dataclass(frozen=True)
class Classifier:
    """A classifier of pictures: width, side and channels, queries per parameter, and whether the width is given."""

    n_hidden: int
    side: int
    channels: int
    per_parameter: float
    given: bool
    allowed: float
    dtype: torch.dtype = torch.float64
    must_reach: float = 1e-9

    def run(self, seed: int, device: str) -> dict:
        """Train it, ask it, and learn it."""
        d = self.channels * self.side**2
        network = trained(self.n_hidden, self.side, self.channels, seed, device).to(self.dtype)
        n_parameters = (d + 1) * self.n_hidden + (self.n_hidden + 1) * N_CLASSES
        n_queries = int(self.per_parameter * n_parameters)
        generator = torch.Generator(device).manual_seed(seed)

        def asked(n):
            X = torch.randn((n, d), dtype=self.dtype, device=device, generator=generator)
            with torch.no_grad():
                return as_learned(X.double()), as_learned(network(X).double())

        X, Y = asked(n_queries)
        took, result = timed(
            lambda: learn(
                X, Y, n_hidden=self.n_hidden if self.given else "auto", rng=seed, time_limit=2 * self.allowed
            )
        )
        fresh, truth = asked(N_FRESH)
        error = float(abs(result.network(fresh) - truth).max() / truth.std())
        return {
            "what": f"{d}-{self.n_hidden}-{N_CLASSES} {str(self.dtype).removeprefix('torch.')}",
            "width": "given" if self.given else "not given",
            "rows": n_queries,
            "rows_per_parameter": n_queries / n_parameters,
            "equations_per_unknown": N_CLASSES * n_queries / n_parameters,
            "seconds": took,
            "allowed": self.allowed,
            "units": result.network.n_hidden,
            "error": error,
            "must_reach": self.must_reach,
            "status": result.status.name,
        }


@dataclass(frozen=True)
class Planted:
    """A planted network: its family, width and features, and rows, or rows per unknown where that is a small number."""

    family: str
    n_hidden: int
    n_features: int
    rows: float
    allowed: float
    must_reach: float = 1e-8

    def run(self, seed: int, device: str) -> dict:
        """Draw it, and learn it."""
        k, d = self.n_hidden, self.n_features
        if self.family == "biases":
            network = teachers.random(k, d, seed, biases=0.5)
        else:
            network = teachers.hard_plane(k, d, seed)
        unknowns = (k + 1) * (d + 1)
        n = int(self.rows) if self.rows > 1000 else int(self.rows * unknowns)
        generator = torch.Generator(device).manual_seed(seed)
        X = as_learned(torch.randn((n, d), dtype=torch.float64, device=device, generator=generator))
        y = network(X)
        took, result = timed(lambda: learn(X, y, n_hidden=k, rng=seed, time_limit=2 * self.allowed))
        return {
            "what": f"{self.family} {k}/{d}",
            "width": "given",
            "rows": n,
            "rows_per_parameter": n / unknowns,
            "equations_per_unknown": n / unknowns,
            "seconds": took,
            "allowed": self.allowed,
            "units": result.network.n_hidden,
            "error": result.network.distance(network) / network.norm(),
            "must_reach": self.must_reach,
            "status": result.status.name,
        }


LAPTOP = {
    "digits-32": Classifier(32, 8, 1, 0.4, True, 60.0),
    "digits-64": Classifier(64, 8, 1, 0.3, True, 60.0),
    "digits-64-auto": Classifier(64, 8, 1, 0.5, False, 60.0),
    "digits-64-single": Classifier(64, 8, 1, 0.5, True, 60.0, torch.float32, 1e-4),
    "digits-64-large": Classifier(64, 14, 1, 0.4, True, 180.0),
    "wide-100": Planted("biases", 100, 20, 4.0, 180.0),
    "plane-32": Planted("hard_plane", 32, 60, 200_000, 60.0),
}
GPU = {
    "digits-128": Classifier(128, 28, 1, 1.0, True, 60.0),
    "digits-128-auto": Classifier(128, 28, 1, 2.0, False, 60.0),
    "digits-128-single": Classifier(128, 28, 1, 2.0, True, 60.0, torch.float32, 1e-4),
    "digits-512": Classifier(512, 28, 1, 2.0, True, 300.0),
    "colour-256": Classifier(256, 32, 3, 2.0, True, 300.0),
    "plane-64": Planted("hard_plane", 64, 200, 2_000_000, 60.0),
    "wide-512": Planted("biases", 512, 128, 4.0, 90.0),
    "wide-1024": Planted("biases", 1024, 256, 8.0, 120.0),
    "wide-2048": Planted("biases", 2048, 128, 6.0, 480.0),
}


def as_learned(rows: torch.Tensor):
    """Return rows as they are given to `learn`: on a processor as NumPy has them."""
    return rows if rows.is_cuda else rows.numpy()


def timed(call):
    """Return the seconds of a call, waited for to its end, and its answer."""

    def wait():
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    wait()
    start = time.perf_counter()
    answer = call()
    wait()
    return time.perf_counter() - start, answer


def trained(
    n_hidden: int, side: int, channels: int, seed: int, device: str, epochs: int = 30
) -> torch.nn.Module:
    """Train a classifier of enlarged, shifted digits to an accuracy near one."""
    torch.manual_seed(seed)
    pictures, labels = load_digits(return_X_y=True)
    small = torch.tensor(pictures.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32, device=device)
    large = torch.nn.functional.interpolate(small, size=(side, side), mode="bilinear")
    X = large.repeat(1, channels, 1, 1)
    target = torch.tensor(labels, device=device)
    network = torch.nn.Sequential(
        torch.nn.Flatten(),
        torch.nn.Linear(channels * side**2, n_hidden),
        torch.nn.ReLU(),
        torch.nn.Linear(n_hidden, N_CLASSES),
    ).to(device)
    optimiser = torch.optim.Adam(network.parameters())
    for _ in range(epochs):
        for some in torch.randperm(len(X), device=device).split(64):
            shifts = tuple(int(s) for s in torch.randint(-2, 3, (2,)))
            loss = torch.nn.functional.cross_entropy(network(X[some].roll(shifts, (2, 3))), target[some])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return torch.nn.Sequential(*network[1:])  # of rows, not pictures


def markdown() -> str:
    """Return what was measured as a table, a row for each line: the worst of its seeds."""
    heads = "network | where | width | rows | rows per parameter | equations per unknown | seeds"
    lines = [f"| {heads} | seconds | error | units |", "|---" * 10 + "|"]
    for where in ("laptop", "gpu"):
        path = RESULTS / f"records_{where}.csv"
        records = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
        for name in dict.fromkeys(record["line"] for record in records):
            runs = [record for record in records if record["line"] == name]
            one, seconds = runs[0], [float(run["seconds"]) for run in runs]
            lines.append(
                f"| {one['what']} | {'one core' if where == 'laptop' else 'one GPU'} | {one['width']} "
                f"| {int(one['rows']):,} | {float(one['rows_per_parameter']):.2f} "
                f"| {float(one['equations_per_unknown']):.1f} | {len(runs)} | {_range(seconds)} "
                f"| {max(float(run['error']) for run in runs):.0e} "
                f"| {', '.join(sorted({run['units'] for run in runs}))} |"
            )
    return "\n".join(lines) + "\n"


def _range(seconds: list[float]) -> str:
    """Return the fastest and the slowest, once where they are the same."""
    first, last = f"{min(seconds):.0f}", f"{max(seconds):.0f}"
    return first if first == last else f"{first} to {last}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("where", choices=["laptop", "gpu", "markdown"])
    parser.add_argument("--lines", nargs="*", help="some of the lines only")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--out", type=Path, help="write these lines to a file of their own, after each of them"
    )
    options = parser.parse_args()
    if options.where == "markdown":
        PAGE.write_text(markdown(), encoding="utf-8")
        return
    lines, device = (GPU, "cuda") if options.where == "gpu" else (LAPTOP, "cpu")
    X = as_learned(torch.randn((4000, 8), dtype=torch.float64, device=device))
    learn(X, abs(X[:, 0]), rng=0)  # loads the libraries
    hardware = {}
    if device == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory / 2**30
        hardware["hardware"] = f"{torch.cuda.get_device_name(device)}, {memory:.0f} GiB"
    path = options.out or (RESULTS / f"records_{options.where}.csv" if options.lines is None else None)
    records = []
    for name in options.lines or lines:
        for seed in range(options.seeds):
            record = {"line": name, "seed": seed} | lines[name].run(seed, device)
            records.append(record)
            ok = record["error"] <= record["must_reach"] and record["seconds"] <= record["allowed"]
            print(
                f"{name:18} {record['what']:26} {record['width']:10} {record['rows']:>9,} rows, "
                f"{record['rows_per_parameter']:.2f} per parameter, seed {seed}: {record['seconds']:6.1f} s "
                f"(allowed {record['allowed']:g}), {record['units']} units, error {record['error']:.1e}, "
                f"{record['status']}  {'ok' if ok else 'FAILED'}",
                flush=True,
            )
        if path is not None:
            write(path, records, "torch", **hardware)


if __name__ == "__main__":
    main()
