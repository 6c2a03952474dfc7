"""What the page folds away: spectra, convergence, the units, parameters, rows and seconds, how to reproduce it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from netlearn.report import figures
from netlearn.report.measures import has_signal, matrix_name
from netlearn.report.section import Drawing, Section, drawn
from netlearn.report.tables import parameters_table, spectra_table, trace_table, units_table
from netlearn.report.words import departure_sentence, number, plural
from netlearn.words import step_name

if TYPE_CHECKING:
    from netlearn.result import LearnResult


def technical(result: LearnResult) -> list[Section]:
    """Return the folded sections; where nothing was found, those that would interpret it are left out."""
    made = [_run(result)]
    if has_signal(result):
        made += [_spectra(result), _convergence(result)]
        if result.network.n_hidden:
            made.append(_units(result))
    if result.has_network:
        made.append(_parameters(result))
    return [*made, _reproduce(result)]


def _run(result: LearnResult) -> Section:
    seen = result.diagnostics
    items = []
    if seen.rows:
        items.append("Rows by use: " + ", ".join(f"{step_name(step)} {n:,}" for step, n in seen.rows.items()))
    if seen.seconds:
        spent = ", ".join(f"{step_name(step)} {seconds:.2f}" for step, seconds in seen.seconds.items())
        items.append(f"Seconds by step: {spent}")
    if seen.n_candidates:
        items.append(f"Candidates: {seen.n_tried:,} of {seen.n_candidates:,}")
    words = (f"Status {result.status.name}. {result.message}", departure_sentence(seen.departure))
    return Section("run", "The run in numbers", words, items=tuple(items))


def _spectra(result: LearnResult) -> Section:
    key, title, spectra = "spectra", "Spectra of the moment matrices", result.diagnostics.spectra
    if not spectra:
        return Section(key, title, ("None were computed: a linear function left nothing to look for.",))
    words = (
        "A moment matrix has eigenvectors that point along the units' directions, where its eigenvalues stand out of "
        "the noise. Eigenvalues are drawn in units of the noise floor; filled marks, and bold numbers in the table, "
        "are those that were kept."
    )
    kept = ", ".join(f"{spectrum.n_kept or 0} for {matrix_name(spectrum)}" for spectrum in spectra[:8])
    alt = (
        f"Eigenvalues of {len(spectra):,} moment matrices over their noise floors, falling from left to right on a "
        f"logarithmic scale. Kept above the floor: {kept}{', and so on' if len(spectra) > 8 else ''}."
    )
    drawings: tuple[Drawing, ...] = ()
    if any(spectrum.noise_floor > 0 and np.any(spectrum.eigenvalues) for spectrum in spectra):
        drawings = (drawn(result, key, alt, figures.spectrum),)
    return Section(key, title, (words,), drawings=drawings, table=spectra_table(result))


def _convergence(result: LearnResult) -> Section:
    key, title, trace = "convergence", "How the fit converged", result.diagnostics.trace
    if not any(value > 0 for value in trace):
        return Section(key, title, ("There was no refinement, or nothing was left for it to do.",))
    words = (
        "The smallest mean square of the residual so far, in units of the label variance. The table lists every round: "
        "fits with other units or on other rows follow one another, and each begins higher than the last ended."
    )
    alt = (
        f"The smallest mean square over {plural(len(trace), 'round')}, on a logarithmic scale: {number(trace[0])} of "
        f"the label variance at first, {number(min(trace))} at last."
    )
    return Section(
        key,
        title,
        (words,),
        drawings=(drawn(result, key, alt, figures.convergence),),
        table=trace_table(result),
    )


def _units(result: LearnResult) -> Section:
    f = result.network
    words = [
        "The same network with absolute values in place of ReLUs, f(x) = c + ⟨w, x⟩ + Σ λ |⟨u, x⟩ + b| with directions "
        "u of length one: λ is the size of a unit. Units at a small angle to another are hard to tell from one."
    ]
    drawings = []
    if f.n_outputs > 1:
        alt = f"Sizes of {plural(f.n_hidden, 'unit')} for {f.n_outputs:,} outputs as a heat map."
        height = 1.6 + 0.16 * min(f.n_outputs, figures.MOST_LINES)
        drawings.append(drawn(result, "neurons", alt, figures.neurons, height=height))
    dimension = 0 if result.subspace is None else result.subspace.shape[1]
    if dimension in (2, 3):
        where = "unit circle of their plane" if dimension == 2 else "half sphere, seen from above"
        signs = "" if f.n_outputs > 1 else ", open ones for negative λ"
        words.append(f"Drawn are their directions on the {where}: larger marks for larger λ{signs}.")
        alt = f"{plural(f.n_hidden, 'unit')} as numbered marks on the {where}."
        drawings.append(drawn(result, "directions", alt, figures.directions, height=3.9))
    return Section(
        "units",
        "Sizes and angles of the units",
        tuple(words),
        drawings=tuple(drawings),
        table=units_table(result),
    )


def _parameters(result: LearnResult) -> Section:
    words = (
        "f(x) = constant + ⟨linear part, x⟩ + Σ factor · relu(constant + ⟨weights, x⟩), in the units of your columns: "
        "what network.to_relu() gives, pairs of opposite ReLUs put together."
    )
    return Section("parameters", "All weights", (words,), table=parameters_table(result))


def _reproduce(result: LearnResult) -> Section:
    items = [f"netlearn {version('netlearn')}"]
    if result.certificate is not None:
        items.append(f"failure_prob {1 - result.certificate.confidence:.10g}")
    if result.schedule is not None:
        made = result.schedule
        items.append(
            f"schedule {made.origin}: k = {made.n_hidden}, epsilon = {made.epsilon:g}, R = {made.R:g}"
        )
    words = ("The same rows, options, rng and machine give the same network.",)
    return Section("reproduce", "How to reproduce it", words, items=tuple(items))
