"""How numbers and findings are put into words, the same on the page and in the notebook."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netlearn.result import LearnResult

MINUS, _TIMES, _THIN_SPACE = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{NARROW NO-BREAK SPACE}"
# Outputs that the top of the page names, and characters of a name inside a sentence.
_NAMED_OUTPUTS, _NAME = 6, 40
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """Write a number for reading, with a true minus sign and powers of ten where they are shorter.

    Examples
    --------
    >>> number(0.01234), number(20_000), number(3.2e-14)
    ('0.0123', '20,000', '3.2×10⁻¹⁴')
    """
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else f"{MINUS if value < 0 else ''}∞"
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
    return f"{MINUS}{text}" if value < 0 else text


def typeset(text: str) -> str:
    """Write the numbers of a sentence as `number` does: a true minus sign, and powers of ten.

    Examples
    --------
    >>> typeset("an error above 2.67e-15, where the mean has -0.5")
    'an error above 2.67×10⁻¹⁵, where the mean has −0.5'
    """
    powers = re.sub(
        r"(?<![\w.])(\d[\d.]*)e([+-]\d+)",
        lambda found: f"{found[1]}{_TIMES}10{str(int(found[2])).translate(_SUPERSCRIPTS)}",
        text,
    )
    return re.sub(r"(?<=\s)-(?=\d)", MINUS, powers)


def column(values: Sequence[float], digits: int = 4) -> list[str]:
    """Write numbers that stand under each other: as many decimals as show `digits` digits of the largest."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0 or not 1e-3 <= largest < 1e6:
        return [number(value, digits) for value in values]
    decimals = max(0, digits - 1 - math.floor(math.log10(largest)))
    return [
        f"{value:,.{decimals}f}".replace("-", MINUS) if math.isfinite(value) else number(value)
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


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def as_sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning and a full stop at its end."""
    return f"{_begun(text)}{'' if text[-1] in '.!?' else '.'}" if text else ""


def listed(parts: Sequence[str]) -> str:
    """Join words with commas and a last "and"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def short(name: str, longest: int) -> str:
    """Cut a name that would push other things off the page."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def target_words(result: LearnResult) -> str:
    """Name all that is predicted: y by its name, or the first of several outputs; empty without a network."""
    names = result.output_names
    shown, m = names[:_NAMED_OUTPUTS], len(names)
    more = f" and {m - len(shown):,} more" if m > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def target_name(result: LearnResult) -> str:
    """Name what is predicted, inside a sentence."""
    if result.network.n_outputs > 1:
        return f"the {result.network.n_outputs:,} outputs"
    return short(result.output_names[0], _NAME)


def departure_sentence(departure: float | None) -> str:
    """Say how far the inputs are from Gaussian."""
    if departure is None:
        return "The inputs were taken to be Gaussian; how far they are from that was not measured."
    return (
        "The largest skewness or excess kurtosis of the inputs, over the projections tried, is "
        f"{number(departure)} standard errors; Gaussian inputs stay below 6."
    )
