"""Tables whose rows come as cells of Python: lines of JSON, sheets of a workbook, and CSV without Arrow."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.source.cells import Book, is_missing, kind_of, numbers
from netlearn.source.file_table import FileTable
from netlearn.source.opening import opened, whole_text
from netlearn.source.problems import Problems, shown

# Rows that decide what a column holds.
HEAD_ROWS = 1000
_FEWEST_HEAD_ROWS, _HEAD_CELLS = 20, 2**18
# Cells that are held as Python objects at a time.
_BATCH_CELLS = 2**16

Row = Sequence[object] | None


def head_rows(n_columns: int) -> int:
    """Return how many rows to look at: fewer of a wide table, as each cell takes a microsecond."""
    return min(HEAD_ROWS, max(_FEWEST_HEAD_ROWS, _HEAD_CELLS // n_columns))


class CellTable(FileTable):
    """What tables of cells share; a subclass gives `_records`, `names` and calls `_judge`."""

    labels: tuple[int, ...] = ()
    n_rows: int | None = None
    names: tuple[str, ...] | None
    decimal = "."

    def __init__(self, path: str):
        self.path = path

    def _judge(self, head: Sequence[Sequence[object]], n_columns: int) -> None:
        """Decide what each column holds, from the first rows."""
        self.n_columns = n_columns
        kinds = [kind_of((row[column] for row in head), self.decimal) for column in range(n_columns)]
        self.texts = frozenset(column for column, kind in enumerate(kinds) if kind == "text")
        self._truths = frozenset(column for column, kind in enumerate(kinds) if kind == "truth")
        self.foreign = {
            column: f"values of type {kind}"
            for column, kind in enumerate(kinds)
            if kind not in ("number", "truth", "text")
        }

    def _records(self, problems: Problems | None) -> Generator[Row]:
        """Give the cells of each row; None for a row that does not fit the columns, which `problems` is told."""
        raise NotImplementedError

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield some rows at a time, as many as are good to hold."""
        n_rows = min(n_rows, max(1, _BATCH_CELLS // self.n_columns))
        start = 0
        if problems is not None:
            problems.judged.update(columns)
        with closing(self._records(problems)) as records:
            while batch := list(islice(records, n_rows)):
                yield self._as_numbers(batch, start, columns, books or {}, problems)
                start += len(batch)

    def _as_numbers(
        self,
        batch: Sequence[Row],
        start: int,
        columns: Sequence[int],
        books: Mapping[int, Book],
        problems: Problems | None,
    ) -> np.ndarray:
        places = [place for place, row in enumerate(batch) if row is not None]
        rows = [row for row in batch if row is not None]
        values = np.full((len(columns), len(batch)), np.inf)

        def tell(kind: str, place: int, cell: object) -> None:
            if problems is not None:
                problems.cell(kind, column, start + places[place], cell)

        for into, column in zip(values, columns, strict=True):
            cells = [row[column] for row in rows]
            if column in books:
                into[places] = books[column].codes(cells)
            else:
                into[places] = numbers(cells, self.decimal, column in self._truths, tell)
        return values.T

    def place(self, row: int) -> tuple[str, int]:
        """There is one file."""
        return self.path, row + 1

    def example(self, column: int) -> tuple[int, str]:
        """Find the first filled cell of a column."""
        with closing(self._records(None)) as records:
            cells = ((number, row[column]) for number, row in enumerate(records) if row is not None)
            return next(((number, shown(cell)) for number, cell in cells if not is_missing(cell)), (0, ""))


class JsonlTable(CellTable):
    """A `Table` of a file with one JSON object in each line; a key that a line lacks is a missing value."""

    def __init__(self, path: str):
        super().__init__(path)
        with closing(self._objects()) as objects:
            head = [found for _, found in islice(objects, HEAD_ROWS)]
        if not head:
            raise InputError(f"{path} is empty.")
        names = dict.fromkeys(key for found in head for key in found)
        if not names:
            raise InputError(f"{path} holds objects without keys.")
        self.names = tuple(names)
        head = head[: head_rows(len(names))]
        self._judge([[found.get(name) for name in names] for found in head], len(names))

    def _objects(self) -> Generator[tuple[int, dict[str, Any]]]:
        with whole_text(self.path, "lines of JSON"), opened(self.path, "utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, self._object(number, line)

    def _object(self, number: int, line: str) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.path} holds no JSON in line {number:,} ({error}).") from error
        if not isinstance(found, dict):
            raise InputError(
                f'{self.path} must hold an object such as {{"a": 1.5, "y": 2}} in each line; line {number:,} holds '
                f"{type(found).__name__}."
            )
        return found

    def _records(self, problems: Problems | None) -> Generator[Row]:
        names = self.names or ()
        known = set(names)
        for number, found in self._objects():
            if not known.issuperset(found):
                late = shown(next(key for key in found if key not in known))
                raise InputError(
                    f'{self.path} has the key "{late}" in line {number:,}, but not in its first {HEAD_ROWS:,} rows: '
                    "give every key in one of these, with null where there is no value."
                )
            yield [found.get(name) for name in names]


class XlsxTable(CellTable):
    """A `Table` of the first sheet of a workbook; it is read once and held."""

    def __init__(self, path: str):
        super().__init__(path)
        calamine = need("python_calamine", extra="files", purpose="Reading a workbook")
        try:
            book = calamine.CalamineWorkbook.from_path(path)
            rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True) if book.sheet_names else []
        except (calamine.CalamineError, OSError, ValueError) as error:
            raise InputError(f"{path} is not a whole workbook ({error}).") from error
        rows = [row for row in rows if not all(map(is_missing, row))]
        if not rows:
            raise InputError(f"{path} has no cells in its first sheet.")
        is_header = not any(isinstance(cell, int | float) for cell in rows[0])
        self.names = tuple(str(cell).strip() for cell in rows[0]) if is_header else None
        self._rows = rows[1:] if is_header else rows
        self.n_rows = len(self._rows)
        self._judge(self._rows[: head_rows(len(rows[0]))], len(rows[0]))

    def _records(self, problems: Problems | None) -> Generator[Row]:
        yield from self._rows
