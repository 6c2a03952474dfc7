"""What Parquet and CSV share: columns of Arrow batches as numbers, and Arrow's complaints in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from netlearn.errors import InputError

if TYPE_CHECKING:
    import pyarrow


def is_number(kind: pyarrow.DataType) -> bool:
    """Whether values of this Arrow type become float64 without a choice to make."""
    from pyarrow import types

    return (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )


def as_numbers(batch: pyarrow.RecordBatch, columns: Sequence[int]) -> np.ndarray:
    """Copy columns of a batch into a float64 array of shape (n, len(columns)), NaN where a value is missing.

    The array is in Fortran order, as Arrow holds the columns: to turn them into rows takes as long as to read them, and
    products of matrices do not mind.
    """
    import pyarrow

    rows = np.empty((len(columns), batch.num_rows))
    for place, column in enumerate(columns):
        values = batch.column(column)
        if not pyarrow.types.is_float64(values.type):
            # Not safe in Arrow's sense: integers beyond 2**53 are rounded, as NumPy rounds them.
            values = values.cast(pyarrow.float64(), safe=False)
        rows[place] = values.to_numpy(zero_copy_only=False)
    return rows.T


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
