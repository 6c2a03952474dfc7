r"""Units that a fit lacks: looked for in what it leaves, and in its own units, which may be two each.

A unit a thousand times weaker than others is nothing to a fit of all, and all there is in what that fit leaves. And two
units at a small angle look like one: only the rows between them tell, few of all.
"""

from __future__ import annotations

import math

import numpy as np

from netlearn.fit import NEAR, Fit, Params, Problem, finish
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.search import budget
from netlearn.search.hold import narrowed
from netlearn.search.leap import settle
from netlearn.search.residual import unexplained
from netlearn.search.starts import unused
from netlearn.search.trimmed import n_rarer_side

# Units that are added at least, where rows determine so many.
_NEW_UNITS = 8
# Rows times unknowns of a fit that takes a second.
_CHEAP = 2**26
# Ways in which close units are told apart, and what they may cost together: rows times unknowns squared.
_FEWEST_SPLITS = 3
_MOST_SPLITS = 40
_ALL_SPLITS = 2**33
# Share of a unit that the larger half has.
_LARGER = 0.65
# Share of the loss before that counts as none.
_BELOW = 1e-3
# Rounds of the fits that are compared.
_ROUNDS = 6


def completed(problem: Problem, found: Fit, at_most: int | None, rng: np.random.Generator) -> Fit:
    """Add units that the residual of a fit shows, and keep those that are worth it; as it was where rows are too few.

    Parameters
    ----------
    problem : Problem
    found : Fit
        Whose units are nearly right, or the best there are.
    at_most : int, optional
        The width that was asked for.
    rng : numpy.random.Generator
    """
    rows = problem.rows
    # A unit that switches on hardly any row serves the few it has, and hides what is missing there.
    determined = found.params.keep(n_rarer_side(rows, found.params) >= rows.n_features + 4)
    near = found.loss < NEAR
    n_kept = (2 if near else 1) * determined.n_hidden
    most = budget.widest(rows.n_rows, problem.shape(1), budget.IF_EXACT) - n_kept
    n_new = min(max(_NEW_UNITS, determined.n_hidden // 2), most)
    if n_new < 1:
        return found  # more units would serve what rows there are, and no others
    new = unused(unexplained(problem, determined, rng)[1][:n_new], problem.n_outputs, rng)
    shape = problem.shape(n_new + n_kept)
    cheap = near and rows.n_rows * shape.n_unknowns <= _CHEAP
    some = problem if cheap else problem.on(budget.enough(rows, shape, budget.RANK))
    n_splits = _ALL_SPLITS // (some.rows.n_rows * shape.n_unknowns**2)
    wide = found
    for _ in range(min(max(n_splits, _FEWEST_SPLITS), _MOST_SPLITS) if near else 1):
        # Few rows lie between two units that are close, and each split meets them in another way.
        start = (split(determined, found.loss, rng) if near else determined).joined(new)
        trial = finish(some, start, max_rounds=_ROUNDS, least_gain=CANDIDATE_GAIN)
        wide = trial if wide is found or trial.loss < wide.loss else wide
        if wide.loss < _BELOW * found.loss or problem.deadline():
            break
    fit = narrowed(some, wide.after(found), at_most, _BELOW * found.loss, at_minimum=not near)
    # Fewer rows than these might not tell two close units apart.
    end = finish(some, fit.params, least_gain=CANDIDATE_GAIN) if cheap else settle(problem, fit.params)
    return end.after(fit)


def split(params: Params, loss: float, rng: np.random.Generator) -> Params:
    r"""Return the network with each unit as two halves, a small angle apart.

    Two units at an angle t that are fitted by one leave a mean square of about |a|^2 t^3: the angle that the loss
    leaves room for.
    """
    length = np.linalg.norm(params.planes, axis=1, keepdims=True)
    angle = np.cbrt(loss / np.maximum(length, np.finfo(float).tiny) ** 2)
    turn = rng.standard_normal(params.planes.shape) / math.sqrt(params.n_features)
    turn[:, -1] *= float(params.has_biases)
    apart = np.minimum(angle, 0.5) * length * turn / 2
    # Not quite halves: a penalty cannot choose between two units of one length.
    halves = np.vstack([_LARGER * params.planes + apart, (1 - _LARGER) * params.planes - apart])
    return Params(params.affine, halves, np.vstack([params.C, params.C]))
