"""How many rows each decision wants, as rows for each unknown: all such ratios, with what they rest on.

With several outputs a row counts as many times as it gives equations.

Every number here is a ratio of rows to unknowns unless its comment says otherwise. What a step costs follows from
these numbers too, so `netlearn.cost` reads them and nothing else of the search.
"""

from __future__ import annotations

import math
from typing import TypeVar

from netlearn.fit.shape import Shape
from netlearn.source.blocks import Counted

# Below this a fit of the wanted width has almost as many unknowns as rows, and no start is worth its time.
HOPELESS = 1.05
# A fit that meets all its rows is no interpolation from here on.
DETERMINED = 1.25
# A wider network can show whether it helps; and whoever asks how many rows to give is told as many.
TELLS_WIDER = 1.5
# A wide start: fewer leave it free to interpolate.
WIDE_START = 1.6
# With exact labels so few determine all unknowns, and a fit of more rows takes longer to no effect.
IF_EXACT = 3.0
# Stay to learn from: more are held out generously.
LEARN = 5.0
# More only cost time while exploring; fewer leave a wide fit on its plateau: 512 units in 128 dimensions are found in
# 74 rounds with 7, and not in 380 with 3.5.
EXPLORE = 8.0
# Rows rank fits of one width by their own mean square, and least squares lose next to nothing: sigma^2 P / N.
AMPLE = 10.0
# A fit inside a subspace V that will not be turned towards the right one need only tell one unit from another.
WITHOUT_TILT = 15.0
# A matrix is estimated from so many rows for each of its columns.
MATRIX = 20.0
# More change nothing that a candidate is chosen by.
FINISH = 30.0
# Rank candidates: more would cost time and tell no more basins apart. A fit inside a subspace V that is still off wants
# as many, since what V misses is noise to it; from MANY_INSIDE rows on, AMPLE for each unknown are added.
RANK = 100.0
MANY_INSIDE = 20_000  # rows
# Beyond this, networks within the statistical error are so close that the normal matrix of some rows serves for steps
# on all, and an average over them no longer changes the error: by half a per cent to either side, on eight problems.
ALIKE = 1000.0
# Rows that are always taken where there are so many, as they cost next to nothing.
FEWEST = 1000  # rows
RANKING_ROWS = 50_000  # rows

Rows = TypeVar("Rows", bound=Counted)


def enough(rows: Rows, shape: Shape, ratio: float = FINISH) -> Rows:
    """Return as many rows as a fit of this shape can use."""
    return rows.head(min(rows.n_rows, max(FEWEST, math.ceil(ratio * shape.n_unknowns / shape.per_row))))


def ranking(rows: Rows, shape: Shape) -> Rows:
    """Return the rows whose mean square ranks fits of one width: all, up to many per unknown."""
    return rows.head(min(rows.n_rows, max(RANKING_ROWS, math.ceil(RANK * shape.n_unknowns / shape.per_row))))


def inside(shape: Shape, *, tilting: bool) -> int:
    """Return how many rows a fit inside V wants, whose width is that of the shape."""
    P = shape.n_unknowns
    wanted = (RANK if tilting else WITHOUT_TILT) * P
    return int(max(4 * FEWEST, min(wanted, MANY_INSIDE + AMPLE * P)))


def has(rows: Counted, shape: Shape, ratio: float) -> bool:
    """Whether there are so many rows for each unknown."""
    return rows.n_rows * shape.per_row >= ratio * shape.n_unknowns


def widest(n_rows: int, shape: Shape, ratio: float) -> int:
    """Return the largest width whose vectors, the affine ones included, have so many rows for each entry."""
    return int(n_rows * shape.per_row / ratio / shape.per_unit) - shape.n_outputs


def least(n_unknowns: float) -> int:
    """Return how many rows to give for so many unknowns: a tenth more than tell, and some to judge and certify."""
    return math.ceil(TELLS_WIDER * n_unknowns / 0.9) + 40


def affordable(n_hidden: int, n_rows: int, shape: Shape, surplus: float) -> int:
    """Return a width with its surplus, cut to what the rows can determine; never below the width."""
    return max(n_hidden, min(math.ceil(surplus * n_hidden) + 2, widest(n_rows, shape, WIDE_START)))
