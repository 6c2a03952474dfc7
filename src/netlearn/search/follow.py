"""What follows a wide fit: its surplus goes, what it lacks is added, and noise says that nothing is left to find."""

from __future__ import annotations

import math

from netlearn.fit import NEAR, Fit
from netlearn.search import budget
from netlearn.search.complete import completed
from netlearn.search.hold import narrowed
from netlearn.search.residual import NOTHING, stands_for_two, unexplained
from netlearn.search.search import Search
from netlearn.search.trimmed import few_stand_out

# Mean square that a network has which lacks some units: a fit below it that is not exact is one of no network.
LACKS_UNITS = 2e-3
# Rows from which what a wide fit leaves can be called noise before a wider one is tried.
TELLING = 5_000
# Rows times unknowns squared of a round that takes a tenth of a second.
_CHEAP = 2**31
# How often units are looked for in what a fit leaves.
_COMPLETIONS = 4


def narrowed_and_settled(
    search: Search, wide: Fit, at_most: int | None, route: str, *, at_minimum: bool = False
) -> Fit:
    """Empty the units that rows do not ask for, and fit the others."""
    problem, shape = search.problem, search.problem.shape(wide.params.n_hidden)
    score = wide.score if math.isfinite(wide.score) else search.judge.judged(wide).score
    # Few rows are enough for exact labels, but tell no close units apart.
    cheap = search.train.n_rows * shape.n_unknowns**2 <= _CHEAP
    ratio = budget.EXPLORE if score < NEAR and not cheap else budget.RANK
    some = problem.on(budget.enough(search.train, shape, ratio))
    return search.settled(narrowed(some, wide, at_most, at_minimum=at_minimum), route)


def completed_if_lean(search: Search, fit: Fit, width: int, at_most: int | None) -> Fit:
    """Complete a fit that explains nearly all with half the units of the wide one it comes from, or fewer.

    A wider fit would have no use for its units. What is left is noise, or units that are weak or close to others; so it
    is where a fit of the width asked for explains the labels but for a ten thousandth.
    """
    is_lean = fit.score < LACKS_UNITS and 2 * fit.params.n_hidden <= width
    is_near = at_most is not None and fit.score < NEAR
    return completed_while_better(search, fit, at_most) if is_lean or is_near else fit


def completed_while_better(search: Search, best: Fit, at_most: int | None) -> Fit:
    """Return the fit with the units that show in what it leaves, as long as these make it better."""
    judge = search.judge
    for repeat in range(_COMPLETIONS):
        if judge.is_settled(best) or best.params.n_hidden == 0 or search.problem.deadline():
            break
        if (
            (best.loss < NEAR or repeat > 0)
            and more_help(search, best) is False
            and not few_stand_out(search.train, best.params)
        ):
            break  # noise
        search.tell(f"{best.params.n_hidden} units, and what they leave")
        more = search.judged(completed(search.problem, best, at_most, search.rng), "completed")
        if not judge.predicts_better(more, best):
            break
        best = more
    return best


def more_help(search: Search, fit: Fit) -> bool | None:
    """Whether the residual shows units that the fit does not have; None where rows are too few to tell."""
    shape = search.problem.shape(fit.params.n_hidden + 1)
    if not budget.has(search.train, shape, budget.IF_EXACT):
        return None
    seen = unexplained(search.problem, fit.params, search.rng)[0] > NOTHING
    return seen or stands_for_two(search.problem, fit.params)


def is_noise(search: Search, fit: Fit) -> bool:
    """Whether rows are ample and see nothing in what the fit leaves."""
    return search.judge.is_ample(fit.params.n_hidden) and more_help(search, fit) is False


def is_surely_noise(search: Search, fit: Fit) -> bool:
    """Whether rows are also so many that a wider fit need not be tried: fewer miss units that nearly cancel."""
    return search.train.n_rows >= TELLING and is_noise(search, fit)
