"""How numbers and findings are put into words, the same on the page and in the notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlearn.report.measures import held_out_error
from netlearn.words import bound_sentence, share_sentence, shown_r2

if TYPE_CHECKING:
    from netlearn.certify import Certificate
    from netlearn.result import LearnResult

_MINUS, _TIMES, _THIN_SPACE = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{NARROW NO-BREAK SPACE}"
_NAMED_OUTPUTS = 6
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

VERDICTS = {
    "RECOVERED": ("yes", "Yes: it reproduces labels it has never seen to rounding level."),
    "CERTIFIED": ("yes", "Yes, up to the certified error."),
    "REPRODUCED": ("partly", "It reproduces all rows, but too few were held out to be sure of new ones."),
    "NO_SIGNAL": ("no", "Nothing was found: it predicts no better than the mean."),
    "NOISE_LIMITED": ("partly", "Up to its held-out error: what it leaves unexplained looks like noise."),
    "NOT_A_SMALL_NETWORK": ("partly", "As a fit, not as a recovery: more units would explain more."),
    "TOO_FEW_ROWS": ("no", "Not yet: the rows do not determine the network."),
    "OUT_OF_TIME": ("no", "Not yet: time ran out before the search was over."),
    "FAILED": ("no", "No: the search found no network whose error it could certify."),
}
"""For each status whether to trust the network, as a mark and as a sentence."""


def number(value: float, digits: int = 3) -> str:
    """Write a number for reading, with a true minus sign and powers of ten where they are shorter.

    Examples
    --------
    >>> number(0.01234), number(20_000), number(3.2e-14)
    ('0.0123', '20,000', '3.2×10⁻¹⁴')
    """
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else f"{_MINUS if value < 0 else ''}∞"
    size = abs(value)
    if size == 0 or 1e-3 <= size < 10.0 ** (digits - 1):
        text = f"{size:.{digits}g}"
    elif size < 1e6 and size >= 1:
        text = f"{size:,.0f}"
    else:
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
        text = text if mantissa == "1" else f"{mantissa}{_TIMES}{text}"
    return f"{_MINUS}{text}" if value < 0 else text


def column(values: Sequence[float], digits: int = 4) -> list[str]:
    """Write numbers that stand under each other: as many decimals as show `digits` digits of the largest."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0 or not 1e-3 <= largest < 1e6:
        return [number(value, digits) for value in values]
    decimals = max(0, digits - 1 - math.floor(math.log10(largest)))
    return [
        f"{value:,.{decimals}f}".replace("-", _MINUS) if math.isfinite(value) else number(value)
        for value in values
    ]


def percent(ratio: float) -> str:
    """Write a ratio: in percent, or as a plain number where percent would be clumsy."""
    if ratio == 0 or 1e-3 <= ratio < 10:
        return f"{100 * ratio:.3g}{_THIN_SPACE}%"
    return number(ratio)


def share_text(share: float) -> str:
    """Write a share of a whole in percent with one decimal."""
    return f"{100 * share:.1f}{_THIN_SPACE}%"


def plural(count: int, word: str) -> str:
    """Write a count with its word."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def certificate_sentence(certificate: Certificate | None) -> str:
    """Say what fresh rows prove; `assumptions` say under which conditions."""
    if certificate is None:
        return "There is no certificate."
    return ". ".join(_begun(sentence(certificate)) for sentence in (share_sentence, bound_sentence)) + "."


def verdict_sentence(result: LearnResult) -> str:
    """Say of the certificate what the result's message does not: where all rows are reproduced, it states the share."""
    said = result.status.name in ("RECOVERED", "REPRODUCED") and result.message != result.status.value
    if result.certificate is None or not said:
        return certificate_sentence(result.certificate)
    return f"{_begun(bound_sentence(result.certificate))}."


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


@dataclass(frozen=True)
class Fact:
    """One entry of the result card.

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
    """List what a reader asks first: size, error, noise and cost."""
    seen, found = result.diagnostics, []
    if result.network is not None:
        k = result.network.n_hidden
        found.append(Fact("n-hidden", "Hidden units", f"{k:,}", k))
        if (m := result.network.n_outputs) > 1:
            found.append(Fact("n-outputs", "Outputs", f"{m:,}", m))
    if result.subspace is not None:
        d, r = result.subspace.shape
        found.append(Fact("dimension", "Dimension of V", f"{r:,}", r, f"of {d:,}"))
    error = held_out_error(result)
    if error is not None:
        note = "" if error.relative is None else f"{percent(error.relative)} of the labels' spread"
        found.append(Fact("held-out-error", "Held-out error", number(error.rms), error.rms, note))
    score = result.score
    if score is not None and score.r2 is not None:
        note = f"linear fit {shown_r2(score.r2_linear)}, mean {shown_r2(score.r2_mean)}; an estimate"
        found.append(Fact("r2", "R2 on held-out rows", shown_r2(score.r2), score.r2, note))
    if seen.noise_level is not None:
        found.append(Fact("noise-level", "Label noise", number(seen.noise_level), seen.noise_level))
    elif result.status.name == "RECOVERED":
        found.append(Fact("noise-level", "Label noise", "none seen"))
    if seen.excess_error is not None:
        text, note = number(seen.excess_error, 2), "an estimate, noise left out"
        found.append(Fact("excess-error", "Error of the network", text, seen.excess_error, note))
    if seen.rows:
        rows = sum(seen.rows.values())
        found.append(Fact("rows", "Rows", f"{rows:,}", rows))
    if seen.seconds:
        seconds = sum(seen.seconds.values())
        found.append(Fact("seconds", "Seconds", number(seconds, 2), seconds))
    return found


def target_words(result: LearnResult) -> str:
    """Say what was learned: the name of y, or the first names of several outputs; empty where there are none."""
    if not result.target or isinstance(result.target, str):
        return result.target or ""
    shown, m = result.target[:_NAMED_OUTPUTS], len(result.target)
    more = f" and {m - len(shown):,} more" if m > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def departure_sentence(departure: float | None) -> str:
    """Say how far the inputs are from Gaussian."""
    if departure is None:
        return "The inputs were taken to be Gaussian; how far they are from that was not measured."
    return (
        "The largest skewness or excess kurtosis of the inputs, over the projections tried, is "
        f"{number(departure)} standard errors; Gaussian inputs stay below 6."
    )
