"""The search for units: a wide fit, a penalty that empties what is not needed, a fit of what is left.

The width need not be known. Where moments have shown a subspace of few dimensions, a wide fit inside it comes first.
Else, or where that is not enough, wide fits in full dimension, each twice as wide as the last, until one explains the
labels or what it leaves looks like noise; on few rows many starts. The units of a function of one feature are read off
its labels. A width that was asked for is an upper limit to what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from netlearn.fit import NEAR, Fit, Params, finish
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.search import budget
from netlearn.search.few import many_starts
from netlearn.search.follow import (
    LACKS_UNITS,
    completed_if_lean,
    completed_while_better,
    is_noise,
    is_surely_noise,
    more_help,
    narrowed_and_settled,
)
from netlearn.search.inside import fit_inside, subspaces
from netlearn.search.judge import Verdict
from netlearn.search.leap import HASTY, MOST_UNITS, PATIENT, SURPLUS, leap
from netlearn.search.line import read_off
from netlearn.search.search import Search

# Attempts for a width that is given, at most.
MOST_ATTEMPTS = len(SURPLUS)
# Where no width is asked for: the first, in units of the dimensions seen, at least.
_PER_DIMENSION = 2
_FIRST_WIDTH = 16
# Rounds in which the fit of a smooth function must gain 5 %: units approach it ever more slowly.
_SLOW = 20
# Held-out mean square that no wide fit of a smooth function comes to, and any of a network that has units enough.
_IS_NETWORK = 1e-6
# Rounds that fit noisy labels on more rows than a wide fit takes.
_ROUNDS = 6
# Rows times unknowns of a fit that takes hundredths of a second.
_NEXT_TO_NOTHING = 2**18
# Starts on few rows at least, where no width is known, and the held-out error above which they are worth a try.
_FEW_STARTS = 1
_POOR = 1e-3


def find_units(search: Search, asked: int | str, attempts: int = MOST_ATTEMPTS) -> tuple[Fit, bool | None]:
    """Return the best network that is found, and whether more units would help; None where rows cannot tell.

    Parameters
    ----------
    search : Search
    asked : int or "auto"
        The number of units, at most.
    attempts : int
        Wide fits at most, where a width was asked for.
    """
    affine, judge = search.affine(), search.judge
    at_most = None if asked == "auto" else int(asked)
    if at_most == 0:
        return affine, more_help(search, affine)
    found = [affine]
    for fit in _attempts(search, at_most, attempts, found):
        found.append(fit)
        best = _best(search, found, at_most)
        if judge.is_settled(best) or search.problem.deadline():
            break
    best = completed_while_better(search, _best(search, found, at_most), at_most)
    if judge.is_settled(best):
        return (_fewest(search, best) if at_most is None else best), False
    return best, more_help(search, best)


def _fewest(search: Search, best: Fit) -> Fit:
    """Return an exact fit with fewer units where a fresh start finds one, if that costs next to nothing.

    Where rows lie on few lines, as with columns of zeros and ones, several units can share what one would do, and none
    of them can go by itself.
    """
    while best.params.n_hidden > 1 and not search.problem.deadline():
        k = best.params.n_hidden - 1
        if search.train.n_rows * search.problem.shape(k).n_unknowns > _NEXT_TO_NOTHING:
            break
        wide = leap(search.problem, 2 * k + 2, search.rng, patience=HASTY)
        fewer = narrowed_and_settled(search, wide, k, best.route)
        if not search.judge.is_settled(fewer):
            break
        best = fewer
    return best


def _best(search: Search, found: list[Fit], at_most: int | None) -> Fit:
    """Return the best fit of the width asked for; where none was, the smallest that no larger one clearly beats."""
    return search.judge.smallest_unbeaten(found) if at_most is None else search.judge.best_of(found)


def _attempts(search: Search, at_most: int | None, attempts: int, found: list[Fit]) -> Iterator[Fit]:
    """Yield fits, each by another way, knowing those that were found before."""
    start = read_off(search.single().rows) if search.train.n_features == 1 else None
    if start is not None and start.n_hidden <= (at_most or MOST_UNITS):
        yield search.judged(finish(search.problem, search.of_all(start)), "line")
        return
    for V in subspaces(search):
        fit, wider_gains = fit_inside(search, V, at_most)
        if fit is not None:
            yield fit
            if not wider_gains and is_surely_noise(search, found[-1]):
                return
    if at_most is None:
        yield from _growing(search, found)
        return
    shape = search.problem.shape(at_most)
    if not budget.has(search.train, replace(shape, biases=False), budget.HOPELESS):
        return
    if budget.has(search.train, shape, budget.EXPLORE):
        yield from _repeated(search, at_most, attempts, found)
    else:
        yield from many_starts(search, at_most, attempts)


def _repeated(search: Search, at_most: int, attempts: int, found: list[Fit]) -> Iterator[Fit]:
    """Try several starts of a given width, every other one from the best fit so far, until one explains the labels."""
    shape = search.problem.shape(at_most)
    for attempt, surplus in enumerate(SURPLUS[:attempts]):
        best = search.judge.best_of(found)
        useful = best.params.n_hidden > 0 and best.score < 0.5 and attempt % 2 == 1
        width = budget.affordable(at_most, search.train.n_rows, shape, surplus)
        search.tell(f"{at_most} units, attempt {attempt + 1}")
        known = best.params if useful else None
        wide = leap(search.problem, width, search.rng, known=known, patience=HASTY)
        yield narrowed_and_settled(search, wide, at_most, "wide" if known is None else "regrown")
        if is_noise(search, found[-1]) or search.judge.agree([one for one in found if one.route == "wide"]):
            return


def _growing(search: Search, found: list[Fit]) -> Iterator[Fit]:
    """Double the width until the labels are explained or held-out rows gain nothing; then keep what is needed."""
    problem = search.problem
    widest = min(MOST_UNITS, budget.widest(search.train.n_rows, problem.shape(1), budget.WIDE_START))
    best = min(found, key=lambda fit: fit.score)
    width = max(_FIRST_WIDTH, _PER_DIMENSION * search.V.shape[1] + 8, 2 * best.params.n_hidden)
    width = min(width, widest)
    wide, few, no_network, slow, failed = best, widest < 1, False, False, False
    while 1 <= width <= widest and not slow and not problem.deadline():
        few = not budget.has(search.train, problem.shape(width), budget.EXPLORE)
        no_network = no_network or _is_no_network(search, wide)
        slow = few and no_network
        if slow:  # a smooth function is bent by any number of units: as many as rows determine
            width = max(width, budget.widest(search.train.n_rows, problem.shape(1), budget.IF_EXACT))
        search.tell(f"a wide fit with {width} units")
        trial = _wide(search, width, few, slow=slow)
        if wide.params.n_hidden > 0 and not search.judge.gains(trial, wide):
            # It may have ended in a poor minimum; and a smooth function is bent by units wherever they are, so those
            # found are as good as others. New ones are added to them.
            trial = _wide(search, width, few, wide.params, slow=slow)
        if not search.judge.gains(trial, wide):
            if search.judge.is_ample(width) and more_help(search, wide):
                # Much noise: all rows show units where judging rows are too few to.
                yield narrowed_and_settled(search, trial, None, "wide")
                break
            if failed or few or 2 * width > widest:
                break
            failed = True  # a poor minimum may be the reason, and a wider fit meets fewer of them
            width *= 2
            continue
        wide = trial
        if slow and wide.score > _IS_NETWORK:
            # All its units serve it, and to ask which of them could go takes longer than the fit.
            wide = search.settled(wide, "wide")
            yield wide
        elif wide.score < LACKS_UNITS:
            fit = completed_if_lean(search, narrowed_and_settled(search, wide, None, "wide"), width, None)
            yield fit
            if is_surely_noise(search, fit):
                return
            wide = fit if fit.score < wide.score else wide
        elif is_surely_noise(search, wide):
            break
        width *= 2
        few = few or width > widest
    hopeful = few and wide.score > _POOR and not no_network and not _is_no_network(search, wide)
    if hopeful and search.has_reserve:
        search.limited = True
        return
    if wide.route == "":  # as wide as it was fitted
        yield narrowed_and_settled(search, wide, None, "wide", at_minimum=not few)
        yield replace(wide, route="wide") if not few else search.judged(wide, "wide")
    if hopeful and not is_noise(search, _best(search, found, None)):
        yield from many_starts(search, None, _FEW_STARTS)


def _wide(search: Search, width: int, few: bool, known: Params | None = None, *, slow: bool = False) -> Fit:
    """Return a wide fit, and what held-out rows say of it."""
    problem, judge = search.problem, search.judge
    ample = budget.has(search.train, problem.shape(width), budget.IF_EXACT)
    patience = _SLOW if slow else HASTY if ample else PATIENT
    wide = leap(
        problem, width, search.rng, known=known, patience=patience, patience_near=_SLOW if slow else HASTY
    )
    fit = judge.judged(wide)
    if fit.score < NEAR or (few and not ample and not slow):
        return fit
    # Over-relaxed steps keep noise alive, and so do few rows.
    some = problem.on(budget.enough(search.train, problem.shape(width)))
    return judge.judged(finish(some, fit.params, max_rounds=_ROUNDS, least_gain=CANDIDATE_GAIN).after(fit))


def _is_no_network(search: Search, fit: Fit) -> bool:
    """Whether a fit that is not exact is below what missing units would leave, on rows that would determine it."""
    determined = budget.has(search.train, search.problem.shape(fit.params.n_hidden), budget.IF_EXACT)
    return determined and fit.score < LACKS_UNITS


def choose_biases(search: Search, found: Fit) -> Fit:
    """Return the network without biases where held-out rows see no loss in it."""
    if not search.problem.biases or found.params.n_hidden == 0:
        return found
    without = found.params.without_biases()
    if search.judge.is_exact(found):
        # An exact network is the only one of its width: its biases are rounding, or belong to it.
        as_it_is = search.judge.judged(replace(found, params=without))
        return as_it_is if search.judge.is_exact(as_it_is) else found
    homogeneous = search.without_biases()
    fit = homogeneous.settled(replace(found, params=without), found.route)
    is_worse = search.judge.compare(found, fit, found.params.n_hidden) is Verdict.BETTER
    return found if is_worse else fit
