"""The sections of the report that draw: words, figures with their descriptions, and the table of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netlearn.backend.extras import need
from netlearn.report import figures
from netlearn.report.measures import (
    fit_quality,
    leading_directions,
    output_qualities,
    probe_name,
    sensitivity,
    worst_outputs,
)
from netlearn.report.svg import inline_svg
from netlearn.report.tables import (
    Table,
    directions_table,
    fit_table,
    sobol_table,
    spectra_table,
    trace_table,
    units_table,
)
from netlearn.report.words import number, plural, share_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netlearn.result import LearnResult

# On matplotlib's defaults, whatever the caller's own style is. Sizes suit a phone, where the column is narrower
# than the figure, and a desk, where it is wider.
_STYLE = {"font.size": 9, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6}


_DRAWN_OUTPUTS = 2


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    key, title, words : str
    drawings : tuple of str
        Inline SVG.
    table : Table or None
    """

    key: str
    title: str
    words: str
    drawings: tuple[str, ...] = ()
    table: Table | None = None


def sections(result: LearnResult) -> list[Section]:
    """Return the sections in the order of the page; where nothing was found, nothing is interpreted."""
    if result.status.name == "NO_SIGNAL":
        return [_predicted(result)]
    return [make(result) for make in (_spectra, _summary, _features, _neurons, _predicted, _polish)]


def _spectra(result: LearnResult) -> Section:
    key, title, probes = "spectra", "What the probes saw", result.diagnostics.probes
    if not probes:
        return Section(
            key, title, "No probe was sent: there was nothing beyond an affine function to look for."
        )
    words = (
        "A probe is a matrix whose eigenvectors point into V, the span of the units, where they stand out of its "
        "noise. Eigenvalues are drawn in units of the noise floor; filled marks, and bold numbers in the table, "
        "are those whose eigenvectors joined V."
    )
    kept = ", ".join(f"{probe.n_kept or 0} for {probe_name(probe)}" for probe in probes[:8])
    alt = (
        f"Eigenvalues of {plural(len(probes), 'probe')} over their noise floors, falling from left to right on a "
        f"logarithmic scale. Kept above the floor: {kept}{', and so on' if len(probes) > 8 else ''}."
    )
    drawings = ()
    if any(probe.noise_floor > 0 and np.any(probe.eigenvalues) for probe in probes):
        drawings = (_drawn(result, key, alt, figures.spectrum),)
    return Section(key, title, words, drawings, spectra_table(result))


def _summary(result: LearnResult) -> Section:
    key, title, found = "summary", "The labels along the directions that matter", leading_directions(result)
    if found is None:
        return Section(key, title, "Not drawn: this needs held-out rows, and a network that is not constant.")
    r, share = found.axes.shape[1], share_text(found.joint_share)
    whole, which = "network's variance", ""
    if result.network.n_outputs > 1:
        whole = "variance of all outputs, each in its own units"
        which = f" Drawn is {result.output_names[worst_outputs(result)[0]]}, the output that fits worst."
    if found.n_shown == 1:
        words = (
            f"Units and linear part see {plural(r, 'direction')} of the input; the leading one explains {share} of the "
            f"{whole}. Points are rows that took no part in learning, the curve is the network."
        )
        alt = "Held-out labels as points against the leading direction, with the network as a curve through them."
        shape = {}
    else:
        words = (
            f"Units and linear part see {plural(r, 'direction')} of the input; the leading two together explain "
            f"{share} of the {whole}. Points are rows that took no part in learning, coloured by their "
            "label; the ground is the network, averaged over the directions that are not shown, in the same "
            "colours. Where both agree the points melt into the ground."
        )
        alt = "Held-out labels as coloured points in the plane of the two leading directions, on the network's values."
        shape = {"height": 4.1}
    words += f"{which} Directions are in units of the rows' spread along them."
    return Section(
        key,
        title,
        words,
        (_drawn(result, key, alt, figures.summary, **shape),),
        directions_table(result, found),
    )


def _features(result: LearnResult) -> Section:
    key, title, found = "features", "The features that matter", sensitivity(result)
    if found is None:
        return Section(
            key, title, "Not computed: this needs held-out rows, and a network that is not constant."
        )
    words = (
        "Sobol indices: the share of the variance that a feature explains alone, and the share that is lost without "
        "it (total), for independent normal features with the means and spreads of the rows."
    )
    m, drawings = result.network.n_outputs, ()
    if m > 1:
        alt = f"Total Sobol indices of {plural(len(found.features), 'feature')} for {m:,} outputs as a heat map."
        drawings = (_drawn(result, key, alt, figures.sobol, height=_heat_map_height(m)),)
        words += _cut(m)
    return Section(key, title, words, drawings, sobol_table(result, found))


def _heat_map_height(n_lines: int) -> float:
    return 1.6 + 0.16 * min(n_lines, figures.MOST_LINES)


