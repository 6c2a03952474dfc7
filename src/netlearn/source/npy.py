"""NumPy's own files: npy and npz, read in pieces; arrays of objects are never unpickled."""

import os
import zipfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from netlearn.backend.npy import (
    BROKEN_ARCHIVE,
    MAGIC,
    Header,
    check_end,
    open_member,
    read_header,
    read_values,
)
from netlearn.errors import InputError
from netlearn.source.arrow import said
from netlearn.source.cells import Book
from netlearn.source.file_table import FileTable
from netlearn.source.problems import Problems


@dataclass(frozen=True)
class _Array:
    """Rows of one array in a file; `member` is its name inside an npz file."""

    file: str
    header: Header
    shape: tuple[int, int]
    member: str | None = None

    def chunks(self, n_rows: int, first: int = 0) -> Generator[np.ndarray]:
        """Yield slices of `n_rows` rows; from row `first` on in an npy file."""
        if self.member is not None:
            with zipfile.ZipFile(self.file) as archive, open_member(archive, self.member) as stream:
                read_header(stream)
                yield from self._of_archive(stream, n_rows)
            return
        with open(self.file, "rb") as stream:
            read_header(stream)
            begin, (n, width), dtype = stream.tell(), self.shape, self.header.dtype
            for start in range(first, n, n_rows):
                rows = min(n_rows, n - start)
                if self.header.fortran:  # a piece of each column
                    values = np.empty((rows, width), dtype)
                    for column in range(width):
                        stream.seek(begin + (column * n + start) * dtype.itemsize)
                        values[:, column] = read_values(stream, dtype, rows)
                    yield values
                else:
                    stream.seek(begin + start * width * dtype.itemsize)
                    yield read_values(stream, dtype, rows * width).reshape(rows, width)

    def _of_archive(self, stream: IO[bytes], n_rows: int) -> Generator[np.ndarray]:
        (n, width), dtype = self.shape, self.header.dtype
        if self.header.fortran:  # rows lie scattered over the stream
            whole = read_values(stream, dtype, n * width).reshape(self.shape, order="F")
            check_end(stream)
            yield from (whole[start : start + n_rows] for start in range(0, n, n_rows))
            return
        for start in range(0, n, n_rows):
            rows = min(n_rows, n - start)
            values = read_values(stream, dtype, rows * width).reshape(rows, width)
            if start + rows == n:
                check_end(stream)
            yield values


class NpyTable(FileTable):
    """A `Table` of one array (n, d), or of arrays X and y side by side.

    Parameters
    ----------
    path : str
        An npy file; or an npz file that holds one array, or two named X and y.
    labels : str, optional
        A second npy file, beside an npy file: the array y.
    """

    names: tuple[str, ...] | None = None
    can_begin_later = True
    texts: frozenset[int] = frozenset()

    def __init__(self, path: str, labels: str | os.PathLike | None = None):
        self.path = path
        self.foreign: dict[int, str] = {}
        if path.lower().endswith(".npz"):
            if labels is not None:
                raise InputError(
                    f"{path} holds its labels itself, as the array y; got {os.fspath(labels)} besides."
                )
            self._arrays = _members(path)
        else:
            self._arrays = [_npy(path)] if labels is None else [_npy(path), _npy(os.fspath(labels))]
        rows = [array.shape[0] for array in self._arrays]
        if len(set(rows)) > 1:
            raise InputError(f"X and y of {path} must have as many rows, got {rows[0]:,} and {rows[1]:,}.")
        self.n_rows = rows[0]
        self.n_columns = sum(array.shape[1] for array in self._arrays)
        self.labels = tuple(range(self._arrays[0].shape[1], self.n_columns))

    def chunks_from(
        self, columns: Sequence[int], n_rows: int, first: int, books: Mapping[int, Book] | None = None
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give the chunks from row `first` on; those of an archive, which is read in order, from its beginning."""
        if any(array.member is not None for array in self._arrays):
            first = 0
        return first, self._chunks(columns, n_rows, first)

    def chunks(
        self,
        columns: Sequence[int],
        n_rows: int,
        books: Mapping[int, Book] | None = None,
        problems: Problems | None = None,
    ) -> Generator[np.ndarray]:
        """Yield slices of the arrays, side by side."""
        return self._chunks(columns, n_rows, 0)

    def _chunks(self, columns: Sequence[int], n_rows: int, first: int) -> Generator[np.ndarray]:
        try:
            for parts in zip(*(array.chunks(n_rows, first) for array in self._arrays), strict=True):
                joined = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
                yield np.asarray(joined[:, columns], dtype=np.float64)
        except BROKEN_ARCHIVE as error:
            raise InputError(f"{self.path} is not a whole NumPy file ({said(error)}).") from error

    def place(self, row: int) -> tuple[str, int]:
        """There is one file."""
        return self.path, row + 1

    def example(self, column: int) -> tuple[int, str]:
        """There is no text."""
        return 0, ""


def _npy(file: str) -> _Array:
    if not os.path.isfile(file):
        raise InputError(f"Cannot read {file}: there is no such file.")
    with open(file, "rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{file} is not an npy file.")
        stream.seek(0)
        try:
            header = read_header(stream)
        except ValueError as error:
            raise InputError(f"{file} is not a whole npy file ({said(error)}).") from error
        shape = _checked_shape(file, header)
        missing = header.n_bytes - (os.stat(file).st_size - stream.tell())
    if missing > 0:
        raise InputError(f"{file} is not a whole npy file (it ends {missing:,} bytes early).")
    return _Array(file, header, shape)


def _members(file: str) -> list[_Array]:
    found = {}
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                with open_member(archive, member) as stream:
                    found[member.removesuffix(".npy")] = member, _with_first_row(stream)
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{file} is not a whole npz file ({said(error)}).") from error
    wanted = ["X", "y"] if {"X", "y"} <= set(found) else list(found)
    if len(wanted) != 1 and wanted != ["X", "y"]:
        raise InputError(
            f"{file} must hold one array, or two named X and y; got {', '.join(found) or 'none'}."
        )
    arrays = []
    for name in wanted:
        member, header = found[name]
        arrays.append(_Array(file, header, _checked_shape(f"{name} in {file}", header), member))
    return arrays


def _with_first_row(stream: IO[bytes]) -> Header:
    """Read a header, and one row, so that no columns are believed in that are not there."""
    header = read_header(stream)
    if len(header.shape) == 2 and not header.dtype.hasobject:
        read_values(stream, header.dtype, header.shape[1] if header.shape[0] else 0)
    return header


def _checked_shape(what: str, header: Header) -> tuple[int, int]:
    shape, dtype = header.shape, header.dtype
    if dtype.hasobject:
        raise InputError(
            f"{what} holds Python objects, which netlearn does not unpickle: save an array of numbers."
        )
    if dtype.kind not in "biuf":
        raise InputError(f"{what} must hold real numbers, got elements of type {dtype}.")
    if len(shape) not in (1, 2):
        raise InputError(f"{what} must be an array of rows and columns, got one of shape {shape}.")
    if shape[0] == 0:  # then any number of columns takes no bytes
        raise InputError(f"{what} has no rows.")
    return shape if len(shape) == 2 else (shape[0], 1)
