"""Parquet: a file, a folder of files or a pattern, read column by column and a batch at a time."""

import glob
import io
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate, islice
from operator import itemgetter
from pathlib import Path

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.source.ahead import FetchedAhead
from netlearn.source.arrow import as_numbers, first_filled, is_number, is_text, whole
from netlearn.source.cells import Book
from netlearn.source.file_table import FileTable
from netlearn.source.problems import Problems

# Bytes of each column held while it is read. A row group may be as large as its writer liked, so it is never
# fetched as a whole.
_BUFFER = 2**16


class ParquetTable(FileTable):
    """A `Table` of one or more Parquet files with the same columns, in the order of their names."""

    labels: tuple[int, ...] = ()
    can_begin_later = True

    def __init__(self, path: str):
        need("pyarrow", extra="files", purpose="Reading Parquet")
        self.path = path
        self._files = _files(path)
        for file in self.files:
            _check_footer(file)
        with ExitStack() as stack:
            # Footers only: names, types and numbers of rows.
            self._take_footers([stack.enter_context(_open(file)) for file in self.files])

    @property
    def files(self) -> Sequence[str]:
        """All of them, in the order of reading."""
        return self._files

    def _take_footers(self, opened: list) -> None:
        self.names = tuple(opened[0].schema_arrow.names)
        self.n_columns = len(self.names)
        self.foreign: dict[int, str] = {}
        self.texts: set[int] = set()
        for file, footer in zip(self.files, opened, strict=True):
            self._check_columns(file, footer.schema_arrow)
        self._starts = list(accumulate((footer.metadata.num_rows for footer in opened), initial=0))
        self.n_rows = self._starts[-1]
        # Where reading can begin: the first row of each row group, its file and its number there.
        self._groups = [
            (start, file, group)
            for file, footer in enumerate(opened)
            for group, start in enumerate(_group_starts(footer.metadata, self._starts[file]))
        ]

    def _check_columns(self, file: str, schema) -> None:
        counts = Counter(schema.names)
        for index, name in enumerate(self.names):
            if counts[name] == 0:
                raise InputError(f'{file} has no column "{name}", which {self.files[0]} has.')
            # A name that stands for two columns is refused where it is chosen.
            if counts[name] != 1 or is_number(kind := schema.field(name).type):
                continue
            if is_text(kind):
                self.texts.add(index)
            else:
                self.foreign[index] = f"values of type {kind}"

    def chunks_from(
        self, columns: Sequence[int], n_rows: int, first: int, books: Mapping[int, Book] | None = None
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give the first row of the row group that holds row `first`, and the chunks from there on."""
        place = bisect_right(self._groups, first, key=itemgetter(0)) - 1
        start, file, group = self._groups[max(place, 0)] if self._groups else (0, 0, 0)
        return start, self._chunks(columns, n_rows, books, file, group)

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield batches of each file in turn."""
        return self._chunks(columns, n_rows, books, 0, 0)

    def _chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None,
        first_file: int,
        first_group: int,
    ) -> Generator[np.ndarray]:
        names = [self.names[column] for column in columns]
        in_order = [(books or {}).get(column) for column in columns]
        for file in self.files[first_file:]:
            with whole(file, "Parquet"), _open(file) as opened, open(file, "rb") as raw:
                groups = range(first_group, opened.metadata.num_row_groups)
                first_group = 0
                size = os.fstat(raw.fileno()).st_size
                ahead = FetchedAhead(raw.fileno(), _groups(opened.metadata, groups, set(names), size))
                n_read = 0
                ahead.reached(n_read)
                # A batch is small: threads for its columns would wait for one another longer than they work.
                for batch in opened.iter_batches(n_rows, groups, columns=names, use_threads=False):
                    n_read += batch.num_rows
                    ahead.reached(n_read)
                    yield as_numbers(batch, [batch.schema.get_field_index(name) for name in names], in_order)

    def place(self, row: int) -> tuple[str, int]:
        """Find the file that holds a row."""
        file = bisect_right(self._starts, row) - 1
        return self.files[file], row - self._starts[file] + 1

    def example(self, column: int) -> tuple[int, str]:
        """Find the first filled cell of a column among the first rows."""
        name = self.names[column]
        with whole(self.files[0], "Parquet"), _open(self.files[0]) as opened:
            return first_filled(opened.iter_batches(1000, columns=[name], use_threads=False), name)


def _group_starts(metadata, start: int) -> Iterator[int]:
    """Give the first row of each row group of a file whose first row is `start`."""
    sizes = (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    return islice(accumulate(sizes, initial=start), metadata.num_row_groups)


def _groups(
    metadata, groups: range, names: set[str], size: int
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Give for each row group its number of rows, and where the bytes of the columns lie: neighbours as one range.

    What the footer of a damaged file places beyond its `size` is left out.
    """
    for group in map(metadata.row_group, groups):
        ranges: list[tuple[int, int]] = []
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema in names:
                start = column.dictionary_page_offset or column.data_page_offset
                stop = min(start + column.total_compressed_size, size)
                if ranges and ranges[-1][1] == start:
                    start = ranges.pop()[0]
                if 0 <= start < stop:
                    ranges.append((start, stop))
        yield group.num_rows, ranges


class _FooterOnly(io.FileIO):
    """A file that ends, for whoever reads it, once its footer was read.

    Arrow asks from threads of its own, perhaps when the file is closed already. An exception that Python raises there
    may end the process, so none is.
    """

    footer_is_read = was_asked_for_values = False

    def read(self, size: int | None = -1) -> bytes:
        if self.footer_is_read:
            self.was_asked_for_values = True
            return b""
        return super().read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return 0 if self.footer_is_read else super().seek(offset, whence)

    def tell(self) -> int:
        return 0 if self.footer_is_read else super().tell()


def _check_footer(file: str) -> None:
    """Have Arrow go through what the footer says of all columns, and refuse a file with something wrong there.

    Arrow refuses it while it reads; but Python, asking for the same through `metadata`, would end the process with it.
    Arrow asks for values only when it has gone through all of the footer, and what it then says of their absence is not
    meant.
    """
    import pyarrow
    from pyarrow import parquet

    with whole(file, "Parquet"), _FooterOnly(file) as stream:
        opened = parquet.ParquetFile(pyarrow.PythonFile(stream, "r"), pre_buffer=True)
        stream.footer_is_read = True
        try:
            next(opened.iter_batches(1), None)
        except (pyarrow.ArrowException, OSError):
            if not stream.was_asked_for_values:
                raise


def _open(file: str):
    from pyarrow import parquet

    with whole(file, "Parquet"):
        return parquet.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)


def _files(path: str) -> list[str]:
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = [str(file) for file in Path(path).rglob("*") if file.suffix.lower() in (".parquet", ".pq")]
        # Writers leave notes beside the data under such names.
        found = [file for file in found if not os.path.basename(file).startswith((".", "_"))]
    else:
        found = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
    if not found:
        raise InputError(f"Cannot read {path}: there are no Parquet files.")
    return sorted(found)
