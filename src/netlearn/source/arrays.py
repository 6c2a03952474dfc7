"""Rows in memory, and the protocol that every other source follows too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np

from netlearn.backend.threads import in_order

Block = tuple[np.ndarray, np.ndarray]
# A block, and the equally long block of what is computed from it, should stay in a core's cache.
_BLOCK_ENTRIES = 2**17
_SMALLEST_BLOCK = 512


def block_slices(n_rows: int, n_columns: int, n_cached: int = 1) -> Iterator[slice]:
    """Yield the rows of each block, for rows that take `n_columns` numbers with all that is computed of them."""
    size = n_cached * max(_SMALLEST_BLOCK, _BLOCK_ENTRIES // n_columns)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


class Source(Protocol):
    """Rows (x, y) in blocks, the same ones in the same order each time `blocks` is called.

    With a `weight`, an array of n_rows numbers of mean 1, least squares over the rows counts each so often.
    """

    n_rows: int
    n_features: int
    weight: np.ndarray | None

    def blocks(self, width: int = 0, n_cached: int = 1) -> Iterator[Block]:
        """Yield pairs (X, y) of shapes (n, d) and (n,).

        Parameters
        ----------
        width : int
            Number of columns that the caller computes for each row: a block stays in cache with them.
        n_cached : int
            In how many parts the caller goes through a block, if it is these that should stay in cache.
        """
        ...

    def head(self, n_rows: int) -> Source:
        """Return the first rows."""
        ...

    def in_memory(self) -> ArraySource:
        """Return the same rows as two arrays."""
        ...


def over_blocks(
    term: Callable, rows: Source, width: int = 0, n_cached: int = 1, beside: Iterable | None = None
) -> Iterator:
    """Yield term(block) for each block of the rows, in order, computed by the threads of the pool.

    Given `beside`, an item for each block, it is term(block, item). Blocks that have to be gathered are so by the
    thread that needs them.
    """
    if hasattr(rows, "readers"):
        readers = rows.readers(width, n_cached)
    else:
        readers = (partial(_given, block) for block in rows.blocks(width, n_cached))
    if beside is None:
        return in_order(lambda read: term(read()), readers)
    return in_order(lambda pair: term(pair[0](), pair[1]), zip(readers, beside, strict=True))


def _given(block: Block) -> Block:
    return block


def weighted(rows: Source, weight: np.ndarray | None) -> Source:
    """Return the rows with weights, scaled to mean 1; their heads and copies in single precision have none."""
    if weight is None:
        return rows
    rows = copy(rows)
    rows.weight = weight / np.mean(weight)
    return rows


class ArraySource:
    """Rows of two arrays in memory.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    """

    weight: np.ndarray | None = None

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.n_rows, self.n_features = X.shape
        self._single: ArraySource | None = None

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Iterator[Block]:
        """Yield pairs (X, y) from row `start` on."""
        X, y = self.X[start:], self.y[start:]
        for rows in block_slices(len(y), self.n_features + width, n_cached):
            yield X[rows], y[rows]

    def head(self, n_rows: int) -> ArraySource:
        """Return the first `n_rows` rows, as a view."""
        return ArraySource(self.X[:n_rows], self.y[:n_rows])

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        if self.X.dtype == np.float32:
            return self
        if self._single is None:
            self._single = ArraySource(self.X.astype(np.float32), self.y)
        return self._single

    def in_memory(self) -> ArraySource:
        """Return itself."""
        return self


class SelectedRows:
    """Some rows of two arrays in some order, gathered block by block: nothing of their size is copied.

    Parameters
    ----------
    X : array of shape (N, d)
    y : array of shape (N,)
    order : array of n integers
        Indices of the rows.
    change : callable, optional
        Takes a block (X, y) and returns it in other coordinates.
    """

    weight: np.ndarray | None = None

    def __init__(self, X, y, order: np.ndarray, change: Callable[[Block], Block] | None = None):
        self._X, self._y, self._order, self._change = X, y, order, change
        self.n_rows = len(order)
        self.n_features = X.shape[1] if change is None else change((X[:1], y[:1]))[0].shape[1]
        self._singles: list[ArraySource] = []  # shared by all heads: the longest serves the others

    def blocks(self, width: int = 0, n_cached: int = 1) -> Iterator[Block]:
        """Yield pairs (X, y) in double precision."""
        return (read() for read in self.readers(width, n_cached))

    def readers(self, width: int = 0, n_cached: int = 1) -> Iterator[Callable[[], Block]]:
        """Yield for each block a function that gathers it."""
        slices = block_slices(self.n_rows, self.n_features + width, n_cached)
        return (partial(self._gathered, rows) for rows in slices)

    def _gathered(self, rows: slice) -> Block:
        taken = self._order[rows]
        X, y = self._X.take(taken, axis=0), self._y[taken]
        block = X.astype(float, copy=False), y.astype(float, copy=False)
        return block if self._change is None else self._change(block)

    def head(self, n_rows: int) -> SelectedRows:
        """Return the first `n_rows` rows."""
        head = SelectedRows(self._X, self._y, self._order[:n_rows], self._change)
        head._singles = self._singles
        return head

    def tail(self, n_rows: int) -> SelectedRows:
        """Return the last `n_rows` rows."""
        return SelectedRows(self._X, self._y, self._order[self.n_rows - n_rows :], self._change)

    def changed(self, change: Callable[[Block], Block]) -> SelectedRows:
        """Return the rows in other coordinates, computed whenever a block is read."""
        return SelectedRows(self._X, self._y, self._order, change)

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        if not self._singles or self._singles[0].n_rows < self.n_rows:
            self._singles[:] = [self._filled(np.float32)]
        return self._singles[0].head(self.n_rows)

    def in_memory(self) -> ArraySource:
        """Return the rows as two arrays."""
        return self._filled(float)

    def _filled(self, dtype) -> ArraySource:
        X, y = np.empty((self.n_rows, self.n_features), dtype), np.empty(self.n_rows)

        def fill(rows):
            X[rows], y[rows] = self._gathered(rows)

        for _ in in_order(fill, block_slices(self.n_rows, self.n_features)):
            pass
        return ArraySource(X, y)
