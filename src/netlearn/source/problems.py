"""What is wrong with a table: everything that one reading finds, told in one message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from netlearn.errors import InputError

# Problems that a message names, and places that it names of each: more would scroll the first ones away.
_SHOWN_PROBLEMS, _SHOWN_PLACES = 20, 5
_LONGEST_CELL = 40

# What helps. {option=value} is an option, written as Python or as the command line takes it.
_NAME = "NAME"
_DROP = "{drop=NAME} leaves the column out"
_ADVICE = {
    "missing": "{missing=drop} leaves out rows with missing values, {missing=mean} fills them with the mean of their "
    "column",
    "missing label": "{missing=drop} leaves out rows with missing values",
    "text": "{encode=onehot} turns a column of text into one feature for each different text; " + _DROP,
    "text target": "the target must be a number: write classes as 0 and 1, or as one column for each class",
    "value": _DROP,
    "no number": "correct these cells",
    "thousands": "write numbers without a thousands separator",
    "decimal": "write all numbers with the same decimal sign, point or comma",
    "infinity": "correct these cells",
    "cells": "correct these rows: every row must have as many cells as there are columns",
    "unnamed": "name the column, or leave it out by its number, as in {drop=0}",
    "twice": "rename one of the columns",
    "many": _DROP,
    "new": "{missing=mean} predicts for such a row as for an average one, {missing=drop} leaves its prediction empty",
    "empty": _DROP,
}


class TableError(InputError):
    """A table that cannot be used, with everything that is wrong with it.

    Attributes
    ----------
    path : str
    problems : tuple of str
        One for each column or kind of row, with the places.
    n_more : int
        Problems beyond those.
    advice : tuple of str
        What helps, with options in braces.
    """

    def __init__(
        self, message: str, path: str = "", problems: Sequence[str] = (), n_more: int = 0, advice=()
    ):
        super().__init__(message)
        self.path, self.problems, self.n_more, self.advice = path, tuple(problems), n_more, tuple(advice)

    def lines(self, option: Callable[[str, str], str], where: str = "") -> list[str]:
        """Return the message in lines; `option` writes an option and its value, `where` says what has such options."""
        advice = [
            re.sub(r"\{(\w+)=([^}]+)\}", lambda found: option(found[1], found[2]), one) for one in self.advice
        ]
        where = where if any("{" in one for one in self.advice) else ""
        if len(self.problems) == 1:
            helps = f" What helps{where}: {'; '.join(advice)}." if advice else ""
            return [f"{self.path}: {self.problems[0]}.{helps}"]
        more = [f"and {self.n_more:,} problems more"] if self.n_more else []
        return [
            f"{self.path} has {len(self.problems) + self.n_more:,} problems (rows are counted from 1, without the "
            "header):",
            *(f"  - {one}" for one in (*self.problems, *more)),
            *([f"What helps{where}:"] if advice else []),
            *(f"  - {one}" for one in advice),
        ]


def in_python(option: str, value: str) -> str:
    """Write an option as `FileSource` takes it."""
    if option == "drop":
        names = ["..."] if value == _NAME else value.split(",")
        return f"drop=[{', '.join(name if name.isdigit() else json.dumps(name, ensure_ascii=False) for name in names)}]"
    return f'{option}="{value}"'


@dataclass
class _Group:
    """Places of one kind of problem in one column."""

    count: int = 0
    places: list[tuple[str, str]] = field(default_factory=list)

    def add(self, place: str, text: str) -> None:
        self.count += 1
        if len(self.places) < _SHOWN_PLACES:
            self.places.append((place, text))


class Problems:
    """What is wrong with a table, gathered while it is read.

    Parameters
    ----------
    path : str
    label : callable
        Names a column for a reader.
    place : callable
        Gives the file of a row that is counted from 0, and its number there.
    is_fitted : bool
        Whether it is read for a model, which needs the columns that it was learned from.
    """

    def __init__(
        self,
        path: str,
        label: Callable[[int], str],
        place: Callable[[int], tuple[str, int]],
        is_fitted: bool = False,
    ):
        self.path, self._label, self._place, self._is_fitted = path, label, place, is_fitted
        self._groups: dict[tuple[str, int], _Group] = {}
        self._details: dict[tuple[str, int], str] = {}
        # Columns of which the table itself says what is wrong with a cell; of others the numbers tell.
        self.judged: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._groups)

    def column(self, kind: str, column: int, text: str = "") -> None:
        """Take in something that is wrong with a column as a whole."""
        self._group(kind, column).add("", text)

    def cell(self, kind: str, column: int, row: int, text: object = "") -> None:
        """Take in a cell; rows are counted from 0."""
        group = self._group(kind, column)
        group.add(self._row(row) if len(group.places) < _SHOWN_PLACES else "", shown(text))

    def cells(self, kind: str, column: int, rows: np.ndarray) -> None:
        """Take in many cells of a column, by their rows."""
        for row in rows[:_SHOWN_PLACES].tolist():
            self.cell(kind, column, row)
        if len(rows) > _SHOWN_PLACES:
            self._group(kind, column).count += len(rows) - _SHOWN_PLACES

    def forget(self, kind: str, column: int) -> None:
        """Take back what another problem of the column says better."""
        self._groups.pop((kind, column), None)

    def detail(self, kind: str, column: int, text: str) -> None:
        """Add something to what is said of a column."""
        self._details[kind, column] = text

    def row(self, row: int, n_cells: int, n_columns: int) -> None:
        """Take in a row with another number of cells than there are columns."""
        self._group("cells", n_columns).add(self._row(row), f"{n_cells:,}")

    def error(self) -> TableError:
        """Return all of it as one exception."""
        keys = sorted(self._groups, key=lambda key: (key[0] == "cells", key[1]))
        told = [self._told(kind, column, self._groups[kind, column]) for kind, column in keys]
        kinds = dict.fromkeys(kind for kind, _ in keys)
        if "missing" in kinds:
            kinds.pop("missing label", None)  # one of the two ways out for both
        advice = list(dict.fromkeys(part for kind in kinds for part in _ADVICE[kind].split("; ")))
        if self._is_fitted:
            advice = [one for one in advice if "{drop=" not in one]
        droppable = [(kind, column) for kind, column in keys if _DROP in _ADVICE[kind]]
        useless = [column for kind, column in droppable if kind != "text"]  # texts may be of use
        useless = list(dict.fromkeys(useless or [column for _, column in droppable]))
        made = TableError(
            "",
            self.path,
            told[:_SHOWN_PROBLEMS],
            max(0, len(told) - _SHOWN_PROBLEMS),
            [self._dropping(useless) if one == _DROP else one for one in advice],
        )
        made.args = ("\n".join(made.lines(in_python, " (options of FileSource)")),)
        return made

    def _dropping(self, columns: Sequence[int]) -> str:
        """Return the advice to leave columns out, with their names where these are few and plain."""
        names = [self._label(column).removeprefix("column ").strip('"') for column in columns]
        is_plain = len(names) <= _SHOWN_PLACES and not any(sign in name for name in names for sign in ',}"\\')
        advice = _DROP.replace(_NAME, ",".join(names)) if is_plain else _DROP
        return advice.replace("column out", "columns out") if len(names) > 1 else advice

    def _group(self, kind: str, column: int) -> _Group:
        return self._groups.setdefault((kind, column), _Group())

    def _row(self, row: int) -> str:
        file, number = self._place(row)
        return f"row {number:,}" + ("" if file == self.path else f" of {file}")

    def _told(self, kind: str, column: int, group: _Group) -> str:
        n, places = group.count, group.places
        text = places[0][1]
        more = f" and {n - len(places):,} more" if n > len(places) else ""
        listed = ", ".join(place for place, _ in places) + more
        if n > 1 and all(" of " not in place for place, _ in places):
            listed = "rows " + listed.replace("row ", "")
        cells = ", ".join(f'"{cell}" in {place}' for place, cell in places) + more
        if kind == "cells":
            rows = ", ".join(f"{cell} cells in {place}" for place, cell in places) + more
            return f"{rows}, but {column:,} columns"
        label = self._label(column)
        return (
            f"{label} "
            + {
                "missing": f"has {n:,} missing value{'s' * (n > 1)}, in {listed}",
                "missing label": f"has {n:,} missing value{'s' * (n > 1)}, in {listed}",
                "text": f"holds text: {cells}",
                "text target": f"is the target, but holds text: {cells}",
                "value": f"holds {text}",
                "no number": f"holds {cells}, which {'is not a number' if n == 1 else 'are not numbers'}",
                "thousands": f"holds {cells}",
                "decimal": f"holds {cells}",
                "infinity": f"holds infinity in {listed}",
                "unnamed": "has no name (perhaps it is an index)",
                "twice": f"is there {text} times",
                "many": f"holds more than {text} different texts: they are names, dates or the like, not categories",
                "new": f"holds texts in {listed} that were not there when the model was learned: "
                + self._details.get((kind, column), ""),
                "empty": "is empty",
            }[kind]
        )


def shown(cell: object) -> str:
    """Write a cell so that it keeps to its line, whatever it holds, and is not long."""
    text = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in str(cell))
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."
