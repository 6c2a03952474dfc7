"""What was seen on the way: spectra of moment matrices, the units, convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.figures.drawing import (
    BLUE,
    GREY,
    KINDS,
    MOST_COLUMNS,
    ORANGE,
    VERMILION,
    axes,
    heat_map,
    log_scale,
    need,
    whole_numbers,
)
from netlearn.report.measures import coefficient_sizes, matrix_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

_EIGENVALUES = 30


def spectrum(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of every moment matrix in units of its noise floor; filled are those that were kept."""
    spectra = [
        spectrum
        for spectrum in result.diagnostics.spectra
        if spectrum.noise_floor > 0 and np.any(spectrum.eigenvalues)
    ]
    need(spectra, "spectrum", "moment matrices that are not zero")
    panel = axes(ax)
    families = list(dict.fromkeys(map(matrix_family, spectra)))
    for spectrum in spectra:
        family = families.index(matrix_family(spectrum))
        colour, marker = KINDS[family % len(KINDS)]
        sizes = np.abs(spectrum.eigenvalues[:_EIGENVALUES]) / spectrum.noise_floor
        places = np.arange(1, len(sizes) + 1)
        kept = spectrum.n_kept or 0
        panel.plot(places, sizes, color=colour, linewidth=0.7)
        panel.plot(places[:kept], sizes[:kept], marker, color=colour, markersize=5)
        panel.plot(places[kept:], sizes[kept:], marker, color=colour, markersize=4, fillstyle="none")
    for family, name in enumerate(families[: len(KINDS)]):
        colour, marker = KINDS[family]
        panel.plot([], [], marker + "-", color=colour, linewidth=0.7, markersize=5, label=name)
    panel.axhline(1.0, color=GREY, linestyle="--", linewidth=1, label="noise floor")
    n_shown = min(_EIGENVALUES, max(len(spectrum.eigenvalues) for spectrum in spectra))
    panel.set(xlabel="eigenvalue, by magnitude", ylabel="magnitude / noise floor", xlim=(0.5, n_shown + 0.5))
    log_scale(panel)
    whole_numbers(panel.xaxis)
    panel.legend(frameon=False)
    return panel


def neurons(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the coefficients of the units as bars, largest first; of several outputs as a heat map.

    In the heat map they are in units of the largest of their output.
    """
    need(_has_units(result), "neurons", "a network with units")
    lam = result.network.coefficients
    if lam.ndim == 1 or lam.shape[1] == 1:
        return _bars(lam.reshape(-1), "coefficient λ", BLUE, ax)
    largest = np.max(np.abs(lam), axis=0)
    shares = lam / np.where(largest > 0, largest, 1.0)
    panel = heat_map(shares.T, result.output_names, ax, ("PuOr", -1.0, 1.0), "λ / largest of its output")
    panel.set_xlabel("unit")
    whole_numbers(panel.xaxis)
    return panel


def biases(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the biases of the units as bars, in the order of `neurons`."""
    need(_has_units(result), "biases", "a network with units")
    return _bars(result.network.biases, "bias b", ORANGE, ax)


def directions(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the units as directions: in a plane, or on a half sphere seen from above where they span three dimensions.

    Areas are proportional to |lambda|; filled for positive, open for negative. A unit and its opposite make the
    same kink, so a half sphere shows all; it is drawn so that areas are true (Lambert's projection).
    """
    dimension = 0 if result.subspace is None or not _has_units(result) else result.subspace.shape[1]
    need(dimension in (2, 3), "directions", "a subspace of dimension 2 or 3")
    panel = axes(ax)
    P = result.network.units @ result.subspace
    P /= np.linalg.norm(P, axis=1, keepdims=True)
    if dimension == 3:
        P = np.where(P[:, 2:] < 0, -P, P)
        # Of a unit vector at angle t from the pole, sqrt(2) sin(t/2) from the centre: 1 on the equator.
        P = P[:, :2] / np.sqrt(1 + P[:, 2:])
    turn = np.linspace(0, 2 * np.pi, 200)
    panel.plot(np.cos(turn), np.sin(turn), color=GREY, linewidth=0.8)
    panel.plot([0], [0], "+", color=GREY, markersize=6)
    sizes = coefficient_sizes(result.network)[:MOST_COLUMNS]
    for index, (place, size) in enumerate(zip(P, sizes, strict=False)):
        colour = BLUE if size >= 0 else VERMILION
        if dimension == 2:
            panel.plot([0, place[0]], [0, place[1]], color=colour, linewidth=1)
        marker = 4 + 6 * np.sqrt(abs(size) / np.max(np.abs(sizes)))
        style = "full" if size >= 0 else "none"
        panel.plot(*place, "o", color=colour, markersize=marker, fillstyle=style, markeredgewidth=1.2)
        far = max(float(np.linalg.norm(place)), 1e-9)
        x, y = place * (far + 0.14) / far
        panel.text(x, y, str(index + 1), ha="center", va="center")
    panel.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    panel.set_axis_off()
    return panel


def convergence(result: LearnResult, ax: Axes | None = None) -> Axes:
    """Draw the smallest mean square so far, round by round, in units of the label variance.

    The fits that led to the network follow one another, some with other units or on other rows, and each begins higher
    than the last ended: drawn as it is, the curve would jump.
    """
    trace = np.asarray(result.diagnostics.trace)
    need(np.any(trace > 0), "convergence", "a trace of the refinement")
    panel = axes(ax)
    best = np.minimum.accumulate(trace)
    panel.plot(np.arange(1, len(best) + 1), best, "o-", color=BLUE, linewidth=1, markersize=3)
    panel.set(xlabel="round of refinement", ylabel="mean square / label variance")
    log_scale(panel)
    whole_numbers(panel.xaxis)
    return panel


def _has_units(result: LearnResult) -> bool:
    return result.has_network and result.network.n_hidden > 0


def _bars(values: np.ndarray, label: str, colour: str, ax: Axes | None) -> Axes:
    panel = axes(ax)
    panel.bar(np.arange(1, len(values[:MOST_COLUMNS]) + 1), values[:MOST_COLUMNS], color=colour, width=0.7)
    panel.axhline(0.0, color=GREY, linewidth=0.8)
    panel.set(xlabel="unit", ylabel=label)
    panel.set_xlim(0.3, max(len(values[:MOST_COLUMNS]), 2) + 0.7)  # a single bar would fill the whole figure
    whole_numbers(panel.xaxis)
    return panel
