"""What the labels depend on: leading directions, features and their effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    opacity,
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
# Points on a plane up to which there is space for large ones.
_FEW = 300


def summary(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw held-out labels against the leading directions, with the fit over the data.

    One direction: labels as points, the network's expectation given that direction as a curve. Two: the plane
    of both, labels as coloured points on the network's expectation in the same colours. Points with the colour of
    their background are predicted well. Of several outputs the one that fits worst is drawn, unless another is asked
    for.
    """
    what = "held-out rows and a network that is not constant"
    found = need(leading_directions(result), "summary", what)
    held_out = need(result.held_out, "summary", what)
    from matplotlib.ticker import MaxNLocator

    panel = axes(ax)
    output = worst_outputs(result)[0] if output is None else output
    S = found.coordinates(held_out.X)[:, : found.n_shown]
    y = held_out.y.reshape(len(S), -1)[:, output]
    label = short(result.output_names[output], LONG_NAME)
    if found.n_shown == 1:
        grid = np.linspace(S.min(), S.max(), 400)[:, None]
        points: dict[str, Any] = {
            "color": BLUE,
            "markersize": 3,
            "alpha": opacity(len(y)),
            "markeredgewidth": 0,
        }
        panel.plot(S[:, 0], y, "o", label="held-out rows", **points)
        panel.plot(
            grid[:, 0], _expected(found, grid, output), color=VERMILION, linewidth=1.5, label="network"
        )
        panel.set(xlabel=_direction(found, 0), ylabel=label)
        panel.legend(frameon=False)
        return panel
    reach = max(_WINDOW, float(np.quantile(np.abs(S), 0.995)))
    line = np.linspace(-reach, reach, _GRID)
    first, second = np.meshgrid(line, line)
    ground = _expected(found, np.column_stack([first.ravel(), second.ravel()]), output).reshape(first.shape)
    low, high = np.quantile(y, [0.005, 0.995])
    levels = MaxNLocator(12).tick_values(low, high)
    drawn: Any = panel.contourf(first, second, ground, levels, cmap="cividis", extend="both")
    drawn.set(edgecolor="face", linewidth=0.4)  # or the seams between the levels show as hairlines
    # A dark ring inside a white one shows on every colour of the background.
    size = 30 if len(y) <= _FEW else 18
    colours = {"c": y, "cmap": drawn.cmap, "norm": drawn.norm}
    panel.scatter(S[:, 0], S[:, 1], s=1.5 * size, color="white", linewidths=0)
    panel.scatter(S[:, 0], S[:, 1], s=size, edgecolors="#202020", linewidths=0.5, **colours)
    panel.figure.colorbar(drawn, ax=panel, label=label)
    panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    panel.set(xlabel=_direction(found, 0), ylabel=_direction(found, 1))
    return panel


def sobol(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the total Sobol indices of the leading features as a heat map with a line for each output."""
    found = need(sensitivity(result), "sobol", "held-out rows and a network that is not constant")
    each = found.indices.per_output or (found.indices,)
    totals = np.array([own.total for own in each])
    panel = heat_map(totals, result.output_names, ax, ("cividis", 0.0, totals.max()), "share lost without it")
    names = feature_names(result)
    panel.set_xticks(
        np.arange(1, len(found.features) + 1), [short(names[index], NAME) for index in found.features]
    )
    panel.tick_params(axis="x", rotation=90)
    return panel


def importance(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the total Sobol indices of the leading features as bars; of several outputs their means."""
    found = need(sensitivity(result), "importance", "held-out rows and a network that is not constant")
    panel = axes(ax)
    names = [short(feature_names(result)[feature], NAME) for feature in found.features]
    places = np.arange(len(names))
    panel.barh(places, 100 * found.totals, color=BLUE, height=0.7)
    panel.set_yticks(places, names)
    panel.invert_yaxis()
    panel.set(xlabel="percent of the variance that is lost without the feature")
    return panel


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
    held_out = need(result.held_out if result.has_network else None, "effect", "a network and held-out rows")
    if feature is None:
        feature = need(sensitivity(result), "effect", "a network that is not constant").features[0]
    output = worst_outputs(result)[0] if output is None else output
    drawn, panel = effect_of(result.network, held_out.X, feature, output), axes(ax)
    panel.plot(drawn.values, drawn.means, color=VERMILION, linewidth=1.8)
    inside = drawn.rows[(drawn.rows >= drawn.values[0]) & (drawn.rows <= drawn.values[-1])]
    at_the_bottom = panel.get_xaxis_transform()
    if scale is not None and scale[1] > scale[0]:
        margin = 0.08 * (scale[1] - scale[0])  # for the ticks below the curve
        panel.set_ylim(scale[0] - 2 * margin, scale[1] + margin)
    panel.locator_params(axis="x", nbins=6)
    panel.plot(inside, np.full(len(inside), 0.02), "|", color=GREY, markersize=6, transform=at_the_bottom)
    panel.set(
        xlabel=short(feature_names(result)[feature], LONG_NAME),
        ylabel=f"mean {short(result.output_names[output], NAME)}",
    )
    return panel


def _expected(found: Directions, S: np.ndarray, output: int) -> np.ndarray:
    return found.expected(S).reshape(len(S), -1)[:, output]


def _direction(found: Directions, index: int) -> str:
    return f"direction {index + 1} (explains {share_text(found.shares[index])} alone)"
