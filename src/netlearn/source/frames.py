"""Data frames of pandas and polars: their columns as numbers or texts, with their names."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from netlearn.errors import InputError
from netlearn.source.cells import Book, is_missing, kind_of, numbers
from netlearn.source.problems import Problems, shown

_CELLS = (list, tuple)
Frame: TypeAlias = Any
"""A frame of pandas or polars, which need not be installed."""


def is_frame(X: object) -> bool:
    """Whether `X` is a frame of pandas or polars, or of a kind made of these; asks without importing either."""
    homes = {base.__module__.partition(".")[0] for base in type(X).__mro__}
    return bool(homes & {"pandas", "polars"}) and hasattr(type(X), "columns") and hasattr(type(X), "to_numpy")


def frame_names(X: Frame) -> tuple[str, ...]:
    """Return the names of the columns; none where they are only counted, as in a frame made of an array."""
    names = list(X.columns)
    return () if all(isinstance(name, int | np.integer) for name in names) else tuple(map(str, names))


def series_names(y: Any) -> str | tuple[str, ...]:
    """Return the name of a series, or the names of the columns of a frame; empty where there are none."""
    if hasattr(y, "columns"):
        names = tuple(map(str, y.columns))
        return names[0] if len(names) == 1 else names
    return str(getattr(y, "name", None) or "")


def plain_values(values: Any) -> np.ndarray | None:
    """Return a frame, series or array as finite numbers in its own precision; None where that cannot be."""
    if not hasattr(values, "to_numpy"):
        return values
    array = values.to_numpy()
    if array.dtype.kind in "biu" or (array.dtype.kind == "f" and np.isfinite(array).all()):
        return array
    return None


class FrameTable:
    """A `Table` of a frame; columns that are no numbers yet are looked at cell by cell.

    Parameters
    ----------
    frame : frame of pandas or polars
        It is not changed.
    beside : series, frame or array, optional
        Labels of its rows.
    """

    path = "the data frame"
    can_begin_later = False

    def __init__(self, frame: Frame, beside: Any = None):
        n_rows, n_inputs = frame.shape
        self.n_rows: int = n_rows
        columns = [_values(frame, index) for index in range(n_inputs)]
        names = list(frame_names(frame))
        if beside is not None:
            labels = _label_columns(beside)
            if any(len(own) != n_rows for own in labels):
                raise InputError(
                    f"y must have one entry per row of X; got {len(labels[0])} entries and {n_rows} rows."
                )
            columns += labels
            given = series_names(beside)
            own = list(given) if isinstance(given, tuple) else [given or "y"]
            own = own if len(own) == len(labels) else [f"y{index + 1}" for index in range(len(labels))]
            names += [f"{name} (y)" if name in names else name for name in own] if names else []
        self.names = tuple(names) or None
        self.n_columns = len(columns)
        self.labels = tuple(range(n_inputs, self.n_columns))
        self.foreign: dict[int, str] = {}
        texts, truths = set(), set()
        self._columns = columns
        for index, values in enumerate(columns):
            if isinstance(values, _CELLS):
                what = kind_of(values)
                texts |= {index} if what == "text" else set()
                truths |= {index} if what == "truth" else set()
                if what not in ("number", "truth", "text"):
                    self.foreign[index] = f"values of type {what}"
            elif isinstance(values, str):
                self.foreign[index] = f"values of type {values}"
        self.texts, self._truths = frozenset(texts), frozenset(truths)

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield slices of the columns."""
        if problems is not None:
            problems.judged.update(column for column in columns if isinstance(self._columns[column], _CELLS))
        for start in range(0, self.n_rows, n_rows):
            stop = min(start + n_rows, self.n_rows)
            values = np.empty((len(columns), stop - start))
            for into, column in zip(values, columns, strict=True):
                into[:] = self._piece(column, start, stop, books or {}, problems)
            yield values.T

    def _piece(
        self, column: int, start: int, stop: int, books: Mapping[int, Book], problems: Problems | None
    ) -> np.ndarray:
        def tell(kind: str, place: int, cell: object) -> None:
            if problems is not None:
                problems.cell(kind, column, start + place, cell)

        cells: Any = self._columns[column][start:stop]
        if column in books:
            return books[column].codes(cells if isinstance(cells, _CELLS) else cells.tolist())
        if isinstance(cells, _CELLS):
            return numbers(cells, ".", column in self._truths, tell)
        return cells

    def chunks_from(
        self, columns: Sequence[int], n_rows: int, first: int, books: Mapping[int, Book] | None = None
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give the chunks from the first row on."""
        return 0, self.chunks(columns, n_rows, books)

    def place(self, row: int) -> tuple[str, int]:
        """Rows have no other place than their number."""
        return self.path, row + 1

    def example(self, column: int) -> tuple[int, str]:
        """Find the first filled cell of a column."""
        cells = enumerate(self._columns[column])
        return next(((row, shown(cell)) for row, cell in cells if not is_missing(cell)), (0, ""))

    def identity(self) -> str:
        """Return a hash of all cells."""
        made = hashlib.sha256(repr(self.names).encode())
        for values in self._columns:
            made.update(
                repr(values).encode() if isinstance(values, _CELLS) else np.ascontiguousarray(values).data
            )
        return made.hexdigest()


def _label_columns(y: Any) -> list[np.ndarray | list[object] | str]:
    """Return labels, of whatever kind, as columns."""
    if hasattr(y, "columns"):
        return [_values(y, index) for index in range(y.shape[1])]
    if hasattr(y, "to_frame"):
        return [_values(y.to_frame(), 0)]
    values = np.asarray(y)
    if values.dtype.kind in "biuf":
        return list(values.astype(float).reshape(len(values), -1).T)
    return [own.tolist() for own in values.reshape(len(values), -1).T]


def _values(frame: Frame, index: int) -> np.ndarray | list[object] | str:
    """Return a column as numbers, with NaN where one is missing; as a list of cells; or the name of its type."""
    if not hasattr(frame, "iloc"):  # polars
        column = frame.to_series(index)
        kind = column.dtype
        if kind.is_numeric() or str(kind) == "Boolean":
            return column.cast(float).to_numpy()
        known = str(kind).startswith(("String", "Categorical", "Enum", "Null", "Object"))
        return column.to_list() if known else str(kind)
    column = frame.iloc[:, index]
    kind = column.dtype
    if str(kind) in ("object", "category", "str") or str(kind).startswith("string"):
        return [None if gap else cell for gap, cell in zip(column.isna(), column.tolist(), strict=True)]
    if getattr(kind, "kind", "") in "biuf":
        return column.to_numpy(dtype=float, na_value=np.nan)
    return str(kind)
