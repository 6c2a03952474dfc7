"""What is to be read of a table: which columns, which of them as texts, and what is done about gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netlearn.errors import InputError
from netlearn.source.cells import Book
from netlearn.source.columns import Column, by_names, chosen_features
from netlearn.source.recipe import Recipe
from netlearn.source.tables import Table


@dataclass(frozen=True)
class Wanted:
    """What is to be read of a table.

    Attributes
    ----------
    columns : tuple of int
        Columns of features, then of labels.
    recipe : Recipe
        Its categories are known if `is_fitted`, else empty tuples.
    encoded : tuple of int
        Columns of features that are read as texts.
    is_fitted : bool
        Whether the recipe is that of a model, and is only applied.
    labels_may_lack : bool
        Whether a row without a label is as good as others, as labels are only compared with.
    """

    columns: tuple[int, ...]
    recipe: Recipe
    encoded: tuple[int, ...] = ()
    is_fitted: bool = False
    labels_may_lack: bool = False

    @property
    def n_inputs(self) -> int:
        """Number of columns of features."""
        return self.recipe.n_columns

    def books(self) -> dict[int, Book]:
        """Return a book for each column of texts."""
        of = dict(zip(self.columns[: self.n_inputs], self.recipe.categories, strict=True))
        return {column: Book(of[column], is_fixed=bool(of[column])) for column in self.encoded}

    def incomplete(self, values: np.ndarray) -> np.ndarray:
        """Return which rows are left out: those that lack a label, or with "drop" anything."""
        labels = values[:, self.n_inputs :]
        gaps = np.zeros(len(values), dtype=bool)
        if not self.labels_may_lack:
            gaps |= np.isnan(labels).any(axis=1)
        if self.recipe.missing == "drop":
            inputs = values[:, : self.n_inputs]
            gaps |= np.isnan(inputs).any(axis=1)
            for place, texts in enumerate(self.recipe.categories):
                if texts:
                    gaps |= inputs[:, place] < 0
        return gaps


def as_learned(
    table: Table, targets: Sequence[int], recipe: Recipe, features: Sequence[Column] | None
) -> list[int]:
    """Find the columns that a recipe reads: by their names where both have some, else by their order."""
    if features is None and recipe.columns and table.names is not None:
        return by_names(table, recipe.columns)
    columns = chosen_features(table, targets, features, None, None)
    if len(columns) != recipe.n_columns:
        raise InputError(
            f"{table.path} must have {recipe.n_columns} columns beside the target, one for each that the model was "
            f"learned from; got {len(columns)}."
        )
    return columns


def wanted_of(
    table: Table,
    inputs: Sequence[int],
    targets: Sequence[int],
    missing: str | None,
    recipe: Recipe | None,
    encode: str | None,
) -> Wanted:
    """Say what is to be read: with the recipe of a model, or with one that is still to be fitted."""
    if recipe is not None:
        # Whatever the columns hold here.
        encoded = tuple(column for column, texts in zip(inputs, recipe.categories, strict=True) if texts)
        return Wanted((*inputs, *targets), recipe.with_policy(missing), encoded, is_fitted=True)
    names = () if table.names is None else tuple(table.names[column] for column in inputs)
    made = Recipe(names, ((),) * len(inputs), "error" if missing is None else missing)
    encoded = tuple(column for column in inputs if column in table.texts) if encode else ()
    return Wanted((*inputs, *targets), made, encoded)
