"""Tables in files: what each format gives, and which class reads a path."""

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from netlearn.backend.paths import path_text
from netlearn.errors import InputError


class Table(Protocol):
    """Columns of numbers in a file.

    A table that need not be read from its beginning also has `chunks_from`, which begins near a given row.

    Attributes
    ----------
    path : str
        As the user gave it.
    names : tuple of str, or None
        Of the columns, in the file's order; None where the file has none and columns are counted from 0.
    n_columns : int
    labels : tuple of int
        Columns that the file itself holds apart as labels.
    n_rows : int or None
        None where only reading all of it tells.
    foreign : dict
        For each column that holds no numbers: what it holds.
    """

    path: str
    names: tuple[str, ...] | None
    n_columns: int
    labels: tuple[int, ...]
    n_rows: int | None
    foreign: dict[int, str]

    def chunks(self, columns: Sequence[int], n_rows: int) -> Generator[np.ndarray]:
        """Yield float64 arrays of about `n_rows` rows, NaN where a value is missing; the same ones each time."""
        ...

    def place(self, row: int) -> tuple[str, int]:
        """Tell the file of a row that is counted from 0, and its number there, counted from 1."""
        ...


def open_table(path: str | os.PathLike, labels: str | os.PathLike | None = None) -> Table:
    """Open the table at `path`; `labels` is the file of labels beside an npy file."""
    path = path_text('"path" of a table', path)
    is_pattern = any(mark in path for mark in "*?[") and not os.path.exists(path)
    if not is_pattern and not os.path.exists(path):
        raise InputError(f"Cannot read {path}: there is no such file.")
    suffix = Path(path).suffix.lower()
    if is_pattern or os.path.isdir(path) or suffix in (".parquet", ".pq"):
        from netlearn.source.parquet import ParquetTable

        return ParquetTable(path)
    if suffix in (".csv", ".tsv", ".txt"):
        from netlearn.source.csv import CsvTable

        return CsvTable(path)
    if suffix in (".npy", ".npz"):
        from netlearn.source.npy import NpyTable

        return NpyTable(path, labels)
    raise InputError(
        f"Cannot read {path}: netlearn reads tables in .csv, .tsv, .parquet (also a folder or a pattern), .npy and "
        f".npz files, got {suffix or 'a name without suffix'}."
    )
