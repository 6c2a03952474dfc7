"""Checked rows, and their division into rows that learn, rows that judge and rows that certify."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from netlearn.backend import real_array
from netlearn.errors import InputError
from netlearn.source.arrays import SelectedRows, Source
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.stream import Streamed, gathered

# The judge takes a twentieth of the rows, which the last polish gets back; the certificate a fiftieth, for good:
# with noisy labels each row withheld costs accuracy.
_JUDGE_SHARE, _CERTIFICATE_SHARE = 20, 50
_FEWEST, _MOST = 20, 20_000
SMALLEST_SAMPLE = 4


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
    weight : array of n_rows numbers, or None
        How often each of `rows` counts in the last least squares.
    beyond : Streamed or None
        Where `rows` are only a part that fits in memory: all rows but those of the certificate.
    notes : list of str
    """

    rows: SelectedRows
    n_train: int
    X_val: np.ndarray
    y_val: np.ndarray
    weight: np.ndarray | None = None
    beyond: Streamed | None = None
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


def hold(
    source: Source, n_held: int, rng: np.random.Generator, checkpoint: Checkpoint | None = None
) -> Samples:
    """Divide the rows of a source that is too large for memory, in one pass: `n_held` random ones are to learn from."""
    n_val, n_judge = _part(source.n_rows, _CERTIFICATE_SHARE), _part(source.n_rows, _JUDGE_SHARE)
    chosen = rng.choice(source.n_rows, n_val + n_held + n_judge, replace=False)
    val, held = gathered(source, [chosen[:n_val], chosen[n_val:]], checkpoint)
    beyond = Streamed(source, np.sort(chosen[:n_val]), held)
    rows = SelectedRows(held.X, held.y, np.arange(held.n_rows))
    return Samples(rows, n_held, val.X, val.y, beyond=beyond)


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
    if len(X) < SMALLEST_SAMPLE:
        raise InputError(
            f"X has {len(X)} rows; at least {SMALLEST_SAMPLE} are needed to learn, judge and certify anything."
        )
    return X, y


def checked_weight(weight, X: np.ndarray) -> np.ndarray:
    """Return one weight >= 0 for each row of X, or one sentence on why that cannot be."""
    weight = np.asarray(real_array("sample_weight", weight, ndim=1), dtype=float)
    if len(weight) != len(X):
        raise InputError(
            f"sample_weight must have one entry per row of X; got {len(weight)} entries and {len(X)} rows."
        )
    if np.any(weight < 0):
        raise InputError(f"sample_weight must hold numbers >= 0; got {np.min(weight):g}.")
    n_counting = np.count_nonzero(weight)
    if n_counting < SMALLEST_SAMPLE:
        raise InputError(
            f"sample_weight must be above zero for at least {SMALLEST_SAMPLE} rows; it is for {n_counting}."
        )
    return weight


def split(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, weight: np.ndarray | None = None
) -> Samples:
    """Divide rows at random, those of weight zero left out; only those of the certificate are copied."""
    order = rng.permutation(len(y) if weight is None else np.flatnonzero(weight))
    n_val = _part(len(order), _CERTIFICATE_SHARE)
    val = SelectedRows(X, y, order[:n_val]).in_memory()
    order = order[n_val:]
    n_train = len(order) - _part(n_val + len(order), _JUDGE_SHARE)
    return Samples(
        SelectedRows(X, y, order), n_train, val.X, val.y, None if weight is None else weight[order]
    )
