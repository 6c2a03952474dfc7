"""CSV as spreadsheets and programs really write it.

`sniff` reads the first lines and decides on encoding, separator, decimal sign and whether there is a header. Where
Arrow is installed it parses the numbers; what it cannot parse, and everything where it is not installed, is read by
Python.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice

import numpy as np

from netlearn.errors import InputError
from netlearn.source.arrow import said
from netlearn.source.cell_tables import HEAD_ROWS, CellTable, Row, head_rows
from netlearn.source.cells import COMMA, POINT, Book, is_missing, kind_of
from netlearn.source.opening import opened, opened_bytes, whole_text
from netlearn.source.problems import Problems

# Enough for a header and some rows of twenty thousand columns.
_HEAD_BYTES = 2**20


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
    with whole_text(path, "CSV"), opened_bytes(path) as stream:
        head = stream.read(_HEAD_BYTES)
        is_all = not stream.read(1)
    encoding, text = _decode(path, head)
    lines = text.splitlines()
    if not is_all and len(lines) > 1:
        lines.pop()  # most likely cut short
    # Some spreadsheets say in a first line, sep=;, how they separate.
    announced = re.fullmatch(r"\s*sep=([;,|:\t])\s*", lines[0]) if lines else None
    lines = [line for line in lines if line.strip()][1 if announced else 0 :][: HEAD_ROWS + 1]
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
        commas = any("," in cell and COMMA.fullmatch(cell) for cell in cells)
        # Beside numbers with a point, a comma may be a thousands separator: then it is not read as a decimal.
        points = any("." in cell and POINT.fullmatch(cell) for cell in cells)
        decimal = "," if commas and not points else "."
    has_header = _has_header(rows[0], rows[1 : 1 + head_rows(len(rows[0]))], decimal)
    return Dialect(encoding, separator, decimal, has_header, skip=1 if announced else 0)


def _has_header(first: Sequence[str], others: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row holds names: not if it has numbers, and a text only where the column holds texts."""
    number = COMMA if decimal == "," else POINT
    if not any(number.fullmatch(cell) for cell in first):
        return True
    for place, cell in enumerate(first):
        if not is_missing(cell) and kind_of([cell], decimal) == "text":
            below = [row[place] for row in others if place < len(row)]
            if kind_of(below, decimal) != "text":
                return True  # a word above numbers
    return False


def _decode(path: str, head: bytes) -> tuple[str, str]:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        candidates: tuple[str, ...] = ("utf-16",)
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


class CsvTable(CellTable):
    """A `Table` of a CSV file."""

    def __init__(self, path: str):
        super().__init__(path)
        self.dialect = sniff(path)
        self.decimal = self.dialect.decimal
        with closing(self._lines()) as lines:
            first = next(lines, None)
            if first is None:
                raise InputError(f"{path} is empty.")
            n = len(first)
            body = list(islice(lines, head_rows(n)))
        body = body if self.dialect.header else [first, *body]
        # A separator at the end of every line makes a column that is none.
        while n > 1 and self.dialect.header and not first[n - 1].strip() and _is_empty(body, n - 1):
            n -= 1
        self.names = tuple(name.strip() for name in first[:n]) if self.dialect.header else None
        self._judge([row for row in (_fitted(row, n) for row in body) if row is not None], n)
        self._has_arrow = find_spec("pyarrow") is not None
        self.arrow_names: list[str] | None = (
            None  # of all columns, as Arrow has them; found when it first reads
        )

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield what a block of bytes holds, `n_rows` rows at most."""
        n_read = 0
        if self._has_arrow:
            from netlearn.source import csv_arrow

            try:
                for rows in csv_arrow.chunks(self, columns, n_rows, books or {}):
                    yield rows
                    n_read += len(rows)
                return
            except csv_arrow.NotForArrowError:
                # Python is slower, but understands more, and says of everything that is wrong where it is.
                self._has_arrow = False
                books = _anew(books)
        for rows in super().chunks(columns, n_rows, books, problems):
            if n_read < len(rows):
                yield rows[n_read:]
            n_read = max(0, n_read - len(rows))

    def _lines(self) -> Generator[list[str]]:
        """Give the cells of all lines that are not blank, the header's too."""
        encoding = "utf-8-sig" if self.dialect.encoding == "utf-8" else self.dialect.encoding
        with whole_text(self.path, "CSV"), opened(self.path, encoding) as stream:
            for _ in range(self.dialect.skip):
                next(stream, None)
            reader = csv.reader(stream, delimiter=self.dialect.separator)
            try:
                for row in reader:
                    if row and (len(row) > 1 or row[0].strip()):
                        yield row
            except csv.Error as error:
                raise InputError(f"{self.path} cannot be read as CSV ({said(error)}).") from error

    def _records(self, problems: Problems | None) -> Generator[Row]:
        with closing(self._lines()) as lines:
            for number, row in enumerate(lines, -1 if self.dialect.header else 0):
                if number < 0:
                    continue
                fitted = _fitted(row, self.n_columns)
                if fitted is None and problems is not None:
                    problems.row(number, len(row), self.n_columns)
                yield fitted


def _fitted(row: list[str], n_columns: int) -> Row:
    """Return the cells of a row, without empty ones at its end that belong to no column; None if they do not fit."""
    if len(row) == n_columns:
        return row
    return row[:n_columns] if len(row) > n_columns and not any(map(str.strip, row[n_columns:])) else None


def _is_empty(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(len(row) <= column or not row[column].strip() for row in rows)


def _anew(books: Mapping[int, Book] | None) -> Mapping[int, Book] | None:
    """Empty books that were begun, as the file is read from its beginning again."""
    for book in (books or {}).values():
        book.restart()
    return books
