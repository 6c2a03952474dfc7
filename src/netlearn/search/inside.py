"""Fits inside the subspace of few dimensions that moments have shown, and on from there in full dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netlearn.fit import NEAR, Fit, Problem
from netlearn.search import budget
from netlearn.search.follow import TELLING, completed_if_lean, narrowed_and_settled
from netlearn.search.hold import LEVEL, narrowed
from netlearn.search.residual import NOTHING, unexplained
from netlearn.search.search import Search
from netlearn.search.tilt import GOOD, fit_in_subspace, inside

# Dimensions of a subspace up to which a fit inside it tilts it; its unknowns, and units at most.
FEW_DIMENSIONS = 6
_UNKNOWNS_INSIDE = 400
_UNITS_INSIDE = 64
# Units of the first fit inside: in a line or plane, and where a unit has more than three unknowns.
_FIRST_IN_PLANE = 40
_FIRST_INSIDE = 24
# Fits inside at most, each half as wide again: one start in twenty ends in a poor minimum, with more units fewer do.
_STARTS_INSIDE = 3
_MOST_TILTS = 11
# Rows for emptying units inside a subspace.
_INSIDE = 20_000
# Mean square that is no poor minimum, which leaves a hundredth, but noise, or units outside the subspace.
_ELSEWHERE = 0.1
# Share by which a second fit inside a subspace must be lower to be taken.
_LOWER = 0.05


def subspaces(search: Search) -> Iterator[np.ndarray]:
    """Yield the subspaces of few dimensions that are worth a fit inside: what moments have shown, then the whole."""
    d, r = search.train.n_features, search.V.shape[1]
    if 0 < r < d and r <= FEW_DIMENSIONS and (r <= d / 3 or d <= FEW_DIMENSIONS):
        yield search.V
    if d <= FEW_DIMENSIONS:
        yield np.eye(d)


def fit_inside(search: Search, V: np.ndarray, at_most: int | None) -> tuple[Fit | None, bool]:
    """Fit inside V, tilting it, and go on from there in full dimension; say whether more units gained inside.

    Of several outputs V is seen in one mixture. Where it leaves more of that than noise, most units are outside, and a
    fit of all outputs that starts inside takes longer than one that does not: there is None.
    """
    problem, (d, r) = search.single(), V.shape
    search.V = V
    wide, wider_gains = _wide_inside(search, problem, at_most)
    if search.mixture is not None and r < d and wide.loss >= NEAR:
        lifted = wide.params.in_coordinates(search.V)
        if unexplained(problem, lifted, search.rng)[0] > NOTHING:
            return None, wider_gains
    some = problem.on(inside(problem.rows, search.V, _INSIDE))
    # What a subspace of fewer dimensions does not hold is left by any number of units inside it.
    level = 2 * wide.loss if r < d and wide.loss < GOOD else LEVEL
    fit = narrowed(some, wide, at_most, level)
    fit = replace(fit, params=search.of_all(fit.params.in_coordinates(search.V)))
    fit = search.settled(fit, "subspace")
    # Where V was off, or lacked what the labels have, some units of the fit inside only made up for it.
    if r < d and wide.loss >= GOOD and fit.score < NEAR and not search.judge.is_exact(fit):
        fit = narrowed_and_settled(search, fit, at_most, "subspace")
    return completed_if_lean(search, fit, wide.params.n_hidden, at_most), wider_gains


def _wide_inside(search: Search, problem: Problem, at_most: int | None) -> tuple[Fit, bool]:
    """Return the best wide fit inside the subspace, which it tilts, and whether more units gained."""
    r = search.V.shape[1]
    width = max(2 * r + 8, min(_UNITS_INSIDE, _UNKNOWNS_INSIDE // (r + 1)))
    if at_most is not None:
        width = 2 * at_most + 2 if r <= 2 else min(max(width, 2 * at_most + 2), 3 * at_most + 2)
    widest = max(1, budget.widest(search.train.n_rows, problem.shape(1), budget.DETERMINED))
    widest = min(widest, width if at_most is None else 3 * width // 2)
    first, good = (_FIRST_INSIDE, GOOD) if r > 2 else (_FIRST_IN_PLANE, NEAR)
    width = min(width, max(first, 3 * (at_most or 0) // 2))
    fit, V, wider_gains = replace(search.affine(), loss=math.inf), search.V, False
    affine = problem.equations(search.single_affine()).loss
    for _ in range(_STARTS_INSIDE):
        width = min(width, widest)
        search.tell(f"{width} units inside the {r}-dimensional subspace")
        trial, tilted = fit_in_subspace(problem, V, width, search.rng, max_tilts=_MOST_TILTS)
        gains = trial.loss <= (1 - _LOWER) * fit.loss
        wider_gains = gains and math.isfinite(fit.loss)
        if gains:
            fit, search.V = trial, tilted
        if fit.loss < good or problem.deadline():
            break
        # A start that explains nothing has lost what the moments saw, and says nothing of the labels.
        explains = fit.loss <= (1 - _LOWER) * affine
        if explains and (not gains or (r > 2 and (fit.loss > _ELSEWHERE or _is_noise_inside(search, fit)))):
            break
        width = 3 * width // 2
    return fit, wider_gains


def _is_noise_inside(search: Search, fit: Fit) -> bool:
    """Whether rows are many, and those of a fit inside the subspace see nothing in what it leaves."""
    if search.train.n_rows < TELLING:
        return False
    problem = search.single()
    there = problem.on(inside(problem.rows, search.V, _INSIDE))
    return unexplained(there, fit.params, search.rng)[0] <= NOTHING
