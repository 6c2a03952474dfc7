"""Draw the picture and write the table of docs/theory/measured.md from the lines in benchmarks/results.

python -m docs.images.theorem    # writes theorem.svg beside this script, and docs/theory/measured_table.md
"""

import math
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks import theorem as runs
from benchmarks.resumable import results
from docs.figure_style import STYLE
from docs.images.evidence import medians, slope, ticked
from netlearn.paper import Schedule
from netlearn.report.figures import BLUE, ORANGE, VERMILION

HERE = Path(__file__).parent
TABLE = HERE.parent / "theory" / "measured_table.md"
COLORS = dict(zip(runs.FAMILIES, (BLUE, ORANGE, VERMILION), strict=True))
MARKERS = {1: "o", 2: "s", 3: "^", 4: "D"}
NAMES = {"d": "features d", "accuracy": "1 / epsilon", "k": "neurons k"}


def some(lines, **wanted):
    """Lines with these values in some columns."""
    return [line for line in lines if all(line[name] == str(value) for name, value in wanted.items())]


def varied(lines, over, family, k):
    """Lines in which one size is varied and the others are held."""
    held = {"d": {"accuracy": runs.ACCURACY}, "accuracy": {"d": runs.D}}[over]
    return some(lines, family=family, k=k, **held)


def exponent(lines, over, of="rows"):
    """Slope of the medians in logarithms."""
    return slope(*medians(lines, over, of))[0]


def proved(over, k, cap, of="log10_N"):
    """Slope of the theorem's rows, or of its running time, over the same range."""
    values = runs.DIMENSIONS if over == "d" else runs.ACCURACIES
    low, high = values[0], values[-1]
    sizes = {
        "d": lambda d: (d, k, 1 / runs.ACCURACY, runs.R),
        "accuracy": lambda a: (runs.D, k, 1 / a, runs.R),
    }[over]
    ends = [getattr(Schedule.from_theory(*sizes(value), max_cluster=cap), of) for value in (low, high)]
    return (ends[1] - ends[0]) / math.log10(high / low)


def picture(lines) -> Figure:
    """Draw rows and seconds against each size."""
    figure = Figure(figsize=(9.5, 6.0), layout="constrained")
    axes = figure.subplots(2, 3, sharex="col", sharey="row")
    for row, of in enumerate(("rows", "cpu_seconds")):
        for column, over in enumerate(("d", "accuracy")):
            for family in runs.FAMILIES:
                for k in runs.UNITS:
                    at, values = medians(varied(lines, over, family, k), over, of)
                    axes[row, column].loglog(
                        at, values, MARKERS[k] + "-", color=COLORS[family], markersize=4, linewidth=1
                    )
            if over == "d":
                at, values = medians(some(lines, family="hard_plane", k=4), over, of)
                axes[row, column].loglog(
                    at, values, MARKERS[4] + "--", color=VERMILION, markersize=4, linewidth=1
                )
        for family in runs.FAMILIES:
            at, values = medians(some(lines, family=family, d=runs.D, accuracy=runs.ACCURACY), "k", of)
            axes[row, 2].semilogy(at, values, ".-", color=COLORS[family], linewidth=1)
    ticked(axes[1, 0].xaxis, runs.DIMENSIONS)
    ticked(axes[1, 1].xaxis, runs.ACCURACIES)
    axes[1, 2].set_xticks(runs.UNITS)
    for ax, name in zip(axes[1], NAMES.values(), strict=True):
        ax.set_xlabel(name)
    for ax, title in zip(axes[0], ("epsilon = 1/8", "d = 6", "d = 6, epsilon = 1/8"), strict=True):
        ax.set_title(title)
    axes[0, 0].set_ylabel("rows for the moments")
    axes[1, 0].set_ylabel("seconds of computing")
    handles = [
        Line2D([], [], color=color, label=family.replace("_", " ")) for family, color in COLORS.items()
    ]
    handles += [
        Line2D([], [], color="0.4", marker=marker, linestyle="", label=f"k = {k}")
        for k, marker in MARKERS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def table(lines) -> str:
    """Measured exponents beside the theorem's, in Markdown."""
    head = [
        "| | measured: random | clustered | hard plane | Theorem 1.1 | with Remark 4.10's cap |",
        "|---|---|---|---|---|---|",
    ]
    body, symbols = [], {"d": "d", "accuracy": r"1/\varepsilon"}
    for over, symbol in symbols.items():
        for k in runs.UNITS:
            found = [f"{exponent(varied(lines, over, family, k), over):.1f}" for family in runs.FAMILIES]
            theory = [f"{proved(over, k, cap):.0f}" for cap in (None, 1)]
            body.append(f"| rows, in ${symbol}$, $k = {k}$ | {' | '.join(found + theory)} |")
    hard = exponent(some(lines, family="hard_plane", k=4), "d")
    body.append(
        f"| rows, in $d$, $k = 4$ | | | {hard:.1f} | {proved('d', 4, None):.0f} | {proved('d', 4, 1):.0f} |"
    )
    for over, symbol in symbols.items():
        for k in runs.UNITS:
            of_families = [varied(lines, over, family, k) for family in runs.FAMILIES]
            found = [f"{exponent(own, over, 'cpu_seconds'):.1f}" for own in of_families]
            theory = [f"{proved(over, k, cap, 'log10_operations'):.0f}" for cap in (None, 1)]
            body.append(f"| seconds, in ${symbol}$, $k = {k}$ | {' | '.join(found + theory)} |")
    missed = sum(float(line["distance"]) > 1 / float(line["accuracy"]) for line in lines)
    seeds = len(np.unique([line["seed"] for line in lines]))
    note = (
        f"Slopes of medians over {seeds} networks each, {len(lines)} in all, by `benchmarks/theorem.py`. Not within "
        f"epsilon with {runs.MOST:,} rows: {missed}, counted as if twice as many had done."
    )
    return "\n".join([*head, *body, "", note, ""])


def main():
    """Draw the picture and write the table."""
    lines = results("theorem.csv")
    with mpl.rc_context({**STYLE, "svg.hashsalt": "netlearn", "svg.fonttype": "none"}):
        picture(lines).savefig(HERE / "theorem.svg", metadata={"Date": None})
    TABLE.write_text(table(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
