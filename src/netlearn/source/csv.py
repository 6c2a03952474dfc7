"""CSV as spreadsheets and programs really write it.

`sniff` reads the first lines and decides on encoding, separator, decimal sign and whether there is a header.
Arrow then parses the numbers. Only where that fails is the file read a second time, as text, to tell the row
and column at fault.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.source.arrow import as_numbers, is_number, said

if TYPE_CHECKING:
    import pyarrow

# Enough for a header and some rows of twenty thousand columns.
_HEAD_BYTES = 2**20
_HEAD_LINES = 1000
_BLOCK_BYTES = 2**22
_NUMBER = r"\s*-?(\d+{0}?\d*|{0}\d+)([eE][+-]?\d+)?\s*"
_POINT, _COMMA = (re.compile(_NUMBER.format(sign)) for sign in (r"\.", ","))
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,'\u2019\s]\d{3})+([.,]\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; `skip` lines come before its header or first row."""

    encoding: str
    separator: str
    decimal: str
    header: bool
    skip: int


def sniff(path: str) -> Dialect:
    """Decide how the file is written, from its first lines."""
    with open(path, "rb") as stream:
        head = stream.read(_HEAD_BYTES)
        is_all = not stream.read(1)
    encoding, text = _decode(path, head)
    lines = text.splitlines()
    if not is_all and len(lines) > 1:
        lines.pop()  # most likely cut short
    # Some spreadsheets say in a first line, sep=;, how they separate.
    announced = re.fullmatch(r"\s*sep=([;,|:\t])\s*", lines[0]) if lines else None
    lines = [line for line in lines if line.strip()][1 if announced else 0 :][:_HEAD_LINES]
    if not lines:
        raise InputError(f"{path} is empty.")
    try:
        separator = announced[1] if announced else _separator(lines)
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as CSV ({said(error)}).") from error
    decimal = "."
    if separator != ",":
        cells = [cell for row in rows for cell in row]
        commas = any("," in cell and _COMMA.fullmatch(cell) for cell in cells)
        # Beside numbers with a point, a comma may be a thousands separator: then it is not read as a decimal.
        points = any("." in cell and _POINT.fullmatch(cell) for cell in cells)
        decimal = "," if commas and not points else "."
    number = _COMMA if decimal == "," else _POINT
    has_header = not all(number.fullmatch(cell) for cell in rows[0])
    return Dialect(encoding, separator, decimal, has_header, skip=1 if announced else 0)


