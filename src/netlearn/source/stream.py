"""Rows that are not all held in memory: a random part of them is, the others are read when a sum needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import numpy as np

from netlearn.backend.threads import in_order
from netlearn.source.arrays import HOST, ArraySource, Block, Source
from netlearn.source.checkpoint import Checkpoint


def over_rows(term: Callable, source: Source, marked: np.ndarray, width: int = 0, start: int = 0) -> Iterator:
    """Yield term(X, y, here) for stretches of the rows of a source from row `start` on, in order.

    Two results must add up, with +, to that of both stretches together. A source with an `over_rows` of its own, whose
    rows lie elsewhere, takes the term there and gives the sum for each of its partitions.

    Parameters
    ----------
    term : callable
    source : Source
    marked : array of int
        Rows to mark, in ascending order; `here` are the places of those within the stretch.
    width : int
        Number of columns that the term computes for each row.
    start : int
    """
    if hasattr(source, "over_rows"):
        return source.over_rows(term, marked, width, start)
    return _over_blocks(term, source, marked, width, start)


def _over_blocks(term: Callable, source: Source, marked: np.ndarray, width: int, start: int) -> Iterator:
    with closing(source.blocks(width, start=start)) as blocks:
        yield from in_order(lambda block: term(*block), _with_marks(blocks, marked, start))


def _with_marks(blocks: Iterator[Block], marked: np.ndarray, start: int) -> Iterator[tuple]:
    for X, y in blocks:
        # As in arrays, a single column is one output.
        labels = y[:, 0] if y.shape[1:] == (1,) else y
        yield X, labels, marks_between(marked, start, start + len(y))
        start += len(y)


def marks_between(marked: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return which of the rows from `start` to `stop` are marked, counted from `start`."""
    first, last = np.searchsorted(marked, (start, stop))
    return marked[first:last] - start


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
    like = HOST

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

    def over_rows(self, term: Callable, width: int = 0, skip: int = 0) -> Iterator:
        """Yield term(X, y) for stretches of these rows in the order of the source, without the first `skip` of them.

        Results add up, as for the function `over_rows`.
        """
        kept = partial(_of_kept, term, self._change)
        return over_rows(kept, self._source, self._apart, width, self._place(skip))

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


def _of_kept(term: Callable, change: Callable[[Block], Block] | None, X, y, apart: np.ndarray):
    block = (np.delete(X, apart, axis=0), np.delete(y, apart, axis=0)) if len(apart) else (X, y)
    return term(*(block if change is None else change(block)))


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
    X, y = np.zeros((len(every), source.n_features)), None
    start = 0
    saved = None if checkpoint is None else checkpoint.load("rows")
    if saved is not None:
        X, y, start = saved[0]["X"], saved[0]["y"], saved[1]["start"]
    if start < source.n_rows:
        place = int(np.searchsorted(ascending, start))
        with closing(over_rows(_taken, source, ascending, start=start)) as stretches:
            for stretch in stretches:
                for X_taken, y_taken, n_rows in stretch:
                    if y is None:
                        y = np.zeros((len(every), *y_taken.shape[1:]))
                    into = order[place : place + len(y_taken)]
                    X[into], y[into] = X_taken, y_taken
                    place += len(y_taken)
                    start += n_rows
                if checkpoint is not None and (checkpoint.due() or start == source.n_rows):
                    checkpoint.save("rows", {"X": X, "y": y}, start=start)
    ends = np.cumsum([len(index) for index in wanted])
    return [
        ArraySource(X[end - len(i) : end], y[end - len(i) : end]) for i, end in zip(wanted, ends, strict=True)
    ]


def _taken(X, y, wanted: np.ndarray) -> list[tuple]:
    """Return the wanted rows and the number of all, in a list, as these add up."""
    return [(X[wanted], y[wanted], len(y))]
