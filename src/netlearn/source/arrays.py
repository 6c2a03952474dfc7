"""Rows in memory, and the protocol that every other source follows too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np
from array_api_compat import device

from netlearn.backend import namespace
from netlearn.backend.grain import grain
from netlearn.backend.threads import in_order
from netlearn.source.device import moved

Block = tuple[np.ndarray, np.ndarray]
HOST = np.zeros(0)
# Entries up to which rows are copied even where X is in single precision itself, and a copy as large as X.
_LARGE = 2**27


def block_slices(n_rows: int, n_columns: int, n_cached: int = 1, like=HOST) -> Iterator[slice]:
    """Yield the rows of each block, for rows that take `n_columns` numbers with all that is computed of them."""
    here = grain(like)
    size = (n_cached if here.cached else 1) * max(here.least_rows, here.block_entries // n_columns)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def mapped(function: Callable, items: Iterable, like=HOST) -> Iterator:
    """Yield function(item) in order: by our threads, or one by one where the library has threads of its own."""
    return in_order(function, items) if grain(like).side_by_side else map(function, items)


class Source(Protocol):
    """Rows (x, y) in blocks, the same ones in the same order each time `blocks` is called.

    With a `weight`, an array of n_rows numbers of mean 1, least squares over the rows counts each so often. `like` is
    an empty array of the library and on the device that blocks come in.
    """

    n_rows: int
    n_features: int
    like: np.ndarray
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
        return mapped(lambda read: term(read()), readers, rows.like)
    return mapped(lambda pair: term(pair[0](), pair[1]), zip(readers, beside, strict=True), rows.like)


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
    y : array of shape (n,) or (n, m)
    """

    weight: np.ndarray | None = None

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.n_rows, self.n_features = X.shape
        self._single: ArraySource | None = None

    @property
    def like(self):
        """An empty array of the library and on the device of the rows."""
        return self.X[:0]

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Iterator[Block]:
        """Yield pairs (X, y) from row `start` on."""
        X, y = self.X[start:], self.y[start:]
        for rows in block_slices(len(y), self.n_features + width, n_cached, self.like):
            yield X[rows], y[rows]

    def head(self, n_rows: int) -> ArraySource:
        """Return the first `n_rows` rows, as a view."""
        return ArraySource(self.X[:n_rows], self.y[:n_rows])

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        xp = namespace(self.X)
        if self.X.dtype == xp.float32:
            return self
        if self._single is None:
            self._single = ArraySource(xp.astype(self.X, xp.float32), self.y)
        return self._single

    def labels(self):
        """Return the labels."""
        return self.y

    def relabelled(self, labels: Callable) -> ArraySource:
        """Return the rows with labels(X, y) in place of y."""
        y = over_blocks(lambda block: labels(*block), self)
        return ArraySource(self.X, namespace(self.X).concat(list(y)))

    def in_memory(self) -> ArraySource:
        """Return itself."""
        return self


class LeanRows(ArraySource):
    """Rows of two arrays in memory, so large that no copy in single precision is to be made of them."""

    @property
    def single(self):
        """There is none, as `hasattr` is told."""
        raise AttributeError("single")

    def head(self, n_rows: int) -> LeanRows:
        """Return the first `n_rows` rows, as a view."""
        return LeanRows(self.X[:n_rows], self.y[:n_rows])


