"""The tables of the report: the numbers behind its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.directions import Directions
from netlearn.report.importance import Sensitivity
from netlearn.report.measures import (
    FitQuality,
    coefficient_sizes,
    feature_names,
    feature_spreads,
    matrix_name,
    nearest_angles,
    output_qualities,
    worst_outputs,
)
from netlearn.report.terms import Terms
from netlearn.report.words import column, listed, number, share_text, short, target_name
from netlearn.words import rounded_up

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Leading eigenvalues of each matrix, and rounds of refinement that a table lists.
_EIGENVALUES, _ROUNDS = 6, 40
# The block of parameters that is printed; the file has all of them.
_PARAMETER_UNITS, _PARAMETER_FEATURES, _PARAMETER_OUTPUTS = 20, 12, 20
# Outputs that have a line of their own, and those that have a column.
_OUTPUT_ROWS, _OUTPUT_COLUMNS = 12, 6
# Features that a direction is described by, and characters of their names.
_FEATURES, _NAME = 4, 40
# A weight below this share of the whole is not listed.
_NO_WEIGHT = 5e-3
# Directions that explain this much together leave nothing to the others, which are then not listed.
_EXPLAINED = 0.9995


@dataclass(frozen=True)
class Cell:
    """What a cell shows, the number behind it, and whether it stands out."""

    text: str
    value: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """A table; `left_out` says in words what did not fit."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: str = ""


def spectra_table(result: LearnResult) -> Table:
    """List each matrix's noise floor, how many eigenvectors were kept, and its leading eigenvalues."""
    spectra = result.diagnostics.spectra
    d = max(len(spectrum.eigenvalues) for spectrum in spectra)
    shown = min(d, _EIGENVALUES)
    rows = []
    for spectrum in spectra:
        kept = spectrum.n_kept or 0
        texts = column([spectrum.noise_floor, *spectrum.eigenvalues[:shown]])
        floor = Cell(texts[0], spectrum.noise_floor)
        leading = [
            Cell(text, float(value), strong=index < kept)
            for index, (text, value) in enumerate(zip(texts[1:], spectrum.eigenvalues, strict=False))
        ]
        count = Cell("not said" if spectrum.n_kept is None else str(kept), spectrum.n_kept)
        blank = [Cell("")] * (shown - len(leading))  # not every matrix has d eigenvalues
        rows.append([Cell(matrix_name(spectrum)), count, floor, *leading, *blank])
    left_out = f"The {shown} largest of {d:,} eigenvalues." if shown < d else ""
    return Table(["moments of", "kept", "noise floor", *(f"#{i + 1}" for i in range(shown))], rows, left_out)


def directions_table(result: LearnResult, found: Directions) -> Table:
    """List what each direction explains alone, and its largest weights, per standard deviation of a feature."""
    rows = [
        [
            Cell(str(index + 1)),
            Cell(share_text(share), float(share)),
            Cell(_weights(result, found.axes[:, index])),
        ]
        for index, share in enumerate(found.shares)
    ]
    if found.joint_share >= _EXPLAINED:
        rows = rows[: found.n_shown]
    left = found.axes.shape[1] - len(rows)
    more = "1 more direction" if left == 1 else f"{left:,} more directions"
    if found.joint_share >= _EXPLAINED:
        does = "explains less than 0.1 %" if left == 1 else "explain less than 0.1 % together"
    else:
        does = "matters less" if left == 1 else "matter less"
    return Table(
        ["direction", "explains alone", "largest weights, per standard deviation"],
        rows,
        f"{more} {does}." if left else "",
    )


def fit_table(result: LearnResult, quality: FitQuality) -> Table:
    """List root mean square, largest error and spread on the rows that travel with the result.

    Several outputs have a line each, the worst first where they are many.
    """
    if result.network.n_outputs > 1:
        headings = ["typical error", "largest error", "spread", "R²"]
        each = output_qualities(result)
        numbers = {
            output: (own.rms, own.largest, own.spread, own.r_squared) for output, own in enumerate(each)
        }
        return _by_output(result, headings, numbers)
    entries = [
        ("typical error (root mean square)", quality.rms),
        ("largest error", quality.largest),
        (f"spread of {target_name(result)} (standard deviation)", quality.spread),
        # Where there is a score, a bar shows it.
        ("R²", quality.r_squared if result.score is None else None),
    ]
    rows = [[Cell(name), Cell(number(value, 4), value)] for name, value in entries if value is not None]
    some = "" if result.score is None or result.score.n_rows <= quality.n_rows else " of the"
    return Table([f"on {quality.n_rows:,}{some} held-out rows", "value"], rows)


def certificates_table(result: LearnResult) -> Table:
    """List held-out error, tolerance and bound of each of several outputs, the worst first where they are many."""
    each = result.certificate.per_output
    numbers = {
        output: (
            own.empirical_error,
            float(rounded_up(own.tolerance)),
            float(rounded_up(own.error_bound)) if math.isfinite(own.error_bound) else None,
        )
        for output, own in enumerate(each)
    }
    return _by_output(result, ["typical error", "largest error", "typical error at most"], numbers)


