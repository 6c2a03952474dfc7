"""Predictions of a network, block by block, into a file."""

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from netlearn.cli.outputs import replacing
from netlearn.network import ShallowNetwork
from netlearn.source import FileSource
from netlearn.source.reading import predicted

SUFFIXES = (".csv", ".parquet", ".npy")
COLUMN = "prediction"
# Rows of one group in a Parquet file; blocks are much shorter.
_GROUP = 2**20


@dataclass(frozen=True)
class Errors:
    """How predictions compare with the labels.

    Attributes
    ----------
    root_mean_square : float
        With several outputs, of the length of the vector of their errors.
    largest : float
        The largest error of any output.
    label_deviation : float
        The labels' standard deviation; with several outputs variances are summed.
    per_output : tuple of Errors
        One for each of several outputs.
    """

    root_mean_square: float
    largest: float
    label_deviation: float
    per_output: tuple["Errors", ...] = ()


class ErrorSum:
    """What `Errors` needs of the rows seen so far, for each output."""

    def __init__(self):
        self.n_rows = 0
        self.squares = self.largest = self._mean = self._spread = np.zeros(1)

    def add(self, y: np.ndarray, predicted: np.ndarray) -> None:
        """Take in the rows of one block."""
        if len(y) == 0:
            return
        y, predicted = (values.reshape(len(y), -1) for values in (y, predicted))
        self.squares = self.squares + np.sum((y - predicted) ** 2, axis=0)
        self.largest = np.maximum(self.largest, np.max(np.abs(y - predicted), axis=0))
        # Deviations from the block's own mean, merged: sums of large squares would cancel.
        n, total, mean = len(y), self.n_rows + len(y), y.mean(axis=0)
        gap = mean - self._mean
        self._spread = self._spread + np.sum((y - mean) ** 2, axis=0) + gap**2 * n * self.n_rows / total
        self._mean = self._mean + gap * n / total
        self.n_rows = total

    def finalize(self) -> Errors:
        """Divide by the number of rows."""
        each = tuple(
            Errors(math.sqrt(squares / self.n_rows), float(largest), math.sqrt(spread / self.n_rows))
            for squares, largest, spread in zip(self.squares, self.largest, self._spread, strict=True)
        )
        if len(each) == 1:
            return each[0]
        return Errors(
            math.hypot(*(errors.root_mean_square for errors in each)),
            max(errors.largest for errors in each),
            math.hypot(*(errors.label_deviation for errors in each)),
            each,
        )


def predict_to_file(
    network: ShallowNetwork, names: Sequence[str], source: FileSource, path: str
) -> Errors | None:
    """Write the prediction for each row of `source`, in its order; compare them with its labels if it has any.

    Several outputs are columns that are called by `names`; a single one is called "prediction". Where a row lacks a
    value that is not filled, its prediction is empty, NaN in an .npy file; so there are as many as rows in the table.
    """
    errors = ErrorSum()
    columns = (COLUMN,) if network.n_outputs == 1 else tuple(names)
    shape = (source.n_lines, *network.linear.shape[:-1])
    with replacing(path) as beside, table_writer(path, str(beside), columns, shape) as write:
        for X, y in source.aligned():
            values = predicted(network, X)
            write(values)
            if source.n_outputs:
                labelled = ~np.isnan(y + values).reshape(len(y), -1).any(axis=1)
                errors.add(y[labelled], values[labelled])
    return errors.finalize() if errors.n_rows else None


def _cells(values: np.ndarray) -> list[list[object]]:
    """Return rows of numbers, with an empty cell for NaN."""
    rows = values.reshape(len(values), -1)
    if not np.isnan(rows).any():
        return rows.tolist()
    return [["" if math.isnan(value) else value for value in row] for row in rows.tolist()]


@contextmanager
def table_writer(
    path: str, beside: str, columns: tuple[str, ...], shape: tuple[int, ...]
) -> Iterator[Callable[[np.ndarray], object]]:
    """Open `beside` in the format that the suffix of `path` says."""
    if path.lower().endswith(".csv"):
        with open(beside, "x", encoding="utf-8", newline="") as stream:
            lines = csv.writer(stream, lineterminator="\n")
            lines.writerow(columns)
            yield lambda values: lines.writerows(_cells(values))
    elif path.lower().endswith(".npy"):
        with open(
            beside, "xb"
        ) as stream:  # not a map: where the disk is full, writing to one ends the process
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            yield lambda values: stream.write(np.ascontiguousarray(values, dtype="<f8").data)
    else:
        with _parquet_writer(beside, columns) as write:
            yield write


@contextmanager
def _parquet_writer(beside: str, columns: tuple[str, ...]) -> Iterator[Callable[[np.ndarray], object]]:
    import pyarrow
    from pyarrow import parquet

    kept: list[np.ndarray] = []

    def flush() -> None:
        values = np.concatenate(kept).reshape(-1, len(columns))
        arrays = [pyarrow.array(own, from_pandas=True) for own in values.T]  # NaN becomes a missing value
        file.write_table(pyarrow.table(arrays, schema=schema))
        kept.clear()

    def write(values: np.ndarray) -> None:
        kept.append(values)
        if sum(map(len, kept)) >= _GROUP:
            flush()

    schema = pyarrow.schema([(name, pyarrow.float64()) for name in columns])
    with parquet.ParquetWriter(beside, schema) as file:
        yield write
        if kept:
            flush()
