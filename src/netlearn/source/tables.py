"""Tables: what each format of file, and a data frame, gives; and which class reads one."""

import os
from collections.abc import Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

import numpy as np

from netlearn.backend.paths import path_text
from netlearn.errors import InputError
from netlearn.source.cells import Book
from netlearn.source.frames import Frame, FrameTable, is_frame
from netlearn.source.opening import COMPRESSED, kind
from netlearn.source.problems import Problems

_READ = ".csv, .tsv, .jsonl (all also as .gz), .parquet (also a folder or a pattern), .feather, .xlsx, .npy and .npz"


class Table(Protocol):
    """Columns of numbers and texts in a file."""

    @property
    def path(self) -> str:
        """As the user gave it."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of the columns, in the file's order; None where the file has none and columns are counted from 0."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def labels(self) -> tuple[int, ...]:
        """Columns that the file itself holds apart as labels."""
        ...

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where only reading all of it tells."""
        ...

    @property
    def texts(self) -> AbstractSet[int]:
        """Columns that hold text."""
        ...

    @property
    def foreign(self) -> dict[int, str]:
        """For each column that holds neither numbers nor text: what it holds."""
        ...

    @property
    def can_begin_later(self) -> bool:
        """Whether `chunks_from` begins near a given row; otherwise it begins at the first one."""
        ...

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield float64 arrays of about `n_rows` rows, the same ones each time.

        Parameters
        ----------
        columns : sequence of int
        n_rows : int
        books : dict of Book, optional
            Columns to read as texts; what is given are the numbers of the texts in the book.
        problems : Problems, optional
            Is told of cells that are no numbers, and of rows that do not fit.

        Yields
        ------
        array of shape (n, len(columns))
            NaN where a value is missing, infinity where there is something wrong with it.
        """
        ...

    def chunks_from(
        self, columns: Sequence[int], n_rows: int, first: int, books: Mapping[int, Book] | None = None
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give a row at or before row `first` at which reading can begin, and the chunks from there on."""
        ...

    def place(self, row: int) -> tuple[str, int]:
        """Tell the file of a row that is counted from 0, and its number there, counted from 1."""
        ...

    def example(self, column: int) -> tuple[int, str]:
        """Find a filled cell of a column of text, and its row, counted from 0."""
        ...

    def identity(self) -> object:
        """Return what tells these cells from others: names, sizes and times of files, or a hash."""
        ...


def open_table(
    path: str | os.PathLike | FrameTable | Frame, labels: str | os.PathLike | None = None
) -> Table:
    """Open the table at `path`, which may be a frame; `labels` is the file of labels beside an npy file."""
    if isinstance(path, FrameTable):
        return path
    if is_frame(path):
        return FrameTable(path)
    path = path_text('"path" of a table', path)
    is_pattern = any(mark in path for mark in "*?[") and not os.path.exists(path)
    if not is_pattern and not os.path.exists(path):
        raise InputError(f"Cannot read {path}: there is no such file.")
    suffix = kind(path)
    if is_pattern or os.path.isdir(path) or suffix in (".parquet", ".pq"):
        from netlearn.source.parquet import ParquetTable

        return ParquetTable(path)
    if suffix in (".csv", ".tsv", ".txt"):
        from netlearn.source.csv import CsvTable

        return CsvTable(path)
    if suffix in (".jsonl", ".ndjson"):
        from netlearn.source.cell_tables import JsonlTable

        return JsonlTable(path)
    if not path.lower().endswith(COMPRESSED):
        if suffix in (".npy", ".npz"):
            from netlearn.source.npy import NpyTable

            return NpyTable(path, labels)
        if suffix in (".feather", ".arrow"):
            from netlearn.source.feather import FeatherTable

            return FeatherTable(path)
        if suffix in (".xlsx", ".xlsm", ".xls", ".ods"):
            from netlearn.source.cell_tables import XlsxTable

            return XlsxTable(path)
    got = "".join(Path(path).suffixes[-2:]) if path.lower().endswith(COMPRESSED) else suffix
    raise InputError(
        f"Cannot read {path}: netlearn reads tables in {_READ} files, got {got or 'a name without suffix'}."
    )