def _decode(path: str, head: bytes) -> tuple[str, str]:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        candidates = ("utf-16",)
    else:
        candidates = ("utf-8-sig", "cp1252")  # the second is what spreadsheets on Windows call plain CSV
    for encoding in candidates:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return encoding.removesuffix("-sig"), text
    raise InputError(f"{path} is not a text file, so not a CSV.")


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that splits the first line into most cells, and the others into as many."""

    def n_cells(separator: str) -> int:
        counts = {len(row) for row in csv.reader(lines, delimiter=separator)}
        return counts.pop() if len(counts) == 1 else 0

    best = max(";\t,|", key=n_cells)
    if n_cells(best) > 1:
        return best
    # No separator fits all lines: the header's, so that the line that differs can be named.
    return max(",;\t|", key=lambda separator: lines[0].count(separator))


class CsvTable:
    """A `Table` of a CSV file."""

    labels = ()
    n_rows = None

    def __init__(self, path: str):
        need("pyarrow", extra="files", purpose="Reading CSV")
        self.path = path
        self.dialect = sniff(path)
        try:
            with self._open() as reader:
                schema = reader.schema
        except _broken() as error:
            raise self._fault([], error) from error
        self.n_columns = len(schema)
        self.names = tuple(name.strip() for name in schema.names) if self.dialect.header else None
        self._columns = schema.names
        # Arrow's guess from the first block. What it takes for anything but text, truth values and dates is
        # read as a number further on; text is looked at once more, as one bad cell among numbers makes it so.
        self._types = schema.types
        self.foreign = {
            index: f"values of type {kind}"
            for index, kind in enumerate(self._types)
            if not is_number(kind) and str(kind) not in ("null", "string")
        }

    def chunks(self, columns: Sequence[int], n_rows: int) -> Generator[np.ndarray]:
        """Yield what a block of bytes holds, `n_rows` rows at most."""
        import pyarrow

        kinds = dict.fromkeys((self._columns[column] for column in columns), pyarrow.float64())
        truths = [column for column in columns if pyarrow.types.is_boolean(self._types[column])]
        kinds |= {self._columns[column]: pyarrow.bool_() for column in truths}
        try:
            with self._open(kinds) as reader:
                for batch in reader:
                    for start in range(0, batch.num_rows, n_rows):
                        yield as_numbers(batch.slice(start, n_rows), range(len(columns)))
        except _broken() as error:
            raise self._fault(list(kinds), error) from error

    def place(self, row: int) -> tuple[str, int]:
        """There is one file."""
        return self.path, row + 1

    def _open(self, kinds: dict[str, pyarrow.DataType] | None = None, *, counted: bool = False):
        """Open for reading in blocks: the columns that `kinds` names, or all of them as Arrow guesses.

        Rows that are `counted` are told by their number where they are at fault.
        """
        from pyarrow import csv as arrow_csv

        return arrow_csv.open_csv(
            self.path,
            read_options=arrow_csv.ReadOptions(
                encoding=self.dialect.encoding,
                block_size=_BLOCK_BYTES,
                skip_rows=self.dialect.skip,
                autogenerate_column_names=not self.dialect.header,
                use_threads=not counted,  # rows are counted only without
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                decimal_point=self.dialect.decimal,
                column_types=kinds,
                include_columns=list(kinds or ()),
            ),
        )

    def _fault(self, columns: Sequence[str], error: Exception) -> InputError:
        """Read the file as text to say where it holds no number, or a row of another length."""
        import pyarrow

        number = _COMMA if self.dialect.decimal == "," else _POINT
        start = 0
        try:
            with self._open(dict.fromkeys(columns, pyarrow.string()), counted=True) as reader:
                for batch in reader:
                    for row, column in _not_numbers(batch.select(columns), number):
                        return self._no_number(
                            columns[column], start + row + 1, batch.column(columns[column])[row].as_py()
                        )
                    start += batch.num_rows
        except _broken() as again:
            if ragged := _RAGGED.search(str(again)):
                row, expected, actual = map(int, ragged.groups())
                row -= self.dialect.skip + self.dialect.header
                return InputError(f"{self.path} has {actual} cells in row {row:,}, but {expected} columns.")
        return InputError(f"{self.path} cannot be read as CSV ({said(error)}).")

    def _no_number(self, column: str, row: int, cell: str) -> InputError:
        index = self._columns.index(column)
        label = str(index) if self.names is None else f'"{self.names[index]}"'
        where = f'{self.path} holds "{cell}" in row {row:,}, column {label}'
        if _THOUSANDS.fullmatch(cell.strip()):
            return InputError(f"{where}: write numbers without a thousands separator.")
        if _POINT.fullmatch(cell) or _COMMA.fullmatch(cell):
            return InputError(f"{where}: write all numbers with the same decimal sign, point or comma.")
        return InputError(
            f'{where}, which is not a number: leave the column out with "features", or encode it as numbers.'
        )


def _broken() -> tuple[type[Exception], ...]:
    """Return what Arrow raises on text that it cannot parse, or Python on bytes that are no text."""
    import pyarrow

    return pyarrow.ArrowException, UnicodeError


def _not_numbers(batch: pyarrow.RecordBatch, number: re.Pattern) -> Iterator[tuple[int, int]]:
    """Give (row, column) of the first cell in row order that is filled and no number, if there is one."""
    columns = [batch.column(column).to_pylist() for column in range(batch.num_columns)]
    for row, cells in enumerate(zip(*columns, strict=True)):
        for column, cell in enumerate(cells):
            if cell and not number.fullmatch(cell) and cell.lower() not in ("true", "false", "inf", "nan"):
                yield row, column
                return
