"""What this machine does in a second: products of matrices, bytes through memory, bytes from disk.

Each rate is the best of a few repetitions, in the shapes and with the threads of the passes over rows. All four take
about a second.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netlearn.backend.threads import block_threads, in_order
from netlearn.errors import InputError

# Seconds for each of the four rates.
_SHARE = 0.25
# Rows in blocks that stay in a core's cache each, and that no cache holds together.
_BLOCK_ROWS, _FEATURES, _N_BLOCKS = 512, 256, 64
# Read at once; and written where there is no file to read, which takes a slow disk half a second.
_PIECE_BYTES, _WRITTEN_BYTES = 2**22, 2**26


@dataclass(frozen=True)
class Rates:
    """Operations and bytes per second.

    Attributes
    ----------
    wide : float
        Operations of X^T X in double precision, n d**2 of them for n rows: one half of it is computed.
    narrow : float
        Operations of X D^T and of m^T X, where D and m have a few vectors: 2 n d each, X being read from memory.
    memory : float
        Bytes that a copy reads and writes.
    disk : float
        Bytes read from a file.
    """

    wide: float
    narrow: float
    memory: float
    disk: float


def calibrate(width: int, path: str | os.PathLike | None = None) -> Rates:
    """Measure this machine.

    Parameters
    ----------
    width : int
        Vectors in a narrow product: the units and the affine part, k + 1.
    path : path, optional
        A file, or a folder of files, to measure reading on. Default: a temporary file.
    """
    entries = _N_BLOCKS * _BLOCK_ROWS * _FEATURES
    blocks = np.full((_N_BLOCKS, _BLOCK_ROWS, _FEATURES), 0.5)
    copies = np.full_like(blocks, 1.0)  # written once, so that its pages are there
    D = np.ones((width, _FEATURES))

    def rate(amount: float, term: Callable, items: Iterable) -> float:
        return amount / _least_seconds(lambda: [None for _ in in_order(term, items)])

    with block_threads():
        wide = rate(entries * _FEATURES, lambda X: X.T @ X, blocks)
        narrow = rate(4 * entries * width, lambda X: (X @ D.T).T @ X, blocks)
        memory = rate(16 * entries, lambda i: np.copyto(copies[i], blocks[i]), range(_N_BLOCKS))
    return Rates(wide, narrow, memory, reading_rate(path))


def reading_rate(path: str | os.PathLike | None = None) -> float:
    """Return the bytes per second at which the largest file at `path` is read, or else a temporary one."""
    if path is not None:
        return _bytes_per_second(_largest_file(Path(path)))
    with tempfile.NamedTemporaryFile(prefix="netlearn-") as file:
        file.write(os.urandom(_PIECE_BYTES) * (_WRITTEN_BYTES // _PIECE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        return _bytes_per_second(Path(file.name))


def _least_seconds(call: Callable[[], object]) -> float:
    call()  # the first time wakes threads and fetches code
    least, begin = float("inf"), time.perf_counter()
    while (start := time.perf_counter()) - begin < _SHARE:
        call()
        least = min(least, time.perf_counter() - start)
    return least


def _bytes_per_second(path: Path) -> float:
    n_read = 0
    with path.open("rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):  # what is in the page cache would be read from memory
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begin = time.perf_counter()
        while time.perf_counter() - begin < _SHARE and (piece := file.read(_PIECE_BYTES)):
            n_read += len(piece)
        return n_read / (time.perf_counter() - begin)


def _largest_file(path: Path) -> Path:
    files = [file for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    largest = max(files, key=lambda file: file.stat().st_size, default=None)
    if largest is None or largest.stat().st_size == 0:
        raise InputError(
            f"Cannot measure reading on {path}: it must be a file with something in it, or a folder of some."
        )
    return largest
