"""Predictions beside held-out labels: one against the other, residuals, and how they are spread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.figures.drawing import (
    BLUE,
    GREY,
    LONG_NAME,
    VERMILION,
    axes,
    need,
    opacity,
    whole_numbers,
)
from netlearn.report.measures import worst_outputs
from netlearn.report.words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

# Bins of a histogram, for the third root of the rows: with more, chance makes humps.
_BINS = 2


def predicted(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw predictions against held-out labels, with the diagonal on which a perfect network would lie.

    Of several outputs the one that fits worst is drawn, unless another is asked for.
    """
    y, fit, name = _held_out(result, "predicted", output)
    panel = axes(ax)
    ends = [min(y.min(), fit.min()), max(y.max(), fit.max())]
    panel.plot(ends, ends, color=GREY, linewidth=1)
    panel.plot(y, fit, "o", color=BLUE, markersize=3, alpha=opacity(len(y)), markeredgewidth=0)
    panel.set(xlabel=f"{name}, held out", ylabel="predicted")
    return panel


def residuals(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw held-out label minus prediction against the label; of several outputs as `predicted` does."""
    y, fit, name = _held_out(result, "residuals", output)
    panel = axes(ax)
    panel.axhline(0.0, color=GREY, linewidth=1)
    panel.plot(y, y - fit, "o", color=BLUE, markersize=3, alpha=opacity(len(y)), markeredgewidth=0)
    panel.set(xlabel=f"{name}, held out", ylabel="residual")
    return panel


def residual_histogram(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw how many held-out rows have which residual; of several outputs as `predicted` does."""
    y, fit, name = _held_out(result, "residual_histogram", output)
    panel = axes(ax)
    left = y - fit
    reach = float(np.max(np.abs(left))) or 1.0
    n_bins = _BINS * math.ceil(len(left) ** (1 / 3))
    panel.hist(left, bins=np.linspace(-reach, reach, n_bins + 1).tolist(), color=BLUE)
    panel.axvline(0.0, color=VERMILION, linewidth=1)
    panel.locator_params(axis="x", nbins=6)
    whole_numbers(panel.yaxis, n_ticks=6)
    panel.set(xlabel=f"residual: {name} minus predicted", ylabel="held-out rows")
    return panel


def _held_out(result: LearnResult, name: str, output: int | None) -> tuple[np.ndarray, np.ndarray, str]:
    """Labels, predictions and the name of one output, by default the worst."""
    held_out = need(result.held_out if result.has_network else None, name, "a network and held-out rows")
    output = worst_outputs(result)[0] if output is None else output
    y, fit = (
        values.reshape(len(values), -1)[:, output] for values in (held_out.y, result.network(held_out.X))
    )
    return y, fit, short(result.output_names[output], LONG_NAME)
