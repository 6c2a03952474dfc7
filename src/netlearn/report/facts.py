"""The numbers of a run with their names, each with what to compare it with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlearn.report.measures import held_out_error
from netlearn.report.words import number, percent, target_name

if TYPE_CHECKING:
    from netlearn.result import LearnResult


@dataclass(frozen=True)
class Fact:
    """A number of the run.

    Attributes
    ----------
    key : str
        Its id on the page.
    label, text : str
    value : float or None
        The number behind the text.
    note : str
        What to compare it with.
    """

    key: str
    label: str
    text: str
    value: float | None = None
    note: str = ""


def facts(result: LearnResult) -> list[Fact]:
    """List size, error, noise and cost."""
    seen, found = result.diagnostics, []
    if result.has_network:
        k = result.network.n_hidden
        found.append(Fact("n-hidden", "Hidden units", f"{k:,}", k))
        if (m := result.network.n_outputs) > 1:
            found.append(Fact("n-outputs", "Outputs", f"{m:,}", m))
    if result.subspace is not None:
        d, r = result.subspace.shape
        found.append(Fact("dimension", "Dimensions that the units span", f"{r:,}", r, f"of {d:,}"))
    error = held_out_error(result)
    if error is not None:
        of = f"of the spread of {target_name(result)}"
        note = "" if error.relative is None else f"{percent(error.relative)} {of}"
        found.append(
            Fact("held-out-error", "Typical error on held-out rows", number(error.rms), error.rms, note)
        )
    if seen.noise_level is not None:
        # Where more units or rows would lower it, what is left of the labels is no noise.
        known = result.status.name in ("NOISE_LIMITED", "CERTIFIED")
        label = "Label noise" if known else "Label noise, if all that is left were noise"
        found.append(Fact("noise-level", label, number(seen.noise_level), seen.noise_level))
    elif result.status.name == "RECOVERED":
        found.append(Fact("noise-level", "Label noise", "none seen"))
    if seen.excess_error is not None:
        text, note = number(seen.excess_error, 2), "an estimate, noise left out"
        found.append(Fact("excess-error", "Error of the network itself", text, seen.excess_error, note))
    if seen.rows:
        rows = sum(seen.rows.values())
        found.append(Fact("rows", "Rows", f"{rows:,}", rows))
    if seen.seconds:
        seconds = sum(seen.seconds.values())
        found.append(Fact("seconds", "Seconds", number(seconds, 2), seconds))
    return found
