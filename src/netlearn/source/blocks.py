"""Rows in blocks, whatever holds them, and sums over these: the protocols that all sources follow.

A sum over rows is taken in one of two ways. Rows that a fit goes back to are a `Source`, in memory or a black box that
answers again: `over_blocks` hands their blocks to the threads. Rows that lie in files or on a cluster are `Stored`, and
`over_rows` takes the sum where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from netlearn.backend import Array
from netlearn.backend.grain import grain
from netlearn.backend.threads import in_order

if TYPE_CHECKING:
    from netlearn.source.arrays import ArraySource

Block = tuple[Array, Array]
HOST = np.zeros(0)


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
