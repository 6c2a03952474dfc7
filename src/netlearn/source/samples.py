"""Checked rows, and their division into rows that learn, rows that judge and rows that certify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_torch_array

from netlearn.backend import Array, namespace, real_array, to_numpy
from netlearn.errors import InputError
from netlearn.source.arrays import ArraySource, SelectedRows
from netlearn.source.blocks import Block, Source, Stored
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.device import moved
from netlearn.source.stream import Streamed, gathered

# One row in so many compares candidates; the last fit gets these rows back.
_JUDGE_SHARE = 20
# The same where no rows are in reserve.
_JUDGE_SHARE_OF_ALL = 8
# One row in so many is fresh to the end, with noisy labels too, where each row held out costs accuracy.
_FRESH_SHARE = 100
# At least 20, and up to 100 where rows are ample, but no more than a tenth of all: few are worth more to a fit.
_FEW_FRESH = 20
_ENOUGH_FRESH = 100
# With fewer rows than this for each unknown of the width asked for, every row is needed to find it. If labels are
# exact, rows beyond the unknowns are evidence enough, and if they are not, no held-out rows will help.
_FEW = 2.5
_FRESH_OF_FEW = 50
# Rows that no part needs more of.
_MOST = 20_000
# One row in so many is held out where rows are ample; where labels turn out noisy, most of these join the last fit.
_GENEROUS_SHARE = 4
# Units that are expected where their number is not given.
_EXPECTED_UNITS = 4
SMALLEST_SAMPLE = 4


@dataclass(frozen=True)
class HoldOut:
    """How many rows to hold out.

    Attributes
    ----------
    n_fresh : int
        Rows for the certificate alone.
    n_reserve : int
        Rows that join these where labels turn out exact, and the last fit where they do not.
    n_judge : int, optional
        Rows that compare candidates; by default a twentieth.
    """

    n_fresh: int
    n_reserve: int
    n_judge: int | None = None

    @classmethod
    def of(
        cls,
        n: int,
        n_features: int,
        *,
        n_hidden: int | str,
        n_enough: int,
        per_unknown: float,
        share: float | None = None,
        n_outputs: int = 1,
    ) -> HoldOut:
        """Decide before any row is looked at, from their number and what was asked for.

        Parameters
        ----------
        n, n_features : int
        n_hidden : int or "auto"
        n_enough : int
            Fresh rows from which a network can be called recovered.
        per_unknown : float
            Rows that are ample: the reserve is taken from what is beyond.
        share : float, optional
            Share of the rows that the user wants held out.
        n_outputs : int
            Each of them is an equation for the units.
        """
        if share is not None:
            return cls(min(max(1, round(share * n)), n - 3), 0)
        k = _EXPECTED_UNITS if isinstance(n_hidden, str) else n_hidden
        unknowns = n_features + 1 + k * (n_features + n_outputs) / n_outputs
        if not isinstance(n_hidden, str) and unknowns < n < _FEW * unknowns:
            few = max(1, n // _FRESH_OF_FEW)
            return cls(few, 0, few)
        spare = n - int(per_unknown * unknowns)
        fewest = max(1, min(_FEW_FRESH, n // 10))
        n_fresh = min(max(n // _FRESH_SHARE, fewest, min(_ENOUGH_FRESH, n // 10, spare)), _MOST)
        wanted = max(n // _GENEROUS_SHARE, n_enough)
        return cls(n_fresh, max(0, min(wanted, n // 2, spare) - n_fresh))


@dataclass(frozen=True)
class Samples:
    """Rows divided once, before anything else looks at them.

    Attributes
    ----------
    rows : SelectedRows
        In random order: the first `n_train` rows learn, the next `n_judge` compare candidates, the others are the
        reserve, which joins the fresh rows where labels turn out exact, and the last fit where they do not.
    n_train, n_judge : int
    fresh : Source
        For the certificate alone.
    law : str or None
        Distribution of the fresh inputs where it is known, as in `certify.law`; None where rows have to tell.
    repeats : bool
        Whether the labels are known to be a fixed function of the inputs.
    weight : array of n_rows numbers, or None
        How often each of `rows` counts in the last least squares.
    beyond : Streamed or None
        Where `rows` are only a part that fits in memory: all rows but those of the certificate.
    notes : list of str
    """

    rows: SelectedRows
    n_train: int
    n_judge: int
    fresh: Source
    law: str | None = None
    repeats: bool = False
    weight: np.ndarray | None = None
    beyond: Streamed | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.rows.n_features

    @property
    def n_reserve(self) -> int:
        """Number of rows held out for now."""
        return self.rows.n_rows - self.n_train - self.n_judge

    @property
    def reserve(self) -> SelectedRows:
        """The rows held out for now, as they were given."""
        return self.rows.between(self.n_train + self.n_judge, self.rows.n_rows)

    def with_reserve(self) -> Samples:
        """Return the division in which the reserve learns, too, but for some rows of it that judge.

        It is asked for where rows did not show a network. Then what is found is seldom exact, and a choice that few
        rows make costs more than what more of them could have taught.
        """
        n_train, n_most = self.n_train, self.n_train + self.n_judge
        order = np.arange(self.rows.n_rows)
        order = np.concatenate([order[:n_train], order[n_most:], order[n_train:n_most]])
        weight = None if self.weight is None else self.weight[order]
        n_judge = min(max(self.n_judge, len(order) // _JUDGE_SHARE_OF_ALL), _MOST)
        return replace(
            self,
            rows=self.rows.reordered(order),
            n_train=len(order) - n_judge,
            n_judge=n_judge,
            weight=weight,
        )

    @classmethod
    def from_parts(cls, X, y, X_val, y_val, rng: np.random.Generator, *, law: str, repeats: bool) -> Samples:
        """Shuffle the rows that learn and judge; the fresh ones, of a known law, stay as they are."""
        rows = SelectedRows(X, y, rng.permutation(len(y)))
        n_judge = judging_rows(len(y))
        return cls(rows, len(y) - n_judge, n_judge, ArraySource(X_val, y_val), law, repeats)

    def on(self, like) -> Samples:
        """Return the division with the rows that learn and judge in the library and on the device of `like`."""
        return (
            self
            if namespace(like) is namespace(self.rows.like)
            else replace(self, rows=self.rows.moved(like))
        )


def hold(
    source: Stored,
    n_held: int,
    held_out: HoldOut,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None = None,
) -> Samples:
    """Divide the rows of a source that is too large for memory, in one pass: `n_held` random ones are to learn from.

    Of fewer rows than that, all but those that judge and certify are. Rows beyond those that are held are read in every
    pass of the last fit, so that none are held out for a time.
    """
    _refuse_too_few(source.n_rows)
    n_val, n_judge = held_out.n_fresh, judging_rows(source.n_rows)
    n_held = min(n_held, source.n_rows - n_val - n_judge)
    chosen = rng.choice(source.n_rows, n_val + n_held + n_judge, replace=False)
    val, held = gathered(source, [chosen[:n_val], chosen[n_val:]], checkpoint)
    _refuse_no_labels(held.y)
    beyond = Streamed(source, np.sort(chosen[:n_val]), held)
    rows = SelectedRows(held.X, held.y, np.arange(held.n_rows))
    return Samples(rows, n_held, n_judge, val, beyond=beyond)


def judging_rows(n: int) -> int:
    """Return how many of `n` rows are to compare candidates."""
    return max(1, min(max(n // _JUDGE_SHARE, min(_FEW_FRESH, n // 10)), _MOST))


def checked_rows(X: Any, y: Any) -> Block:
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
    return _by_rows(X), y


def _by_rows(X: Array) -> Array:
    """Return X with each row in one piece: to gather rows of a table stored by columns takes ten times as long."""
    return X if is_torch_array(X) or X.flags.c_contiguous else np.ascontiguousarray(X)


def _checked(name: str, value: Any, **kind: Any) -> Array:
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
    held_out: Callable[[int], HoldOut],
    weight: np.ndarray | None = None,
    aside: Sequence[int] = (),
) -> Samples:
    """Divide rows at random, those of weight zero or set aside left out; no row is copied.

    `held_out` takes the number of rows that are left to how many of them are to be held out.
    """
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
    order = rng.permutation(np.setdiff1d(rows, aside))
    _refuse_too_few(len(order))
    n, out = len(order), held_out(len(order))
    fresh, order = SelectedRows(X, y, order[: out.n_fresh]), order[out.n_fresh :]
    n_judge = judging_rows(n) if out.n_judge is None else out.n_judge
    return Samples(
        SelectedRows(X, y, order),
        len(order) - n_judge - out.n_reserve,
        n_judge,
        fresh,
        weight=None if weight is None else weight[order],
    )
