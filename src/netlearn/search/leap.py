"""The wide fit: more units than needed, over-relaxed steps, and no other help.

A start of exactly the wanted width meets spurious minima, where two units share one true unit and another true unit has
none. With a surplus of units every true one is met by some, and steps that go beyond the least-squares solution cross
what plateaus are left: ten or twenty rounds do where labels are exact, from any random start.
"""

from __future__ import annotations

import numpy as np

from netlearn.fit import NEAR, ROUNDING, Fit, Params, Problem, Shape, explore, finish
from netlearn.fit.descend import CANDIDATE_GAIN, SHORT_PATIENCE
from netlearn.fit.equations import is_huge
from netlearn.fit.modulated import in_lanes
from netlearn.search import budget
from netlearn.search.starts import spread_planes, unused
from netlearn.source import Source
from netlearn.source.blocks import Counted

# Widths of the wide fits in units of the width asked for, in the order tried; and the widest where none is.
SURPLUS = (1.25, 1.5, 1.25, 2.0, 1.5, 1.25, 2.0, 3.0)
MOST_UNITS = 512
# Rounds in which a wide fit must gain 5 %: where rows are ample; where they are few; where they are few and a start
# takes so long that going on with this one is better than another; and where besides the width is known. 192 units in
# 64 dimensions with 2.4 rows for each unknown of the wide fit stay on a plateau of 0.01 where long steps are shortened
# as soon as 25 rounds gain nothing, and leave it where that takes 100.
HASTY = 10
PATIENT = 20
PERSISTENT = 40
RESOLUTE = 160
# Entries of X from which a few rows come first, in single precision.
_LARGE = 2**21
# Mean square down to which rows in single precision do: their rounding leaves 1e-12.
_ROUGH = 1e-9
# Mean square, in units of what rounding leaves, down to which a fit of few rows goes: all rows then show more than
# twice as much, where three for each unknown were fitted.
_BELOW_ROUNDING = 0.1


def few_rows(rows: budget.Rows, shape: Shape) -> budget.Rows:
    """Return as many rows as determine a fit of this shape if labels are exact; enough rows where that is cheap."""
    some = budget.enough(rows, shape)
    return budget.enough(rows, shape, budget.IF_EXACT) if is_large(some) else some


def is_large(rows: Counted) -> bool:
    """Whether rows are so many that a few come first, in single precision."""
    return rows.n_rows * rows.n_features > _LARGE and rows.can_be_single


def rough(rows: Source) -> Source:
    """Return the rows as a fit that is far from its end may see them: in single precision where that saves time."""
    return rows.single() if is_large(rows) else rows


def settle(problem: Problem, start: Params, *, max_rounds: int = 60) -> Fit:
    """Fit a candidate on enough rows: where these are very many, on a few first, which do if labels are exact."""
    shape = problem.shape(start.n_hidden)
    some, few = budget.enough(problem.rows, shape), few_rows(problem.rows, shape)

    def fitted(rows, start, until=ROUNDING):
        limits = {"max_rounds": max_rounds, "least_gain": CANDIDATE_GAIN, "until": until}
        return finish(problem.on(rows), start, **limits)

    if not is_large(some):
        return fitted(some, start)
    first = fitted(few.single(), start, _ROUGH)
    # What is at rounding level on these rows should be so on all, too.
    second = fitted(few if first.loss < NEAR else some, first.params, _BELOW_ROUNDING * ROUNDING)
    if second.loss > problem.zero_loss and first.loss < NEAR and few.n_rows < some.n_rows:
        second = fitted(some, second.params)
    return second.after(first)


def leap(
    problem: Problem,
    width: int,
    rng: np.random.Generator,
    *,
    known: Params | None = None,
    patience: int = PERSISTENT,
    patience_near: int = SHORT_PATIENCE,
) -> Fit:
    """Fit a wide network from random units, and those of an earlier fit if there is one.

    Parameters
    ----------
    problem : Problem
    width : int
        Units in all.
    rng : numpy.random.Generator
    known : Params, optional
        Units to start from besides random ones.
    patience : int
        Rounds in which the loss must fall by 5 %.
    patience_near : int
        The same for a loss that is small already.
    """
    rows, d = problem.rows, problem.rows.n_features
    n_known = 0 if known is None else known.n_hidden
    some = budget.enough(rows, problem.shape(width), budget.EXPLORE)
    # Over-relaxed steps find their way sooner by exact gradients; where a round takes a GPU long, its time counts: half
    # the bytes, and a few units more for which no product has to begin in the middle of a lane.
    if is_huge(some, problem.shape(width).n_unknowns):
        some = rough(some)
        width = in_lanes(width + problem.n_outputs) - problem.n_outputs
    n_new = max(width - n_known, 1)
    start = unused(spread_planes(n_new, d, rng, biases=problem.biases), problem.n_outputs, rng)
    if known is not None:
        start = known.joined(start)
    return explore(problem.on(some), start, patience=patience, patience_near=patience_near)
