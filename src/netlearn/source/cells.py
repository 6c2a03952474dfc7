"""Cells as people write them: numbers, truth values, texts, and the many ways to say that there is none."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

MISSING = frozenset(
    ("", "na", "n/a", "n.a.", "#n/a", "#na", "nan", "-nan", "null", "none", "nil", "-", "--", "?", ".")
)
"""What stands for a missing value, whatever the case of its letters and with any spaces around it."""

# More different texts than this are no categories, and each would be a feature.
MOST_CATEGORIES = 100
_SHOWN_UNKNOWN = 5
UNKNOWN = -1.0
"""The number of a text that is not in a book of fixed texts."""

_NUMBER = r"\s*[+-]?(\d+{0}?\d*|{0}\d+)([eE][+-]?\d+)?\s*"
POINT, COMMA = (re.compile(_NUMBER.format(sign), re.ASCII) for sign in (r"\.", ","))
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([.,'\u2019\s]\d{3})+([.,]\d+)?", re.ASCII)
_INFINITE = re.compile(r"\s*[+-]?inf(inity)?\s*", re.IGNORECASE)
_PLAIN = frozenset((int, float, type(None)))
_TRUTHS = {"true": 1.0, "false": 0.0}

Tell = Callable[[str, int, object], None]
"""Takes a kind of problem, the place of a cell among those given, and the cell."""


def is_missing(cell: object) -> bool:
    """Whether a cell holds nothing."""
    if isinstance(cell, str):
        return cell.strip().casefold() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def kind_of(cells: Iterable[object], decimal: str = ".") -> str:
    """Say what a column holds, from some of its cells: "number", "truth", "text", or the name of another type.

    A column is one of text if more than half of its filled cells are: fewer are mistakes in a column of numbers.
    """
    counts = Counter(_kind(cell, decimal) for cell in cells if not is_missing(cell))
    others = [kind for kind in counts if kind not in ("number", "truth", "text", "binary")]
    if others:
        return others[0]
    if counts["truth"] and not counts["text"] and not counts["number"]:
        return "truth"
    n_texts = counts["text"] + counts["truth"] if counts["text"] else 0
    return "text" if 2 * n_texts > counts.total() else "number"


def _kind(cell: object, decimal: str) -> str:
    if isinstance(cell, str):
        text = cell.strip()
        if text in ("0", "1"):
            return "binary"
        if text.casefold() in _TRUTHS:
            return "truth"
        # Thousands, and the other decimal sign, are numbers that are written in a wrong way.
        like = (POINT, COMMA, _THOUSANDS, _INFINITE)
        return "number" if any(pattern.fullmatch(text) for pattern in like) else "text"
    if isinstance(cell, bool | np.bool_):
        return "truth"
    return "number" if isinstance(cell, Real | Decimal) else type(cell).__name__


def numbers(cells: Sequence[Any], decimal: str, truths: bool, tell: Tell) -> np.ndarray:
    """Return a column as float64: NaN where a cell is missing, infinity where it is wrong, which `tell` is told."""
    try:
        if _PLAIN.issuperset(map(type, cells)):
            return _finite(np.array(cells, dtype=float))  # None is NaN there
        if not truths and (joined := "".join(cells)).isascii() and "_" not in joined:
            if decimal == ".":
                return _finite(np.array(list(map(float, cells)), dtype=float))
            if "." not in joined:
                return _finite(np.array([float(cell.replace(decimal, ".")) for cell in cells], dtype=float))
    except (OverflowError, TypeError, ValueError):
        pass  # cells that are no text, or texts that are no numbers: one by one
    values = np.empty(len(cells))
    for place, cell in enumerate(cells):
        values[place] = value = _number(cell, decimal, truths)
        if math.isinf(value):
            tell(_fault(cell, decimal), place, cell)
    return values


def _finite(values: np.ndarray) -> np.ndarray:
    if np.isinf(values).any():
        raise ValueError  # to be told one by one
    return values


def _number(cell: object, decimal: str, truths: bool) -> float:
    """Return NaN for a missing cell, and infinity for one that is no number."""
    if is_missing(cell):
        return math.nan
    if not isinstance(cell, str):
        try:
            return float(cell) if isinstance(cell, Real | Decimal | np.bool_) else math.inf
        except OverflowError:  # a whole number of hundreds of digits
            return math.inf
    if truths and cell.strip().casefold() in _TRUTHS:
        return _TRUTHS[cell.strip().casefold()]
    pattern = COMMA if decimal == "," else POINT
    return float(cell.replace(decimal, ".")) if pattern.fullmatch(cell) else math.inf


def _fault(cell: object, decimal: str) -> str:
    if not isinstance(cell, str):
        return "infinity" if isinstance(cell, Real | Decimal) else "no number"
    own, other = (COMMA, POINT) if decimal == "," else (POINT, COMMA)
    if own.fullmatch(cell) or _INFINITE.fullmatch(cell):
        return "infinity"
    if _THOUSANDS.fullmatch(cell.strip()):
        return "thousands"
    return "decimal" if other.fullmatch(cell) else "no number"


class Book:
    """The texts of a column and their numbers.

    Parameters
    ----------
    texts : sequence of str
        Known texts; their places are their numbers.
    is_fixed : bool
        Whether other texts are `UNKNOWN`; if not they are entered, up to `MOST_CATEGORIES`.

    Attributes
    ----------
    counts : Counter
        How often each text that is entered has come.
    unknown : list of str
        Some of the texts that are not in a fixed book.
    is_full : bool
        Whether more texts have come than can be entered.
    """

    def __init__(self, texts: Sequence[str] = (), is_fixed: bool = False):
        self._texts, self.is_fixed = tuple(texts), is_fixed
        self.restart()

    def restart(self) -> None:
        """Forget what has come."""
        self._numbers = {text: float(place) for place, text in enumerate(self._texts)}
        self.counts: Counter[str] = Counter()
        self.unknown: list[str] = []
        self.is_full = False

    def codes(self, cells: Sequence[object]) -> np.ndarray:
        """Return the numbers of texts, NaN where one is missing."""
        return np.array([self._code(cell, 1) for cell in cells], dtype=float)

    def codes_of_distinct(self, texts: Sequence[object], places: np.ndarray) -> np.ndarray:
        """Return the numbers of texts[places], where `places` is negative for missing ones."""
        often = np.bincount(places[places >= 0], minlength=len(texts))
        own = [self._code(text, int(n)) if n else 0.0 for text, n in zip(texts, often, strict=True)]
        return np.array([*own, math.nan])[places]  # the last one is that of place -1

    def _code(self, cell: object, count: int) -> float:
        if is_missing(cell):
            return math.nan
        text = str(cell).strip()
        code = self._numbers.get(text)
        if code is None:
            if self.is_fixed:
                if len(self.unknown) < _SHOWN_UNKNOWN and text not in self.unknown:
                    self.unknown.append(text)
                return UNKNOWN
            if len(self._numbers) == MOST_CATEGORIES:
                self.is_full = True
                return 0.0
            code = self._numbers[text] = float(len(self._numbers))
        self.counts[text] += count
        return code
