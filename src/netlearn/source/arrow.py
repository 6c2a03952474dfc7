"""What Parquet, Feather and CSV share: columns of Arrow batches as numbers, and Arrow's complaints in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from netlearn.errors import InputError
from netlearn.source.cells import is_missing
from netlearn.source.problems import shown

if TYPE_CHECKING:
    import pyarrow

    from netlearn.source.cells import Book

_LOOKED_AT = 3
"""Batches in which an example of a cell is looked for."""


def is_number(kind: pyarrow.DataType) -> bool:
    """Whether values of this Arrow type become float64 without a choice to make."""
    from pyarrow import types

    return (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )


def is_text(kind: pyarrow.DataType) -> bool:
    """Whether values of this Arrow type are texts, perhaps with a dictionary."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def as_numbers(
    batch: pyarrow.RecordBatch, columns: Sequence[int], books: Sequence[Book | None] = ()
) -> np.ndarray:
    """Copy columns of a batch into a float64 array of shape (n, len(columns)), NaN where a value is missing.

    Of a column that has a book it is the numbers of the texts there. The array is in Fortran order, as Arrow holds the
    columns: to turn them into rows takes as long as to read them, and products of matrices do not mind.
    """
    import pyarrow

    rows = np.empty((len(columns), batch.num_rows))
    for place, column in enumerate(columns):
        values = batch.column(column)
        book = books[place] if books else None
        if book is not None:
            rows[place] = _codes(values, book)
            continue
        if not pyarrow.types.is_float64(values.type):
            # Not safe in Arrow's sense: integers beyond 2**53 are rounded, as NumPy rounds them.
            values = values.cast(pyarrow.float64(), safe=False)
        rows[place] = values.to_numpy(zero_copy_only=False)
    return rows.T


def _codes(values: pyarrow.Array, book: Book) -> np.ndarray:
    import pyarrow

    if not is_text(values.type):
        values = values.cast(pyarrow.string())
    if not pyarrow.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    places = values.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return book.codes_of_distinct(values.dictionary.to_pylist(), places)


def first_filled(batches: Iterable[pyarrow.RecordBatch], name: str) -> tuple[int, str]:
    """Return the first filled cell of a column among the first batches, and the row it is in, counted from 0."""
    cells = (cell.as_py() for batch in islice(batches, _LOOKED_AT) for cell in batch.column(name))
    return next(((row, shown(cell)) for row, cell in enumerate(cells) if not is_missing(cell)), (0, ""))


@contextmanager
def whole(file: str, kind: str) -> Iterator[None]:
    """Turn what Arrow says of a damaged or foreign file into one sentence."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise InputError(f"{file} is not a whole {kind} file ({said(error)}).") from error


def said(error: Exception) -> str:
    """Return the first line of what an error says, to be put in brackets."""
    return str(error).partition("\n")[0].rstrip(".")
