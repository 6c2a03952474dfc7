"""One card for each of several outputs: how well it is predicted, what it depends on, what is proven of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from netlearn.report import figures
from netlearn.report.importance import sensitivity
from netlearn.report.measures import feature_names, has_signal, output_qualities, worst_outputs
from netlearn.report.section import Drawing, drawn
from netlearn.report.words import listed, number, percent, short
from netlearn.words import percent_up, rounded_up, shown_r2

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# A share below this is none that matters most.
_SMALLEST_SHARE = 0.01
# Outputs that have a card, features that it names, and characters of a name.
MOST_CARDS, _FEATURES, _NAME = 8, 3, 40


@dataclass(frozen=True)
class OutputCard:
    """What is known of one output.

    Attributes
    ----------
    name : str
    lines : tuple of (str, str)
        Labels and what they say.
    drawing : Drawing or None
        Predictions against held-out labels.
    """

    name: str
    lines: tuple[tuple[str, str], ...]
    drawing: Drawing | None


def output_cards(result: LearnResult) -> list[OutputCard]:
    """Return the cards, of many outputs those that fit worst; none for a single output."""
    if not result.has_network or result.network.n_outputs == 1:
        return []
    outputs = list(range(result.network.n_outputs))
    if len(outputs) > MOST_CARDS:
        outputs = (worst_outputs(result) or outputs)[:MOST_CARDS]
    leading = _leading(result)
    return [_card(result, output, leading) for output in outputs]


def _card(result: LearnResult, output: int, leading: dict[int, str]) -> OutputCard:
    name, each, lines = result.output_names[output], output_qualities(result), []
    score = result.score
    if score is not None and score.r2_each:
        lines.append(("R²", shown_r2(score.r2_each[output]).replace("-", "\N{MINUS SIGN}")))
    drawing = None
    if each:
        own = each[output]
        relative = f", {percent(own.rms / own.spread)} of its spread" if own.spread > 0 else ""
        lines.append(("Typical error", f"{number(own.rms)}{relative}"))
        alt = f"Predictions against labels of {own.n_rows:,} held-out rows along the diagonal."
        draw = partial(figures.predicted, output=output)
        drawing = drawn(result, f"predicted-{output}", alt, draw, small=True)
    if output in leading:
        lines.append(("Matters most", leading[output]))
    if result.certificate is not None and result.certificate.per_output:
        certificate = result.certificate.per_output[output]
        share, tolerance = percent_up(certificate.share), rounded_up(certificate.tolerance)
        lines.append(("Proven", f"at most {share} of new rows are off by more than {tolerance}"))
        if math.isfinite(certificate.error_bound):
            lines.append(("Typical error at most", rounded_up(certificate.error_bound)))
    return OutputCard(short(name, _NAME), tuple(lines), drawing)


def _leading(result: LearnResult) -> dict[int, str]:
    """Name the features that matter most to each output; none where nothing was found."""
    found = sensitivity(result) if has_signal(result) else None
    if found is None:
        return {}
    names, said = feature_names(result), {}
    for output, own in enumerate(found.indices.per_output):
        order = sorted(range(len(found.features)), key=lambda place: -own.total[place])[:_FEATURES]
        parts = [
            f"{short(names[found.features[place]], _NAME)} ({100 * own.total[place]:.0f} %)"
            for place in order
            if own.total[place] >= _SMALLEST_SHARE
        ]
        if parts:
            said[output] = listed(parts)
    return said
