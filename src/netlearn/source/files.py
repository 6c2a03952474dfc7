"""Rows in files: chosen columns of a table, read in blocks that are fetched ahead."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from netlearn.errors import InputError
from netlearn.source.ahead import one_ahead
from netlearn.source.arrays import ArraySource
from netlearn.source.blocks import Block, ReadHere
from netlearn.source.columns import (
    Column,
    chosen_features,
    indices,
    label,
    refuse_twice,
    unusable,
    usual_target,
)
from netlearn.source.frames import Frame, FrameTable
from netlearn.source.problems import Problems
from netlearn.source.recipe import Recipe, check_encoding
from netlearn.source.survey import Survey, sentences, survey
from netlearn.source.tables import open_table
from netlearn.source.wanted import as_learned, wanted_of

# Read at once: long enough for a disk, and cut into blocks for a core's cache afterwards.
CHUNK_ENTRIES = 2**20


class FileSource(ReadHere):
    """Rows of a file, or of many, that need not fit in memory; or of a data frame.

    Values become float64. What cannot be used is refused in one message that names every problem with its row and
    column. Memory: a few blocks, whatever the number of rows; only a workbook, and an npz array in Fortran order, are
    read whole.

    Parameters
    ----------
    path : str, path, or frame of pandas or polars
        CSV or lines of JSON, also compressed (.csv, .csv.gz, .jsonl; separator, decimal comma and encoding are found
        out), Parquet (a file, a folder of files, or a pattern such as ``"data/*.parquet"``), Feather, the first sheet
        of a workbook (.xlsx), npy, or npz with one array, or two named X and y.
    target : str, int, path, or list of these
        The column of labels, by name or by number, counted from 0, from the end if negative. A list gives y of
        shape (n, m), an empty one no labels. A star in a name stands for any text: all columns that match are
        taken, in the order of the file. Left out, it is y of an npz file, or the last column of an array.
        For npy also the path of a second npy file.
    features : list of str or int, optional
        The columns of X, in this order, named as for the target; all but the target when left out.
    keep, drop : str, int, or list of these, optional
        Columns to take for X, in the order of the file, and columns to leave out, named as for the target.
    missing : {"error", "drop", "mean"}, optional
        What to do about a missing value: refuse the table (the default), leave its row out, or fill the gap with the
        mean of its column. An empty cell, NA, N/A, NaN, null, None, -, ? and their like are missing values. A row
        without a label is never filled: it is refused or left out.
    encode : {"onehot"}, optional
        How columns of text become numbers: each text becomes a feature, 1 where the column holds it and else 0. They
        are refused when left out.
    recipe : Recipe, optional
        That of a model, to read a table as the one that it was learned from; takes the place of `keep`, `drop` and
        `encode`. Columns are found by its names, or are the `features` in their order. A text that the model has not
        seen counts as a missing value.
    labels_may_lack : bool
        Whether rows without a label are no problem, as labels are only compared with.

    Attributes
    ----------
    n_rows, n_features, n_outputs : int
        Of what is used: rows that are left out do not count.
    feature_names : tuple of str, or None
        None where the file has no names; column=text for a text of a column.
    target : str, tuple of str, or None
        Name of the label column; several names for several; None where the file has no names.
    recipe : Recipe
        What was done to the columns, to be done again to others.
    n_read : int
        Rows read so far in the pass under way.
    """

    def __init__(
        self,
        path: str | os.PathLike | FrameTable | Frame,
        target: Column | os.PathLike | Sequence[Column] | None = None,
        features: Sequence[Column] | None = None,
        *,
        keep: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] | None = None,
        missing: str | None = None,
        encode: str | None = None,
        recipe: Recipe | None = None,
        labels_may_lack: bool = False,
    ):
        check_encoding(encode)
        labels: str | os.PathLike | None = None
        is_npy = isinstance(path, str | os.PathLike) and Path(path).suffix.lower() == ".npy"
        if is_npy and isinstance(target, str | os.PathLike) and Path(target).suffix.lower() == ".npy":
            labels, target = target, None
        table = self._table = open_table(path, labels)
        if target is None:
            target = usual_target(table)
        one = isinstance(target, Column | np.integer)
        columns: Any = [target] if one else target  # what is no list of columns is refused
        targets = indices(table, columns, "target")
        self._one_target = one and len(targets) == 1
        if recipe is None:
            inputs = chosen_features(table, targets, features, keep, drop)
        else:
            inputs = as_learned(table, targets, recipe, features)
        refuse_twice(table, [*inputs, *targets])
        self.path, self.n_outputs, self.n_read = table.path, len(targets), 0
        self.target = None
        if table.names is not None:
            names = tuple(table.names[column] for column in targets)
            self.target = names[0] if self._one_target else names
        self._checked = False
        self._wanted = wanted_of(table, inputs, targets, missing, recipe, encode)
        self._wanted = replace(self._wanted, labels_may_lack=labels_may_lack)
        self._refuse_columns(encode)

    @property
    def _columns(self) -> Sequence[int]:
        return self._wanted.columns

    def _refuse_columns(self, encode: str | None) -> None:
        """Refuse columns that cannot be used, with everything else that is wrong with the table."""
        table, wanted, problems = self._table, self._wanted, self._problems()
        bad = set(unusable(table, wanted.columns, problems))
        n = wanted.n_inputs
        texts = [column for column in wanted.columns if column in table.texts and column not in bad]
        for column in texts:
            if column in wanted.columns[n:]:
                problems.cell("text target", column, *table.example(column))
            elif not wanted.is_fitted and encode is None:
                problems.cell("text", column, *table.example(column))
            else:
                continue
            bad.add(column)
        if not problems:
            return
        # It will not be used, so there is time to say what else is wrong, also with the texts.
        inputs = [column for column in wanted.columns[:n] if column not in bad or column in texts]
        targets = [column for column in wanted.columns[n:] if column not in bad]
        rest = wanted_of(table, inputs, targets, wanted.recipe.missing, None, "onehot")
        if inputs or targets:
            survey(table, rest, self._size, problems)
        raise problems.error()

    def _problems(self) -> Problems:
        return Problems(self.path, partial(label, self._table), self._table.place, self._wanted.is_fitted)

    @property
    def _size(self) -> int:
        return max(1, CHUNK_ENTRIES // len(self._columns))

    @cached_property
    def _found(self) -> Survey:
        """What a reading of all rows finds; raises whatever is wrong with them."""
        return survey(self._table, self._wanted, self._size, self._problems(), self._reached)

    def _reached(self, row: int) -> None:
        self.n_read = row

    @property
    def _is_surveyed(self) -> bool:
        """Whether rows are used only after a reading that says which, and with what in their gaps."""
        wanted = self._wanted
        return wanted.recipe.missing != "error" or bool(wanted.encoded and not wanted.is_fitted)

    @property
    def recipe(self) -> Recipe:
        """What is done to the columns."""
        return self._found.recipe if self._is_surveyed else self._wanted.recipe

    @property
    def n_features(self) -> int:
        """Number of features that the columns become."""
        return self.recipe.n_features if self._wanted.encoded else self._wanted.n_inputs

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        if self._table.names is None:
            return None
        return (self.recipe if self._wanted.encoded else self._wanted.recipe).feature_names

    @property
    def notes(self) -> list[str]:
        """What was done to the table, in sentences."""
        if not self._is_surveyed:
            return []
        names = self._table.names or tuple(map(str, range(self._table.n_columns)))
        return sentences(self._found, self._wanted, [names[column] for column in self._columns])

    @property
    def n_rows(self) -> int:
        """Number of rows that are used; some files are read through to count them."""
        return self._found.n_kept if self._is_surveyed else self.n_lines

    @cached_property
    def n_lines(self) -> int:
        """Number of rows of the table."""
        if self._table.n_rows is not None:
            return self._table.n_rows
        if self._is_surveyed:
            return self._found.n_rows
        return sum(len(rows) for rows in self._chunks())

    @property
    def n_rows_if_known(self) -> int | None:
        """Number of rows of the table where no reading is needed to tell."""
        return self.__dict__.get("n_lines", self._table.n_rows)

    def identity(self) -> list:
        """Return what tells these rows from others: columns, what is done to them, names, sizes and times of files."""
        return [self._columns, asdict(self.recipe), self._table.identity()]

    def starts(self, n_entries: int) -> list[int]:
        """Return rows, about so many entries apart where that is possible, at which reading can begin."""
        if not self._table.can_begin_later:
            return [0]
        size = max(1, n_entries // len(self._columns))
        if self._is_surveyed:
            found, step = self._found, max(1, size // self._size)
            return sorted({kept for kept, _ in found.marks[::step] if kept < found.n_kept} | {0})
        rows = range(0, self.n_rows, size)
        return sorted({self._table.chunks_from(self._columns, size, row)[0] for row in rows})

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Generator[Block]:
        """Yield pairs (X, y) from row `start` on; `width` and `n_cached` as for every `Source`."""
        with closing(one_ahead(self._chunks(start))) as chunks:
            for rows in chunks:
                yield from ArraySource(*self._parts(rows)).blocks(width, n_cached)

    def aligned(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs (X, y) of all rows of the table, also of those that are not used: NaN is where a value lacks."""
        with closing(one_ahead(self._chunks(aligned=True))) as chunks:
            for rows in chunks:
                yield from ArraySource(*self._parts(rows)).blocks()

    def in_memory(self) -> ArraySource:
        """Read all rows."""
        return ArraySource(*self.arrays())

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Read all rows: X of shape (n, d) and y of shape (n,), or (n, m) for several targets."""
        rows = np.empty((0, self.n_features + self.n_outputs))
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

    def _chunks(self, first: int = 0, aligned: bool = False) -> Generator[np.ndarray]:
        """Read the rows once, from the one that is used as number `first` on: features and labels side by side.

        Values are checked until a whole pass has found no fault.
        """
        marked = self._is_surveyed and not aligned
        n_kept, begin = self._found.mark(first) if marked else (first, first)
        expected = self._found.n_rows if self._is_surveyed else self.n_rows_if_known
        books = self._books()
        if begin and self._table.can_begin_later:
            start, chunks = self._table.chunks_from(self._columns, self._size, begin, books)
        else:
            start, chunks = 0, self._table.chunks(self._columns, self._size, books)
        with closing(chunks):
            for values in chunks:
                rows = self._prepared(values[max(begin - start, 0) :], aligned)
                self.n_read = start = start + len(values)
                if expected is not None and start > expected:
                    break
                skipped = max(first - n_kept, 0)
                n_kept += len(rows)
                if skipped < len(rows):
                    yield rows[skipped:]
        if start == 0:
            raise InputError(f"{self.path} has no rows.")
        if expected is not None and start != expected:
            raise InputError(f"{self.path} changed while it was read: it had {expected:,} rows before.")
        self._checked = self._checked or begin == 0

    def _books(self) -> dict:
        return replace(self._wanted, recipe=self.recipe).books() if self._wanted.encoded else {}

    def _prepared(self, values: np.ndarray, aligned: bool) -> np.ndarray:
        """Return features and labels of the rows that are used, or of all of them."""
        recipe, n = self.recipe, self._wanted.n_inputs
        rows, inputs = values, values[:, :n]
        X = recipe.features(inputs)
        if X is not inputs:
            rows = np.concatenate([X, values[:, n:]], axis=1)
        if self._is_surveyed:
            gaps = () if aligned else np.flatnonzero(replace(self._wanted, recipe=recipe).incomplete(values))
            return np.delete(rows, gaps, axis=0) if len(gaps) else rows
        checked = rows[:, : X.shape[1]] if self._wanted.labels_may_lack else rows
        if not self._checked and not np.isfinite(checked).all():
            self._found  # noqa: B018 - reads all rows once more, to name everything that is wrong with them
            raise InputError(f"{self.path} changed while it was read.")
        return rows
