"""Rows that are copies of others: they show what they show once, and held-out ones are not new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netlearn.backend import to_numpy
from netlearn.source.arrays import ArraySource, SelectedRows, Source, over_blocks

# Share of copies that is more than chance and a few repeats.
_MANY = 0.1
_SEED = 0


@dataclass(frozen=True)
class Twins:
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
    def between(cls, rows: ArraySource | SelectedRows, held_out: ArraySource) -> Twins:
        """Compare all rows. Cost: sorting one number for each, and one reading where labels occur again and again."""
        by_label = cls._by_keys(*(_first_output(some.labels()) for some in (rows, held_out)))
        if not (by_label.many or by_label.many_held_out):
            return cls(np.ones(rows.n_rows, dtype=bool), 0, held_out.n_rows)
        return cls._by_keys(keys(rows), keys(held_out))

    @classmethod
    def _by_keys(cls, key: np.ndarray, key_val: np.ndarray) -> Twins:
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

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of it, in sentences."""
        n = len(self.first)
        if not (self.many or self.many_held_out):
            return ()
        return (
            f"only {self.n_distinct:,} of {n:,} rows differ, and {self.n_held_out:,} of the {self.n_val:,} held-out "
            "rows are copies of rows that were learned from: where these stem from one observation, they certify "
            "nothing",
        )


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
