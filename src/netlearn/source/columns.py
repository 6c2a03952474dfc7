"""Columns of a table, chosen by name, by pattern or by number."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from netlearn.errors import InputError
from netlearn.source.problems import Problems, shown
from netlearn.source.tables import Table

Column = str | int


def usual_target(table: Table) -> Column | list[Column]:
    """Return the target of a file that has no names; where there are names, one must be given."""
    if table.names is not None:
        raise InputError(f'"target" of {table.path} must be given: one of {_listed(table)}.')
    if len(table.labels) > 1:
        return list(table.labels)
    return table.labels[0] if table.labels else table.n_columns - 1


def chosen_features(
    table: Table,
    targets: Sequence[int],
    features: Sequence[Column] | None,
    keep: Column | Sequence[Column] | None,
    drop: Column | Sequence[Column] | None,
) -> list[int]:
    """Return the columns of X: those asked for, or all but the targets; then without what is not kept or is dropped."""
    if features is not None:
        chosen = indices(table, features, "features")
    else:
        apart = {*targets, *table.labels}
        chosen = [column for column in range(table.n_columns) if column not in apart]
    if keep is not None:
        kept = set(indices(table, _as_list(keep), "keep"))
        chosen = [column for column in chosen if column in kept]
    if drop is not None:
        dropped = set(indices(table, _as_list(drop), "drop"))
        chosen = [column for column in chosen if column not in dropped]
    if not chosen:
        raise InputError(f"{table.path} leaves no column for the features beside the target.")
    return chosen


def _as_list(columns: Column | Sequence[Column]) -> Sequence[Column]:
    return [columns] if isinstance(columns, Column | np.integer) else columns


def indices(table: Table, wanted: Sequence[Column], argument: str) -> list[int]:
    """Find columns by their names, where a star stands for any text, or by their numbers."""
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Sequence | np.ndarray):
        raise InputError(f'"{argument}" of {table.path} must be a list of columns, got {wanted!r:.100}.')
    found = []
    for column in wanted:
        names = table.names or ()
        matching = []
        if isinstance(column, str) and "*" in column and column not in names:
            pattern = re.compile(".*".join(map(re.escape, column.split("*"))), re.DOTALL)
            matching = [index for index, name in enumerate(names) if pattern.fullmatch(name)]
        found += matching or [_index(table, column, argument)]
    return found


def _index(table: Table, wanted: Column, argument: str) -> int:
    """Find a column by its name, or by its number."""
    if table.names is not None and wanted in table.names:
        return table.names.index(wanted)
    # A float would be cut off, and a truth value is no number of a column.
    may_be = isinstance(wanted, Column | np.integer) and not isinstance(wanted, bool)
    try:
        number = int(wanted) if may_be else None
    except ValueError:
        number = None
    if number is None:
        near = difflib.get_close_matches(str(wanted), table.names or (), n=1)
        hint = f' (did you mean "{near[0]}"?)' if near else ""
        raise InputError(f'"{argument}" of {table.path} must be in {_listed(table)}; got "{wanted}"{hint}.')
    if not -table.n_columns <= number < table.n_columns:
        raise InputError(
            f'"{argument}" must be the number of a column of {table.path}, which has {table.n_columns}, counted '
            f"from 0; got {number}."
        )
    return number % table.n_columns


def by_names(table: Table, names: Sequence[str]) -> list[int]:
    """Find the columns that a model was learned from; all that are not there are named."""
    own = table.names or ()
    places = {name: place for place, name in reversed(list(enumerate(own)))}
    absent = [name for name in names if name not in places]
    if not absent:
        return [places[name] for name in names]
    quoted = ", ".join(f'"{shown(name)}"' for name in absent[:12])
    more = f" and {len(absent) - 12} more" if len(absent) > 12 else ""
    near = difflib.get_close_matches(absent[0], own, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    raise InputError(
        f"{table.path} must have the columns that the model was learned from, but not in {_listed(table)} "
        f"{'is' if len(absent) == 1 else 'are'} {quoted}{more}{hint}."
    )


def refuse_twice(table: Table, columns: Sequence[int]) -> None:
    """Refuse columns that were chosen twice."""
    for column, count in Counter(columns).items():
        if count > 1:
            raise InputError(f"{table.path}: {label(table, column)} was chosen twice, as features or target.")


def unusable(table: Table, columns: Sequence[int], problems: Problems) -> list[int]:
    """Tell `problems` of columns that cannot be told apart or hold neither numbers nor text; gives them."""
    found = []
    counts = Counter(table.names or ())
    for column in columns:
        if table.names is not None:
            count = counts[table.names[column]]
            if not table.names[column].strip():
                problems.column("unnamed", column)
                found.append(column)
                continue
            if count > 1:
                problems.column("twice", table.names.index(table.names[column]), str(count))
                found.append(column)
                continue
        if column in table.foreign:
            problems.column("value", column, table.foreign[column])
            found.append(column)
    return found


def label(table: Table, column: int) -> str:
    """Name a column for a reader."""
    if table.names is None or not table.names[column].strip():
        return f"column {column}"
    return f'column "{shown(table.names[column])}"'


def _listed(table: Table) -> str:
    if table.names is None:
        return f"its {table.n_columns} columns, which have no names and are counted from 0"
    names = ", ".join(table.names[:12])
    more = len(table.names) - 12
    return f"its columns {names}" + (f" and {more} more" if more > 0 else "")
