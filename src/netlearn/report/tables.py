"""The table beside each figure: the numbers that the figure draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.measures import (
    Directions,
    Sensitivity,
    coefficient_sizes,
    feature_names,
    fit_quality,
    leading_features,
    nearest_angles,
    output_qualities,
    probe_name,
    worst_outputs,
)
from netlearn.report.words import column, number, share_text
from netlearn.words import rounded_up

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Leading eigenvalues of each probe, units, and rounds of the polish that a table lists.
_EIGENVALUES, _UNITS, _ROUNDS = 6, 50, 40
# The block of parameters that is printed; the file has all of them.
_PARAMETER_UNITS, _PARAMETER_FEATURES, _PARAMETER_OUTPUTS = 20, 12, 20
# Outputs that have a line of their own, and those that have a column.
_OUTPUT_ROWS, _OUTPUT_COLUMNS = 12, 6


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
    """List each probe's noise floor, how many eigenvectors it gave V, and its leading eigenvalues."""
    probes = result.diagnostics.probes
    d = max(len(probe.eigenvalues) for probe in probes)
    shown = min(d, _EIGENVALUES)
    rows = []
    for probe in probes:
        kept = probe.n_kept or 0
        texts = column([probe.noise_floor, *probe.eigenvalues[:shown]])
        floor = Cell(texts[0], probe.noise_floor)
        leading = [
            Cell(text, float(value), strong=index < kept)
            for index, (text, value) in enumerate(zip(texts[1:], probe.eigenvalues, strict=False))
        ]
        count = Cell("not said" if probe.n_kept is None else str(kept), probe.n_kept)
        blank = [Cell("")] * (shown - len(leading))  # not every probe has d eigenvalues
        rows.append([Cell(probe_name(probe)), count, floor, *leading, *blank])
    left_out = f"The {shown} largest of {d:,} eigenvalues." if shown < d else ""
    return Table(["probe", "kept", "noise floor", *(f"#{i + 1}" for i in range(shown))], rows, left_out)


def directions_table(result: LearnResult, found: Directions) -> Table:
    """List what each direction explains alone, and the features that make it up."""
    rows = [
        [
            Cell(str(index + 1)),
            Cell(share_text(share), float(share)),
            Cell(_features(result, found.axes[:, index])),
        ]
        for index, share in enumerate(found.shares)
    ]
    left = found.axes.shape[1] - len(rows)
    return Table(
        ["direction", "explains alone", "leading features"],
        rows,
        f"{left:,} more directions matter less." if left else "",
    )


def units_table(result: LearnResult, count: int = _UNITS) -> Table:
    """List the units: coefficient, bias, angle to the nearest other, leading features.

    Of a few outputs each has a column of coefficients, of many their norms are listed.
    """
    f = result.network
    k = min(f.n_hidden, count)
    headings, coefficients = _coefficients(result)
    columns = *coefficients[:, :k], f.biases[:k], nearest_angles(f)[:k]
    numbers = [zip(column(values), map(float, values), strict=True) for values in columns]
    rows = [
        [
            Cell(str(index + 1)),
            *(Cell(text, value) if math.isfinite(value) else Cell("alone") for text, value in entries),
            Cell(_features(result, f.units[index])),
        ]
        for index, entries in enumerate(zip(*numbers, strict=True))
    ]
    return Table(
        ["unit", *headings, "bias", "angle to nearest (°)", "leading features"],
        rows,
        f"The {k:,} largest of {f.n_hidden:,} units." if k < f.n_hidden else "",
    )


def _coefficients(result: LearnResult) -> tuple[list[str], np.ndarray]:
    """Return headings and coefficients, a row of them for each output or for their norms."""
    f = result.network
    if f.n_outputs == 1:
        return ["λ"], f.coefficients.reshape(1, -1)
    if f.n_outputs > _OUTPUT_COLUMNS:
        return ["norm of λ"], coefficient_sizes(f)[None, :]
    return [f"λ of {name}" for name in result.output_names], f.coefficients.T


