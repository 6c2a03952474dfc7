"""The figures, each a function of a result: it draws into `ax`, or into a new figure, and returns the Axes.

    ax = figures.summary(result)
    ax.figure.savefig("summary.pdf")

They use matplotlib's objects and leave its global state alone. Colours are those of Okabe and Ito, which colour-blind
readers can tell apart; where a colour means something, so does a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.report.measures import (
    Directions,
    coefficient_sizes,
    feature_names,
    leading_directions,
    probe_family,
    sensitivity,
    worst_outputs,
)
from netlearn.report.words import number, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

BLUE, VERMILION, GREEN, PURPLE, ORANGE, GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#808080",
)

_KINDS = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"))
_EIGENVALUES, _UNITS, MOST_LINES = 30, 40, 40
# Shades of a heat map, few enough to be drawn as shapes and not as pixels.
_SHADES = 11
# Characters of a name beside a mark, and along an axis.
_NAME, _LONG_NAME = 16, 40
# Points of the grid, along each axis, on which the fit is drawn; and half the width of a plane's window.
_GRID, _WINDOW = 60, 3.0


def spectrum(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of every probe in units of its noise floor; those that joined V are filled."""
    probes = [
        probe for probe in result.diagnostics.probes if probe.noise_floor > 0 and np.any(probe.eigenvalues)
    ]
    _need(probes, "spectrum", "probes that saw more than zeros")
    ax = _axes(ax)
    families = list(dict.fromkeys(map(probe_family, probes)))
    for probe in probes:
        family = families.index(probe_family(probe))
        colour, marker = _KINDS[family % len(_KINDS)]
        sizes = np.abs(probe.eigenvalues[:_EIGENVALUES]) / probe.noise_floor
        places = np.arange(1, len(sizes) + 1)
        kept = probe.n_kept or 0
        ax.plot(places, sizes, color=colour, linewidth=0.7)
        ax.plot(places[:kept], sizes[:kept], marker, color=colour, markersize=5)
        ax.plot(places[kept:], sizes[kept:], marker, color=colour, markersize=4, fillstyle="none")
    for family, name in enumerate(families[: len(_KINDS)]):
        colour, marker = _KINDS[family]
        ax.plot([], [], marker + "-", color=colour, linewidth=0.7, markersize=5, label=name)
    ax.axhline(1.0, color=GREY, linestyle="--", linewidth=1, label="noise floor")
    n_shown = min(_EIGENVALUES, max(len(probe.eigenvalues) for probe in probes))
    ax.set(xlabel="eigenvalue, by magnitude", ylabel="magnitude / noise floor", xlim=(0.5, n_shown + 0.5))
    _log_scale(ax)
    _whole_numbers(ax.xaxis)
    ax.legend(frameon=False)
    return ax


