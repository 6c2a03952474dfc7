"""The table beside each figure: the numbers that the figure draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlearn.report.measures import (
    Directions,
    coefficient_sizes,
    feature_names,
    fit_quality,
    leading_features,
    nearest_angles,
    probe_name,
)
from netlearn.report.words import column, number, share_text

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Leading eigenvalues of each probe, units, and rounds of the polish that a table lists.
_EIGENVALUES, _UNITS, _ROUNDS = 6, 50, 40
# The block of parameters that is printed; the file has all of them.
_PARAMETER_UNITS, _PARAMETER_FEATURES = 20, 12


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
    """List the units: coefficient, bias, angle to the nearest other, leading features."""
    f = result.network
    k = min(f.n_hidden, count)
    columns = coefficient_sizes(f)[:k], f.biases[:k], nearest_angles(f)[:k]
    numbers = [zip(column(values), map(float, values), strict=True) for values in columns]
    rows = [
        [
            Cell(str(index + 1)),
            *(Cell(text, value) if math.isfinite(value) else Cell("alone") for text, value in entries),
            Cell(_features(result, f.units[index])),
        ]
        for index, entries in enumerate(zip(*numbers, strict=True))
    ]
    heading = "coefficient" if f.coefficients.ndim == 1 else "norm of coefficients"
    return Table(
        ["unit", heading, "bias", "angle to nearest (°)", "leading features"],
        rows,
        f"The {k:,} largest of {f.n_hidden:,} units." if k < f.n_hidden else "",
    )


def fit_table(result: LearnResult) -> Table:
    """List root mean square, largest error and R^2 on the rows that travel with the result."""
    quality = fit_quality(result)
    entries = [
        ("root mean square error", quality.rms),
        ("largest error", quality.largest),
        ("standard deviation of the labels", quality.spread),
        ("R²", quality.r_squared),
    ]
    rows = [[Cell(name), Cell(number(value, 4), value)] for name, value in entries if value is not None]
    return Table([f"on {quality.n_rows:,} held-out rows", "value"], rows)


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

    def row(label: str, coefficient: object, bias: float | None, vector: Sequence[float]) -> list[Cell]:
        blank = Cell("")
        return [
            Cell(label),
            blank if coefficient is None else _parameter(coefficient),
            blank if bias is None else _parameter(bias),
            *map(_parameter, vector[:d]),
        ]

    several = f.n_outputs > 1 or f.linear.ndim == 2
    rows = [
        row(f"c, w of output {index + 1}" if several else "c, w", None, c, w)
        for index, (c, w) in enumerate(
            zip(
                [f.intercept] if not several else f.intercept, f.linear.reshape(-1, f.n_features), strict=True
            )
        )
    ]
    sizes = coefficient_sizes(f)
    rows += [row(f"unit {index + 1}", sizes[index], f.biases[index], f.units[index]) for index in range(k)]
    cut = []
    if k < f.n_hidden:
        cut.append(f"{k:,} of {f.n_hidden:,} units")
    if d < f.n_features:
        cut.append(f"{d:,} of {f.n_features:,} features")
    left_out = f"Only the first {' and '.join(cut)} are printed; the lines below give all." if cut else ""
    coefficient = "norm of λ" if several else "λ"
    return Table(["", coefficient, "b (or c)", *names[:d]], rows, left_out)


def _parameter(value: object) -> Cell:
    return Cell(number(float(value), 5), float(value))


def _features(result: LearnResult, vector: Sequence[float]) -> str:
    leading = leading_features(result, vector)
    texts = column([value for _, value in leading], digits=3)
    return ", ".join(f"{name} {text}" for (name, _), text in zip(leading, texts, strict=True))
