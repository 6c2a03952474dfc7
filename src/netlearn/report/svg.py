"""A matplotlib figure as SVG that lives inside an HTML page: themed by it, described in words, ids its own."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from netlearn.report import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a figure draws in these colours, the page draws in its own, which change with light and dark.
_THEMED = {
    "#000000": "currentColor",
    figures.GREY: "var(--grey)",
    figures.BLUE: "var(--blue)",
    figures.VERMILION: "var(--vermilion)",
    figures.GREEN: "var(--green)",
    figures.PURPLE: "var(--purple)",
    figures.ORANGE: "var(--orange)",
}
_COLOUR = re.compile("|".join(_THEMED))
_FONT = re.compile(r"font: (?:\w+ )?([\d.]+px) [^;]*")
_REFERENCE = re.compile(r"#([\w-]+)")
_DECIMALS = re.compile(r"(\d+\.\d\d)\d+")
_NUMBERS = ("d", "x", "y")


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Return an <svg> element without namespaces, as HTML wants it.

    Equal figures give equal text. Ids begin with `name`, and only those that are referred to are kept.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    name : str
        Unique on the page.
    description : str
        What is seen, for those who do not see it.

    Returns
    -------
    str
    """
    from matplotlib import rc_context

    text = io.StringIO()
    # Text stays text: it is smaller, takes the page's font and can be searched.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(text.getvalue())
    used = set(_REFERENCE.findall(" ".join(_references(root))))
    for element in root.iter():
        element.tag = _bare(element.tag)
        # A style sheet inside would reach the whole page; the page's own sets the same.
        for child in [child for child in element if _bare(child.tag) in ("metadata", "style")]:
            element.remove(child)
        element.attrib = {
            _bare(key): _tidied(_bare(key), value, name)
            for key, value in element.attrib.items()
            if key != "id" or value in used
        }
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": description}
    return ElementTree.tostring(root, encoding="unicode")


def _bare(name: str) -> str:
    return name.rpartition("}")[2]


def _references(root: ElementTree.Element) -> list[str]:
    return [
        value
        for element in root.iter()
        for key, value in element.attrib.items()
        if _bare(key) == "href" or value.startswith("url(#")
    ]


def _tidied(key: str, value: str, name: str) -> str:
    """Give an attribute its place on the page: ids, colours, font, and two decimals of a point."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href" or value.startswith("url(#"):
        return _REFERENCE.sub(rf"#{name}-\1", value)
    if key == "style":
        return _FONT.sub(r"font-size: \1", _COLOUR.sub(lambda found: _THEMED[found[0]], value))
    return _DECIMALS.sub(r"\1", value) if key in _NUMBERS else value
