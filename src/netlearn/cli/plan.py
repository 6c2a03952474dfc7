"""`netlearn plan`: what a run takes; or the parameters of Algorithm 1, theory beside practice, before any run."""

import math
from typing import Any

from rich.console import Group

from netlearn.cli.output import Answer, card, number, table
from netlearn.errors import BudgetError, InputError
from netlearn.paper import Schedule
from netlearn.paper.rows import MAX_ROWS
from netlearn.search import check_budget, interval_net_size, sphere_net_size
from netlearn.search.bruteforce import DEFAULT_BUDGET

QUANTITIES = {
    "tau": "smallest cluster weight learned",
    "xi": "resolution of the nets",
    "Delta": "clustering scale along g",
    "eta_prime": "cut on the eigenvalues of M_ell",
    "nu": "cut on the sum of projectors",
    "eta": "accuracy of M_ell",
    "N": "rows for the moments",
    "N_val": "rows for the validation",
    "net_directions": "directions in the net N_u",
    "net_weights": "weights in the net N_lambda",
    "candidates": "length of the printed loop",
}
"""Names on `Schedule`, each also there as log10_<name>, and what they are."""

_SYMBOLS = {
    "eta_prime": "eta'",
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
    notes.add_row("theory", f"Proved to succeed with probability {1 - failure_prob:g}. {_verdict(theory)}")
    notes.add_row(
        "practical",
        "eta and eta' are predictions; a run measures them. Nothing is proved beforehand: the answer is "
        f"certified on fresh rows. {_verdict(practical)}",
    )
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


def obstacle(schedule: Schedule) -> str | None:
    """Say why `netlearn.paper.netlearn` would refuse the schedule if dim V came out as k; None if it runs."""
    for log10_rows in (schedule.log10_N, schedule.log10_N_val):
        if log10_rows > math.log10(MAX_ROWS):
            return f"It asks for {number(log10_rows)} rows; {MAX_ROWS:,} is the limit."
    try:
        check_budget(
            sphere_net_size(schedule.n_hidden, schedule.xi / 2.0, schedule.failure_prob / 3.0),
            interval_net_size(schedule.R, schedule.xi),
            schedule.n_hidden,
            DEFAULT_BUDGET,
        )
    except BudgetError as refusal:
        return str(refusal)
    return None


def _verdict(schedule: Schedule) -> str:
    reason = obstacle(schedule)
    return "paper.netlearn can run it." if reason is None else f"paper.netlearn cannot run it. {reason}"


def _orders(schedule: Schedule) -> str:
    orders = schedule.orders
    return ", ".join(map(str, orders)) if len(orders) <= 2 else f"{orders[0]}, {orders[1]}, ..., {orders[-1]}"


def _as_data(schedule: Schedule) -> dict[str, Any]:
    reason = obstacle(schedule)
    return {
        "orders": list(schedule.orders),
        "n_directions": schedule.n_directions,
        "log10": {name: getattr(schedule, f"log10_{name}") for name in QUANTITIES},
        "runnable": reason is None,
        "obstacle": reason,
    }
