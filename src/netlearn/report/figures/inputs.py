"""What the labels depend on: leading directions, features and their effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.directions import Directions, leading_directions
from netlearn.report.figures.drawing import (
    BLUE,
    GREY,
    LONG_NAME,
    NAME,
    VERMILION,
    axes,
    heat_map,
    need,
)
from netlearn.report.importance import effect as effect_of
from netlearn.report.importance import sensitivity
from netlearn.report.measures import feature_names, worst_outputs
from netlearn.report.words import share_text, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

# Points of the grid, along each axis, on which the fit is drawn; and half the width of a plane's window.
_GRID, _WINDOW = 60, 3.0


def summary(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw held-out labels against the leading directions, with the fit over the data.

    One direction: labels as points, the network's expectation given that direction as a curve. Two: the plane
    of both, labels as coloured points on the network's expectation in the same colours. Points with the colour of
    their background are predicted well. Of several outputs the one that fits worst is drawn, unless another is asked
    for.
    """
    found = leading_directions(result)
    need(found, "summary", "held-out rows and a network that is not constant")
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    output = worst_outputs(result)[0] if output is None else output
    S = found.coordinates(result.held_out.X)[:, : found.n_shown]
    y = result.held_out.y.reshape(len(S), -1)[:, output]
    label = short(result.output_names[output], LONG_NAME)
    if found.n_shown == 1:
        grid = np.linspace(S.min(), S.max(), 400)[:, None]
        ax.plot(
            S[:, 0], y, "o", color=BLUE, markersize=3, alpha=0.5, markeredgewidth=0, label="held-out rows"
        )
        ax.plot(grid[:, 0], _expected(found, grid, output), color=VERMILION, linewidth=1.5, label="network")
        ax.set(xlabel=_direction(found, 0), ylabel=label)
        ax.legend(frameon=False)
        return ax
    reach = max(_WINDOW, float(np.quantile(np.abs(S), 0.995)))
    line = np.linspace(-reach, reach, _GRID)
    first, second = np.meshgrid(line, line)
    ground = _expected(found, np.column_stack([first.ravel(), second.ravel()]), output).reshape(first.shape)
    low, high = np.quantile(y, [0.005, 0.995])
    levels = MaxNLocator(12).tick_values(low, high)
    drawn = ax.contourf(first, second, ground, levels, cmap="cividis", extend="both")
    drawn.set(edgecolor="face", linewidth=0.4)  # or the seams between the levels show as hairlines
    ax.scatter(
        S[:, 0], S[:, 1], c=y, cmap=drawn.cmap, norm=drawn.norm, s=13, edgecolors="white", linewidths=0.4
    )
    ax.figure.colorbar(drawn, ax=ax, label=label)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel=_direction(found, 0), ylabel=_direction(found, 1))
    return ax


def sobol(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the total Sobol indices of the leading features as a heat map with a line for each output."""
    found = sensitivity(result)
    need(found, "sobol", "held-out rows and a network that is not constant")
    each = found.indices.per_output or (found.indices,)
    totals = np.array([own.total for own in each])
    ax = heat_map(totals, result.output_names, ax, ("cividis", 0.0, totals.max()), "share lost without it")
    names = feature_names(result)
    ax.set_xticks(
        np.arange(1, len(found.features) + 1), [short(names[index], NAME) for index in found.features]
    )
    ax.tick_params(axis="x", rotation=90)
    return ax


def importance(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the total Sobol indices of the leading features as bars; of several outputs their means."""
    found = sensitivity(result)
    need(found, "importance", "held-out rows and a network that is not constant")
    ax = axes(ax)
    names = [short(feature_names(result)[feature], NAME) for feature in found.features]
    places = np.arange(len(names))
    ax.barh(places, 100 * found.totals, color=BLUE, height=0.7)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set(xlabel="percent of the variance that is lost without the feature")
    return ax


def effect(
    result: LearnResult,
    ax: Axes | None = None,
    *,
    feature: int | None = None,
    output: int | None = None,
    scale: tuple[float, float] | None = None,
) -> Axes:
    """Draw the network's mean over held-out rows against one feature, by default the one that matters most.

    Ticks at the bottom are values of the feature in these rows. Of several outputs the one that fits worst is drawn,
    unless another is asked for. `scale` are the ends of the vertical axis.
    """
    found = sensitivity(result) if feature is None else None
    need(result.network is not None and result.held_out is not None, "effect", "a network and held-out rows")
    if feature is None:
        need(found, "effect", "a network that is not constant")
        feature = found.features[0]
    output = worst_outputs(result)[0] if output is None else output
    drawn, ax = effect_of(result, feature, output), axes(ax)
    ax.plot(drawn.values, drawn.means, color=VERMILION, linewidth=1.8)
    inside = drawn.rows[(drawn.rows >= drawn.values[0]) & (drawn.rows <= drawn.values[-1])]
    at_the_bottom = ax.get_xaxis_transform()
    if scale is not None and scale[1] > scale[0]:
        margin = 0.08 * (scale[1] - scale[0])  # for the ticks below the curve
        ax.set_ylim(scale[0] - 2 * margin, scale[1] + margin)
    ax.locator_params(axis="x", nbins=6)
    ax.plot(inside, np.full(len(inside), 0.02), "|", color=GREY, markersize=6, transform=at_the_bottom)
    ax.set(
        xlabel=short(feature_names(result)[feature], LONG_NAME),
        ylabel=f"mean {short(result.output_names[output], NAME)}",
    )
    return ax


def _expected(found: Directions, S: np.ndarray, output: int) -> np.ndarray:
    return found.expected(S).reshape(len(S), -1)[:, output]


def _direction(found: Directions, index: int) -> str:
    return f"direction {index + 1} (explains {share_text(found.shares[index])} alone)"
