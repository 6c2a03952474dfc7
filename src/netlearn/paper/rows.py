"""Rows on demand, a block at a time: how the paper's "draw N samples" is carried out."""

from collections.abc import Callable, Iterator

import numpy as np

from netlearn.errors import BudgetError, InputError

Sample = Callable[[int], tuple[np.ndarray, np.ndarray]]
"""``sample(n)`` returns n fresh rows: X of shape (n, d) and y of shape (n,)."""

MAX_ROWS = 10**9
_BLOCK_ROWS = 1 << 16


def draw(sample: Sample, n_rows: float, n_features: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Call `sample` for `n_rows` rows in all, and check what comes.

    A request for more than `MAX_ROWS` rows, such as every theory schedule makes, is refused before the
    first one is drawn.
    """
    if n_rows > MAX_ROWS:
        raise BudgetError(
            f"The schedule asks for {n_rows:.3g} rows, more than the {MAX_ROWS:.0e} allowed: "
            "take a practical schedule or a larger epsilon."
        )
    left = round(n_rows)
    while left > 0:
        n = min(left, _BLOCK_ROWS)
        X, y = sample(n)
        if np.shape(X) != (n, n_features) or np.shape(y) != (n,):
            raise InputError(
                f'"sample" must return arrays of shape ({n}, {n_features}) and ({n},) when called with {n}, '
                f"got {np.shape(X)} and {np.shape(y)}."
            )
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise InputError('"sample" must return finite numbers, got NaN or infinity.')
        yield X, y
        left -= n
