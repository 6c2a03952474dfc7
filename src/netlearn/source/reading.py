"""Tables as `learn` is given them: paths, and frames with their labels inside or beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from netlearn.backend import to_numpy
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.source.blocks import Source
from netlearn.source.files import FileSource
from netlearn.source.frames import FrameTable, frame_names, is_frame, plain_values, series_names
from netlearn.source.recipe import Recipe


def is_table(X: object) -> bool:
    """Whether `X` is a path or a frame."""
    return isinstance(X, str | os.PathLike) or is_frame(X)


def read(X: Any, y: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Turn a path into a source, and a frame into arrays; give anything else back as it is.

    Returns
    -------
    X, y : FileSource and None, or arrays
    named : dict
        What the result of learning is to have of a frame: names, target and recipe.
    """
    if isinstance(X, str | os.PathLike):
        if y is not None and not _names_columns(y):
            raise InputError(
                f'"y" of learn must name the column of labels, or several in a list, when X is a path; got a '
                f"{type(y).__name__}."
            )
        return FileSource(X, target=y), None, {}
    if not is_frame(X):
        return X, y, {}
    if y is not None and _names_columns(y):
        source = FileSource(X, target=y)
        X, y = source.arrays()
        return X, y, _named(source.feature_names or (), source.target or "", X, source.recipe)
    if y is None:
        raise InputError(
            '"y" of learn must be given with a frame X: one label per row, or the name of its column.'
        )
    names, target = frame_names(X), series_names(y)
    values, labels = plain_values(X), plain_values(y)
    if values is None or labels is None:
        table = FrameTable(X, beside=y)
        one = len(table.labels) == 1
        values, labels = FileSource(table, target=table.labels[0] if one else list(table.labels)).arrays()
    recipe = Recipe(names, ((),) * X.shape[1])
    return values, labels, _named(names, target, values, recipe)


def _names_columns(y: Any) -> bool:
    """Whether `y` names columns instead of holding labels."""
    if isinstance(y, str):
        return True
    is_list = isinstance(y, Sequence) and len(y) > 0
    return is_list and all(isinstance(name, str) for name in y)


def _named(names, target, X: np.ndarray, recipe: Recipe) -> dict[str, Any]:
    means = np.mean(X, axis=0, dtype=float) if len(X) else ()
    return {"names": names, "target": target, "recipe": recipe.with_means(means)}


def rows_as_learned(X: Any, recipe: Recipe) -> np.ndarray:
    """Read a path or frame as the table that a model was learned from: X of all its rows, NaN where a value lacks."""
    source = FileSource(X, [], recipe=recipe, labels_may_lack=True)
    return np.concatenate([rows for rows, _ in source.aligned()])


def predicted(network: ShallowNetwork, X: np.ndarray) -> np.ndarray:
    """Return the network's values, NaN for a row that lacks a value."""
    whole = ~np.isnan(X).any(axis=1)
    if whole.all():
        return network(X)
    values = np.full((len(X), *network.linear.shape[:-1]), np.nan)
    values[whole] = network(X[whole])
    return values


def column_means(rows: Source) -> np.ndarray:
    """Return the mean of each feature."""
    total = np.zeros(rows.n_features)
    for X, _ in rows.blocks():
        total += to_numpy(X).sum(axis=0)
    return total / rows.n_rows
