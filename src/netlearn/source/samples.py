"""Checked rows, and their division into rows that learn, rows that judge and rows that certify."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from netlearn.backend import real_array
from netlearn.errors import InputError
from netlearn.source.arrays import SelectedRows

# The judge takes a twentieth of the rows, which the last polish gets back; the certificate a fiftieth, for good:
# with noisy labels each row withheld costs accuracy.
_JUDGE_SHARE, _CERTIFICATE_SHARE = 20, 50
_FEWEST, _MOST = 20, 20_000
_SMALLEST_SAMPLE = 4


@dataclass(frozen=True)
class Samples:
    """Rows divided once, before anything else looks at them.

    Attributes
    ----------
    rows : SelectedRows
        In random order: the first `n_train` rows learn, the others judge.
    n_train : int
    X_val, y_val : arrays
        For the certificate alone.
    notes : list of str
    """

    rows: SelectedRows
    n_train: int
    X_val: np.ndarray
    y_val: np.ndarray
    notes: list[str] = field(default_factory=list)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.rows.n_features

    @property
    def n_judge(self) -> int:
        """Number of rows that judge."""
        return self.rows.n_rows - self.n_train

    @classmethod
    def from_parts(cls, X, y, X_val, y_val, rng: np.random.Generator) -> Samples:
        """Shuffle the rows that learn and judge; the others stay as they are."""
        rows = SelectedRows(X, y, rng.permutation(len(y)))
        return cls(rows, len(y) - _part(len(y), _JUDGE_SHARE), X_val, y_val)


def _part(n: int, share: int) -> int:
    """Return how many of `n` rows to set aside: one in `share`, but at least 20 where that is below a fifth."""
    return max(1, min(max(n // share, min(_FEWEST, n // 5)), _MOST))


def checked_rows(X, y) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y as float arrays of shapes (n, d) and (n,), or one sentence on why that cannot be."""
    if y is None:
        raise InputError('"y" of learn must be given with an array X: one label per row.')
    X = np.asarray(real_array("X", X, ndim=2))
    try:
        y = np.asarray(y)
    except ValueError:
        raise InputError('"y" of learn must be an array of numbers; got a ragged sequence.') from None
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    y = np.asarray(real_array("y", y, ndim=1))
    if X.shape[1] == 0:
        raise InputError("X must have at least one column; got an array with none.")
    if len(y) != len(X):
        raise InputError(f"y must have one entry per row of X; got {len(y)} entries and {len(X)} rows.")
    if len(X) < _SMALLEST_SAMPLE:
        raise InputError(
            f"X has {len(X)} rows; at least {_SMALLEST_SAMPLE} are needed to learn, judge and certify anything."
        )
    return X, y


def split(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Samples:
    """Divide rows at random; only those of the certificate are copied."""
    n_val = _part(len(y), _CERTIFICATE_SHARE)
    order = rng.permutation(len(y))
    val = SelectedRows(X, y, order[:n_val]).in_memory()
    rows = SelectedRows(X, y, order[n_val:])
    return Samples(rows, rows.n_rows - _part(len(y), _JUDGE_SHARE), val.X, val.y)
