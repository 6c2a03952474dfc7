"""What tables in files share: what tells them from others, and that they are read from their first row on."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence

import numpy as np

from netlearn.source.cells import Book
from netlearn.source.problems import Problems


class FileTable:
    """A `Table` of files; a subclass gives everything else that a table has, and a better `chunks_from` if it can."""

    path: str
    can_begin_later: bool = False

    @property
    def files(self) -> Sequence[str]:
        """The files that the table is in."""
        return [self.path]

    def identity(self) -> list:
        """Return names, sizes and times of the files."""
        stats = [(os.path.basename(file), os.stat(file)) for file in self.files]
        return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield float64 arrays of about `n_rows` rows."""
        raise NotImplementedError

    def chunks_from(
        self, columns: Sequence[int], n_rows: int, first: int, books: Mapping[int, Book] | None = None
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give the chunks from the first row on."""
        return 0, self.chunks(columns, n_rows, books)
