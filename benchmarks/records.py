"""Records on one GPU: whole classifiers from few queries, wide and hard networks from few rows.

    python -m benchmarks.records                            # every line, three seeds each
    python -m benchmarks.records --lines digits-128 wide-512 --seeds 1

A classifier has one hidden layer, PyTorch's own initialisation, and is trained with Adam on digits enlarged to the size
named and shifted at random. It is asked for its logits at points of N(0, I); a query gives ten numbers. Its error is
the largest one over 20,000 fresh points, in units of the spread of the logits. The errors of planted networks are exact
distances in L2(gamma), relative to the norm. `allowed` is what a line is held to, in seconds.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits

from benchmarks.machine import RESULTS, write
from netlearn import learn, teachers

DEVICE = "cuda"
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

    def run(self, seed: int) -> dict:
        """Train it, ask it, and learn it."""
        d = self.channels * self.side**2
        network = trained(self.n_hidden, self.side, self.channels, seed).to(self.dtype)
        n_parameters = (d + 1) * self.n_hidden + (self.n_hidden + 1) * N_CLASSES
        n_queries = int(self.per_parameter * n_parameters)
        generator = torch.Generator(DEVICE).manual_seed(seed)

        def asked(n):
            X = torch.randn((n, d), dtype=self.dtype, device=DEVICE, generator=generator)
            with torch.no_grad():
                return X.double(), network(X).double()

        X, Y = asked(n_queries)
        took, result = timed(
            lambda: learn(
                X, Y, n_hidden=self.n_hidden if self.given else "auto", rng=seed, time_limit=2 * self.allowed
            )
        )
        fresh, truth = asked(N_FRESH)
        error = float((result.network(fresh) - truth).abs().max() / truth.std())
        return {
            "what": f"{d}-{self.n_hidden}-{N_CLASSES} {str(self.dtype).removeprefix('torch.')}",
            "width": "given" if self.given else "not given",
            "rows": n_queries,
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

    def run(self, seed: int) -> dict:
        """Draw it, and learn it."""
        k, d = self.n_hidden, self.n_features
        if self.family == "biases":
            network = teachers.random(k, d, seed, biases=0.5)
        else:
            network = teachers.hard_plane(k, d, seed)
        unknowns = (k + 1) * (d + 1)
        n = int(self.rows) if self.rows > 1000 else int(self.rows * unknowns)
        generator = torch.Generator(DEVICE).manual_seed(seed)
        X = torch.randn((n, d), dtype=torch.float64, device=DEVICE, generator=generator)
        y = network(X)
        took, result = timed(lambda: learn(X, y, n_hidden=k, rng=seed, time_limit=2 * self.allowed))
        return {
            "what": f"{self.family} {k}/{d}",
            "width": "given",
            "rows": n,
            "equations_per_unknown": n / unknowns,
            "seconds": took,
            "allowed": self.allowed,
            "units": result.network.n_hidden,
            "error": result.network.distance(network) / network.norm(),
            "must_reach": self.must_reach,
            "status": result.status.name,
        }


LINES = {
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


def timed(call):
    """Return the seconds of a call, waited for to its end, and its answer."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    answer = call()
    torch.cuda.synchronize()
    return time.perf_counter() - start, answer


def trained(n_hidden: int, side: int, channels: int, seed: int, epochs: int = 30) -> torch.nn.Module:
    """Train a classifier of enlarged, shifted digits to an accuracy near one."""
    torch.manual_seed(seed)
    pictures, labels = load_digits(return_X_y=True)
    small = torch.tensor(pictures.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32, device=DEVICE)
    large = torch.nn.functional.interpolate(small, size=(side, side), mode="bilinear")
    X = large.repeat(1, channels, 1, 1)
    target = torch.tensor(labels, device=DEVICE)
    network = torch.nn.Sequential(
        torch.nn.Flatten(),
        torch.nn.Linear(channels * side**2, n_hidden),
        torch.nn.ReLU(),
        torch.nn.Linear(n_hidden, N_CLASSES),
    ).to(DEVICE)
    optimiser = torch.optim.Adam(network.parameters())
    for _ in range(epochs):
        for some in torch.randperm(len(X), device=DEVICE).split(64):
            shifts = tuple(int(s) for s in torch.randint(-2, 3, (2,)))
            loss = torch.nn.functional.cross_entropy(network(X[some].roll(shifts, (2, 3))), target[some])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return torch.nn.Sequential(*network[1:])  # of rows, not pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", nargs="*", default=list(LINES), choices=list(LINES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "records.csv")
    options = parser.parse_args()
    X = torch.randn((4000, 8), dtype=torch.float64, device=DEVICE)
    learn(X, X[:, 0].abs(), rng=0)  # loads the libraries
    records = []
    for name in options.lines:
        for seed in range(options.seeds):
            record = {"line": name, "seed": seed} | LINES[name].run(seed)
            records.append(record)
            ok = record["error"] <= record["must_reach"] and record["seconds"] <= record["allowed"]
            print(
                f"{name:18} {record['what']:26} {record['width']:10} {record['rows']:>9,} rows, "
                f"{record['equations_per_unknown']:.1f} equations per unknown, seed {seed}: {record['seconds']:6.1f} s "
                f"(allowed {record['allowed']:g}), {record['units']} units, error {record['error']:.1e}, "
                f"{record['status']}  {'ok' if ok else 'FAILED'}",
                flush=True,
            )
    memory = torch.cuda.get_device_properties(DEVICE).total_memory / 2**30
    write(options.out, records, "torch", hardware=f"{torch.cuda.get_device_name(DEVICE)}, {memory:.0f} GiB")


if __name__ == "__main__":
    main()
