"""Predictions of a network, block by block, into a file."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from netlearn.cli.outputs import replacing
from netlearn.network import ShallowNetwork
from netlearn.source import FileSource

SUFFIXES = (".csv", ".parquet", ".npy")
COLUMN = "prediction"
# Rows of one group in a Parquet file; blocks are much shorter.
_GROUP = 2**20


@dataclass(frozen=True)
class Errors:
    """How predictions compare with the labels; `label_deviation` is the labels' standard deviation."""

    root_mean_square: float
    largest: float
    label_deviation: float


class ErrorSum:
    """What `Errors` needs of the rows seen so far."""

    def __init__(self):
        self.n_rows, self.squares, self.largest = 0, 0.0, 0.0
        self._mean, self._spread = 0.0, 0.0

    def add(self, y: np.ndarray, predicted: np.ndarray) -> None:
        """Take in the rows of one block."""
        errors = y - predicted
        self.squares += float(errors @ errors)
        self.largest = max(self.largest, float(np.abs(errors).max()))
        # Deviations from the block's own mean, merged: sums of large squares would cancel.
        n, total, gap = len(y), self.n_rows + len(y), float(y.mean()) - self._mean
        self._spread += float(np.sum((y - y.mean()) ** 2)) + gap**2 * n * self.n_rows / total
        self._mean += gap * n / total
        self.n_rows = total

    def finalize(self) -> Errors:
        """Divide by the number of rows."""
        return Errors(
            math.sqrt(self.squares / self.n_rows), self.largest, math.sqrt(self._spread / self.n_rows)
        )


def predict_to_file(network: ShallowNetwork, source: FileSource, path: str) -> Errors | None:
    """Write one prediction per row of `source`, in its order; compare them with its labels if it has any."""
    errors = ErrorSum()
    with replacing(path) as beside, _writer(path, str(beside), source) as write:
        for X, y in source.blocks():
            predicted = network(X)
            write(predicted)
            if y.ndim == 1:
                errors.add(y, predicted)
    return errors.finalize() if errors.n_rows else None


@contextmanager
def _writer(path: str, beside: str, source: FileSource) -> Iterator[Callable[[np.ndarray], None]]:
    """Open `beside` in the format that the suffix of `path` says."""
    if path.lower().endswith(".csv"):
        with open(beside, "x", encoding="utf-8") as stream:
            stream.write(f"{COLUMN}\n")
            yield lambda values: stream.write("".join(f"{value!r}\n" for value in values.tolist()))
    elif path.lower().endswith(".npy"):
        mapped = np.lib.format.open_memmap(beside, mode="w+", dtype=np.float64, shape=(source.n_rows,))
        yield _filling(mapped)
        mapped.flush()
    else:
        with _parquet_writer(beside) as write:
            yield write


def _filling(array: np.ndarray) -> Callable[[np.ndarray], None]:
    end = 0

    def write(values: np.ndarray) -> None:
        nonlocal end
        array[end : end + len(values)] = values
        end += len(values)

    return write


@contextmanager
def _parquet_writer(beside: str) -> Iterator[Callable[[np.ndarray], None]]:
    import pyarrow
    from pyarrow import parquet

    kept: list[np.ndarray] = []

    def flush() -> None:
        file.write_table(pyarrow.table({COLUMN: np.concatenate(kept)}))
        kept.clear()

    def write(values: np.ndarray) -> None:
        kept.append(values)
        if sum(map(len, kept)) >= _GROUP:
            flush()

    with parquet.ParquetWriter(beside, pyarrow.schema([(COLUMN, pyarrow.float64())])) as file:
        yield write
        if kept:
            flush()
