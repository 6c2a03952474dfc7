"""Text files, as they are or compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from netlearn.errors import InputError

_READERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = tuple(_READERS)
BROKEN_STREAM = (EOFError, OSError, UnicodeError, lzma.LZMAError, zlib.error)
"""What is raised where compressed bytes, or bytes of text, are not what they should be."""


@contextmanager
def whole_text(path: str, what: str) -> Iterator[None]:
    """Turn what is wrong with the bytes of a file into one sentence; a fault of the system stays as it is."""
    try:
        yield
    except BROKEN_STREAM as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        said = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{path} cannot be read as {what} ({said}).") from error


def opened_bytes(path: str) -> BinaryIO:
    """Open the bytes of a file, decompressed while they are read."""
    return _READERS.get(Path(path).suffix.lower(), open)(path, "rb")


def opened(path: str, encoding: str) -> TextIO:
    """Open the text of a file; the ends of its lines stay as they are."""
    return _READERS.get(Path(path).suffix.lower(), open)(path, "rt", encoding=encoding, newline="")


def kind(path: str) -> str:
    """Return the suffix that says what a file holds, in small letters; that of a compressed file comes before."""
    name = Path(path)
    return Path(name.stem).suffix.lower() if name.suffix.lower() in COMPRESSED else name.suffix.lower()
