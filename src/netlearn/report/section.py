"""A section of the page: what it may hold, and how figures become part of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netlearn.backend.extras import need
from netlearn.report import figures
from netlearn.report.svg import inline_svg
from netlearn.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

# On matplotlib's defaults, whatever the caller's own style is. Sizes suit a phone, where the column is narrower
# than the figure, and a desk, where it is wider. A dollar sign in a name is a dollar sign.
_STYLE = {
    "font.size": 9,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.parse_math": False,
}
# Inches of a figure that has another one beside it.
_SMALL: dict[str, Any] = {"width": 3.7, "height": 2.7}


@dataclass(frozen=True)
class Bar:
    """A bar of a chart that the page draws itself.

    Attributes
    ----------
    key, label, text : str
        Its id on the page, its name and its value in words.
    value : float
        The number behind the text.
    share : float
        Length, of the whole track.
    """

    key: str
    label: str
    text: str
    value: float
    share: float


@dataclass(frozen=True)
class Drawing:
    """An inline SVG; small ones stand beside each other where there is space."""

    svg: str
    small: bool = False


@dataclass(frozen=True)
class Code:
    """Text to copy: what it is, the text, whether long lines may be broken, and whether it is folded away."""

    label: str
    text: str
    wrap: bool = False
    fold: bool = False

    @property
    def lines(self) -> list[list[str]]:
        """The lines, each in terms with their signs, between which it may be broken."""
        return [re.split(r"(?= [+-] )", line) for line in self.text.split("\n")]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    key, title : str
    words : tuple of str
        Paragraphs.
    bars : tuple of Bar
    items : tuple of str
        Sentences of a list.
    drawings : tuple of Drawing
    after : tuple of str
        Paragraphs below these.
    codes : tuple of Code
    table : Table or None
    parts : tuple of Section
        Sections inside this one.
    """

    key: str
    title: str
    words: tuple[str, ...]
    bars: tuple[Bar, ...] = ()
    items: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    after: tuple[str, ...] = ()
    codes: tuple[Code, ...] = ()
    table: Table | None = None
    parts: tuple[Section, ...] = ()


def drawn(
    result: LearnResult,
    name: str,
    description: str,
    draw: Callable[[LearnResult, Axes], Axes],
    *,
    small: bool = False,
    **shape: Any,
) -> Drawing:
    """Draw a figure, and return it as inline SVG with a name of its own and what it shows in words."""
    style = need("matplotlib.style", extra="report", purpose="A report")
    # Colours of labels such as 1e-200 overflow inside matplotlib, and come out right.
    with style.context(["default", _STYLE]), np.errstate(over="ignore"):
        (ax,) = figures.new_axes(**({**_SMALL, **shape} if small else shape))
        draw(result, ax)
        figure: Any = ax.figure
        return Drawing(inline_svg(figure, name, description), small)