def _cut(n_lines: int) -> str:
    most = figures.MOST_LINES
    return f" Drawn are the first {most} of {n_lines:,} outputs." if n_lines > most else ""


def _neurons(result: LearnResult) -> Section:
    key, title, f = "neurons", "The units", result.network
    if f is None:
        return Section(key, title, "No network was found.")
    if f.n_hidden == 0:
        return Section(key, title, "There are none: the network is an affine function.")
    words = "Each unit is a term λ |⟨u, x⟩ + b| with a direction u of length one; the largest λ come first."
    if f.n_outputs > 1:
        words = (
            "Each unit is a term λ |⟨u, x⟩ + b| with a direction u of length one, shared by all outputs, and a λ for "
            "each of them; those whose λ are largest together come first."
        )
        alt = f"Coefficients of {plural(f.n_hidden, 'unit')} for {f.n_outputs:,} outputs as a heat map."
        drawings = [_drawn(result, key, alt, figures.neurons, height=_heat_map_height(f.n_outputs))]
        words += _cut(f.n_outputs)
    else:
        drawings = [_bars(result, key)]
    dimension = 0 if result.subspace is None else result.subspace.shape[1]
    if dimension in (2, 3):
        where = "unit circle of the plane V" if dimension == 2 else "half sphere of V, seen from above"
        signs = "." if f.n_outputs > 1 else ", open ones for negative λ."
        words += f" Below them the same units on the {where}: larger marks for larger λ{signs}"
        alt = f"{plural(f.n_hidden, 'unit')} as numbered marks on the {where}."
        drawings.append(_drawn(result, "directions", alt, figures.directions, height=3.9))
    return Section(key, title, words, tuple(drawings), units_table(result))


def _bars(result: LearnResult, key: str) -> str:
    alt = f"Coefficients of {plural(result.network.n_hidden, 'unit')} as bars"
    if not np.any(result.network.biases):
        return _drawn(result, key, f"{alt}.", figures.neurons, height=2.6)
    alt = f"{alt}, and their biases below."
    return _drawn(result, key, alt, figures.neurons, figures.biases, height=4.2)


def _predicted(result: LearnResult) -> Section:
    key, title, quality = "predicted", "Predicted against held out", fit_quality(result)
    if quality is None:
        return Section(key, title, "Not drawn: this needs a network and held-out rows.")
    words = (
        f"On {plural(quality.n_rows, 'row')} that took no part in learning. A perfect network lies on the diagonal; "
        "below it is what remains, label minus prediction."
    )
    worst = worst_outputs(result)[:_DRAWN_OUTPUTS]
    names, m = [result.output_names[output] for output in worst], result.network.n_outputs
    if m > 1:
        words += f" Of {m:,} outputs, drawn are those that fit worst: {' and '.join(names)}."
    each, drawings = output_qualities(result), []
    for place, (output, name) in enumerate(zip(worst, names, strict=True)):
        of_which = f" of {name}" if m > 1 else ""
        alt = (
            f"Predictions against labels{of_which} of {plural(quality.n_rows, 'held-out row')} along the diagonal, "
            f"residuals below; the root mean square error is {number(each[output].rms)}."
        )
        draw = [partial(figure, output=output) for figure in (figures.predicted, figures.residuals)]
        shape = {"height": 5.0, "height_ratios": [3, 1], "sharex": True}
        drawings.append(_drawn(result, f"{key}{place or ''}", alt, *draw, **shape))
    return Section(key, title, words, tuple(drawings), fit_table(result))


def _polish(result: LearnResult) -> Section:
    key, title, trace = "polish", "How the polish converged", result.diagnostics.trace
    if not any(value > 0 for value in trace):
        return Section(key, title, "There was no polish, or nothing was left for it to do.")
    words = (
        "Mean square of the residual after each round, in units of the label variance. The fits that led to the "
        "network follow one another; the curve jumps where a fit starts with other units or on other rows."
    )
    alt = (
        f"The mean square over {plural(len(trace), 'round')}, on a logarithmic scale: {number(trace[0])} of the "
        f"label variance at first, {number(trace[-1])} at last."
    )
    return Section(key, title, words, (_drawn(result, key, alt, figures.convergence),), trace_table(result))


def _drawn(
    result: LearnResult,
    name: str,
    description: str,
    *draw: Callable[[LearnResult, Axes], Axes],
    **shape: object,
) -> str:
    """Draw under each other, and return the figure as inline SVG."""
    style = need("matplotlib.style", extra="report", purpose="A report")
    # Colours of labels such as 1e-200 overflow inside matplotlib, and come out right.
    with style.context(["default", _STYLE]), np.errstate(over="ignore"):
        axes = figures.new_axes(len(draw), **shape)
        for function, ax in zip(draw, axes, strict=True):
            function(result, ax)
        if len(axes) > 1:
            axes[0].set_xlabel("")  # the one below says it
        return inline_svg(axes[0].figure, name, description)