class SelectedRows:
    """Some rows of two arrays in some order, gathered block by block: nothing of their size is copied.

    Parameters
    ----------
    X : array of shape (N, d)
    y : array of shape (N,) or (N, m)
    order : array of n integers
        Indices of the rows.
    change : callable, optional
        Takes a block (X, y) and returns it in other coordinates.
    cheap : bool
        Whether that costs little more than reading the block.
    """

    weight: np.ndarray | None = None

    def __init__(self, X, y, order: np.ndarray, change: Callable[[Block], Block] | None = None, cheap=True):
        self._X, self._y, self._order, self._change, self._cheap = X, y, order, change, cheap
        self.n_rows, self.like = len(order), X[:0]
        self.n_features = X.shape[1] if change is None else self._gathered(slice(1))[0].shape[1]
        self._singles: list[ArraySource] = []  # shared by all heads: the longest serves the others

    def blocks(self, width: int = 0, n_cached: int = 1) -> Iterator[Block]:
        """Yield pairs (X, y) in double precision."""
        return (read() for read in self.readers(width, n_cached))

    def readers(self, width: int = 0, n_cached: int = 1) -> Iterator[Callable[[], Block]]:
        """Yield for each block a function that gathers it."""
        slices = block_slices(self.n_rows, self.n_features + width, n_cached, self.like)
        return (partial(self._gathered, rows) for rows in slices)

    def _gathered(self, rows: slice) -> Block:
        xp = namespace(self._X)
        taken = xp.asarray(self._order[rows], device=device(self._X))
        block = tuple(
            xp.astype(xp.take(array, taken, axis=0), xp.float64, copy=False) for array in (self._X, self._y)
        )
        return block if self._change is None else self._change(block)

    def head(self, n_rows: int) -> SelectedRows:
        """Return the first `n_rows` rows."""
        head = SelectedRows(self._X, self._y, self._order[:n_rows], self._change, self._cheap)
        head._singles = self._singles
        return head

    def between(self, start: int, stop: int) -> SelectedRows:
        """Return the rows from `start` up to `stop`."""
        return SelectedRows(self._X, self._y, self._order[start:stop], self._change, self._cheap)

    def labels(self):
        """Return the labels as they were given, in the order of the rows."""
        xp = namespace(self._y)
        return xp.take(self._y, xp.asarray(self._order, device=device(self._y)), axis=0)

    def numbers(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return which rows of the arrays are at these places."""
        return tuple(self._order[list(places)].tolist())

    def moved(self, like) -> SelectedRows:
        """Return the rows in the library and on the device of `like`."""
        X, y = moved(self._X, like), moved(self._y, like)
        return SelectedRows(X, y, self._order, self._change, self._cheap)

    def changed(self, change: Callable[[Block], Block], cheap: bool = True) -> SelectedRows:
        """Return the rows in other coordinates, computed whenever a block is read."""
        return SelectedRows(self._X, self._y, self._order, change, cheap)

    def relabelled(self, labels: Callable) -> SelectedRows:
        """Return the rows with labels(X, y) in place of y, computed whenever a block is read."""

        def change(block):
            X, y = block if self._change is None else self._change(block)
            return X, labels(X, y)

        return self.changed(change, self._cheap)

    @property
    def single(self) -> Callable[[], ArraySource]:
        """The function that returns the rows in single precision, in the same blocks; the copy is made once and kept.

        There is none where it would be as large as a large X and saves no more than gathering rows.
        """
        as_large = self._X.dtype == namespace(self._X).float32 and self.n_rows * self.n_features > _LARGE
        if as_large and self._cheap:
            raise AttributeError("single")
        return self._copied

    def _copied(self) -> ArraySource:
        if not self._singles or self._singles[0].n_rows < self.n_rows:
            self._singles.clear()  # before the longer one takes its memory
            self._singles.append(self._filled("float32"))
        return self._singles[0].head(self.n_rows)

    def in_memory(self) -> ArraySource:
        """Return the rows as two arrays."""
        return self._filled("float64")

    def in_place(self) -> SelectedRows | LeanRows:
        """Return the rows with no more memory than X takes itself: gathered anew in each pass, or copied.

        Gathering costs little, changing them to other coordinates may cost much. Then they are copied where X is in
        double precision; where it is not, the copy would be larger than X, and it is that in single precision that
        most of the work is done with.
        """
        if self._cheap or self._X.dtype != namespace(self._X).float64:
            return self
        copy = self.in_memory()
        return LeanRows(copy.X, copy.y)

    def _filled(self, dtype: str) -> ArraySource:
        xp, place = namespace(self._X), device(self._X)
        X = xp.empty((self.n_rows, self.n_features), dtype=getattr(xp, dtype), device=place)
        outputs = self._gathered(slice(1))[1].shape[1:]
        y = xp.empty((self.n_rows, *outputs), dtype=xp.float64, device=place)

        def fill(rows):
            X[rows], y[rows] = self._gathered(rows)

        for _ in mapped(fill, block_slices(self.n_rows, self.n_features, like=self.like), self.like):
            pass
        return ArraySource(X, y)
