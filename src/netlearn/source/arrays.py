"""Rows in memory, and the protocol that every other source follows too."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from copy import copy
from functools import partial
from typing import Protocol, Self

import numpy as np
from array_api_compat import device

from netlearn.backend import Array, namespace
from netlearn.backend.grain import grain
from netlearn.backend.threads import in_order
from netlearn.source.device import moved

Block = tuple[Array, Array]
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


class Counted(Protocol):
    """What tells how many rows there are: all that decides how many of them a step takes."""

    @property
    def n_rows(self) -> int: ...  # noqa: D102

    @property
    def n_features(self) -> int: ...  # noqa: D102

    @property
    def can_be_single(self) -> bool: ...  # noqa: D102

    def head(self, n_rows: int) -> Self:
        """Return the first rows."""
        ...


class Source(Protocol):
    """Rows (x, y) in blocks, the same ones in the same order each time `blocks` is called.

    Attributes
    ----------
    n_rows, n_features : int
    like : array
        An empty one of the library and on the device that blocks come in.
    weight : array of n_rows numbers of mean 1, or None
        How often least squares over the rows counts each.
    can_be_single : bool
        Whether `single` is worth its memory: ask before calling it.
    """

    n_rows: int
    n_features: int
    weight: np.ndarray | None

    @property
    def like(self) -> Array: ...  # noqa: D102

    @property
    def can_be_single(self) -> bool: ...  # noqa: D102

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

    def readers(self, width: int = 0, n_cached: int = 1) -> Iterator[Callable[[], Block]]:
        """Yield for each of the blocks a function that returns it, which may be called in another thread."""
        ...

    def head(self, n_rows: int) -> Source:
        """Return the first rows."""
        ...

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        ...

    def labels(self) -> Array:
        """Return the labels as they were given, in the order of the rows."""
        ...

    def relabelled(self, labels: Callable) -> Source:
        """Return the rows with labels(X, y) in place of y."""
        ...

    def in_memory(self) -> ArraySource:
        """Return the same rows as two arrays."""
        ...


class Stored(Protocol):
    """Rows that are passed over from the first to the last: those of files, or of partitions on a cluster."""

    @property
    def n_rows(self) -> int: ...  # noqa: D102

    @property
    def n_features(self) -> int: ...  # noqa: D102

    def over_rows(self, term: Callable, marked: np.ndarray, width: int = 0, start: int = 0) -> Generator:
        """Yield term(X, y, here) for stretches of the rows from row `start` on, in order.

        Two results must add up, with +, to that of both stretches together: where rows lie elsewhere, the term is taken
        there, and what comes back is the sum for each partition.

        Parameters
        ----------
        term : callable
        marked : array of int
            Rows to mark, in ascending order; `here` are the places of those within the stretch.
        width : int
            Number of columns that the term computes for each row.
        start : int
        """
        ...


class ReadHere:
    """What makes `Stored` of a class with blocks that are read in this process."""

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Generator[Block]:
        """Yield pairs (X, y) from row `start` on."""
        raise NotImplementedError

    def over_rows(self, term: Callable, marked: np.ndarray, width: int = 0, start: int = 0) -> Generator:
        """Yield term(X, y, here) for each block from row `start` on, in order, computed by the threads of the pool."""
        with closing(self.blocks(width, start=start)) as blocks:
            yield from in_order(lambda block: term(*block), _with_marks(blocks, marked, start))


def _with_marks(blocks: Iterable[Block], marked: np.ndarray, start: int) -> Iterator[tuple]:
    for X, y in blocks:
        # As in arrays, a single column is one output.
        labels = y[:, 0] if y.shape[1:] == (1,) else y
        yield X, labels, marks_between(marked, start, start + len(y))
        start += len(y)


def marks_between(marked: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return which of the rows from `start` to `stop` are marked, counted from `start`."""
    first, last = np.searchsorted(marked, (start, stop))
    return marked[first:last] - start


def over_blocks(
    term: Callable, rows: Source, width: int = 0, n_cached: int = 1, beside: Iterable | None = None
) -> Iterator:
    """Yield term(block) for each block of the rows, in order, computed by the threads of the pool.

    Given `beside`, an item for each block, it is term(block, item). Blocks that have to be gathered are so by the
    thread that needs them.
    """
    readers = rows.readers(width, n_cached)
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


