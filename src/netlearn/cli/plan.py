"""`netlearn plan`: what a run takes; or the parameters of Algorithm 1, theory beside practice, before any run."""

import math
from dataclasses import asdict
from typing import Any

from rich.console import Group

from netlearn.cli.output import Answer, card, number, table
from netlearn.errors import InputError
from netlearn.paper import Schedule
from netlearn.paper.rows import MAX_ROWS
from netlearn.paper.sets import DEFAULT_BUDGET, log10_search_seconds, time_in_words

QUANTITIES = {
    "tau": "smallest cluster weight learned",
    "xi": "resolution of the nets",
    "Delta": "clustering scale along g",
    "eta_prime": "cut on the eigenvalues of M_ell",
    "nu": "cut on the sum of projectors",
    "eta": "accuracy of M_ell",
    "N": "rows for the moments",
    "N_val": "rows for the validation",
    "N_val_printed": "the same by Lemma 2.5 as printed",
    "directions": "directions in the net of the search",
    "sets": "sets of directions it tries at most",
    "net_directions": "directions in the printed net N_u",
    "net_weights": "weights in the printed net N_lambda",
    "candidates": "length of the printed loop",
    "operations": "running time, in multiplications",
}
"""Names on `Schedule`, each also there as log10_<name>, and what they are."""

_SYMBOLS = {
    "eta_prime": "eta'",
    "N_val_printed": "(N_val)",
    "directions": "directions",
    "net_directions": "|N_u|",
    "net_weights": "|N_lambda|",
}


def answer(
    n_features: int, n_hidden: int, rows: str | None, of_run: dict[str, Any], of_paper: dict[str, Any]
) -> Answer:
    """Plan a run where the number of rows is given, else Algorithm 1; options of the other plan are refused."""
    used, unused = (of_paper, of_run) if rows is None else (of_run, of_paper)
    for name, value in unused.items():
        if value is not None:
            change = (
                "needs --rows" if rows is None else "belongs to Algorithm 1 and must be left out with --rows"
            )
            raise InputError(f'"{name}" of a plan {change}, got {value}.')
    given = {name: value for name, value in used.items() if value is not None}
    if rows is None:
        return schedules(n_features, n_hidden, **given)
    from netlearn.cli.plan_rows import expectation

    return expectation(n_features, n_hidden, rows, **given)


def schedules(
    n_features: int, n_hidden: int, epsilon: float = 0.1, radius: float = 1.0, failure_prob: float = 0.01
) -> Answer:
    """Build both schedules and say of each whether `netlearn.paper.netlearn` would run it."""
    problem = (n_features, n_hidden, epsilon, radius)
    theory = Schedule.from_theory(*problem, failure_prob=failure_prob)
    practical = Schedule.practical(*problem, failure_prob=failure_prob)
    title = f"Algorithm 1 for k = {n_hidden}, d = {n_features}, epsilon = {epsilon:g}, R = {radius:g}"
    rows = table(title, "", "", "theory", "practical", text_columns=2)
    rows.add_row("ell", "orders of the moment matrices", _orders(theory), _orders(practical))
    rows.add_row("g", "random directions", str(theory.n_directions), str(practical.n_directions))
    for name, words in QUANTITIES.items():
        values = (number(getattr(schedule, f"log10_{name}")) for schedule in (theory, practical))
        rows.add_row(_SYMBOLS.get(name, name), words, *values)
    notes = card()
    notes.add_row("theory", claim(theory))
    notes.add_row("practical", claim(practical))
    notes.add_row("search", search_time(practical))
    notes.add_row("nets", "Sizes are for dim V = k, the largest that Lemma 4.6 allows.")
    data = {
        "n_features": n_features,
        "n_hidden": n_hidden,
        "epsilon": epsilon,
        "radius": radius,
        "failure_prob": failure_prob,
        "theory": _as_data(theory),
        "practical": _as_data(practical),
    }
    return Answer(data, Group(rows, notes))


def claim(schedule: Schedule) -> str:
    """Say what is proved of `netlearn.paper.netlearn` with this schedule, and no more, and whether it can run."""
    shares = schedule.shares
    if schedule.origin == "theory":
        words = (
            f"Proved to end with a certified network but for a probability of {shares.total:.3g}, "
            f"{shares.moments:.2g} for each of: the draws of g, the moments, w_hat, the net, the screening, the "
            "validation, the final certificate."
        )
    else:
        words = (
            "Nothing is proved before the run, and eta and eta' are predictions, which it replaces by measurements. "
            f"A network that comes back CERTIFIED is within epsilon but for {shares.acceptance / 2:.2g}. "
            f"FAILED after the whole net excludes, but for {shares.screening + shares.validation:.2g}, a target of "
            "the class whose units lie near the subspace V that was found."
        )
    reason = obstacle(schedule)
    runs = "paper.netlearn can run it." if reason is None else f"paper.netlearn cannot run it. {reason}"
    return f"{words} {runs}"


def search_time(schedule: Schedule) -> str:
    """Say how long the search over the net would take if no proposal passed."""
    words = (
        f"If no proposal passes: {number(schedule.log10_sets)} sets of directions at most, "
        f"{_time(schedule)} on one core."
    )
    if schedule.log10_sets > math.log10(DEFAULT_BUDGET):
        words += (
            f" That is beyond the default budget of {DEFAULT_BUDGET:.0e} sets, unless a coarser net decides."
        )
    return words


def _time(schedule: Schedule) -> str:
    return time_in_words(log10_search_seconds(schedule.log10_directions, schedule.n_hidden))


def obstacle(schedule: Schedule) -> str | None:
    """Say why `netlearn.paper.netlearn` would refuse the schedule; None if it runs."""
    for log10_rows in (schedule.log10_N, schedule.log10_N_val):
        if log10_rows > math.log10(MAX_ROWS):
            return f"It asks for {number(log10_rows)} rows; {MAX_ROWS:,} is the limit."
    return None


def _orders(schedule: Schedule) -> str:
    orders = schedule.orders
    return ", ".join(map(str, orders)) if len(orders) <= 2 else f"{orders[0]}, {orders[1]}, ..., {orders[-1]}"


def _as_data(schedule: Schedule) -> dict[str, Any]:
    reason = obstacle(schedule)
    return {
        "orders": list(schedule.orders),
        "n_directions": schedule.n_directions,
        "log10": {name: getattr(schedule, f"log10_{name}") for name in QUANTITIES},
        "shares": asdict(schedule.shares),
        "search_time": _time(schedule),
        "runnable": reason is None,
        "obstacle": reason,
    }
