"""Checked rows, and their division into rows that learn, rows that judge and rows that certify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from array_api_compat import is_array_api_obj, is_torch_array

from netlearn.backend import namespace, real_array, to_numpy
from netlearn.errors import InputError
from netlearn.source.arrays import SelectedRows, Source
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.device import moved
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

    def on(self, like) -> Samples:
        """Return the division with the rows that learn and judge in the library and on the device of `like`."""
        return (
            self
            if namespace(like) is namespace(self.rows.like)
            else replace(self, rows=self.rows.moved(like))
        )


def hold(
    source: Source, n_held: int, rng: np.random.Generator, checkpoint: Checkpoint | None = None
) -> Samples:
    """Divide the rows of a source that is too large for memory, in one pass: `n_held` random ones are to learn from.

    Of fewer rows than that, all but those that judge and certify are.
    """
    _refuse_too_few(source.n_rows)
    n_val, n_judge = _part(source.n_rows, _CERTIFICATE_SHARE), _part(source.n_rows, _JUDGE_SHARE)
    n_held = min(n_held, source.n_rows - n_val - n_judge)
    chosen = rng.choice(source.n_rows, n_val + n_held + n_judge, replace=False)
    val, held = gathered(source, [chosen[:n_val], chosen[n_val:]], checkpoint)
    _refuse_no_labels(held.y)
    beyond = Streamed(source, np.sort(chosen[:n_val]), held)
    rows = SelectedRows(held.X, held.y, np.arange(held.n_rows))
    return Samples(rows, n_held, val.X, val.y, beyond=beyond)


def _part(n: int, share: int) -> int:
    """Return how many of `n` rows to set aside: one in `share`, but at least 20 where that is below a fifth."""
    return max(1, min(max(n // share, min(_FEWEST, n // 5)), _MOST))


def checked_rows(X, y):
    """Return X and y as arrays of numbers of shapes (n, d) and (n,) or (n, m), or one sentence on why that cannot be.

    A single column is one output. Torch tensors stay torch tensors, and y goes where X is. That X is finite is left to
    `far_rows`, which reads all of it.
    """
    if y is None:
        raise InputError('"y" of learn must be given with an array X: one label per row.')
    X = _checked("X", X, ndim=2, is_read_later=True)
    try:
        y = y if is_array_api_obj(y) else np.asarray(y)
    except ValueError:
        raise InputError('"y" of learn must be an array of numbers; got a ragged sequence.') from None
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    y = _checked("y", y, ndim=2 if y.ndim == 2 else 1)
    y = moved(y, X) if is_torch_array(X) else to_numpy(y)
    _refuse_no_labels(y)
    if X.shape[1] == 0:
        raise InputError("X must have at least one column; got an array with none.")
    if len(y) != len(X):
        raise InputError(f"y must have one entry per row of X; got {len(y)} entries and {len(X)} rows.")
    _refuse_too_few(len(X))
    return X, y


def _checked(name: str, value, **kind):
    array = real_array(name, value.detach() if is_torch_array(value) else value, **kind)
    return array if is_torch_array(array) else np.asarray(array)


def _refuse_no_labels(y) -> None:
    if 0 in y.shape[1:]:
        raise InputError("y must have at least one column; got an array with none.")


def _refuse_too_few(n_rows: int) -> None:
    if n_rows < SMALLEST_SAMPLE:
        raise InputError(
            f"X has {n_rows} rows; at least {SMALLEST_SAMPLE} are needed to learn, judge and certify anything."
        )


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
    X: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
    weight: np.ndarray | None = None,
    aside: Sequence[int] = (),
) -> Samples:
    """Divide rows at random, those of weight zero or set aside left out; only those of the certificate are copied."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    order = rng.permutation(np.setdiff1d(rows, aside))
    _refuse_too_few(len(order))
    n_val = _part(len(order), _CERTIFICATE_SHARE)
    val = SelectedRows(X, y, order[:n_val]).in_memory()
    order = order[n_val:]
    n_train = len(order) - _part(n_val + len(order), _JUDGE_SHARE)
    return Samples(
        SelectedRows(X, y, order),
        n_train,
        to_numpy(val.X),
        to_numpy(val.y),
        None if weight is None else weight[order],
    )
