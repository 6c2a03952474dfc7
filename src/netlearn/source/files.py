"""Rows in files: chosen columns of a table, read in blocks that are fetched ahead."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

import numpy as np

from netlearn.errors import InputError
from netlearn.source.ahead import one_ahead
from netlearn.source.arrays import ArraySource
from netlearn.source.tables import Table, open_table

# Read at once: long enough for a disk, and cut into blocks for a core's cache afterwards.
_CHUNK_ENTRIES = 2**20

Column = str | int


class FileSource:
    """Rows of a file, or of many, that need not fit in memory.

    Values become float64. Where one is missing, NaN, infinite or no number, reading stops with a sentence that
    names file, row and column. Memory: a few blocks, whatever the number of rows; only an npz array in Fortran
    order is read whole.

    Parameters
    ----------
    path : str or path
        Parquet (a file, a folder of files, or a pattern such as ``"data/*.parquet"``), CSV (separator, decimal
        comma and encoding are found out), npy, or npz with one array, or two named X and y.
    target : str, int, path, or list of these
        The column of labels, by name or by number, counted from 0, from the end if negative. A list gives y of
        shape (n, m), an empty one no labels. A star in a name stands for any text: all columns that match are
        taken, in the order of the file. Left out, it is y of an npz file, or the last column of an array.
        For npy also the path of a second npy file.
    features : list of str or int, optional
        The columns of X, in this order, named as for the target; all but the target when left out.

    Attributes
    ----------
    n_rows, n_features, n_outputs : int
    feature_names : tuple of str, or None
        None where the file has no names.
    target : str, tuple of str, or None
        Name of the label column; several names for several; None where the file has no names.
    n_read : int
        Rows read so far in the pass under way.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        target: Column | os.PathLike | Sequence[Column] | None = None,
        features: Sequence[Column] | None = None,
    ):
        labels = None
        is_npy = isinstance(path, str | os.PathLike) and Path(path).suffix.lower() == ".npy"
        if is_npy and isinstance(target, str | os.PathLike) and Path(target).suffix.lower() == ".npy":
            labels, target = target, None
        table = self._table = open_table(path, labels)
        if target is None:
            target = _usual_target(table)
        one = isinstance(target, Column | np.integer)
        targets = _indices(table, [target] if one else target, "target")
        self._one_target = one and len(targets) == 1
        if features is None:
            apart = {*targets, *table.labels}
            chosen = [column for column in range(table.n_columns) if column not in apart]
        else:
            chosen = _indices(table, features, "features")
        if not chosen:
            raise InputError(f"{table.path} leaves no column for the features beside the target.")
        self._columns = [*chosen, *targets]
        _check_columns(table, self._columns)
        self.path = table.path
        self.n_features, self.n_outputs = len(chosen), len(targets)
        self.feature_names, self.target = None, None
        if table.names is not None:
            names = tuple(table.names[column] for column in self._columns)
            self.feature_names = names[: len(chosen)]
            self.target = names[-1] if self._one_target else names[len(chosen) :]
        self.n_read = 0
        self._checked = False

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; a CSV file is read through to count them."""
        if self._table.n_rows is not None:
            return self._table.n_rows
        return sum(len(rows) for rows in self._chunks())

    def identity(self) -> list:
        """Return what tells this file, or these files, and the columns taken from others: names, sizes and times."""
        files = getattr(self._table, "files", [self.path])
        stats = [(os.path.basename(file), os.stat(file)) for file in files]
        return [self._columns, [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]]

    @property
    def n_rows_if_known(self) -> int | None:
        """Number of rows where no reading is needed to tell."""
        return self.__dict__.get("n_rows", self._table.n_rows)

    def blocks(
        self, width: int = 0, n_cached: int = 1, start: int = 0
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs (X, y) from row `start` on; `width` and `n_cached` as for every `Source`."""
        with closing(one_ahead(self._chunks(start))) as chunks:
            for rows in chunks:
                yield from ArraySource(*self._parts(rows)).blocks(width, n_cached)

    def in_memory(self) -> ArraySource:
        """Read all rows."""
        return ArraySource(*self.arrays())

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Read all rows: X of shape (n, d) and y of shape (n,), or (n, m) for several targets."""
        rows = np.empty((0, len(self._columns)))
        end = 0
        for chunk in self._chunks():
            start, end = end, end + len(chunk)
            if end > len(rows):  # a file may promise more rows than it has, so memory is taken as they come
                rows.resize((min(2 * end, max(end, self.n_rows)), rows.shape[1]), refcheck=False)
            rows[start:end] = chunk
        return self._parts(rows)

    def _parts(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        X, y = rows[:, : self.n_features], rows[:, self.n_features :]
        return X, y[:, 0] if self._one_target else y

    def _chunks(self, first: int = 0) -> Generator[np.ndarray]:
        """Read the rows once, from row `first` on; values are checked until a whole pass has found no fault."""
        expected = self.n_rows_if_known
        size = max(1, _CHUNK_ENTRIES // len(self._columns))
        if first and hasattr(self._table, "chunks_from"):
            start, chunks = self._table.chunks_from(self._columns, size, first)
        else:
            start, chunks = 0, self._table.chunks(self._columns, size)
        with closing(chunks):
            for rows in chunks:
                if not self._checked:
                    self._refuse_missing(rows, start)
                skipped = max(first - start, 0)
                self.n_read = start = start + len(rows)
                if expected is not None and start > expected:
                    break
                if skipped < len(rows):
                    yield rows[skipped:]
        if start == 0:
            raise InputError(f"{self.path} has no rows.")
        if expected is not None and start != expected:
            raise InputError(f"{self.path} changed while it was read: it had {expected:,} rows before.")
        self._checked = self._checked or first == 0

    def _refuse_missing(self, rows: np.ndarray, start: int) -> None:
        finite = np.isfinite(rows)
        if finite.all():
            return
        row, column = np.argwhere(~finite)[0]
        file, number = self._table.place(start + int(row))
        what = "no number (a missing value or NaN)" if np.isnan(rows[row, column]) else "infinity"
        raise InputError(
            f"{file} holds {what} in row {number:,}, {_label(self._table, self._columns[column])}: "
            "remove or fill such rows first."
        )


def _usual_target(table: Table) -> Column | list[Column]:
    """Return the target of a file that has no names; where there are names, one must be given."""
    if table.names is not None:
        raise InputError(f'"target" of {table.path} must be given: one of {_listed(table)}.')
    if len(table.labels) > 1:
        return list(table.labels)
    return table.labels[0] if table.labels else table.n_columns - 1


def _indices(table: Table, wanted: Sequence[Column], argument: str) -> list[int]:
    """Find columns by their names, where a star stands for any text, or by their numbers."""
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Sequence | np.ndarray):
        raise InputError(f'"{argument}" of {table.path} must be a list of columns, got {wanted!r:.100}.')
    found = []
    for column in wanted:
        names = table.names or ()
        matching = []
        if isinstance(column, str) and "*" in column and column not in names:
            pattern = re.compile(".*".join(map(re.escape, column.split("*"))), re.DOTALL)
            matching = [index for index, name in enumerate(names) if pattern.fullmatch(name)]
        found += matching or [_index(table, column, argument)]
    return found


def _index(table: Table, wanted: Column, argument: str) -> int:
    """Find a column by its name, or by its number."""
    if table.names is not None and wanted in table.names:
        return table.names.index(wanted)
    # A float would be cut off, and a truth value is no number of a column.
    may_be = isinstance(wanted, Column | np.integer) and not isinstance(wanted, bool)
    try:
        number = int(wanted) if may_be else None
    except ValueError:
        number = None
    if number is None:
        near = difflib.get_close_matches(str(wanted), table.names or (), n=1)
        hint = f' (did you mean "{near[0]}"?)' if near else ""
        raise InputError(f'"{argument}" of {table.path} must be in {_listed(table)}; got "{wanted}"{hint}.')
    if not -table.n_columns <= number < table.n_columns:
        raise InputError(
            f'"{argument}" must be the number of a column of {table.path}, which has {table.n_columns}, counted '
            f"from 0; got {number}."
        )
    return number % table.n_columns


def _check_columns(table: Table, columns: Sequence[int]) -> None:
    """Refuse columns that cannot be told apart, that were chosen twice, or that hold no numbers."""
    for place, column in enumerate(columns):
        if column in columns[:place]:
            raise InputError(
                f"{table.path}: {_label(table, column)} was chosen twice, as features or target."
            )
        if table.names is not None:
            if not table.names[column].strip():
                raise InputError(
                    f"{table.path} has a column without a name (column {column}, counted from 0; perhaps an index): "
                    "name it, or say which columns are the features."
                )
            if table.names.count(table.names[column]) > 1:
                raise InputError(
                    f"{table.path} has more than one {_label(table, column)}: rename one of them."
                )
    for column in columns:
        if column in table.foreign:
            raise InputError(
                f"{table.path} holds {table.foreign[column]} in {_label(table, column)}: leave the column out with "
                '"features", or encode it as numbers.'
            )


def _label(table: Table, column: int) -> str:
    return f"column {column}" if table.names is None else f'column "{table.names[column]}"'


def _listed(table: Table) -> str:
    if table.names is None:
        return f"its {table.n_columns} columns, which have no names and are counted from 0"
    shown = ", ".join(table.names[:12])
    more = len(table.names) - 12
    return f"its columns {shown}" + (f" and {more} more" if more > 0 else "")
