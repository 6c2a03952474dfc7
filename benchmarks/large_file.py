"""A Parquet folder larger than memory: written block by block, and learned against the time of reading it.

    python -m benchmarks.large_file write FOLDER                  # 20,000,000 rows, d = 200, k = 5: 32 GB
    python -m benchmarks.large_file learn FOLDER                  # a line into benchmarks/results/large_file.csv
    python -m benchmarks.large_file write FOLDER --rows 500000    # any other size

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
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from benchmarks.machine import RESULTS, append, provenance
from netlearn import FileSource, ShallowNetwork, learn, teachers

# A group of 65,536 rows and 201 columns is 105 MB, each column of it 512 kB in one piece.
GROUP_ROWS = 2**16
PLANTED = "planted.safetensors"


class CountedSource(FileSource):
    """A folder that counts how often it is read."""

    n_passes = 0

    def blocks(self, *arguments, **options):
        """Begin another pass."""
        self.n_passes += 1
        return super().blocks(*arguments, **options)


def write(folder: Path, n_rows: int, d: int, k: int, n_files: int, seed: int) -> None:
    """Write the rows, one group in memory at a time; random numbers neither compress nor repeat."""
    target = teachers.random(k, d, seed)
    names = [*(f"x{j}" for j in range(d)), "y"]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    folder.mkdir(parents=True, exist_ok=True)
    target.save(folder / PLANTED)
    for number, rows in enumerate(np.array_split(np.arange(0, n_rows, GROUP_ROWS), n_files)):
        path = folder / f"part-{number:03}.parquet"
        with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            for start in rows:
                n = min(GROUP_ROWS, n_rows - start)
                X = np.random.default_rng([seed, start]).standard_normal((d, n))
                columns = [pyarrow.array(column) for column in (*X, target(X.T))]
                writer.write_table(pyarrow.table(columns, schema))
        print(f"{path}  {path.stat().st_size / 1e9:.2f} GB", flush=True)


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
    record = {
        "rows": before["rows"],
        "features": planted.n_features,
        "hidden": planted.n_hidden,
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
    options = parser.parse_args()
    if options.step == "write":
        write(options.folder, options.rows, options.features, options.hidden, options.files, options.seed)
    elif options.step == "learn":
        compare(options.folder)
    else:
        print(json.dumps({"read": read, "fit": fit}[options.step](options.folder)))


if __name__ == "__main__":
    main()