def _by_output(
    result: LearnResult, headings: Sequence[str], numbers: Mapping[int, Sequence[float | None]]
) -> Table:
    order = list(numbers)
    if len(order) > _OUTPUT_ROWS:
        order = (worst_outputs(result) or order)[:_OUTPUT_ROWS]
    left = len(numbers) - len(order)
    rows = [
        [
            Cell(short(result.output_names[output], _NAME)),
            *(Cell("") if value is None else Cell(number(value, 4), value) for value in numbers[output]),
        ]
        for output in order
    ]
    return Table(["output", *headings], rows, f"The worst {len(order)}, and {left:,} more." if left else "")


def sobol_table(result: LearnResult, found: Sensitivity) -> Table:
    """List the Sobol indices of the leading features: of a few outputs the total index of each."""
    names, joint, each = feature_names(result), found.indices, found.indices.per_output
    if each and len(each) <= _OUTPUT_COLUMNS:
        headings = [f"for {short(name, _NAME)}" for name in result.output_names]
        columns = [own.total for own in each]
    else:
        headings, columns = ["alone", "lost without it"], [joint.first_order, joint.total]
    rows = [
        [
            Cell(short(names[feature], _NAME)),
            *(Cell(share_text(column[place]), float(column[place])) for column in columns),
        ]
        for place, feature in enumerate(found.features)
    ]
    left = result.network.n_features - len(rows)
    return Table(["feature", *headings], rows, f"{left:,} more features matter less." if left else "")


def trace_table(result: LearnResult) -> Table:
    """List the mean square after each round of refinement; of a long run the first and last rounds."""
    trace = list(enumerate(result.diagnostics.trace, start=1))
    shown = trace if len(trace) <= _ROUNDS else [*trace[: _ROUNDS // 2], *trace[-_ROUNDS // 2 :]]
    left = len(trace) - len(shown)
    return Table(
        ["round", "mean square / label variance"],
        [[Cell(str(index)), Cell(number(value, 4), float(value))] for index, value in shown],
        f"The first and last {_ROUNDS // 2} of {len(trace):,} rounds." if left else "",
    )


def parameters_table(result: LearnResult) -> Table:
    """List c, w and the ReLUs, a row for each; of a large network the first units and features."""
    f, names = result.network, feature_names(result)
    terms = Terms.of(f)
    k, d = min(terms.n_hidden, _PARAMETER_UNITS), min(f.n_features, _PARAMETER_FEATURES)
    headings, factors = _factors(result, terms)
    blank = [Cell("")] * len(headings)
    shown = [short(name, _NAME) for name in result.output_names[:_PARAMETER_OUTPUTS]]
    labels = ["linear part"] if len(shown) == 1 else [f"linear part of {name}" for name in shown]
    rows = [
        [Cell(label), *blank, _parameter(c), *map(_parameter, w[:d])]
        for label, c, w in zip(labels, terms.intercept, terms.linear, strict=False)
    ]
    rows += [
        [
            Cell(f"unit {index + 1}"),
            *map(_parameter, [*factors[:, index], terms.biases[index], *terms.weights[index, :d]]),
        ]
        for index in range(k)
    ]
    cut = [] if len(shown) == f.n_outputs else [f"{len(shown):,} of {f.n_outputs:,} outputs"]
    if k < terms.n_hidden:
        cut.append(f"{k:,} of {terms.n_hidden:,} units")
    if d < f.n_features:
        cut.append(f"{d:,} of {f.n_features:,} features")
    left_out = f"Only the first {listed(cut)} are printed; network.to_relu() gives all." if cut else ""
    return Table(["", *headings, "constant", *(short(name, _NAME) for name in names[:d])], rows, left_out)


def _factors(result: LearnResult, terms: Terms) -> tuple[list[str], np.ndarray]:
    """Return headings and the factors of the ReLUs, a row of them for each output or for their norms."""
    if terms.n_outputs == 1:
        return ["factor"], terms.outputs.T
    if terms.n_outputs > _OUTPUT_COLUMNS:
        return ["size of factors"], np.linalg.norm(terms.outputs, axis=1)[None, :]
    return [f"factor for {short(name, _NAME)}" for name in result.output_names], terms.outputs.T


def units_table(result: LearnResult) -> Table:
    """List how far apart units are: a pair that almost agrees is hard to tell from one unit."""
    f = result.network
    k = min(f.n_hidden, _PARAMETER_UNITS)
    sizes, angles = coefficient_sizes(f)[:k], nearest_angles(f)[:k]
    rows = [
        [
            Cell(str(index + 1)),
            Cell(text, float(size)),
            Cell(number(angle), float(angle)) if math.isfinite(angle) else Cell("alone"),
        ]
        for index, (text, size, angle) in enumerate(zip(column(sizes.tolist()), sizes, angles, strict=True))
    ]
    left_out = f"The {k:,} largest of {f.n_hidden:,} units." if k < f.n_hidden else ""
    return Table(["unit", "λ", "angle to nearest (°)"], rows, left_out)


def _parameter(value: float) -> Cell:
    return Cell(number(float(value), 5), float(value))


def _weights(result: LearnResult, vector: np.ndarray) -> str:
    """Name the features that weigh most, with their weights in standard deviations, scaled to length one."""
    weights = vector * feature_spreads(result)
    size = float(np.linalg.norm(weights))
    names, order = feature_names(result), np.argsort(-np.abs(weights), kind="stable")[:_FEATURES].tolist()
    return ", ".join(
        f"{short(names[index], _NAME)} {number(float(weights[index]) / size, 2)}"
        for index in order
        if abs(weights[index]) > _NO_WEIGHT * size
    )