def fit_table(result: LearnResult) -> Table:
    """List root mean square, largest error and R^2 on the rows that travel with the result.

    Several outputs have a line each, the worst first where they are many.
    """
    quality = fit_quality(result)
    if result.network.n_outputs > 1:
        each = output_qualities(result)
        headings = ["root mean square error", "largest error", "standard deviation of the labels", "R²"]
        numbers = {
            output: (own.rms, own.largest, own.spread, own.r_squared) for output, own in enumerate(each)
        }
        return _by_output(result, headings, numbers)
    entries = [
        ("root mean square error", quality.rms),
        ("largest error", quality.largest),
        ("standard deviation of the labels", quality.spread),
        ("R²", quality.r_squared),
    ]
    rows = [[Cell(name), Cell(number(value, 4), value)] for name, value in entries if value is not None]
    return Table([f"on {quality.n_rows:,} held-out rows", "value"], rows)


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
    return _by_output(result, ["held-out error", "largest error", "root mean square at most"], numbers)


def _by_output(
    result: LearnResult, headings: Sequence[str], numbers: dict[int, Sequence[float | None]]
) -> Table:
    order = list(numbers)
    if len(order) > _OUTPUT_ROWS:
        order = (worst_outputs(result) or order)[:_OUTPUT_ROWS]
    left = len(numbers) - len(order)
    rows = [
        [
            Cell(result.output_names[output]),
            *(Cell("") if value is None else Cell(number(value, 4), value) for value in numbers[output]),
        ]
        for output in order
    ]
    return Table(["output", *headings], rows, f"The worst {len(order)}, and {left:,} more." if left else "")


def sobol_table(result: LearnResult, found: Sensitivity) -> Table:
    """List the Sobol indices of the leading features: of a few outputs the total index of each."""
    names, joint, each = feature_names(result), found.indices, found.indices.per_output
    if each and len(each) <= _OUTPUT_COLUMNS:
        headings = [f"total, {name}" for name in result.output_names]
        columns = [own.total for own in each]
    else:
        headings, columns = ["alone", "total"], [joint.first_order, joint.total]
    rows = [
        [Cell(names[feature]), *(Cell(share_text(column[place]), float(column[place])) for column in columns)]
        for place, feature in enumerate(found.features)
    ]
    left = result.network.n_features - len(rows)
    return Table(["feature", *headings], rows, f"{left:,} more features matter less." if left else "")


def trace_table(result: LearnResult) -> Table:
    """List the mean square after each round of the polish; of a long run the first and last rounds."""
    trace = list(enumerate(result.diagnostics.trace, start=1))
    shown = trace if len(trace) <= _ROUNDS else [*trace[: _ROUNDS // 2], *trace[-_ROUNDS // 2 :]]
    left = len(trace) - len(shown)
    return Table(
        ["round", "mean square / label variance"],
        [[Cell(str(index)), Cell(number(value, 4), float(value))] for index, value in shown],
        f"The first and last {_ROUNDS // 2} of {len(trace):,} rounds." if left else "",
    )


def parameters_table(result: LearnResult) -> Table:
    """List c, w and the units, a row for each; of a large network the first units and features."""
    f, names = result.network, feature_names(result)
    k, d = min(f.n_hidden, _PARAMETER_UNITS), min(f.n_features, _PARAMETER_FEATURES)

    headings, coefficients = _coefficients(result)
    blank = [Cell("")] * len(headings)
    shown = result.output_names[:_PARAMETER_OUTPUTS]
    labels = ["c, w"] if len(shown) == 1 else [f"c, w of {name}" for name in shown]
    rows = [
        [Cell(label), *blank, _parameter(c), *map(_parameter, w[:d])]
        for label, c, w in zip(
            labels, np.ravel(f.intercept), f.linear.reshape(-1, f.n_features), strict=False
        )
    ]
    rows += [
        [
            Cell(f"unit {index + 1}"),
            *map(_parameter, [*coefficients[:, index], f.biases[index], *f.units[index, :d]]),
        ]
        for index in range(k)
    ]
    cut = [] if len(shown) == f.n_outputs else [f"{len(shown):,} of {f.n_outputs:,} outputs"]
    if k < f.n_hidden:
        cut.append(f"{k:,} of {f.n_hidden:,} units")
    if d < f.n_features:
        cut.append(f"{d:,} of {f.n_features:,} features")
    left_out = f"Only the first {_listed(cut)} are printed; the lines below give all." if cut else ""
    return Table(["", *headings, "b (or c)", *names[:d]], rows, left_out)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _parameter(value: object) -> Cell:
    return Cell(number(float(value), 5), float(value))


def _features(result: LearnResult, vector: Sequence[float]) -> str:
    leading = leading_features(result, vector)
    texts = column([value for _, value in leading], digits=3)
    return ", ".join(f"{name} {text}" for (name, _), text in zip(leading, texts, strict=True))
