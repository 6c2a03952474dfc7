"""What all figures share: colours, axes, names that fit, scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from netlearn.backend.extras import need as need_extra
from netlearn.errors import InputError
from netlearn.report.words import number, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

BLUE, VERMILION, GREEN, PURPLE, ORANGE, GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#808080",
)
KINDS = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"))
MOST_LINES, MOST_COLUMNS = 40, 40
# Characters of a name beside a mark, and along an axis.
NAME, LONG_NAME = 16, 40
# Shades of a heat map, few enough to be drawn as shapes and not as pixels.
_SHADES = 11
# Points above which they are half transparent.
_MANY = 300


def new_axes(rows: int = 1, *, width: float = 5.2, height: float = 3.2, **grid: object) -> list[Axes]:
    """Return the Axes, under each other, of a figure that belongs to nobody else."""
    figure = need_extra("matplotlib.figure", extra="report", purpose="A figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    return list(figure.subplots(rows, squeeze=False, **grid)[:, 0])


def axes(ax: Axes | None) -> Axes:
    """Return the Axes to draw into, with two spines."""
    (panel,) = new_axes() if ax is None else [ax]
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    return panel


def need(there: T | None, name: str, what: str) -> T:
    """Return what a figure is of, or refuse the figure where it is not there."""
    if not there:
        raise InputError(f"The {name} figure needs {what}, which this result does not have.")
    return there


def heat_map(
    values: np.ndarray, names: Sequence[str], ax: Axes | None, shades: tuple[str, float, float], label: str
) -> Axes:
    """Draw the first rows and columns of a matrix, columns counted from 1; `shades` are a map and its ends."""
    from matplotlib import colormaps

    panel = axes(ax)
    shown = values[:MOST_LINES, :MOST_COLUMNS]
    name, low, high = shades
    edges = [np.arange(n + 1) + 0.5 for n in shown.shape]
    drawn = panel.pcolormesh(
        edges[1], edges[0], shown, cmap=colormaps[name].resampled(_SHADES), vmin=low, vmax=high
    )
    drawn.set(edgecolor="face", linewidth=0.4)  # or seams show as hairlines
    panel.set_yticks(np.arange(1, len(shown) + 1), [short(name, NAME) for name in names[: len(shown)]])
    panel.invert_yaxis()
    panel.figure.colorbar(drawn, ax=panel, label=label)
    return panel


def log_scale(ax: Axes) -> None:
    """Make the vertical axis logarithmic, with numbers as the page writes them."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if high < 1e3 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    # Plain text where matplotlib would typeset formulas.
    ax.yaxis.set_major_formatter(lambda value, _: number(value))
    ax.yaxis.set_minor_formatter(NullFormatter())


def whole_numbers(axis, n_ticks: int = 10) -> None:
    """Put ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=n_ticks))


def opacity(n_points: int) -> float:
    """Return how solid points are: many show where they are dense, few would be hard to see."""
    return 0.5 if n_points > _MANY else 0.85
