"""Rows that are not all held in memory: a random part of them is, the others are read when a sum needs them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial

import numpy as np

from netlearn.source.arrays import ArraySource
from netlearn.source.blocks import HOST, Block, Source, Stored, over_blocks
from netlearn.source.checkpoint import Checkpoint


class Streamed:
    """The rows of a source but for some that are set aside, read anew in each pass.

    Parameters
    ----------
    source : Stored
    apart : array of int
        Rows to leave out, in ascending order.
    held : Source
        Some of the rows, in random order and in memory; what needs only a head of the rows takes it from these.
    change : callable, optional
        Takes a block (X, y) and returns it in other coordinates.
    """

    weight: np.ndarray | None = None
    like = HOST

    def __init__(
        self,
        source: Stored,
        apart: np.ndarray,
        held: Source,
        change: Callable[[Block], Block] | None = None,
    ):
        self._source, self._apart, self._held, self._change = source, apart, held, change
        self.n_rows = source.n_rows - len(apart)
        self.n_features = held.n_features

    def over_rows(self, term: Callable, width: int = 0, skip: int = 0) -> Generator:
        """Yield term(X, y) for stretches of these rows in the order of the source, without the first `skip` of them.

        Results add up, as for `Stored.over_rows`.
        """
        kept = partial(_of_kept, term, self._change)
        return self._source.over_rows(kept, self._apart, width, self._place(skip))

    def _place(self, n_rows: int) -> int:
        """Return the place in the source at which `n_rows` of these rows have come."""
        before = self._apart - np.arange(len(self._apart))  # rows that come before each one set aside
        return n_rows + int(np.searchsorted(before, n_rows))

    def head(self, n_rows: int) -> Source:
        """Return rows that are held, as many as there are of these."""
        return self._held.head(n_rows)

    def changed(self, held: Source, change: Callable[[Block], Block]) -> Streamed:
        """Return the rows in other coordinates; `held` are the held ones in these."""
        return Streamed(self._source, self._apart, held, change)


class Held:
    """Rows in memory, for sums that are taken in passes."""

    def __init__(self, rows: Source):
        self._rows, self.n_rows = rows, rows.n_rows

    def over_rows(self, term: Callable, width: int = 0, skip: int = 0) -> Generator:
        """Yield term(X, y) for blocks of the rows; a pass over them always begins with the first."""
        assert skip == 0
        yield from over_blocks(lambda block: term(*block), self._rows, width)


def _of_kept(term: Callable, change: Callable[[Block], Block] | None, X, y, apart: np.ndarray):
    block = (np.delete(X, apart, axis=0), np.delete(y, apart, axis=0)) if len(apart) else (X, y)
    return term(*(block if change is None else change(block)))


def gathered(
    source: Stored, wanted: list[np.ndarray], checkpoint: Checkpoint | None = None
) -> list[ArraySource]:
    """Read a source once and return the rows of several indices, each in the order of its index.

    Parameters
    ----------
    source : Stored
    wanted : list of arrays of int
        Row numbers, no row twice.
    checkpoint : Checkpoint, optional
        Where to save what has been read, and to go on from.
    """
    every = np.concatenate(wanted)
    order = np.argsort(every, kind="stable")
    ascending = every[order]
    X = np.zeros((len(every), source.n_features))
    y = np.zeros(len(every))  # until the first labels tell how many outputs there are
    is_known, start = False, 0
    saved = None if checkpoint is None else checkpoint.load("rows")
    if saved is not None:
        X, y, start = saved[0]["X"], saved[0]["y"], saved[1]["start"]
        is_known = True
    if start < source.n_rows:
        place = int(np.searchsorted(ascending, start))
        with closing(source.over_rows(_taken, ascending, start=start)) as stretches:
            for stretch in stretches:
                for X_taken, y_taken, n_rows in stretch:
                    if not is_known:
                        y, is_known = np.zeros((len(every), *y_taken.shape[1:])), True
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
