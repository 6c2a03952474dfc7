"""Rows that are not all held in memory: a random part of them is, the others are read when a sum needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from netlearn.source.arrays import ArraySource, Block, Source
from netlearn.source.checkpoint import Checkpoint


class Streamed:
    """The rows of a source but for some that are set aside, read anew in each pass.

    Parameters
    ----------
    source : Source
    apart : array of int
        Rows to leave out, in ascending order.
    held : ArraySource
        Some of the rows, in random order and in memory; what needs only a head of the rows takes it from these.
    change : callable, optional
        Takes a block (X, y) and returns it in other coordinates.
    """

    weight: np.ndarray | None = None

    def __init__(
        self,
        source: Source,
        apart: np.ndarray,
        held: ArraySource,
        change: Callable[[Block], Block] | None = None,
    ):
        self._source, self._apart, self._held, self._change = source, apart, held, change
        self.n_rows = source.n_rows - len(apart)
        self.n_features = held.n_features

    def blocks(self, width: int = 0, n_cached: int = 1, skip: int = 0) -> Iterator[Block]:
        """Yield pairs (X, y) in the order of the source, without the first `skip` rows."""
        start = self._place(skip)
        for X, y in self._source.blocks(width, n_cached, start):
            first, last = np.searchsorted(self._apart, (start, start + len(y)))
            if first < last:
                kept = np.delete(np.arange(len(y)), self._apart[first:last] - start)
                block = X[kept], y[kept]
            else:
                block = X, y
            start += len(y)
            yield block if self._change is None else self._change(block)

    def _place(self, n_rows: int) -> int:
        """Return the place in the source at which `n_rows` of these rows have come."""
        before = self._apart - np.arange(len(self._apart))  # rows that come before each one set aside
        return n_rows + int(np.searchsorted(before, n_rows))

    def head(self, n_rows: int) -> ArraySource:
        """Return rows that are held, as many as there are of these."""
        return self._held.head(n_rows)

    def changed(self, held: ArraySource, change: Callable[[Block], Block]) -> Streamed:
        """Return the rows in other coordinates; `held` are the held ones in these."""
        return Streamed(self._source, self._apart, held, change)


def gathered(
    source: Source, wanted: list[np.ndarray], checkpoint: Checkpoint | None = None
) -> list[ArraySource]:
    """Read a source once and return the rows of several indices, each in the order of its index.

    Parameters
    ----------
    source : Source
    wanted : list of arrays of int
        Row numbers, no row twice.
    checkpoint : Checkpoint, optional
        Where to save what has been read, and to go on from.
    """
    every = np.concatenate(wanted)
    order = np.argsort(every, kind="stable")
    ascending = every[order]
    X, y = np.zeros((len(every), source.n_features)), np.zeros(len(every))
    start = 0
    saved = None if checkpoint is None else checkpoint.load("rows")
    if saved is not None:
        X, y, start = saved[0]["X"], saved[0]["y"], saved[1]["start"]
    for X_block, y_block in source.blocks(start=start) if start < source.n_rows else ():
        first, last = np.searchsorted(ascending, (start, start + len(y_block)))
        X[order[first:last]] = X_block[ascending[first:last] - start]
        y[order[first:last]] = y_block[ascending[first:last] - start]
        start += len(y_block)
        if checkpoint is not None and (checkpoint.due() or start == source.n_rows):
            checkpoint.save("rows", {"X": X, "y": y}, start=start)
    ends = np.cumsum([len(index) for index in wanted])
    return [
        ArraySource(X[end - len(i) : end], y[end - len(i) : end]) for i, end in zip(wanted, ends, strict=True)
    ]
