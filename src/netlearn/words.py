"""What a certificate says, in the same words for summary, command line, report and notebook."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netlearn.certify import Certificate, Score


def rounded_up(value: float, digits: int = 3) -> str:
    """Write a number in so many digits that promise no more than it does.

    Examples
    --------
    >>> rounded_up(0.10301), rounded_up(2.5), rounded_up(0.0)
    ('0.104', '2.5', '0')
    """
    if value <= 0.0 or not math.isfinite(value):
        return f"{value:g}"
    nearest = f"{value:.{digits}g}"
    if float(nearest) >= value:
        return nearest
    return f"{float(nearest) + 10.0 ** (math.floor(math.log10(value)) - digits + 1):.{digits}g}"


def percent_up(share: float) -> str:
    """Write a share in percent, rounded up to two digits.

    Examples
    --------
    >>> percent_up(0.01145)
    '1.2 %'
    """
    return f"{rounded_up(100.0 * share, 2)} %"


def confidence(certificate: Certificate) -> str:
    """Write the confidence in percent, rounded down: the failure probability in two digits, rounded up."""
    failure = 100.0 * (1.0 - certificate.confidence) * (1.0 - 1e-9)  # 1 - 0.99 is a little more than 0.01
    return f"{100.0 - float(rounded_up(failure, 2)):.10g} %"


def share_sentence(certificate: Certificate) -> str:
    """Say what share of new rows may have a larger error than was seen."""
    together = " (all outputs together)" if certificate.per_output else ""
    return (
        f"with confidence {confidence(certificate)}, at most {percent_up(certificate.share)} of new rows have an "
        f"error{together} above {rounded_up(certificate.tolerance)}; from {certificate.n_val:,} held-out rows"
    )


def bound_sentence(certificate: Certificate) -> str:
    """Say what bounds the root mean square error, or why nothing does."""
    if not math.isfinite(certificate.error_bound):
        return f"no bound on the root mean square error: {certificate.why_no_bound}"
    noise = ", label noise included," if certificate.basis.noisy else ""
    moved = ""
    if certificate.moved:
        joined = certificate.n_bound - certificate.n_val
        moved = f", {joined:,} of which joined the last fit afterwards; what it changed adds {certificate.moved:.2g}"
    return (
        f"root mean square error{noise} at most {rounded_up(certificate.error_bound)} with confidence "
        f"{confidence(certificate)}; from {certificate.n_bound:,} held-out rows{moved}"
    )


def score_sentence(score: Score) -> str:
    """Say how well held-out rows are predicted: an estimate."""
    r2 = ""
    if score.r2 is not None:
        others = f"linear fit {shown_r2(score.r2_linear)}, mean {shown_r2(score.r2_mean)}"
        r2 = f"R2 {shown_r2(score.r2)} ({others}); "
    error = "" if not math.isfinite(score.rmse_error) else f" ± {score.rmse_error:.1g}"
    return f"{r2}root mean square error {score.rmse:.3g}{error}, estimated on {score.n_rows:,} held-out rows"


def shown_r2(value: float | None) -> str:
    """Write a share of variance with as many digits as tell it from one.

    Examples
    --------
    >>> shown_r2(0.91234), shown_r2(0.999987), shown_r2(1.0), shown_r2(None)
    ('0.912', '0.999987', '1', 'unknown')
    """
    if value is None or math.isnan(value):
        return "unknown"
    if value < -9.995:
        return "below -10"
    left = 1.0 - value
    if left < 1e-9:
        return "1"
    digits = 3 if left >= 0.01 else min(9, 1 - math.floor(math.log10(left)))
    return f"{round(value, digits) + 0.0:.{digits}f}"  # no minus before a zero


# How the note of a missed epsilon begins.
_MISSED = "an error of at most epsilon"


def missed_epsilon(epsilon: float, bound: float, why_no_bound: str) -> str:
    """Say that a bound that was asked for is not reached, and by how much.

    Examples
    --------
    >>> missed_epsilon(0.1, 0.25, "")
    'an error of at most epsilon = 0.1 was asked for, but is not certified: the bound is 0.25, 2.5 times as large'
    """
    why = why_no_bound
    if math.isfinite(bound):
        why = f"the bound is {rounded_up(bound)}, {bound / epsilon:.3g} times as large"
    return f"{_MISSED} = {epsilon:g} was asked for, but is not certified: {why}"


def is_missed_epsilon(note: str) -> bool:
    """Whether a note is the one that `missed_epsilon` writes."""
    return note.startswith(_MISSED)


STEPS = {"train": "learn", "judge": "choose units", "certify": "check", "fit": "refine", "samples": "read"}
"""Plain names of the steps of a run, where they are not called so already."""


def step_name(name: str) -> str:
    """Return the plain name of a step."""
    return STEPS.get(name, name)
