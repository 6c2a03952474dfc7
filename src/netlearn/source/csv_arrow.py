"""CSV read by Arrow, which is some ten times as fast as Python."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netlearn.source.arrow import as_numbers
from netlearn.source.cells import MISSING, Book
from netlearn.source.opening import BROKEN_STREAM, COMPRESSED

if TYPE_CHECKING:
    from netlearn.source.csv import CsvTable

_BLOCK_BYTES = 2**22
_CODECS = {".gz": "gzip", ".bz2": "bz2"}
# Arrow compares cells as they are: in capitals, in small letters and as "NaN", "None" and "Null" are written.
_NULLS = sorted({form(text) for text in MISSING for form in (str, str.upper, str.title)} | {"NaN", "-NaN"})


class NotForArrowError(Exception):
    """Arrow cannot read on: a cell, a line or a byte is not as it expects."""


def chunks(
    table: CsvTable, columns: Sequence[int], n_rows: int, books: Mapping[int, Book]
) -> Generator[np.ndarray]:
    """Yield what a block of bytes holds, `n_rows` rows at most; see `Table.chunks`."""
    import pyarrow

    with _refusals(), _stream(table.path) as stream:
        if table.arrow_names is None:
            table.arrow_names = _names(table)
        own = table.arrow_names
        if len(own) < table.n_columns:
            raise NotForArrowError
        kinds = {own[column]: pyarrow.float64() for column in columns}
        kinds |= {own[column]: pyarrow.bool_() for column in columns if column in table._truths}
        kinds |= {own[column]: pyarrow.string() for column in columns if column in books}
        if len(kinds) < len(columns):
            raise NotForArrowError
        in_order = [books.get(column) for column in columns]
        with _reader(table, stream, kinds) as reader:
            for batch in reader:
                for start in range(0, batch.num_rows, n_rows):
                    rows = as_numbers(batch.slice(start, n_rows), range(len(columns)), in_order)
                    if np.isinf(rows).any():
                        raise NotForArrowError  # Python says where, and what the cell holds
                    yield rows


def _names(table: CsvTable) -> list[str]:
    """Return the columns' names as Arrow has them."""
    with _stream(table.path) as stream, _reader(table, stream, None) as reader:
        return reader.schema.names


def _stream(path: str):
    """Open the bytes of a file, decompressed by Arrow: its threads, which read ahead, must not have to ask Python."""
    import pyarrow

    compression = _CODECS.get(Path(path).suffix.lower())
    if compression is None and path.lower().endswith(COMPRESSED):
        raise NotForArrowError
    return pyarrow.input_stream(path, compression=compression)


@contextmanager
def _refusals():
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, *BROKEN_STREAM) as error:
        raise NotForArrowError from error


def _reader(table: CsvTable, stream, kinds: dict | None):
    """Open for reading in blocks: the columns that `kinds` names, or all of them as Arrow guesses."""
    from pyarrow import csv

    dialect = table.dialect
    return csv.open_csv(
        stream,
        read_options=csv.ReadOptions(
            encoding=dialect.encoding,
            block_size=_BLOCK_BYTES,
            skip_rows=dialect.skip,
            autogenerate_column_names=not dialect.header,
        ),
        parse_options=csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            decimal_point=dialect.decimal,
            column_types=kinds,
            include_columns=list(kinds or ()),
            null_values=_NULLS,
            strings_can_be_null=True,
        ),
    )
