"""Feather, which is Arrow's own format in a file, read a batch at a time.

It is not mapped into memory, as others do: a mapped file that is cut short ends the process that reads it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.source.arrow import as_numbers, first_filled, is_number, is_text, whole
from netlearn.source.cells import Book
from netlearn.source.file_table import FileTable
from netlearn.source.problems import Problems

if TYPE_CHECKING:
    import pyarrow


class _Bounded(io.FileIO):
    """A file of which no more is asked for than it has: a damaged one promises much, and memory is taken for that."""

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, os.fstat(self.fileno()).st_size - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))


class FeatherTable(FileTable):
    """A `Table` of a .feather or .arrow file, also of one in Arrow's stream format."""

    labels: tuple[int, ...] = ()
    n_rows: int | None = None  # each batch would have to be read to tell

    def __init__(self, path: str):
        need("pyarrow", extra="files", purpose="Reading Feather")
        self.path = path
        with closing(self._batches(None)) as batches:
            first = next(batches, None)
        if first is None:
            raise InputError(f"{path} has no rows.")
        schema = first.schema
        with whole(path, "Feather"):  # names may be no text
            self.names = tuple(schema.names)
        self.n_columns = len(self.names)
        self.texts = frozenset(index for index, field in enumerate(schema) if is_text(field.type))
        self.foreign = {
            index: f"values of type {field.type}"
            for index, field in enumerate(schema)
            if not (is_number(field.type) or is_text(field.type))
        }

    def _batches(self, columns: Sequence[int] | None) -> Generator[pyarrow.RecordBatch]:
        """Read the batches one by one; of all columns where none are named."""
        import pyarrow
        from pyarrow import ipc

        fields = None if columns is None else sorted(columns)
        options = ipc.IpcReadOptions(included_fields=fields)
        with whole(self.path, "Feather"), _Bounded(self.path) as stream:
            source = pyarrow.PythonFile(stream, "r")
            try:
                reader = ipc.open_file(source, options=options)
                batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
            except pyarrow.ArrowInvalid:
                source.seek(0)
                batches = ipc.open_stream(source, options=options)
            for batch in batches:
                batch.validate(full=True)  # a damaged file may point anywhere
                if batch.num_rows:
                    yield batch

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield slices of each batch."""
        in_file = sorted(columns)
        places = [in_file.index(column) for column in columns]
        in_order = [(books or {}).get(column) for column in columns]
        for batch in self._batches(in_file):
            for start in range(0, batch.num_rows, n_rows):
                yield as_numbers(batch.slice(start, n_rows), places, in_order)

    def place(self, row: int) -> tuple[str, int]:
        """There is one file."""
        return self.path, row + 1

    def example(self, column: int) -> tuple[int, str]:
        """Find the first filled cell of a column among the first rows."""
        return first_filled(self._batches([column]), self.names[column])
