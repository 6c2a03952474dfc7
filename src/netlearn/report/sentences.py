"""The units of a network as sentences, features in standard deviations from their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.measures import feature_names
from netlearn.report.terms import Unit, linear_slopes, units
from netlearn.report.words import MINUS, listed, number, plural, short

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Features and outputs that a sentence names, characters of a name, and units that have a sentence.
_FEATURES, _OUTPUTS, _NAME, MOST_UNITS = 4, 3, 40, 20
# A weight below this share of the largest goes without saying.
_SMALL = 0.1
# One below this share of it is rounding, and no term.
_NO_TERM = 1e-6
# A linear part below this share of the labels' spread is not mentioned beside units.
_NOTHING = 0.01


def unit_sentences(result: LearnResult) -> list[str]:
    """Say what each unit does, those that matter most first; of many units the first ones."""
    return [_sentence(result, unit) for unit in units(result)[:MOST_UNITS]]


def _sentence(result: LearnResult, unit: Unit) -> str:
    mix = _mixed(unit.weights, feature_names(result))
    outputs = [short(name, _NAME) for name in result.output_names]
    order = np.argsort(-np.abs(unit.slopes), kind="stable")[:_OUTPUTS].tolist()
    changes = [
        f"{outputs[o]} {'rises' if unit.slopes[o] > 0 else 'falls'} by {number(abs(float(unit.slopes[o])))}"
        for o in order
        if unit.slopes[o]
    ]
    more = len(outputs) - len(order)
    others = f" ({more:,} other outputs change too)" if more else ""
    switched = f"Once {mix} exceeds {number(unit.threshold)}, {listed(changes)} for each 1 above it"
    return f"{switched}{others}.{_where(unit.active)}"


def _where(active: float | None) -> str:
    if active is None:
        return ""
    if active in (0.0, 1.0):
        return f" This unit is {'on' if active else 'off'} in all held-out rows."
    return f" This unit is on in {_percent(active)} of held-out rows."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 else f"{100 * share:.2g} %"


def _mixed(weights: np.ndarray, names: tuple[str, ...]) -> str:
    """Write a combination of features by its largest weights."""
    largest = float(np.max(np.abs(weights)))
    descending = np.argsort(-np.abs(weights), kind="stable").tolist()
    order = [index for index in descending if abs(weights[index]) > _SMALL * largest]
    parts = ""
    for place, index in enumerate(order[:_FEATURES]):
        minus = weights[index] < 0
        sign = (f" {MINUS} " if minus else " + ") if place else (MINUS if minus else "")
        size = number(abs(float(weights[index])), 2)
        parts += f"{sign}{'' if size == '1' else f'{size} '}{short(names[index], _NAME)}"
    left = int(np.sum(np.abs(weights) > _NO_TERM * largest)) - min(len(order), _FEATURES)
    return f"{parts} + {plural(left, 'smaller term')}" if left else parts


def linear_sentence(result: LearnResult) -> str:
    """Say what the linear part does; empty where there is none."""
    slopes, names = linear_slopes(result), feature_names(result)
    if result.network.n_hidden and result.held_out is not None:
        # Beside units, what moves an output by less than this is what estimates leave of nothing.
        spreads = np.std(result.held_out.y.reshape(len(result.held_out.y), -1), axis=0)
        slopes = np.where(np.max(np.abs(slopes), axis=1) > _NOTHING * spreads, slopes.T, 0.0).T
    said = []
    for name, own in list(zip(result.output_names, slopes, strict=True))[:_OUTPUTS]:
        descending = np.argsort(-np.abs(own), kind="stable").tolist()
        order = [index for index in descending if abs(own[index]) > _SMALL * np.max(np.abs(own))][:_FEATURES]
        if order:
            parts = [
                f"by {_with_sign(own[index])} for each standard deviation of {short(names[index], _NAME)}"
                for index in order
            ]
            said.append(f"{short(name, _NAME)} changes {listed(parts)}")
    return f"Everywhere, {'; '.join(said)}." if said else ""


def _with_sign(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)
