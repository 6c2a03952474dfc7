"""The last fit: on all rows that may be learned from, judging ones included, now that they have judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from netlearn.fit import Fit, Problem, finish
from netlearn.fit.descend import NEGLIGIBLE
from netlearn.fit.problem import ALMOST_EXACT
from netlearn.fit.stream import finish_on_stream
from netlearn.inputs.whitening import Whitening
from netlearn.search import budget
from netlearn.search.complete import completed
from netlearn.search.ridge import regularised
from netlearn.search.smooth import smooth
from netlearn.search.surplus import without_surplus
from netlearn.search.trimmed import few_stand_out, finish_trimmed
from netlearn.source.stream import Held

# Mean square above which more rounds on the rows of the search would not have left less.
_NOT_ROUNDS = 1e-6
# How often a unit that only the judging rows show is looked for.
_MOST_REPEATS = 3


def on_all_rows(
    problem: Problem,
    found: Fit,
    rng: np.random.Generator,
    *,
    at_most: int | None = None,
    robust: bool = False,
) -> Fit:
    """Fit all rows, and take off what exact labels do not ask for, or smooth what noisy ones leave undetermined.

    Parameters
    ----------
    problem : Problem
        On all rows.
    found : Fit
        To some of them.
    rng : numpy.random.Generator
    at_most : int, optional
        The width that was asked for.
    robust : bool
        Whether rows that contradict all others may be left out.
    """
    problem = replace(problem, biases=problem.biases and found.params.has_biases)
    exact, final = problem.zero_loss, _finished(problem, found)
    # Labels fitted exactly on some rows but not on all: a unit that switches where only the judging rows are.
    for _ in range(_MOST_REPEATS):
        if not found.loss < exact < final.loss or problem.deadline():
            break
        more = completed(problem, final, at_most, rng)
        if more.loss >= final.loss:
            break
        final = finish(problem, more.params)
    if final.loss <= exact:
        # The few rows between two near units hardly show in the mean square: one round more gives them their digits.
        lean = without_surplus(problem, final)
        return _instead(found, finish(problem, lean.params, max_rounds=1, until=0.0).after(lean))
    if problem.n_outputs > 1:  # neither is there for several
        return _instead(found, final)
    if robust or (final.loss < ALMOST_EXACT and few_stand_out(problem.rows, final.params)):
        trimmed = finish_trimmed(problem, final, robust=robust)
        if trimmed is not None:
            return replace(_instead(found, trimmed), trace=trimmed.trace, left_out=trimmed.left_out)
    return _instead(found, smooth(problem, final, rng))


def _finished(problem: Problem, found: Fit) -> Fit:
    """Descend on all rows."""
    rows, shape = problem.rows, problem.shape(found.params.n_hidden)
    start = found.params
    if found.loss > _NOT_ROUNDS and rows.weight is None and budget.has(rows, shape, budget.ALIKE):
        final = finish_on_stream(problem.on(budget.enough(rows, shape, budget.RANK)), Held(rows), start)
        dents = shape.n_unknowns / shape.per_row / rows.n_rows
        if final.trace[-1] <= final.loss * (1 + dents) or problem.deadline():
            return final
        start = final.params  # the first rows are not like the others, and their matrix takes steps too far
    # Noise makes dents that a fit would follow for ever; exact labels gain more in each round, to the last.
    least_gain = NEGLIGIBLE * shape.n_unknowns / shape.per_row / rows.n_rows
    return finish(problem, start, least_gain=least_gain)


def _instead(found: Fit, final: Fit) -> Fit:
    """Return the final fit with what the search has said of the one that was found."""
    return replace(found, params=final.params, loss=final.loss, trace=found.trace + final.trace)


def with_few_rows(
    problem: Problem,
    found: Fit,
    n_hidden: int | Literal["auto"],
    rng: np.random.Generator,
    whitening: Whitening,
) -> Fit:
    """Return a fit with a ridge where labels are not explained exactly, or by as many unknowns as there are rows."""
    shape = problem.shape(found.params.n_hidden)
    explained = found.loss <= problem.zero_loss and problem.rows.n_rows > shape.n_unknowns
    if explained or found.params.n_outputs > 1 or n_hidden == 0:  # with several outputs there is no such fit
        return found
    return regularised(problem, found, n_hidden, rng, whitening=whitening) or found
