"""Rows that are copies of others: they show what they show once, and held-out ones are not new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netlearn.backend import to_numpy
from netlearn.source.blocks import Source, over_blocks

# Share of copies that is more than chance and a few repeats.
_MANY = 0.1
_SEED = 0
# Keys that a model keeps of the rows that it was learned from.
_N_KEPT = 1024
_SHORT = 52  # bits of a key that is kept


@dataclass(frozen=True)
class Duplicates:
    """Which rows are new, and how many are not.

    Attributes
    ----------
    first : array of bool
        For each row that learns or judges, whether no row before it is the same.
    n_held_out : int
        Rows of the certificate that occur among those, too.
    n_val : int
        Rows of the certificate.
    """

    first: np.ndarray
    n_held_out: int
    n_val: int

    @classmethod
    def between(cls, rows: Source, *held_out: Source) -> Duplicates:
        """Compare all rows. Cost: sorting one number for each, and one reading where labels occur again and again."""
        fresh = np.concatenate([_first_output(some.labels()) for some in held_out])
        by_label = cls._by_keys(_first_output(rows.labels()), fresh)
        if not (by_label.many or by_label.many_held_out):
            return cls(np.ones(rows.n_rows, dtype=bool), 0, len(fresh))
        return cls._by_keys(keys(rows), np.concatenate([keys(some) for some in held_out]))

    @classmethod
    def _by_keys(cls, key: np.ndarray, key_val: np.ndarray) -> Duplicates:
        first = np.zeros(len(key), dtype=bool)
        first[np.unique(key, return_index=True)[1]] = True
        return cls(first, int(np.isin(key_val, key).sum()), len(key_val))

    @property
    def n_distinct(self) -> int:
        """Number of different rows."""
        return int(self.first.sum())

    @property
    def many(self) -> bool:
        """Whether more than a few rows are copies of others."""
        return len(self.first) - self.n_distinct > _MANY * len(self.first)

    @property
    def many_held_out(self) -> bool:
        """Whether the certificate's rows took part in learning after all, as copies."""
        return self.n_held_out > _MANY * self.n_val


def _first_output(y) -> np.ndarray:
    return to_numpy(y if y.ndim == 1 else y[:, 0])


def keys(rows: Source) -> np.ndarray:
    """Return a number for each row (x, y): the same for copies, and for others but with a chance of some 2**-40.

    Integers that wrap around: unlike a sum of floating-point numbers, it does not depend on where in a block a row is.
    """

    def term(block):
        X, y = (to_numpy(part) for part in block)
        # Zero has two signs; adding zero leaves one.
        bits = (np.column_stack([X, y]).astype(np.float64) + 0.0).view(np.uint64)
        # The low bits of whole numbers are all zero: they get the high ones.
        bits ^= bits >> np.uint64(32)
        odd = 2 * np.random.default_rng(_SEED).integers(2**63, size=bits.shape[1], dtype=np.uint64) + 1
        return bits @ odd

    return np.concatenate(list(over_blocks(term, rows, rows.n_features)))


def bottom_keys(rows: Source) -> np.ndarray:
    """Return the smallest keys of the rows, 8 kB of them: enough to notice rows that are used again.

    Keys are as good as random, so that these belong to a random part of the rows, and of other rows those with keys up
    to the largest of these are as large a part.
    """
    return np.unique(_short(keys(rows)))[:_N_KEPT]


def n_known(kept: np.ndarray, rows: Source) -> tuple[int, bool]:
    """Return how many of the rows belong to those that keys were kept of, and whether that is an estimate."""
    if len(kept) == 0:
        return 0, False
    own = _short(keys(rows))
    seen = int(np.isin(own, kept).sum())
    # Where only the smallest keys were kept, rows with such keys stand for all others.
    some = len(kept) >= _N_KEPT
    part = float(kept[-1]) / 2.0**_SHORT if some else 1.0
    return min(round(seen / part), len(own)), some


def _short(key: np.ndarray) -> np.ndarray:
    """Return the leading bits of keys, which double precision holds exactly."""
    return (key >> np.uint64(64 - _SHORT)).astype(float)
