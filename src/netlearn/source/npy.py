"""NumPy's own files: npy mapped into memory, npz read as a stream; arrays of objects are never unpickled."""

import os
import zipfile
import zlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from netlearn.errors import InputError
from netlearn.source.arrow import said

_MAGIC = np.lib.format.MAGIC_PREFIX


@dataclass(frozen=True)
class _Array:
    """Rows of one array in a file; `member` is its name inside an npz file."""

    file: str
    shape: tuple[int, int]
    member: str | None = None

    def chunks(self, n_rows: int, first: int = 0) -> Generator[np.ndarray]:
        """Yield slices of `n_rows` rows; from row `first` on in an npy file."""
        if self.member is None:
            mapped = _mapped(self.file).reshape(self.shape)
            for start in range(first, self.shape[0], n_rows):
                yield mapped[start : start + n_rows]
            return
        with zipfile.ZipFile(self.file) as archive, archive.open(self.member) as stream:
            _, fortran, dtype = _header(stream)
            if fortran:  # rows lie scattered over the stream
                stream.seek(0)
                whole = np.lib.format.read_array(stream, allow_pickle=False).reshape(self.shape)
                yield from (whole[start : start + n_rows] for start in range(0, len(whole), n_rows))
                return
            width = self.shape[1]
            for start in range(0, self.shape[0], n_rows):
                rows = min(n_rows, self.shape[0] - start)
                data = stream.read(rows * width * dtype.itemsize)
                yield np.frombuffer(data, dtype).reshape(rows, width)


class NpyTable:
    """A `Table` of one array (n, d), or of arrays X and y side by side.

    Parameters
    ----------
    path : str
        An npy file; or an npz file that holds one array, or two named X and y.
    labels : str, optional
        A second npy file, beside an npy file: the array y.
    """

    names = None

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
        self, columns: Sequence[int], n_rows: int, first: int
    ) -> tuple[int, Generator[np.ndarray]]:
        """Give the chunks from row `first` on; those of an archive, which is read in order, from its beginning."""
        if any(array.member is not None for array in self._arrays):
            first = 0
        return first, self._chunks(columns, n_rows, first)

    def chunks(self, columns: Sequence[int], n_rows: int) -> Generator[np.ndarray]:
        """Yield slices of the arrays, side by side."""
        return self._chunks(columns, n_rows, 0)

    def _chunks(self, columns: Sequence[int], n_rows: int, first: int) -> Generator[np.ndarray]:
        try:
            for parts in zip(*(array.chunks(n_rows, first) for array in self._arrays), strict=True):
                joined = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1, dtype=np.float64)
                yield np.asarray(joined[:, columns], dtype=np.float64)
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{self.path} is not a whole NumPy file ({said(error)}).") from error

    def place(self, row: int) -> tuple[str, int]:
        """There is one file."""
        return self.path, row + 1


def _npy(file: str) -> _Array:
    if not os.path.isfile(file):
        raise InputError(f"Cannot read {file}: there is no such file.")
    with open(file, "rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{file} is not an npy file.")
    mapped = _mapped(file)
    return _Array(file, _checked_shape(file, mapped.shape, mapped.dtype))


def _mapped(file: str) -> np.ndarray:
    try:
        return np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        if "Python objects" in str(error):
            raise _objects(file) from None
        raise InputError(f"{file} is not a whole npy file ({said(error)}).") from error


def _members(file: str) -> list[_Array]:
    try:
        with zipfile.ZipFile(file) as archive:
            found = {}
            for member in archive.namelist():
                with archive.open(member) as stream:
                    shape, _, dtype = _header(stream)
                found[member.removesuffix(".npy")] = member, shape, dtype
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{file} is not a whole npz file ({said(error)}).") from error
    wanted = ["X", "y"] if {"X", "y"} <= set(found) else list(found)
    if len(wanted) != 1 and wanted != ["X", "y"]:
        raise InputError(
            f"{file} must hold one array, or two named X and y; got {', '.join(found) or 'none'}."
        )
    arrays = []
    for name in wanted:
        member, shape, dtype = found[name]
        arrays.append(_Array(file, _checked_shape(f"{name} in {file}", shape, dtype), member))
    return arrays


def _checked_shape(what: str, shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, int]:
    if dtype.hasobject:
        raise _objects(what)
    if dtype.kind not in "biuf":
        raise InputError(f"{what} must hold real numbers, got elements of type {dtype}.")
    if len(shape) not in (1, 2):
        raise InputError(f"{what} must be an array of rows and columns, got one of shape {shape}.")
    return shape if len(shape) == 2 else (shape[0], 1)


def _header(stream) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


def _objects(what: str) -> InputError:
    return InputError(
        f"{what} holds Python objects, which netlearn does not unpickle: save an array of numbers."
    )
