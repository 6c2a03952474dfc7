"""How a table becomes the features of a network: the same way when learning and when predicting."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from netlearn.errors import InputError

POLICIES = ("error", "drop", "mean")
ENCODINGS = ("onehot",)


@dataclass(frozen=True)
class Recipe:
    """What is done to the columns of a table before a network sees them.

    It is fitted to the table that is learned from, travels with the network, and holds texts and numbers only.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns that are read, in order; empty where the table has none, and columns go by their order.
    categories : tuple of tuples of str
        For each column its texts, of which each becomes a feature that is 1 where the column holds it and else 0; none
        for a column of numbers.
    missing : str
        What becomes of a row with a missing value, or with a text that is not in `categories`: it is refused
        ("error"), left out ("drop"), or the gap is filled with the mean of its features ("mean").
    means : tuple of float
        Mean of each feature over the table that was learned from; empty where it is not known.
    """

    columns: tuple[str, ...] = ()
    categories: tuple[tuple[str, ...], ...] = ()
    missing: str = "error"
    means: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_policy(self.missing)
        if self.columns and len(self.columns) != len(self.categories):
            raise InputError(
                f'"columns" and "categories" of a recipe must be as many, got {len(self.columns)} and '
                f"{len(self.categories)}."
            )
        if self.means and (len(self.means) != self.n_features or not all(map(math.isfinite, self.means))):
            raise InputError(f'"means" of a recipe must be {self.n_features} finite numbers.')
        if any(len(set(texts)) != len(texts) for texts in self.categories):
            raise InputError('"categories" of a recipe must not hold a text twice.')

    @property
    def n_columns(self) -> int:
        """Number of columns that are read."""
        return len(self.categories)

    @cached_property
    def n_features(self) -> int:
        """Number of features that they become."""
        return sum(len(texts) or 1 for texts in self.categories)

    @property
    def has_categories(self) -> bool:
        """Whether a column of text is among them."""
        return any(self.categories)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features: that of a column of numbers, or column=text; empty where the columns have none."""
        if not self.columns:
            return ()
        names: list[str] = []
        for column, texts in zip(self.columns, self.categories, strict=True):
            names += [f"{column}={text}" for text in texts] or [column]
        return tuple(names)

    def with_policy(self, missing: str | None) -> Recipe:
        """Return the recipe with another policy for missing values; None keeps its own."""
        if missing in (None, self.missing):
            return self
        if missing == "mean" and not self.means:
            raise InputError(
                '"missing" must not be "mean" for a model that was learned from an array, as it does not hold the '
                "means of its features."
            )
        return replace(self, missing=missing)

    def with_means(self, means: Iterable[float]) -> Recipe:
        """Return the recipe with the means of the features, unless it has some."""
        return self if self.means else replace(self, means=tuple(float(mean) for mean in means))

    def features(self, values: np.ndarray) -> np.ndarray:
        """Make features of the columns.

        Parameters
        ----------
        values : array of shape (n, n_columns)
            Numbers, or for a column of text the places of its texts in `categories`; NaN where a value is missing,
            negative where a text is unknown.

        Returns
        -------
        X : array of shape (n, n_features)
            NaN where a value is missing and not filled; `values` itself where nothing is to be done.
        """
        X = values
        if self.has_categories:
            X = np.empty((self.n_features, len(values))).T  # columns lie together, as they are read
            place = 0
            for column, texts in zip(values.T, self.categories, strict=True):
                stop = place + (len(texts) or 1)
                X[:, place:stop] = _indicators(column, len(texts)) if texts else column[:, None]
                place = stop
        if self.missing == "mean" and (gaps := np.isnan(X)).any():
            X = np.where(gaps, self.means, X)
        return X


def _indicators(codes: np.ndarray, n_texts: int) -> np.ndarray:
    made = (codes[:, None] == np.arange(n_texts)).astype(float)
    made[~(codes >= 0)] = np.nan
    return made


def check_policy(missing: str) -> None:
    """Refuse what is no policy for missing values."""
    if missing not in POLICIES:
        raise InputError(f'"missing" must be "error", "drop" or "mean", got {missing!r:.100}.')


def check_encoding(encode: str | None) -> None:
    """Refuse what is no encoding of texts."""
    if encode is not None and encode not in ENCODINGS:
        raise InputError(f'"encode" must be None or "onehot", got {encode!r:.100}.')
