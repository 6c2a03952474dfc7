"""Fit wide, then merge and prune: how units are found without knowing where to look.

A start of exactly the wanted width meets spurious minima, where two units share one true unit and another true
unit has none. With a surplus of units every true one is met by some, the rest shrink or double up, and merging
and dropping leaves the network. The surplus costs rows: the wide fit needs more rows than unknowns.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from netlearn.polish.gauss_newton import (
    NEAR,
    ROUNDING,
    Deadline,
    Polished,
    explore,
    finish,
    never,
)
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import drop_least_missed, drop_weakest, merge
from netlearn.polish.system import is_huge
from netlearn.search.starts import spread_planes
from netlearn.source import Source

# Rows per unknown: fewer leave a wide fit free to interpolate (with 1.8 all of 50 starts found the network, with 1.6
# three in four, with 1.4 one in four), more only cost time while exploring.
_LEAST_RATIO, _ENOUGH_TO_EXPLORE, _ENOUGH_TO_FINISH = 1.8, 8.0, 30.0
# With exact labels so few rows per unknown determine all; conjugate gradients converge fastest per row read on them.
# Where X is large, these come first.
_ENOUGH_IF_EXACT, _LARGE = 3.0, 2**21
# Mean square down to which rows in single precision do: their rounding leaves 1e-12.
_ROUGH = 1e-9
# Rows that a fit has not seen show more than twice its mean square, where three for each unknown were seen.
_BELOW_ROUNDING = 0.1
# Mean square (of labels with unit variance) below which labels are fitted exactly.
EXACT = 1e-18
# A candidate is not worth polishing further when three rounds gain less than this.
CANDIDATE_GAIN = 0.05
# Up to this many unknowns in the span of the units, it is the normal matrix that says which unit to drop.
_FEW_UNKNOWNS = 400
# Hyperplanes this close are one unit until the final polish says otherwise.
_MERGE_ANGLE = 1e-2


def n_unknowns(n_hidden: int, n_features: int, biases: bool) -> int:
    """Return (k + 1)(d + 1) with biases, (k + 1) d + 1 without."""
    return (n_hidden + 1) * (n_features + 1) if biases else (n_hidden + 1) * n_features + 1


def affordable_width(n_hidden: int, n_rows: int, n_features: int, biases: bool, surplus: float) -> int:
    """Return `n_hidden` with its surplus, cut to what the rows can determine; never below `n_hidden`."""
    wanted = math.ceil(surplus * n_hidden) + 2
    per_unit = n_features + int(biases)
    return max(n_hidden, min(wanted, int(n_rows / _LEAST_RATIO / per_unit) - 1))


def enough_rows(rows: Source, n_hidden: int, biases: bool, ratio: float = _ENOUGH_TO_FINISH) -> Source:
    """Return as many rows as a fit of this width can use: a stated number per unknown."""
    wanted = ratio * n_unknowns(n_hidden, rows.n_features, biases)
    return rows.head(min(rows.n_rows, max(1000, math.ceil(wanted))))


def few_rows(rows: Source, n_hidden: int, biases: bool) -> Source:
    """Return as many rows as determine a fit of this width if labels are exact; enough rows where that is cheap."""
    some = enough_rows(rows, n_hidden, biases)
    return enough_rows(rows, n_hidden, biases, _ENOUGH_IF_EXACT) if _is_large(some) else some


def _is_large(rows: Source) -> bool:
    return rows.n_rows * rows.n_features > _LARGE and hasattr(rows, "single")


def rough(rows: Source) -> Source:
    """Return the rows as a fit that is far from its end may see them: in single precision where that saves time."""
    return rows.single() if _is_large(rows) else rows


def settle(
    rows: Source,
    start: Iterate,
    *,
    biases: bool,
    exact: float = EXACT,
    max_rounds: int = 60,
    deadline: Deadline = never,
) -> Polished:
    """Polish a candidate on enough rows: where these are very many, on a few first, which do if labels are exact."""
    some, few = enough_rows(rows, start.n_hidden, biases), few_rows(rows, start.n_hidden, biases)

    def polished(rows, start, until=ROUNDING):
        return finish(
            rows,
            start,
            biases=biases,
            max_rounds=max_rounds,
            least_gain=CANDIDATE_GAIN,
            until=until,
            deadline=deadline,
        )

    if not _is_large(some):
        return polished(some, start)
    first = polished(few.single(), start, _ROUGH)
    # What is at rounding level on these rows should be so on all, too.
    second = polished(few if first.loss < NEAR else some, first.iterate, _BELOW_ROUNDING * ROUNDING)
    if second.loss > exact and first.loss < NEAR and few.n_rows < some.n_rows:
        second = polished(some, second.iterate)
    return replace(second, trace=first.trace + second.trace)


def reduce_to(
    rows: Source,
    wide: Polished,
    n_hidden: int,
    *,
    biases: bool,
    exact: float = EXACT,
    deadline: Deadline = never,
) -> Polished:
    """Bring a wide fit down to `n_hidden` units and polish it on enough rows.

    First all surplus at once, which is right whenever the wide fit was exact. If that does not come out as exact as
    the wide fit was, gradually, polishing in between. With few units, those go first that the others replace best;
    with many, for which finding these is too dear, the weakest.
    """
    merged = merge(wide.iterate, _MERGE_ANGLE, at_least=n_hidden)
    limits = {"biases": biases, "exact": exact, "deadline": deadline}
    few_units = (merged.n_hidden + 1) * (min(merged.n_hidden, rows.n_features) + 1) <= _FEW_UNKNOWNS
    start = _without_surplus(rows, merged, n_hidden, biases) if few_units else drop_weakest(merged, n_hidden)
    best = settle(rows, start, **limits)
    if best.loss > max(exact, wide.loss):
        gradually = _one_at_a_time if few_units else _by_halves
        polished = gradually(rows, merged, n_hidden, limits)
        if polished is not None and polished.loss < best.loss:
            best = polished
    return replace(best, trace=wide.trace + best.trace)


def _without_surplus(rows: Source, wide: Iterate, n_hidden: int, biases: bool) -> Iterate:
    while wide.n_hidden > n_hidden:
        wide = drop_least_missed(rows, wide, biases=biases)
    return wide


def _one_at_a_time(rows: Source, wide: Iterate, n_hidden: int, limits: dict) -> Polished | None:
    biases, deadline = limits["biases"], limits["deadline"]
    some = enough_rows(rows, wide.n_hidden, biases)
    current = wide
    while current.n_hidden > n_hidden and not deadline():
        current = drop_least_missed(some, current, biases=biases)
        current = finish(some, current, biases=biases, max_rounds=3, deadline=deadline).iterate
    if current.n_hidden > n_hidden:
        return None
    return settle(rows, current, **limits)


def _by_halves(rows: Source, wide: Iterate, n_hidden: int, limits: dict) -> Polished | None:
    current, polished = wide, None
    while current.n_hidden > n_hidden and not limits["deadline"]():
        surplus = (current.n_hidden - n_hidden) // 2
        current = drop_weakest(merge(current, _MERGE_ANGLE, at_least=n_hidden), n_hidden + surplus)
        rounds = 60 if current.n_hidden <= n_hidden else 8
        polished = settle(rows, current, max_rounds=rounds, **limits)
        current = polished.iterate
    return polished if current.n_hidden <= n_hidden else None


def wide_fit(
    rows: Source,
    n_hidden: int,
    rng: np.random.Generator,
    *,
    biases: bool,
    surplus: float = 1.25,
    known: Iterate | None = None,
    exact: float = EXACT,
    deadline: Deadline = never,
) -> Polished:
    """Fit a network of `n_hidden` units from one random start with a surplus of units.

    Parameters
    ----------
    rows : Source
    n_hidden : int
    rng : numpy.random.Generator
    biases : bool
    surplus : float
        Width of the start in units of `n_hidden`.
    known : Iterate, optional
        Units to start from besides the random ones: an earlier fit whose missing units are looked for.
    exact : float
        Mean square that counts as none.
    deadline : callable
    """
    d = rows.n_features
    width = affordable_width(n_hidden, rows.n_rows, d, biases, surplus)
    if known is None:
        start = Iterate.from_planes(spread_planes(width, d, rng, biases=biases))
    else:
        extra = max(width - known.n_hidden, 1)
        start = known.joined(Iterate.from_planes(spread_planes(extra, d, rng, biases=biases)))
    some = enough_rows(rows, start.n_hidden, biases, _ENOUGH_TO_EXPLORE)
    # Over-relaxed steps find their way sooner by exact gradients; where a round takes a GPU long, half the bytes count.
    if is_huge(some, n_unknowns(start.n_hidden, d, biases)):
        some = rough(some)
    wide = explore(some, start, biases=biases, deadline=deadline)
    return reduce_to(rows, wide, n_hidden, biases=biases, exact=exact, deadline=deadline)
