"""Rows in memory, and the protocol that every other source follows too."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np


class Source(Protocol):
    """Rows (x, y) in blocks, the same ones in the same order each time `blocks` is called."""

    n_rows: int
    n_features: int

    def blocks(self, width: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs (X, y) of shapes (n, d) and (n,)."""
        ...


class ArraySource:
    """Rows of two arrays in memory.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    """

    # A block, and the equally long block of what is computed from it, should stay in a core's cache.
    _BLOCK_ENTRIES = 2**17
    _SMALLEST_BLOCK = 512

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.n_rows, self.n_features = X.shape

    def blocks(self, width: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs (X, y); `width` is the number of columns the caller will compute for each row."""
        size = max(self._SMALLEST_BLOCK, self._BLOCK_ENTRIES // (self.n_features + width))
        for start in range(0, self.n_rows, size):
            yield self.X[start : start + size], self.y[start : start + size]

    def head(self, n_rows: int) -> "ArraySource":
        """Return the first `n_rows` rows, as a view."""
        return ArraySource(self.X[:n_rows], self.y[:n_rows])
