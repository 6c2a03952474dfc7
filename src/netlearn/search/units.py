"""The search for units: a wide fit, a penalty that empties what is not needed, a fit of what is left.

The width need not be known. Where moments have shown a subspace of few dimensions, a wide fit inside it comes first.
Else, or where that is not enough, wide fits in full dimension, each twice as wide as the last, until one explains the
labels or what it leaves looks like noise; on few rows many starts. The units of a function of one feature are read off
its labels. A width that was asked for is an upper limit to what is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netlearn.fit import NEAR, Fit, Params, Problem, finish
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.search import budget
from netlearn.search.complete import completed
from netlearn.search.hold import LEVEL, narrowed
from netlearn.search.judge import Verdict
from netlearn.search.leap import leap
from netlearn.search.line import read_off
from netlearn.search.residual import NOTHING, stands_for_two, unexplained
from netlearn.search.search import Search
from netlearn.search.tilt import GOOD, fit_in_subspace, inside
from netlearn.search.trimmed import few_stand_out

# Widths of the wide fits in units of the width asked for, in the order tried.
_SURPLUS = (1.25, 1.5, 1.25, 2.0, 1.5, 1.25, 2.0, 3.0)
MOST_ATTEMPTS = len(_SURPLUS)
# Where no width is asked for: the first, in units of the dimensions seen, at least; and the widest.
_PER_DIMENSION = 2
_FIRST_WIDTH = 16
_MOST_UNITS = 512
# Dimensions of a subspace up to which a fit inside it tilts it; its unknowns, and units at most.
_FEW_DIMENSIONS = 6
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
# Rounds in which a wide fit must gain 5 %: where rows are ample; where they are few; and where besides another start
# costs so much that it is better to wait for this one.
_HASTY = 10
_PATIENT = 20
_PERSISTENT = 40
# The same for a smooth function, which units approach ever more slowly.
_SLOW = 20
# Rounds that fit noisy labels on more rows than a wide fit takes.
_ROUNDS = 6
# Rows times unknowns squared of a round that takes a tenth of a second.
_CHEAP = 2**31
# Rows times unknowns of a fit that takes hundredths of a second.
_NEXT_TO_NOTHING = 2**18
# Starts on few rows at most: where more rows can join them, where no width is known, and where one is.
_STARTS_BEFORE = 4
_MOST_STARTS_BLINDLY = 16
_MOST_STARTS = 64
# Rows times unknowns squared, the cost of a round, that all starts on few rows together may take: where the width is
# known, and where it is not. Noise looks like a width that is too small, so there fewer must do.
_ALL_STARTS = 2**31
_ALL_STARTS_BLINDLY = 2**30
# Width of these in units of the widest that rows allow, at least: half as many units again as are needed do best.
_NEARLY = 0.85
# Starts on few rows at least, where no width is known, and the held-out error above which they are worth a try.
_FEW_STARTS = 1
_POOR = 1e-3
# Mean square that a network has which lacks some units: a fit below it that is not exact is one of no network.
_LACKS_UNITS = 2e-3
# Rows from which what a wide fit leaves can be called noise before a wider one is tried.
_TELLING = 5_000
# Share by which a second fit inside a subspace must be lower to be taken.
_LOWER = 0.05
# How often units are looked for in what a fit leaves.
_COMPLETIONS = 4


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
        return affine, _more_help(search, affine)
    found = [affine]
    for fit in _attempts(search, at_most, attempts, found):
        found.append(fit)
        best = _best(search, found, at_most)
        if judge.is_settled(best) or search.problem.deadline():
            break
    best = _completed(search, _best(search, found, at_most), at_most)
    if judge.is_settled(best):
        return (_fewest(search, best) if at_most is None else best), False
    return best, _more_help(search, best)


def _completed(search: Search, best: Fit, at_most: int | None) -> Fit:
    """Return the fit with the units that show in what it leaves, as long as these make it better."""
    judge = search.judge
    for repeat in range(_COMPLETIONS):
        if judge.is_settled(best) or best.params.n_hidden == 0 or search.problem.deadline():
            break
        if (
            (best.loss < NEAR or repeat > 0)
            and _more_help(search, best) is False
            and not few_stand_out(search.train, best.params)
        ):
            break  # noise
        search.tell(f"{best.params.n_hidden} units, and what they leave")
        more = search.judged(completed(search.problem, best, at_most, search.rng), "completed")
        if not judge.predicts_better(more, best):
            break
        best = more
    return best


def _completed_if_lean(search: Search, fit: Fit, width: int, at_most: int | None) -> Fit:
    """Complete a fit that explains nearly all with half the units of the wide one it comes from, or fewer.

    A wider fit would have no use for its units. What is left is noise, or units that are weak or close to others; so it
    is where a fit of the width asked for explains the labels but for a ten thousandth.
    """
    is_lean = fit.score < _LACKS_UNITS and 2 * fit.params.n_hidden <= width
    is_near = at_most is not None and fit.score < NEAR
    return _completed(search, fit, at_most) if is_lean or is_near else fit


def _fewest(search: Search, best: Fit) -> Fit:
    """Return an exact fit with fewer units where a fresh start finds one, if that costs next to nothing.

    Where rows lie on few lines, as with columns of zeros and ones, several units can share what one would do, and none
    of them can go by itself.
    """
    while best.params.n_hidden > 1 and not search.problem.deadline():
        k = best.params.n_hidden - 1
        if search.train.n_rows * search.problem.shape(k).n_unknowns > _NEXT_TO_NOTHING:
            break
        wide = leap(search.problem, 2 * k + 2, search.rng, patience=_HASTY)
        fewer = _narrowed(search, wide, k, best.route)
        if not search.judge.is_settled(fewer):
            break
        best = fewer
    return best


def _best(search: Search, found: list[Fit], at_most: int | None) -> Fit:
    """Return the best fit of the width asked for; where none was, the smallest that no larger one clearly beats."""
    return search.judge.smallest_unbeaten(found) if at_most is None else search.judge.best_of(found)


def _is_noise(search: Search, fit: Fit) -> bool:
    """Whether rows are ample and see nothing in what the fit leaves."""
    return search.judge.is_ample(fit.params.n_hidden) and _more_help(search, fit) is False


def _is_surely_noise(search: Search, fit: Fit) -> bool:
    """Whether rows are also so many that a wider fit need not be tried: fewer miss units that nearly cancel."""
    return search.train.n_rows >= _TELLING and _is_noise(search, fit)


def _subspaces(search: Search) -> Iterator[np.ndarray]:
    """Yield the subspaces of few dimensions that are worth a fit inside: what moments have shown, then the whole."""
    d, r = search.train.n_features, search.V.shape[1]
    if 0 < r < d and r <= _FEW_DIMENSIONS and (r <= d / 3 or d <= _FEW_DIMENSIONS):
        yield search.V
    if d <= _FEW_DIMENSIONS:
        yield np.eye(d)


def _more_help(search: Search, fit: Fit) -> bool | None:
    """Whether the residual shows units that the fit does not have; None where rows are too few to tell."""
    shape = search.problem.shape(fit.params.n_hidden + 1)
    if not budget.has(search.train, shape, budget.IF_EXACT):
        return None
    seen = unexplained(search.problem, fit.params, search.rng)[0] > NOTHING
    return seen or stands_for_two(search.problem, fit.params)


def _attempts(search: Search, at_most: int | None, attempts: int, found: list[Fit]) -> Iterator[Fit]:
    """Yield fits, each by another way, knowing those that were found before."""
    start = read_off(search.single().rows) if search.train.n_features == 1 else None
    if start is not None and start.n_hidden <= (at_most or _MOST_UNITS):
        yield search.judged(finish(search.problem, search.of_all(start)), "line")
        return
    for V in _subspaces(search):
        fit, wider_gains = _inside_subspace(search, V, at_most)
        if fit is not None:
            yield fit
            if not wider_gains and _is_surely_noise(search, found[-1]):
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
        yield from _many_starts(search, at_most, attempts)


def _repeated(search: Search, at_most: int, attempts: int, found: list[Fit]) -> Iterator[Fit]:
    """Try several starts of a given width, every other one from the best fit so far, until one explains the labels."""
    shape = search.problem.shape(at_most)
    for attempt, surplus in enumerate(_SURPLUS[:attempts]):
        best = search.judge.best_of(found)
        useful = best.params.n_hidden > 0 and best.score < 0.5 and attempt % 2 == 1
        width = budget.affordable(at_most, search.train.n_rows, shape, surplus)
        search.tell(f"{at_most} units, attempt {attempt + 1}")
        known = best.params if useful else None
        wide = leap(search.problem, width, search.rng, known=known, patience=_HASTY)
        yield _narrowed(search, wide, at_most, "wide" if known is None else "regrown")
        if _is_noise(search, found[-1]) or search.judge.agree([one for one in found if one.route == "wide"]):
            return


def _many_starts(search: Search, at_most: int | None, attempts: int) -> Iterator[Fit]:
    """Try many starts on few rows, some of them without biases, which leaves more rows for each unknown.

    Rows that hardly exceed the unknowns let one start in two to one in eight find the network; each costs little. Where
    one costs much it is given more rounds, and the width and the biases with which most of these succeed.
    """
    n, shape = search.train.n_rows, search.problem.shape(1)
    widest = min(_MOST_UNITS, budget.widest(n, shape, budget.WIDE_START)) if at_most is None else at_most
    every, all_starts, most_starts = (
        (3, _ALL_STARTS_BLINDLY, _MOST_STARTS_BLINDLY) if at_most is None else (2, _ALL_STARTS, _MOST_STARTS)
    )
    is_dear = n * search.problem.shape(max(widest, 1)).n_unknowns ** 2 > all_starts
    most_starts = _STARTS_BEFORE if search.has_reserve else most_starts
    for attempt in range(most_starts):
        start = search.without_biases() if not is_dear and attempt % every == every - 1 else search
        shape = start.problem.shape(1)
        if at_most is None:
            widest = min(_MOST_UNITS, budget.widest(n, shape, budget.WIDE_START))
            width = int(search.rng.uniform(_NEARLY, 1.0) * widest)
        else:
            width = budget.affordable(at_most, n, shape, _SURPLUS[0 if is_dear else attempt % len(_SURPLUS)])
        if width < 1 or search.problem.deadline():
            return
        most = max(attempts, all_starts // (n * start.problem.shape(width).n_unknowns ** 2))
        search.tell(f"a fit with {width} units, start {attempt + 1}")
        patience = _PERSISTENT if is_dear else _PATIENT
        wide = start.judge.judged(leap(start.problem, width, search.rng, patience=patience))
        last = attempt + 1 >= min(most, most_starts)
        if wide.loss < NEAR or (last and at_most is not None):
            yield _narrowed(start, wide, at_most, "wide")
        if last:
            search.limited = True
            return


def _growing(search: Search, found: list[Fit]) -> Iterator[Fit]:
    """Double the width until the labels are explained or held-out rows gain nothing; then keep what is needed."""
    problem = search.problem
    widest = min(_MOST_UNITS, budget.widest(search.train.n_rows, problem.shape(1), budget.WIDE_START))
    best = min(found, key=lambda fit: fit.score)
    width = max(_FIRST_WIDTH, _PER_DIMENSION * search.V.shape[1] + 8, 2 * best.params.n_hidden)
    width = min(width, widest)
    wide, few, no_network, slow = best, widest < 1, False, False
    while 1 <= width <= widest and not slow and not problem.deadline():
        few = not budget.has(search.train, problem.shape(width), budget.EXPLORE)
        no_network = no_network or _is_no_network(search, wide)
        slow = few and no_network
        if slow:  # a smooth function is bent by any number of units: as many as rows determine
            width = max(width, budget.widest(search.train.n_rows, problem.shape(1), budget.IF_EXACT))
        search.tell(f"a wide fit with {width} units")
        trial = _wide(search, width, few, slow=slow)
        if no_network and not search.judge.gains(trial, wide):
            # Units that serve to bend a smooth function are good wherever they are: more are added to them.
            trial = _wide(search, width, few, wide.params, slow=slow)
        if not search.judge.gains(trial, wide):
            if search.judge.is_ample(width) and _more_help(search, wide):
                # Much noise: all rows show units where judging rows are too few to.
                yield _narrowed(search, trial, None, "wide")
            break
        wide = trial
        if wide.score < _LACKS_UNITS:
            fit = _completed_if_lean(search, _narrowed(search, wide, None, "wide"), width, None)
            yield fit
            if _is_surely_noise(search, fit):
                return
            wide = fit if fit.score < wide.score else wide
        elif _is_surely_noise(search, wide):
            break
        width *= 2
        few = few or width > widest
    if wide.route == "":  # as wide as it was fitted
        yield _narrowed(search, wide, None, "wide", at_minimum=not few)
        yield replace(wide, route="wide") if not few else search.judged(wide, "wide")
    hopeful = few and wide.score > _POOR and not no_network and not _is_no_network(search, wide)
    if hopeful and not _is_noise(search, _best(search, found, None)):
        if search.has_reserve:
            search.limited = True
        else:
            yield from _many_starts(search, None, _FEW_STARTS)


def _wide(search: Search, width: int, few: bool, known: Params | None = None, *, slow: bool = False) -> Fit:
    """Return a wide fit, and what held-out rows say of it."""
    problem, judge = search.problem, search.judge
    ample = budget.has(search.train, problem.shape(width), budget.IF_EXACT)
    patience = _SLOW if slow else _HASTY if ample else _PATIENT
    wide = leap(
        problem, width, search.rng, known=known, patience=patience, patience_near=_SLOW if slow else _HASTY
    )
    fit = judge.judged(wide)
    if fit.score < NEAR or (few and not ample):
        return fit
    # Over-relaxed steps keep noise alive, and so do few rows.
    some = problem.on(budget.enough(search.train, problem.shape(width)))
    return judge.judged(finish(some, fit.params, max_rounds=_ROUNDS, least_gain=CANDIDATE_GAIN).after(fit))


def _is_no_network(search: Search, fit: Fit) -> bool:
    """Whether a fit that is not exact is below what missing units would leave, on rows that would determine it."""
    determined = budget.has(search.train, search.problem.shape(fit.params.n_hidden), budget.IF_EXACT)
    return determined and fit.score < _LACKS_UNITS


def _narrowed(search: Search, wide: Fit, at_most: int | None, route: str, *, at_minimum: bool = False) -> Fit:
    """Empty the units that rows do not ask for, and fit the others."""
    problem, shape = search.problem, search.problem.shape(wide.params.n_hidden)
    score = wide.score if math.isfinite(wide.score) else search.judge.judged(wide).score
    # Few rows are enough for exact labels, but tell no close units apart.
    cheap = search.train.n_rows * shape.n_unknowns**2 <= _CHEAP
    ratio = budget.EXPLORE if score < NEAR and not cheap else budget.RANK
    some = problem.on(budget.enough(search.train, shape, ratio))
    return search.settled(narrowed(some, wide, at_most, at_minimum=at_minimum), route)


def _inside_subspace(search: Search, V: np.ndarray, at_most: int | None) -> tuple[Fit | None, bool]:
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
    # So is V where it is off by more than that: with few units left its tilt is exact, and what they need is seen anew.
    is_rough = r < d and GOOD <= wide.loss < NEAR
    fit = _narrowed(search, fit, at_most, "subspace") if is_rough else search.settled(fit, "subspace")
    return _completed_if_lean(search, fit, wide.params.n_hidden, at_most), wider_gains


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
        if fit.loss <= (1 - _LOWER) * affine and (not gains or (r > 2 and _is_noise_inside(search, fit))):
            break
        width = 3 * width // 2
    return fit, wider_gains


def _is_noise_inside(search: Search, fit: Fit) -> bool:
    """Whether rows are many, and those of a fit inside the subspace see nothing in what it leaves."""
    if search.train.n_rows < _TELLING:
        return False
    problem = search.single()
    there = problem.on(inside(problem.rows, search.V, _INSIDE))
    return unexplained(there, fit.params, search.rng)[0] <= NOTHING


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
