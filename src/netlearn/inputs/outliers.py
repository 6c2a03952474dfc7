"""Rows that lie far outside all others, and columns whose squares double precision cannot hold.

Far is more than ten times as far from the median as 95 % of the rows: of normal columns none in any sample, of
exponential ones none in a billion. A column that is the same on 95 % of the rows tells nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from array_api_compat import device

from netlearn.backend import Array, namespace, refuse_infinite, to_numpy
from netlearn.errors import InputError
from netlearn.source.blocks import block_slices, mapped

# Rows looked at to tell what is usual, the share of them that is, and how many times as far is far.
_SOME, _USUAL, _FAR = 1000, 0.95, 10.0
# Of fewer rows none is far.
_FEWEST = 20
# Between these the squares of a column, and sums of them, neither vanish nor overflow; labels are never squared as
# they are.
_SMALLEST, _LARGEST, _LARGEST_LABEL = 1e-150, 1e150, 1e300
_MOST_NAMED = 5


def far_rows(X: Array, y: Array) -> dict[int, str]:
    """Return the rows that lie far outside all others, and in which column each does, as words.

    Refuses in one sentence what is no number or has no squares.
    Cost: one reading of X, and another where there are such rows.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,) or (n, m)
    """
    labels = y if y.ndim == 2 else y[:, None]
    low, high = _range("X", X)
    _refuse_sizes(low, high)
    ends = _range("y", labels)
    largest = float(np.max(np.abs(ends)))
    if largest > _LARGEST_LABEL:
        raise InputError(f"y must hold numbers up to {_LARGEST_LABEL:g} in size; got {largest:.3g}.")
    found = {row: f"column {column} of X" for row, column in _far(X, low, high)}
    several = y.ndim == 2
    for row, column in _far(labels, *ends):
        found.setdefault(row, f"column {column} of y" if several else "y")
    return dict(sorted(found.items()))


def named(found: dict[int, str]) -> str:
    """Return the rows and where they are far, in words."""
    return listed([f"{row} ({where})" for row, where in found.items()])


def listed(items: Sequence) -> str:
    """Return the first few of some items in words, and how many more there are."""
    more = len(items) - _MOST_NAMED
    return ", ".join(map(str, items[:_MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")


def _range(name: str, A: Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest entry of each column, or say that one is no number."""
    xp = namespace(A)
    blocks = block_slices(A.shape[0], A.shape[1], like=A[:0, :])
    ends = list(
        mapped(lambda rows: (xp.min(A[rows, :], axis=0), xp.max(A[rows, :], axis=0)), blocks, A[:0, :])
    )
    lows, highs = ([to_numpy(end).astype(float) for end in part] for part in zip(*ends, strict=True))
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        refuse_infinite(name)
    return low, high


def _refuse_sizes(low: np.ndarray, high: np.ndarray) -> None:
    too_large = np.maximum(-low, high) > _LARGEST
    wrong = np.flatnonzero(too_large | ((low < high) & (high < low + _SMALLEST)))
    if len(wrong):
        j = wrong[0]
        raise InputError(
            f"X must hold numbers up to {_LARGEST:g} in size, in columns that are constant or vary by {_SMALLEST:g} "
            f"at least, so that they can be squared; column {j} goes from {low[j]:.3g} to {high[j]:.3g}."
        )


def _far(A: Array, low: np.ndarray, high: np.ndarray) -> list[tuple[int, int]]:
    """Return row and column of what is far, in the order of the rows; of each row the first column."""
    n = A.shape[0]
    if n < _FEWEST:
        return []
    # Of this copy the order within columns does not matter, so each step may work in it.
    some = to_numpy(A[:: max(1, n // _SOME), :]).astype(float)
    centre = np.median(some, axis=0, overwrite_input=True)
    some -= centre
    np.abs(some, out=some)
    # The lower of two entries: the largest of a few rows is not what is usual.
    reach = _FAR * np.quantile(some, _USUAL, axis=0, method="lower", overwrite_input=True)
    columns = np.flatnonzero((reach > 0) & (np.maximum(high - centre, centre - low) > reach))
    if not len(columns):
        return []
    xp = namespace(A)
    wanted = xp.asarray(columns, device=device(A))

    def beyond(block):
        entries = to_numpy(xp.take(A[block, :], wanted, axis=1)).astype(float)
        beyond = np.abs(entries - centre[columns]) > reach[columns]
        rows = np.flatnonzero(beyond.any(axis=1))
        return zip((block.start + rows).tolist(), columns[beyond[rows].argmax(axis=1)].tolist(), strict=True)

    return list(
        chain.from_iterable(mapped(beyond, block_slices(A.shape[0], A.shape[1], like=A[:0, :]), A[:0, :]))
    )
