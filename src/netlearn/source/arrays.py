"""Rows in memory: of two arrays, or some rows of these in an order of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from functools import partial

import numpy as np
from array_api_compat import device

from netlearn.backend import Array, namespace
from netlearn.source.blocks import Block, ReadHere, Source, block_slices, mapped, over_blocks
from netlearn.source.device import moved

# Entries up to which rows are copied even where X is in single precision itself, and a copy as large as X.
_LARGE = 2**27


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


def _given(block: Block) -> Block:
    return block
