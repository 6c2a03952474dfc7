"""How the figures of the gallery look; sphinx-gallery calls `apply` before each example."""

import matplotlib as mpl
from cycler import cycler

from netlearn.report.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

STYLE = {
    "axes.prop_cycle": cycler(color=[BLUE, VERMILION, GREEN, ORANGE, PURPLE, GREY]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "figure.dpi": 110,
    "figure.facecolor": "white",  # a white card reads on a dark page too
    "font.size": 9,
    "legend.frameon": False,
    "savefig.facecolor": "white",
}


def apply(gallery_conf: dict, name: str) -> None:
    """Set matplotlib's defaults for one example."""
    mpl.rcParams.update(STYLE)
