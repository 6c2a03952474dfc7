"""A Parquet folder larger than memory: written block by block, and learned against the time of reading it.

    python -m benchmarks.large_file write FOLDER                  # 20,000,000 rows, d = 200, k = 5: 32 GB
    python -m benchmarks.large_file learn FOLDER                  # a line into benchmarks/results/large_file.csv
    python -m benchmarks.large_file write FOLDER --rows 500000    # any other size
    python -m benchmarks.large_file write FOLDER --noise 0.1 --jobs 8   # noise in units of the labels' spread

`learn` runs the fit between two bare readings of the folder, each in a process of its own, so that the peak of
resident memory is that of the fit alone. A reading takes the same columns through the same FileSource and computes
nothing. Before each of the three the files leave the page cache; between the passes of one fit they do so by themselves
where the folder is larger than memory. Wanted: peak below 1.5 GB, fit at most 1.5 times its number of passes times one
reading, error at rounding level. On a machine with other work to do the two readings differ, so the ratio is given to
their mean and to the faster one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from benchmarks.machine import RESULTS, append, provenance
from netlearn import FileSource, ShallowNetwork, learn, teachers

# A group of 65,536 rows and 201 columns is 105 MB, each column of it 512 kB in one piece.
GROUP_ROWS = 2**16
PLANTED, NOISE = "planted.safetensors", "noise.txt"


class CountedSource(FileSource):
    """A folder that counts how often it is read."""

    n_passes = 0

    def blocks(self, *arguments, **options):
        """Begin another pass."""
        self.n_passes += 1
        return super().blocks(*arguments, **options)


def write(options: argparse.Namespace) -> None:
    """Write the rows, one group in memory at a time; random numbers neither compress nor repeat."""
    folder, target = options.folder, teachers.random(options.hidden, options.features, options.seed)
    folder.mkdir(parents=True, exist_ok=True)
    target.save(folder / PLANTED)
    (folder / NOISE).write_text(str(options.noise))
    parts = np.array_split(np.arange(0, options.rows, GROUP_ROWS), options.files)
    with ProcessPoolExecutor(options.jobs) as pool:
        for told in pool.map(partial(write_file, options, target), range(options.files), parts):
            print(told, flush=True)


def write_file(options: argparse.Namespace, target: ShallowNetwork, number: int, starts: np.ndarray) -> str:
    """Write the groups of rows that begin at these numbers."""
    names = [*(f"x{j}" for j in range(options.features)), "y"]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    path, sigma = options.folder / f"part-{number:03}.parquet", options.noise * target.variance() ** 0.5
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in starts:
            n, rng = min(GROUP_ROWS, options.rows - start), np.random.default_rng([options.seed, start])
            X = rng.standard_normal((options.features, n))
            y = target(X.T) + sigma * rng.standard_normal(n)
            writer.write_table(pyarrow.table([pyarrow.array(column) for column in (*X, y)], schema))
    return f"{path}  {path.stat().st_size / 1e9:.2f} GB"


def read(folder: Path) -> dict:
    """Read the folder once and compute nothing."""
    start = time.perf_counter()
    n_rows = sum(len(y) for _, y in FileSource(folder, target="y").blocks())
    return {"rows": n_rows, "seconds": time.perf_counter() - start, "peak_MB": peak()}


def fit(folder: Path) -> dict:
    """Learn the folder."""
    target = ShallowNetwork.load(folder / PLANTED)
    source = CountedSource(folder, target="y")
    start = time.perf_counter()
    result = learn(source, n_hidden=target.n_hidden, rng=0, progress=tell)
    return {
        "seconds": time.perf_counter() - start,
        "steps": {step: round(seconds, 1) for step, seconds in result.diagnostics.seconds.items()},
        "passes": source.n_passes,
        "peak_MB": peak(),
        "error": result.network.distance(target) / target.norm(),
        "status": result.status.name,
    }


def peak() -> float:
    """Return the peak of this process's resident memory, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def tell(news) -> None:
    print(f"{news.seconds:8.1f} s  {news.step}: {news.message}", file=sys.stderr, flush=True)


def apart(step: str, folder: Path) -> dict:
    """Run a step in a fresh process, with the files out of the page cache."""
    for path in folder.glob("*.parquet"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    call = [sys.executable, "-m", "benchmarks.large_file", step, str(folder)]
    found = json.loads(subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout)
    print(f"{step:5} {found}", flush=True)
    return found


def compare(folder: Path) -> None:
    """Read, learn, read again, and put the figures into a line of results."""
    before, learned, after = (apart(step, folder) for step in ("read", "fit", "read"))
    readings = before["seconds"], after["seconds"]
    planted = ShallowNetwork.load(folder / PLANTED)
    noise = float((folder / NOISE).read_text())
    n_unknowns = (planted.n_hidden + 1) * planted.n_features + 1
    expected = noise * (planted.variance() * n_unknowns / before["rows"]) ** 0.5 / planted.norm()
    record = {
        "rows": before["rows"],
        "features": planted.n_features,
        "hidden": planted.n_hidden,
        "noise": noise,
        "GB": round(sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e9, 2),
        "read_before_s": round(before["seconds"], 1),
        "read_after_s": round(after["seconds"], 1),
        "passes": learned["passes"],
        "fit_s": round(learned["seconds"], 1),
        "ratio": round(learned["seconds"] / (learned["passes"] * sum(readings) / 2), 3),
        "ratio_to_faster": round(learned["seconds"] / (learned["passes"] * min(readings)), 3),
        "read_peak_MB": round(before["peak_MB"]),
        "peak_MB": round(learned["peak_MB"]),
        "error": learned["error"],
        "least_squares_error": expected,
        "status": learned["status"],
        **provenance("pyarrow"),
    }
    for name, value in record.items():
        print(f"{name:16} {value}")
    print(append(RESULTS / "large_file.csv", record))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("write", "learn", "read", "fit"):
        step = steps.add_parser(name)
        step.add_argument("folder", type=Path)
        if name == "write":
            step.add_argument("--rows", type=int, default=20_000_000)
            step.add_argument("--features", type=int, default=200)
            step.add_argument("--hidden", type=int, default=5)
            step.add_argument("--files", type=int, default=20)
            step.add_argument("--seed", type=int, default=0)
            step.add_argument("--noise", type=float, default=0.0)
            step.add_argument("--jobs", type=int, default=1, help="files that are written at a time")
    options = parser.parse_args()
    if options.step == "write":
        write(options)
    elif options.step == "learn":
        compare(options.folder)
    else:
        print(json.dumps({"read": read, "fit": fit}[options.step](options.folder)))


if __name__ == "__main__":
    main()
