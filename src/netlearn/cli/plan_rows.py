"""`netlearn plan --rows`: memory, passes and time of the practical learner on this machine, before any run."""

from dataclasses import asdict

from rich.console import Group

from netlearn.backend.calibrate import Rates, calibrate
from netlearn.cli.output import Answer, card, table, working
from netlearn.cost import Plan, least_rows, plan
from netlearn.errors import InputError
from netlearn.step_costs import DISK

# Units from which on products with more of them run no faster.
_WIDE = 1000


def expectation(
    n_features: int, n_hidden: int, rows: str, workers: int = 1, data: str | None = None, noise: float = 0.0
) -> Answer:
    """Measure the machine for a second, and put its rates into the formulas of `netlearn.cost`."""
    n_rows = whole_number(rows)
    if workers < 1:
        raise InputError(f'"workers" of a plan must be at least 1, got {workers}.')
    planned = plan(n_rows, n_features, n_hidden, noise=noise)
    with working("Measuring this machine"):
        rates = calibrate(min(n_hidden, _WIDE) + 1, data)
    least = least_rows(n_hidden, n_features)
    seconds, bottleneck = planned.seconds(rates, workers), planned.bottleneck(rates, workers)
    title = f"learn with N = {n_rows:,}, d = {n_features:,}, k = {n_hidden}"
    listed = table(
        title + (f" on {workers:,} workers" if workers > 1 else ""),
        "pass",
        "reads",
        "operations",
        "memory",
        "time",
        "limit",
    )
    for cost in planned.passes:
        listed.add_row(
            cost.name,
            amount(cost.bytes_read, "B"),
            amount(cost.flops),
            amount(cost.resident, "B"),
            duration(cost.seconds(rates, workers)),
            cost.bottleneck(rates),
        )
    notes = card()
    notes.add_row("time", f"about {duration(seconds)}, most of it limited by {_WORDS[bottleneck]}")
    notes.add_row(
        "memory", f"{amount(planned.resident, 'B')} beside Python and its libraries{_held(planned)}"
    )
    notes.add_row("passes", _passes(planned, workers))
    notes.add_row("rows", _enough(planned, n_rows, least))
    notes.add_row("machine", _machine(rates))
    notes.add_row("assumed", _assumed(noise))
    found = {
        "n_rows": n_rows,
        "n_features": n_features,
        "n_hidden": n_hidden,
        "noise": noise,
        "workers": workers,
        "seconds": seconds,
        "bottleneck": bottleneck,
        "resident": planned.resident,
        "n_passes": planned.n_passes,
        "n_held": planned.n_held,
        "n_unknowns": planned.n_unknowns,
        "least_rows": least,
        "enough_rows": _is_enough(planned, n_rows, least),
        "rates": asdict(rates),
        "passes": [
            {
                **asdict(cost),
                "flops": cost.flops,
                "seconds": cost.seconds(rates, workers),
                "bottleneck": cost.bottleneck(rates),
            }
            for cost in planned.passes
        ],
    }
    return Answer(found, Group(listed, notes))


def _assumed(noise: float) -> str:
    labels = f"noise of {noise:g} times the labels' spread" if noise else "exact labels (else give --noise)"
    return f"{labels}, N(0, I) inputs, uncompressed files, and this width given; without it, up to twice the time"


_WORDS = {DISK: "reading from disk", "memory": "copying in memory", "arithmetic": "arithmetic"}


def whole_number(text: str) -> int:
    """Read a number of rows, which may be written as 1e9 or 1_000_000.

    Examples
    --------
    >>> whole_number("1e9"), whole_number("20_000")
    (1000000000, 20000)
    """
    try:
        value = float(text)
        if value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise InputError(f'"rows" of a plan must be a whole number such as 20000 or 1e9, got "{text}".')


def amount(value: float, unit: str = "") -> str:
    """Write a number of bytes or operations with a prefix; nothing for none.

    Examples
    --------
    >>> amount(8.04e12, "B"), amount(1536.0), amount(0.0)
    ('8.0 TB', '1.5 k', '')
    """
    if not value:
        return ""
    for prefix in ("", "k", "M", "G", "T", "P", "E"):
        if value < 999.5 or prefix == "E":
            break
        value /= 1000.0
    digits = f"{value:.1f}" if value < 9.95 and prefix else f"{value:,.0f}"
    return f"{digits} {prefix}{unit}".strip()


def duration(seconds: float) -> str:
    """Write a time for reading.

    Examples
    --------
    >>> duration(0.004), duration(3.21), duration(150.0), duration(9000.0), duration(4e6)
    ('< 0.1 s', '3.2 s', '2.5 min', '2.5 h', '46 days')
    """
    if seconds < 0.1:
        return "< 0.1 s"
    for limit, size, unit in ((90.0, 1.0, "s"), (5400.0, 60.0, "min"), (172_800.0, 3600.0, "h")):
        if seconds < limit:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 86_400:,.0f} days"


def _held(planned: Plan) -> str:
    return f", with {planned.n_held:,} rows held to look for units among" if planned.streamed else ""


def _passes(planned: Plan, workers: int) -> str:
    times = "once" if planned.n_passes == 1 else f"{planned.n_passes} times"
    shared = "; workers share these, at this machine's rates each, and nothing else" if workers > 1 else ""
    return f"the rows are read {times}{shared}"


def _is_enough(planned: Plan, n_rows: int, least: int) -> bool:
    return n_rows >= least and planned.n_held >= planned.n_unknowns


def _enough(planned: Plan, n_rows: int, least: int) -> str:
    needed = f"at least {least:,} for this many units ({planned.n_unknowns:,} unknowns)"
    if n_rows < least:
        return f"too few: {needed}"
    if not _is_enough(planned, n_rows, least):
        return f"{needed}; {planned.n_held:,} rows that are held are too few to find them among"
    return needed


def _machine(rates: Rates) -> str:
    return (
        f"{amount(rates.disk, 'B/s')} from disk, {amount(rates.memory, 'B/s')} through memory, "
        f"{amount(rates.wide, 'flop/s')} in wide products and {amount(rates.narrow, 'flop/s')} in narrow ones, "
        "measured just now"
    )
