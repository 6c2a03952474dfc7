"""Draw error against seconds, one panel per family.

python -m benchmarks.versus.picture    # benchmarks/results/versus.csv to docs/images/versus.svg
"""

import argparse
import math
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.machine import RESULTS
from benchmarks.versus.methods import METHODS
from benchmarks.versus.objective import FAMILIES, REACHED
from benchmarks.versus.run import read
from benchmarks.versus.table import LIMIT, OURS
from docs.figure_style import STYLE
from netlearn.report.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "versus.svg"
LOOKS = {
    OURS: (BLUE, "o"),
    "paper.netlearn": (BLUE, "^"),
    "paper.multi_stage": (BLUE, "v"),
    "Adam, width k": (VERMILION, "s"),
    "Adam, width 4k": (VERMILION, "D"),
    "Adam, then L-BFGS": (VERMILION, "P"),
    "variable projection": (GREEN, "o"),
    "least_squares": (GREEN, "X"),
    "MLPRegressor": (ORANGE, "s"),
    "pyscnn": (PURPLE, "^"),
    "xrfm": (GREY, "D"),
}
FAILED = 10.0
"""Where a fit without an answer is drawn."""
COLUMNS = 4


def draw(records: list[dict]) -> Figure:
    """Draw every fit as a point."""
    names = [name for name in FAMILIES if any(r["family"] == name for r in records)]
    rows = math.ceil(len(names) / COLUMNS)
    figure = Figure(figsize=(11, 2.3 * rows + 0.8), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _panel(panel, name, [r for r in records if r["family"] == name])
    for panel in panels[len(names) :]:
        panel.set_axis_off()
    figure.supxlabel("processor seconds of the whole fit, one thread")
    figure.supylabel("relative error; failed fits on the dotted line")
    handles = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    order = [name for name in LOOKS if name in handles]
    figure.legend(
        [handles[name] for name in order], order, loc="outside upper center", ncols=6, markerscale=1.3
    )
    return figure


def _panel(panel: mpl.axes.Axes, name: str, records: list[dict]) -> None:
    family = FAMILIES[name]
    panel.set_title(f"{name}, {family.n_rows:,} rows", fontsize="small")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.axhline(FAILED, color=GREY, linewidth=0.8, linestyle=":")
    limits = sorted(r["error"] for r in records if r["method"] == LIMIT and r["error"])
    if limits:
        middle = limits[len(limits) // 2]
        panel.axhline(middle, color=GREY, linewidth=0.8)
        panel.text(
            0.02, middle / 3, "limit of noise", va="top", color=GREY, transform=panel.get_yaxis_transform()
        )
    else:
        panel.axhline(REACHED, color=GREY, linewidth=0.8, linestyle="--")
    for method, (color, marker) in reversed(LOOKS.items()):  # ours last, on top
        points = [
            (r["seconds"], r["error"] or FAILED) for r in records if r["method"] == method and r["seconds"]
        ]
        if points and METHODS[method].finds == "network":
            panel.plot(
                *zip(*points, strict=True), marker, color=color, markersize=4, alpha=0.7, label=method, mew=0
            )


def main() -> None:
    """Read the lines and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS / "versus.csv")
    parser.add_argument("--out", type=Path, default=PICTURE)
    options = parser.parse_args()
    with mpl.rc_context({**STYLE, "svg.hashsalt": "netlearn", "svg.fonttype": "none"}):
        draw(read(options.results)).savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
