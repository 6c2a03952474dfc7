"""Many starts on few rows, where one in two to one in eight finds the network."""

from __future__ import annotations

from collections.abc import Iterator

from netlearn.fit import NEAR, Fit
from netlearn.search import budget
from netlearn.search.follow import narrowed_and_settled
from netlearn.search.leap import MOST_UNITS, PATIENT, PERSISTENT, RESOLUTE, SURPLUS, leap
from netlearn.search.search import Search

# Starts at most: where more rows can join them, where no width is known, and where one is.
_STARTS_BEFORE = 4
_MOST_STARTS_BLINDLY = 16
_MOST_STARTS = 64
# Rows times unknowns squared, the cost of a round, that all starts together may take: where the width is known, and
# where it is not. Noise looks like a width that is too small, so there fewer must do.
_ALL_STARTS = 2**31
_ALL_STARTS_BLINDLY = 2**30
# Width of these in units of the widest that rows allow, at least: half as many units again as are needed do best.
_NEARLY = 0.85


def many_starts(search: Search, at_most: int | None, attempts: int) -> Iterator[Fit]:
    """Try many starts on few rows, some of them without biases, which leaves more rows for each unknown.

    Rows that hardly exceed the unknowns let one start in two to one in eight find the network; each costs little. Where
    one costs much it is given more rounds, and the width and the biases with which most of these succeed.
    """
    n, shape = search.train.n_rows, search.problem.shape(1)
    widest = min(MOST_UNITS, budget.widest(n, shape, budget.WIDE_START)) if at_most is None else at_most
    every, all_starts, most_starts = (
        (3, _ALL_STARTS_BLINDLY, _MOST_STARTS_BLINDLY) if at_most is None else (2, _ALL_STARTS, _MOST_STARTS)
    )
    is_dear = n * search.problem.shape(max(widest, 1)).n_unknowns ** 2 > all_starts
    most_starts = _STARTS_BEFORE if search.has_reserve else most_starts
    best: tuple[Search, Fit] | None = None
    for attempt in range(most_starts):
        start = search.without_biases() if not is_dear and attempt % every == every - 1 else search
        shape = start.problem.shape(1)
        if at_most is None:
            widest = min(MOST_UNITS, budget.widest(n, shape, budget.WIDE_START))
            width = int(search.rng.uniform(_NEARLY, 1.0) * widest)
        else:
            width = budget.affordable(at_most, n, shape, SURPLUS[0 if is_dear else attempt % len(SURPLUS)])
        if width < 1 or search.problem.deadline():
            break
        most = max(attempts, all_starts // (n * start.problem.shape(width).n_unknowns ** 2))
        search.tell(f"a fit with {width} units, start {attempt + 1}")
        patience = PATIENT if not is_dear else PERSISTENT if at_most is None else RESOLUTE
        wide = start.judge.judged(leap(start.problem, width, search.rng, patience=patience))
        # The first one, too, so that there is an answer should time run out.
        if wide.loss < NEAR or (attempt == 0 and at_most is not None):
            yield narrowed_and_settled(start, wide, at_most, "wide")
        elif best is None or wide.score < best[1].score:
            best = start, wide
        if attempt + 1 >= min(most, most_starts):
            search.limited = True
            break
    if best is not None and at_most is not None:
        yield narrowed_and_settled(*best, at_most, "wide")
