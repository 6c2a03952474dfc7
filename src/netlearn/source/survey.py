"""One reading of a table before it is learned from: rows counted, gaps, means and texts found, all problems named."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from netlearn.errors import InputError
from netlearn.source.cells import MOST_CATEGORIES, Book
from netlearn.source.problems import Problems, shown
from netlearn.source.recipe import Recipe
from netlearn.source.tables import Table
from netlearn.source.wanted import Wanted


@dataclass(frozen=True)
class Survey:
    """What a reading found.

    Attributes
    ----------
    n_rows, n_kept : int
        Rows of the table, and those of them that are used.
    gaps : tuple of int
        Missing values of each column.
    unknown : dict
        For each column of features: texts that the recipe does not know.
    recipe : Recipe
        With categories and means.
    marks : tuple of (int, int)
        Where chunks begin: rows used before, and rows of the table.
    """

    n_rows: int
    n_kept: int
    gaps: tuple[int, ...]
    unknown: dict[int, int]
    recipe: Recipe
    marks: tuple[tuple[int, int], ...]

    def mark(self, row: int) -> tuple[int, int]:
        """Return the last mark at or before a row that is used."""
        return self.marks[max(0, bisect_right(self.marks, row, key=itemgetter(0)) - 1)]


class _Tally:
    """Sums over the rows seen so far, for each column."""

    def __init__(self, wanted: Wanted):
        n = len(wanted.columns)
        self._wanted = wanted
        self.n_rows = self.n_kept = 0
        self.gaps, self.unknown, self.sums = np.zeros(n, dtype=int), np.zeros(n, dtype=int), np.zeros(n)
        self.marks: list[tuple[int, int]] = []

    def add(self, values: np.ndarray) -> None:
        self.marks.append((self.n_kept, self.n_rows))
        missing = np.isnan(values)
        self.gaps += missing.sum(axis=0)
        self.sums += np.where(missing, 0.0, values).sum(axis=0)
        for place, texts in enumerate(self._wanted.recipe.categories):
            if texts:
                self.unknown[place] += int((values[:, place] < 0).sum())
        self.n_rows += len(values)
        self.n_kept += len(values) - int(self._wanted.incomplete(values).sum())

    def recipe(self, books: Mapping[int, Book]) -> Recipe:
        """Return the recipe with what was found."""
        recipe, filled = self._wanted.recipe, np.maximum(self.n_rows - self.gaps, 1)
        categories, means = [], []
        for place, column in enumerate(self._wanted.columns[: self._wanted.n_inputs]):
            texts = sorted(books[column].counts) if column in books else ()
            categories.append(tuple(texts))
            means += [books[column].counts[text] / filled[place] for text in texts] or [
                self.sums[place] / filled[place]
            ]
        return replace(recipe, categories=tuple(categories), means=tuple(map(float, means)))


def survey(
    table: Table,
    wanted: Wanted,
    n_rows: int,
    problems: Problems,
    reached: Callable[[int], None] = lambda row: None,
) -> Survey:
    """Read a table once.

    Parameters
    ----------
    table : Table
    wanted : Wanted
    n_rows : int
        To read at a time.
    problems : Problems
        What is wrong already; where there is anything in the end, all of it is raised as one error.
    reached : callable
        Told the number of rows read so far.
    """
    books, tally = wanted.books(), _Tally(wanted)
    for values in table.chunks(wanted.columns, n_rows, books, problems):
        _tell(values, tally.n_rows, wanted, problems)
        with np.errstate(invalid="ignore", over="ignore"):
            tally.add(values)
        reached(tally.n_rows)
    _tell_columns(table, wanted, books, tally, problems)
    if problems:
        raise problems.error()
    if tally.n_rows == 0:
        raise InputError(f"{table.path} has no rows.")
    if tally.n_kept == 0:
        worst = int(np.argmax(tally.gaps))
        raise InputError(
            f"{table.path} has no row without a missing value: column {_name(table, wanted.columns[worst])} lacks "
            f"{tally.gaps[worst]:,} of {tally.n_rows:,}. Leave such columns out, or fill gaps with the mean."
        )
    recipe = wanted.recipe if wanted.is_fitted else tally.recipe(books)
    unknown = {place: int(n) for place, n in enumerate(tally.unknown) if n}
    return Survey(
        tally.n_rows, tally.n_kept, tuple(map(int, tally.gaps)), unknown, recipe, tuple(tally.marks)
    )


def _tell(values: np.ndarray, start: int, wanted: Wanted, problems: Problems) -> None:
    """Tell of infinite values, and where gaps are to be refused of these and of unknown texts."""
    for place, (column, own) in enumerate(zip(wanted.columns, values.T, strict=True)):
        is_label = place >= wanted.n_inputs
        if column not in problems.judged:
            problems.cells("infinity", column, start + np.flatnonzero(np.isinf(own)))
        if wanted.recipe.missing != "error" or (is_label and wanted.labels_may_lack):
            continue
        kind = "missing label" if is_label else "missing"
        problems.cells(kind, column, start + np.flatnonzero(np.isnan(own)))
        if column in wanted.encoded:
            problems.cells("new", column, start + np.flatnonzero(own < 0))


def _tell_columns(
    table: Table, wanted: Wanted, books: Mapping[int, Book], tally: _Tally, problems: Problems
) -> None:
    """Tell of columns that have too many texts, or nothing to take a mean of."""
    for column, book in books.items():
        if book.is_full:
            problems.forget("text", column)
            problems.column("many", column, str(MOST_CATEGORIES))
        problems.detail("new", column, ", ".join(f'"{shown(text)}"' for text in book.unknown))
    if wanted.is_fitted or tally.n_rows == 0:
        return
    for place, column in enumerate(wanted.columns[: wanted.n_inputs]):
        if tally.gaps[place] == tally.n_rows and wanted.recipe.missing != "error":
            problems.column("empty", column)


def _name(table: Table, column: int) -> str:
    return str(column) if table.names is None else f'"{table.names[column]}"'


def sentences(found: Survey, wanted: Wanted, names: Sequence[str]) -> list[str]:
    """Say what was done to the table; `names` are those of the columns that were read."""
    said = []
    n, n_inputs, dropped = found.n_rows, wanted.n_inputs, found.n_rows - found.n_kept
    lacking = [gaps + found.unknown.get(place, 0) for place, gaps in enumerate(found.gaps)]
    what = "are missing or texts that the model has not seen" if found.unknown else "are missing"
    verbs = ("has", "have") if wanted.labels_may_lack else ("was", "were")
    left = verbs[dropped != 1] + (" no prediction" if wanted.labels_may_lack else " left out")
    if found.recipe.missing == "mean":
        if any(lacking[:n_inputs]):
            of = _counted(names[:n_inputs], lacking[:n_inputs])
            said.append(f"values that {what} were filled with the mean of their column: {of}")
        if dropped:
            said.append(f"{dropped:,} of {n:,} rows {left} for want of a label")
    elif dropped:
        said.append(f"{dropped:,} of {n:,} rows {left}, as values {what}: {_counted(names, lacking)}")
    if not wanted.is_fitted:
        for name, texts in zip(names, found.recipe.categories, strict=False):
            if texts:
                some = ", ".join(texts[:6]) + (f" and {len(texts) - 6} more" if len(texts) > 6 else "")
                said.append(f'column "{name}" is {len(texts)} features, one for each of its texts: {some}')
    return said


def _counted(names: Sequence[str], counts: Sequence[int]) -> str:
    of = [f"{count:,} in {name}" for name, count in zip(names, counts, strict=True) if count]
    return ", ".join(of[:8]) + (f" and others in {len(of) - 8} columns more" if len(of) > 8 else "")
