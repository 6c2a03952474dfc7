"""Fit wide, then merge and prune: how units are found without knowing where to look.

A start of exactly the wanted width meets spurious minima, where two units share one true unit and another true
unit has none. With a surplus of units every true one is met by some, the rest shrink or double up, and merging
and dropping leaves the network. The surplus costs rows: the wide fit needs more rows than unknowns.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from netlearn.polish.gauss_newton import Deadline, Polished, explore, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import drop_weakest, merge
from netlearn.search.starts import spread_planes
from netlearn.source import ArraySource

# Rows per unknown: fewer leave a wide fit free to interpolate, more only cost time while exploring.
_LEAST_RATIO, _ENOUGH_TO_EXPLORE, _ENOUGH_TO_FINISH = 1.35, 8.0, 30.0
# Mean square (of labels with unit variance) below which labels are fitted exactly.
EXACT = 1e-18
# A candidate is not worth polishing further when three rounds gain less than this.
CANDIDATE_GAIN = 0.05
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


def enough_rows(
    rows: ArraySource, n_hidden: int, biases: bool, ratio: float = _ENOUGH_TO_FINISH
) -> ArraySource:
    """Return as many rows as a fit of this width can use: a stated number per unknown."""
    wanted = ratio * n_unknowns(n_hidden, rows.n_features, biases)
    return rows.head(min(rows.n_rows, max(1000, math.ceil(wanted))))


def reduce_to(
    rows: ArraySource, wide: Polished, n_hidden: int, *, biases: bool, deadline: Deadline = never
) -> Polished:
    """Bring a wide fit down to `n_hidden` units and polish it on enough rows.

    First all surplus at once, which is right whenever the wide fit was exact; if that does not come out as
    exact as the wide fit was, a half of the surplus at a time, polishing in between.
    """
    some = enough_rows(rows, n_hidden, biases)
    merged = merge(wide.iterate, _MERGE_ANGLE, at_least=n_hidden)
    best = finish(
        some, drop_weakest(merged, n_hidden), biases=biases, least_gain=CANDIDATE_GAIN, deadline=deadline
    )
    if best.loss > max(EXACT, wide.loss):
        current = merged
        while current.n_hidden > n_hidden and not deadline():
            surplus = (current.n_hidden - n_hidden) // 2
            current = drop_weakest(merge(current, _MERGE_ANGLE, at_least=n_hidden), n_hidden + surplus)
            rounds = 60 if current.n_hidden <= n_hidden else 8
            polished = finish(
                some, current, biases=biases, max_rounds=rounds, least_gain=CANDIDATE_GAIN, deadline=deadline
            )
            current = polished.iterate
            if current.n_hidden <= n_hidden and polished.loss < best.loss:
                best = polished
    return replace(best, trace=wide.trace + best.trace)


def wide_fit(
    rows: ArraySource,
    n_hidden: int,
    rng: np.random.Generator,
    *,
    biases: bool,
    surplus: float = 1.25,
    known: Iterate | None = None,
    deadline: Deadline = never,
) -> Polished:
    """Fit a network of `n_hidden` units from one random start with a surplus of units.

    Parameters
    ----------
    rows : ArraySource
    n_hidden : int
    rng : numpy.random.Generator
    biases : bool
    surplus : float
        Width of the start in units of `n_hidden`.
    known : Iterate, optional
        Units to start from besides the random ones: an earlier fit whose missing units are looked for.
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
    wide = explore(some, start, biases=biases, deadline=deadline)
    return reduce_to(rows, wide, n_hidden, biases=biases, deadline=deadline)