def summary(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw held-out labels against the leading directions, with the fit over the data.

    One direction: labels as points, the network's expectation given that direction as a curve. Two: the plane
    of both, labels as coloured points on the network's expectation in the same colours. Where the fit is good
    the points vanish into the ground. Of several outputs the one that fits worst is drawn, unless another is asked for.
    """
    found = leading_directions(result)
    _need(found, "summary", "held-out rows and a network that is not constant")
    from matplotlib.ticker import MaxNLocator

    ax = _axes(ax)
    output = worst_outputs(result)[0] if output is None else output
    S = found.coordinates(result.held_out.X)[:, : found.n_shown]
    y = result.held_out.y.reshape(len(S), -1)[:, output]
    label = _short(result.output_names[output], _LONG_NAME)
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


def neurons(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the coefficients of the units as bars, largest first; of several outputs as a heat map.

    In the heat map they are in units of the largest of their output.
    """
    _need(_has_units(result), "neurons", "a network with units")
    lam = result.network.coefficients
    if lam.ndim == 1 or lam.shape[1] == 1:
        return _bars(lam.reshape(-1), "coefficient λ", BLUE, ax)
    largest = np.max(np.abs(lam), axis=0)
    shares = lam / np.where(largest > 0, largest, 1.0)
    ax = _heat_map(shares.T, result.output_names, ax, ("PuOr", -1.0, 1.0), "λ / largest of its output")
    ax.set_xlabel("unit")
    _whole_numbers(ax.xaxis)
    return ax


def sobol(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the total Sobol indices of the leading features as a heat map with a line for each output."""
    found = sensitivity(result)
    _need(found, "sobol", "held-out rows and a network that is not constant")
    each = found.indices.per_output or (found.indices,)
    totals = np.array([own.total for own in each])
    ax = _heat_map(totals, result.output_names, ax, ("cividis", 0.0, totals.max()), "total Sobol index")
    names = feature_names(result)
    ax.set_xticks(
        np.arange(1, len(found.features) + 1), [_short(names[index], _NAME) for index in found.features]
    )
    ax.tick_params(axis="x", rotation=90)
    return ax


def biases(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the biases of the units as bars, in the order of `neurons`."""
    _need(_has_units(result), "biases", "a network with units")
    return _bars(result.network.biases, "bias b", ORANGE, ax)


def directions(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the units as directions: in the plane if dim V = 2, on a half sphere seen from above if dim V = 3.

    Areas are proportional to |lambda|; filled for positive, open for negative. A unit and its opposite make the
    same kink, so a half sphere shows all; it is drawn so that areas are true (Lambert's projection).
    """
    dimension = 0 if result.subspace is None or not _has_units(result) else result.subspace.shape[1]
    _need(dimension in (2, 3), "directions", "a subspace of dimension 2 or 3")
    ax = _axes(ax)
    P = result.network.units @ result.subspace
    P /= np.linalg.norm(P, axis=1, keepdims=True)
    if dimension == 3:
        P = np.where(P[:, 2:] < 0, -P, P)
        # Of a unit vector at angle t from the pole, sqrt(2) sin(t/2) from the centre: 1 on the equator.
        P = P[:, :2] / np.sqrt(1 + P[:, 2:])
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=GREY, linewidth=0.8)
    ax.plot([0], [0], "+", color=GREY, markersize=6)
    sizes = coefficient_sizes(result.network)[:_UNITS]
    for index, (place, size) in enumerate(zip(P, sizes, strict=False)):
        colour = BLUE if size >= 0 else VERMILION
        if dimension == 2:
            ax.plot([0, place[0]], [0, place[1]], color=colour, linewidth=1)
        marker = 4 + 6 * np.sqrt(abs(size) / np.max(np.abs(sizes)))
        style = "full" if size >= 0 else "none"
        ax.plot(*place, "o", color=colour, markersize=marker, fillstyle=style, markeredgewidth=1.2)
        far = max(float(np.linalg.norm(place)), 1e-9)
        ax.text(*(place * (far + 0.14) / far), str(index + 1), ha="center", va="center")
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_axis_off()
    return ax


def predicted(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw predictions against held-out labels, with the diagonal on which a perfect network would lie.

    Of several outputs the one that fits worst is drawn, unless another is asked for.
    """
    y, fit, name = _held_out(result, "predicted", output)
    ax = _axes(ax)
    ends = [min(y.min(), fit.min()), max(y.max(), fit.max())]
    ax.plot(ends, ends, color=GREY, linewidth=1)
    ax.plot(y, fit, "o", color=BLUE, markersize=3, alpha=0.5, markeredgewidth=0)
    ax.set(xlabel=f"{name}, held out", ylabel="predicted")
    return ax


def residuals(result: LearnResult, ax: Axes | None = None, *, output: int | None = None) -> Axes:
    """Draw held-out label minus prediction against the label; of several outputs as `predicted` does."""
    y, fit, name = _held_out(result, "residuals", output)
    ax = _axes(ax)
    ax.axhline(0.0, color=GREY, linewidth=1)
    ax.plot(y, y - fit, "o", color=BLUE, markersize=3, alpha=0.5, markeredgewidth=0)
    ax.set(xlabel=f"{name}, held out", ylabel="residual")
    return ax


def convergence(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the mean square after each round of the polish, in units of the label variance."""
    trace = np.asarray(result.diagnostics.trace)
    _need(np.any(trace > 0), "convergence", "a trace of the polish")
    ax = _axes(ax)
    ax.plot(np.arange(1, len(trace) + 1), trace, "o-", color=BLUE, linewidth=1, markersize=3)
    ax.set(xlabel="round of the polish", ylabel="mean square / label variance")
    _log_scale(ax)
    _whole_numbers(ax.xaxis)
    return ax


def new_axes(rows: int = 1, *, width: float = 5.2, height: float = 3.2, **grid: object) -> list[Axes]:
    """Return the Axes, under each other, of a figure that belongs to nobody else."""
    figure = need("matplotlib.figure", extra="report", purpose="A figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    return list(figure.subplots(rows, squeeze=False, **grid)[:, 0])


def _axes(ax: Axes | None) -> Axes:
    (ax,) = new_axes() if ax is None else [ax]
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _need(there: object, name: str, what: str) -> None:
    if not there:
        raise InputError(f"The {name} figure needs {what}, which this result does not have.")


def _has_units(result: LearnResult) -> bool:
    return result.network is not None and result.network.n_hidden > 0


def _held_out(result: LearnResult, name: str, output: int | None) -> tuple[np.ndarray, np.ndarray, str]:
    """Labels, predictions and the name of one output, by default the worst."""
    _need(result.network is not None and result.held_out is not None, name, "a network and held-out rows")
    output = worst_outputs(result)[0] if output is None else output
    y, fit = (
        values.reshape(len(values), -1)[:, output]
        for values in (result.held_out.y, result.network(result.held_out.X))
    )
    return y, fit, _short(result.output_names[output], _LONG_NAME)


def _short(name: str, longest: int) -> str:
    """Cut a name that would push the figure aside."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _expected(found: Directions, S: np.ndarray, output: int) -> np.ndarray:
    return found.expected(S).reshape(len(S), -1)[:, output]


def _direction(found: Directions, index: int) -> str:
    return f"direction {index + 1} (explains {share_text(found.shares[index])} alone)"


def _heat_map(
    values: np.ndarray, names: Sequence[str], ax: Axes | None, shades: tuple[str, float, float], label: str
) -> Axes:
    """Draw the first rows and columns of a matrix, columns counted from 1; `shades` are a map and its ends."""
    from matplotlib import colormaps

    ax = _axes(ax)
    shown = values[:MOST_LINES, :_UNITS]
    name, low, high = shades
    edges = [np.arange(n + 1) + 0.5 for n in shown.shape]
    drawn = ax.pcolormesh(
        edges[1], edges[0], shown, cmap=colormaps[name].resampled(_SHADES), vmin=low, vmax=high
    )
    drawn.set(edgecolor="face", linewidth=0.4)  # or seams show as hairlines
    ax.set_yticks(np.arange(1, len(shown) + 1), [_short(name, _NAME) for name in names[: len(shown)]])
    ax.invert_yaxis()
    ax.figure.colorbar(drawn, ax=ax, label=label)
    return ax


def _bars(values: np.ndarray, label: str, colour: str, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    ax.bar(np.arange(1, len(values[:_UNITS]) + 1), values[:_UNITS], color=colour, width=0.7)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set(xlabel="unit", ylabel=label)
    ax.set_xlim(0.3, max(len(values[:_UNITS]), 2) + 0.7)  # a single bar would fill the whole figure
    _whole_numbers(ax.xaxis)
    return ax


def _log_scale(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if high < 1e3 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    # Plain text where matplotlib would typeset formulas.
    ax.yaxis.set_major_formatter(lambda value, _: number(value))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _whole_numbers(axis) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=10))