class ArraySource(ReadHere):
    """Rows of two arrays in memory.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,) or (n, m)
    can_be_single : bool
        False for rows so large that no copy in single precision is to be made of them, nor of their heads.
    """

    weight: np.ndarray | None = None

    def __init__(self, X: Array, y: Array, *, can_be_single: bool = True):
        self.X, self.y, self.can_be_single = X, y, can_be_single
        self.n_rows: int
        self.n_features: int
        self.n_rows, self.n_features = X.shape
        self._single: ArraySource | None = None

    @property
    def like(self) -> Array:
        """An empty array of the library and on the device of the rows."""
        return self.X[:0, ...]

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Generator[Block]:
        """Yield pairs (X, y) from row `start` on."""
        X, y = self.X[start:, ...], self.y[start:, ...]
        for rows in block_slices(y.shape[0], self.n_features + width, n_cached, self.like):
            yield X[rows, ...], y[rows, ...]

    def readers(self, width: int = 0, n_cached: int = 1) -> Iterator[Callable[[], Block]]:
        """Yield for each block a function that returns it: views cost nothing to make beforehand."""
        return (partial(_given, block) for block in self.blocks(width, n_cached))

    def head(self, n_rows: int) -> ArraySource:
        """Return the first `n_rows` rows, as a view."""
        return ArraySource(self.X[:n_rows, ...], self.y[:n_rows, ...], can_be_single=self.can_be_single)

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        xp = namespace(self.X)
        if self.X.dtype == xp.float32:
            return self
        if self._single is None:
            self._single = ArraySource(xp.astype(self.X, xp.float32), self.y)
        return self._single

    def labels(self) -> Array:
        """Return the labels."""
        return self.y

    def relabelled(self, labels: Callable) -> ArraySource:
        """Return the rows with labels(X, y) in place of y."""
        y = over_blocks(lambda block: labels(*block), self)
        return ArraySource(self.X, namespace(self.X).concat(list(y)), can_be_single=self.can_be_single)

    def in_memory(self) -> ArraySource:
        """Return itself."""
        return self


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

    def __init__(
        self,
        X: Array,
        y: Array,
        order: np.ndarray,
        change: Callable[[Block], Block] | None = None,
        cheap: bool = True,
    ):
        self._X, self._y, self._order, self._change, self._cheap = X, y, order, change, cheap
        self.n_rows, self.like = len(order), X[:0, ...]
        self.n_features: int = X.shape[1] if change is None else self._gathered(slice(1))[0].shape[1]
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
        X, y = (
            xp.astype(xp.take(part, taken, axis=0), xp.float64, copy=False) for part in (self._X, self._y)
        )
        block = X, y
        return block if self._change is None else self._change(block)

    def head(self, n_rows: int) -> SelectedRows:
        """Return the first `n_rows` rows."""
        head = SelectedRows(self._X, self._y, self._order[:n_rows], self._change, self._cheap)
        head._singles = self._singles
        return head

    def between(self, start: int, stop: int) -> SelectedRows:
        """Return the rows from `start` up to `stop`."""
        return SelectedRows(self._X, self._y, self._order[start:stop], self._change, self._cheap)

    def reordered(self, places: np.ndarray) -> SelectedRows:
        """Return the rows at these places, in their order."""
        return SelectedRows(self._X, self._y, self._order[places], self._change, self._cheap)

    def labels(self) -> Array:
        """Return the labels as they were given, in the order of the rows."""
        xp = namespace(self._y)
        return xp.take(self._y, xp.asarray(self._order, device=device(self._y)), axis=0)

    def numbers(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return which rows of the arrays are at these places."""
        return tuple(self._order[list(places)].tolist())

    def moved(self, like: Array) -> SelectedRows:
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
    def can_be_single(self) -> bool:
        """Not where the copy would be as large as a large X, and saves no more than gathering rows."""
        as_large = self._X.dtype == namespace(self._X).float32 and self.n_rows * self.n_features > _LARGE
        return not (as_large and self._cheap)

    def single(self) -> ArraySource:
        """Return the rows in single precision, in the same blocks; the copy is made once and kept."""
        if not self._singles or self._singles[0].n_rows < self.n_rows:
            self._singles.clear()  # before the longer one takes its memory
            self._singles.append(self._filled("float32"))
        return self._singles[0].head(self.n_rows)

    def in_memory(self) -> ArraySource:
        """Return the rows as two arrays."""
        return self._filled("float64")

    def in_place(self) -> SelectedRows | ArraySource:
        """Return the rows with no more memory than X takes itself: gathered anew in each pass, or copied.

        Gathering costs little, changing them to other coordinates may cost much. Then they are copied where X is in
        double precision; where it is not, the copy would be larger than X, and it is that in single precision that
        most of the work is done with.
        """
        if self._cheap or self._X.dtype != namespace(self._X).float64:
            return self
        held = self.in_memory()
        return ArraySource(held.X, held.y, can_be_single=False)

    def _filled(self, dtype: str) -> ArraySource:
        xp, place = namespace(self._X), device(self._X)
        X = xp.empty((self.n_rows, self.n_features), dtype=getattr(xp, dtype), device=place)
        outputs = self._gathered(slice(1))[1].shape[1:]
        y = xp.empty((self.n_rows, *outputs), dtype=xp.float64, device=place)

        def fill(rows):
            X_rows, y_rows = self._gathered(rows)
            X[rows, ...], y[rows, ...] = xp.astype(X_rows, X.dtype, copy=False), y_rows

        for _ in mapped(fill, block_slices(self.n_rows, self.n_features, like=self.like), self.like):
            pass
        return ArraySource(X, y)
