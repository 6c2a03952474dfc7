"""Draw the pictures of docs/evidence_pictures.md and docs/scale.md from the lines in benchmarks/results.

python -m docs.images.evidence                # all whose lines are there
python -m docs.images.evidence width noise    # writes width.svg and noise.svg beside this script
"""

import argparse
import math
from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from benchmarks import growth as growth_runs
from benchmarks import phase as phase_runs
from benchmarks import samples as samples_runs
from benchmarks.resumable import results
from docs.figure_style import STYLE
from netlearn.report.figures import BLUE, GREEN, GREY, ORANGE, VERMILION

HERE = Path(__file__).parent
Lines = list[dict[str, str]]


def column(lines: Lines, name: str) -> np.ndarray:
    """Return the numbers of one column."""
    return np.array([float(line[name]) for line in lines])


def medians(lines: Lines, over: str, of: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of one column, and for each the median of another."""
    at, values = column(lines, over), column(lines, of)
    places = np.unique(at)
    return places, np.array([np.median(values[at == place]) for place in places])


def slope(x: np.ndarray, y: np.ndarray) -> tuple[float, Callable[[np.ndarray], np.ndarray]]:
    """Return the exponent of the power law through some points, and the law."""
    exponent, logarithm = np.polyfit(np.log(x), np.log(y), 1)
    return exponent, lambda x: np.exp(logarithm) * x**exponent


def ticked(axis, values: Iterable[float], texts: Iterable[str] | None = None) -> None:
    """Put the marks of a logarithmic axis where the measurements are."""
    values = list(values)
    axis.set_major_locator(mpl.ticker.FixedLocator(values))
    axis.set_major_formatter(mpl.ticker.FixedFormatter(list(texts or (f"{value:,.0f}" for value in values))))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def with_law(ax: Axes, lines: Lines, over: str, of: str, color: str, label: str, marker: str = "o") -> None:
    """Draw every run, and the power law through the medians."""
    places, middle = medians(lines, over, of)
    ax.loglog(column(lines, over), column(lines, of), marker, color=color, markersize=4, alpha=0.6)
    exponent, law = slope(places, middle)
    ax.loglog(places, law(places), color=color, linewidth=1, label=f"{label}, exponent {exponent:.1f}")


def width(lines: Lines) -> Figure:
    """Draw seconds and success of random networks against their width."""
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    ratios = {"8": (BLUE, "o"), "4": (ORANGE, "s")}
    for ratio, (color, marker) in ratios.items():
        some = [line for line in lines if line["rows_per_unknown"] == ratio]
        with_law(left, some, "units", "cpu_seconds", color, f"{ratio} rows per unknown, 2 cores", marker)
        units = np.unique(column(some, "units"))
        reached = [[float(r["error"]) <= 1e-8 for r in some if float(r["units"]) == k] for k in units]
        right.plot(units, [np.mean(runs) for runs in reached], marker + "-", color=color, markersize=4)
        for k, runs in zip(units, reached, strict=True):
            above = ratio == "8"
            right.annotate(f"{sum(runs)}/{len(runs)}", (k, np.mean(runs)), xytext=(0, 8 if above else -14),
                           textcoords="offset points", ha="center", color=color, fontsize=8)  # fmt: skip
    on_gpu = [line for line in results("gpu.csv") if line["line"].startswith("wide")]
    d = column(on_gpu, "d")
    left.loglog(column(on_gpu, "k"), column(on_gpu, "seconds"), "^", color=GREEN, markersize=5,
                label=f"H200, on the wall, d = {d.min():.0f} to {d.max():.0f}")  # fmt: skip
    widths = sorted({int(line["units"]) for line in lines} | {int(line["k"]) for line in on_gpu} - {100})
    for ax in (left, right):
        ax.set(xscale="log", xlabel="hidden units")
        ticked(ax.xaxis, widths)
    left.set(ylabel="seconds of computing", title="cost")
    left.legend(loc="upper left")
    left.set_ylim(top=10 * left.get_ylim()[1])
    right.set(ylim=(-0.05, 1.15), ylabel="share of seeds", title="error at most 1e-8, in 32 dimensions")
    right.set_xlim(left.get_xlim())
    return figure


def noise(lines: Lines) -> Figure:
    """Draw the error against the noise, with the limit."""
    families = list(dict.fromkeys(line["family"] for line in lines))
    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    axes = figure.subplots(1, len(families), sharey=True, squeeze=False)[0]
    for ax, family in zip(axes, families, strict=True):
        some = [line for line in lines if line["family"] == family]
        ax.loglog(*medians(some, "noise", "limit"), color=VERMILION, linewidth=1,
                  label="least squares from the truth")  # fmt: skip
        ax.loglog(column(some, "noise"), column(some, "error"), "o", color=BLUE, markersize=4, alpha=0.6,
                  label="learn, each seed")  # fmt: skip
        ax.set(title=family, xlabel="noise, in units of the labels' spread")
        ax.grid(color="0.92")
        ax.set_axisbelow(True)
    axes[0].set_ylabel("relative error of the network")
    axes[0].legend()
    return figure


def growth(lines: Lines) -> Figure:
    """Draw seconds against each size that was varied."""
    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    middle = {"units": growth_runs.UNITS, "features": growth_runs.FEATURES, "rows": growth_runs.ROWS}
    names = {"units": "units k", "features": "features d", "rows": "rows N"}
    for ax, (varied, values) in zip(
        figure.subplots(1, 3, sharey=True), growth_runs.VARIED.items(), strict=True
    ):
        held = {name: value for name, value in middle.items() if name != varied}
        some = [line for line in lines if all(int(line[name]) == value for name, value in held.items())]
        with_law(ax, some, varied, "cpu_seconds", BLUE, f"{names[varied]}")
        ax.set(
            xlabel=names[varied],
            title=", ".join(f"{names[name][-1]} = {value:,}" for name, value in held.items()),
        )
        ticked(ax.xaxis, values, (f"{value // 1000}k" if value >= 1000 else f"{value}" for value in values))
        ax.legend()
    figure.axes[0].set_ylabel("seconds of computing")
    return figure


def phase(lines: Lines) -> Figure:
    """Draw shares of success as cells: rows of panels are diagrams, columns are methods."""
    figure = Figure(figsize=(9.5, 6.4), layout="constrained")
    axes = figure.subplots(2, len(phase_runs.CONTESTANTS), squeeze=False)
    for row, (diagram, units) in enumerate(phase_runs.UNITS.items()):
        kind = phase_runs.families(diagram)[0].kind
        across = phase_runs.ROWS_PER_UNKNOWN if diagram == "rows" else phase_runs.DIMENSIONS
        for ax, method in zip(axes[row], phase_runs.CONTESTANTS, strict=True):
            shares = np.full((len(units), len(across)), np.nan)
            for i, j in np.ndindex(shares.shape):
                size = _phase_size(diagram, units[i], across[j])
                runs = [
                    bool(line["error"]) and float(line["error"]) <= phase_runs.REACHED
                    for line in lines
                    if (line["kind"], line["method"]) == (kind, method)
                    and tuple(int(line[name]) for name in ("units", "features", "rows")) == size
                ]
                if runs:
                    shares[i, j] = np.mean(runs)
                    dark = shares[i, j] > 0.5
                    ax.text(j, i, f"{sum(runs)}", ha="center", va="center", fontsize=8,
                            color="white" if dark else "0.3")  # fmt: skip
            image = ax.imshow(shares, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=1)
            ax.set_xticks(range(len(across)), [f"{value:g}" for value in across])
            ax.set_yticks(range(len(units)), [str(k) for k in units])
            ax.set_title(f"{method}: {_PHASE_TITLES[diagram]}")
            ax.set_xlabel("rows per unknown" if diagram == "rows" else "dimension d")
            ax.spines[:].set_visible(False)
        axes[row, 0].set_ylabel("units k")
    figure.colorbar(image, ax=axes, label="share of seeds with error at most 1e-6", shrink=0.6)
    return figure


_PHASE_TITLES = {
    "rows": f"random, d = {phase_runs.N_FEATURES}",
    "planes": f"hard planes, {phase_runs.N_ROWS:,} rows",
}


def _phase_size(diagram: str, k: int, across: float) -> tuple[int, int, int]:
    if diagram == "planes":
        return k, int(across), phase_runs.N_ROWS
    d = phase_runs.N_FEATURES
    return k, d, round(across * ((k + 1) * d + 1))


def samples(lines: Lines) -> Figure:
    """Draw the least rows for the hard plane, beside what correlational queries would need."""
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for k, color in zip(samples_runs.UNITS_AGAINST_D, (BLUE, ORANGE), strict=True):
        least = {d: _least(lines, k, d) for d in samples_runs.DIMENSIONS}
        found = {d: rows for d, rows in least.items() if rows}
        if len(found) > 1:
            d = np.array(list(found))
            exponent, _ = slope(d, np.array(list(found.values())))
            left.loglog(d, list(found.values()), "o-", color=color, label=f"learn, k = {k}: d^{exponent:.1f}")
        dense = np.geomspace(min(samples_runs.DIMENSIONS), max(samples_runs.DIMENSIONS), 50)
        left.loglog(dense, dense ** (k / 2), "--", color=color, linewidth=1, label=f"$d^{{{k // 2}}}$")
    found = {k: _least(lines, k, samples_runs.D_AGAINST_UNITS) for k in samples_runs.UNITS}
    found = {k: rows for k, rows in found.items() if rows}
    if len(found) > 1:
        exponent, _ = slope(np.array(list(found)), np.array(list(found.values())))
        right.loglog(
            list(found), list(found.values()), "o-", color=BLUE, label=f"learn, d = 30: k^{exponent:.1f}"
        )
    k = np.linspace(min(samples_runs.UNITS), max(samples_runs.UNITS), 50)
    right.loglog(k, 30.0 ** (k / 2), "--", color=GREY, linewidth=1, label="$30^{k/2}$")
    left.set(xlabel="dimension d", ylabel="rows", title="against the dimension", ylim=(50, 1e7))
    right.set(xlabel="units k", title="against the number of units")
    ticked(left.xaxis, samples_runs.DIMENSIONS)
    ticked(right.xaxis, samples_runs.UNITS)
    for ax in (left, right):
        ax.legend()
    return figure


def _least(lines: Lines, k: int, d: int) -> int | None:
    """Return the least number of rows that will do, once bisection has found it."""
    low, high = samples_runs.least_rows(lines, k, d)
    return samples_runs.n_rows(high) if high - low == 1 and high <= samples_runs.MOST else None


def claims(lines: Lines) -> Figure:
    """Draw what was said against what is true: shares of new rows, and bounds on the error."""
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    said, true = column(lines, "share"), np.maximum(column(lines, "share_true"), 1e-5)
    left.loglog(
        true, said, "o", color=BLUE, markersize=3, alpha=0.4, rasterized=True, label=f"{len(lines)} problems"
    )
    left.loglog([1e-5, 1], [1e-5, 1], color=GREY, linewidth=1)
    left.set(
        xlabel="true share of new rows beyond the tolerance", ylabel="share that was said", title="the share"
    )
    left.legend(loc="lower right")
    bounded = [line for line in lines if math.isfinite(float(line["bound"]))]
    frame = (1e-6, 1e4)
    for kind, color, marker in (("exact", BLUE, "o"), ("noisy", VERMILION, "x")):
        some = [line for line in bounded if (float(line["noise"]) == 0) == (kind == "exact")]
        error, bound = (np.clip(column(some, name), *frame) for name in ("error_true", "bound"))
        right.loglog(
            error,
            bound,
            marker,
            color=color,
            markersize=3,
            alpha=0.5,
            rasterized=True,
            label=f"{kind} labels: {len(some)}",
        )
    right.loglog(frame, frame, color=GREY, linewidth=1)
    right.set(xlabel="true root mean square error", ylabel="bound", title="the bound", xlim=frame, ylim=frame)
    right.legend(loc="lower right")
    return figure


PICTURES = {picture.__name__: picture for picture in (width, noise, growth, phase, samples, claims)}


def main():
    """Draw the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME")
    for name in parser.parse_args().names or PICTURES:
        lines = results(f"{name}.csv")
        if not lines:
            print(f"{name}: no lines in benchmarks/results/{name}.csv yet")
            continue
        with mpl.rc_context({**STYLE, "svg.hashsalt": "netlearn", "svg.fonttype": "none"}):
            PICTURES[name](lines).savefig(HERE / f"{name}.svg", metadata={"Date": None})
        print(f"{name}.svg from {len(lines)} lines")


if __name__ == "__main__":
    main()
