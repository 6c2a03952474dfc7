"""NumPy's array format, read without trust: what a header promises takes no memory before its bytes are there.

`numpy.load` allocates what the header asks for, and a header of a hundred bytes can ask for terabytes. A map of the
file ends the process where the file is cut short meanwhile. Here bytes are read, and too few of them are an `EOFError`.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO

import numpy as np

MAGIC = np.lib.format.MAGIC_PREFIX

_PIECE_BYTES = 2**20
# The third version differs from the second in names of fields only, which arrays of numbers do not have.
_READ = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}

BROKEN_ARCHIVE = (
    ValueError,
    EOFError,
    OSError,
    RuntimeError,
    KeyError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged npz archive may raise, apart from what it holds."""


@dataclass(frozen=True)
class Header:
    """What an array is said to be, before any of its values is read."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def n_bytes(self) -> int:
        """Length of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes]) -> Header:
    """Read the header at the place of a stream; the values follow. A `ValueError` says what is wrong with it."""
    try:
        version = np.lib.format.read_magic(stream)
        if version not in _READ:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not known")
        header = Header(*_READ[version](stream))
    except Exception as error:  # a header is Python source, and its parser may raise nearly anything
        raise ValueError(str(error) or "the header cannot be read") from error
    if any(length < 0 for length in header.shape):
        raise ValueError(f"the header gives the shape {header.shape}")
    return header


def read_values(stream: IO[bytes], dtype: np.dtype, count: int) -> np.ndarray:
    """Read `count` values from the place of a stream, as an array with one axis."""
    wanted, data = count * dtype.itemsize, bytearray()
    # In pieces, as a stream may allocate what it is asked for.
    while len(data) < wanted and (piece := stream.read(min(_PIECE_BYTES, wanted - len(data)))):
        data += piece
    if len(data) < wanted:
        raise EOFError(f"it ends {wanted - len(data):,} bytes early")
    return np.frombuffer(data, dtype)


def check_end(stream: IO[bytes]) -> None:
    """Refuse a member of an archive with more in it than its array; only at its end an archive tells damage."""
    if stream.read(1):
        raise ValueError("it holds more than its header says")


def read_array(stream: IO[bytes]) -> np.ndarray:
    """Read a whole array of an archive; one of Python objects is a `ValueError`."""
    header = read_header(stream)
    values = read_values(stream, header.dtype, math.prod(header.shape))
    check_end(stream)
    return values.reshape(header.shape, order="F" if header.fortran else "C")


def open_member(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    """Open an array of an npz archive; other compressions than NumPy's own could blow up a file beyond measure."""
    if archive.getinfo(member).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{member} is compressed in a way that NumPy does not write")
    return archive.open(member)
