"""The sections of the page in a reader's order: how good, what matters, the network, how sure, what next."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netlearn.certify import STEEPNESS
from netlearn.report import figures
from netlearn.report.directions import Directions, leading_directions
from netlearn.report.formula import is_readable, latex_formula, python_code, text_formula
from netlearn.report.importance import Sensitivity, effect, sensitivity
from netlearn.report.measures import (
    baselines,
    feature_names,
    fit_quality,
    has_signal,
    held_out_error,
    is_met_to_rounding,
    output_qualities,
    spread_below_bound,
    worst_outputs,
)
from netlearn.report.section import Bar, Code, Drawing, Section, drawn
from netlearn.report.sentences import MOST_UNITS, linear_sentence, unit_sentences
from netlearn.report.tables import certificates_table, directions_table, fit_table, sobol_table
from netlearn.report.verdict import what_next
from netlearn.report.words import as_sentence, listed, number, plural, share_text, short, target_name, typeset
from netlearn.words import bound_sentence, share_sentence, shown_r2

if TYPE_CHECKING:
    from netlearn.certify import Certificate
    from netlearn.result import HeldOut, LearnResult

# Features whose effect is drawn, and those below which share are not worth it.
_EFFECTS, _SMALLEST_EFFECT = 4, 0.02
_NAME = 40
# Shares of two directions that miss what both explain together by less than this need no word.
_ADDS_UP = 5e-3


def sections(result: LearnResult) -> list[Section]:
    """Return the sections in the order of the page; where nothing was found, nothing is interpreted."""
    made = [_good(result)]
    if has_signal(result):
        made += [_matters(result), _network(result)]
    return [*made, _sure(result), _next(result)]


def _good(result: LearnResult) -> Section:
    key, title, quality = "good", "Is it any good?", fit_quality(result)
    if not result.has_network:
        return Section(key, title, ("No network was found.",))
    bars = tuple(
        Bar(
            one.key,
            one.label,
            shown_r2(one.r2).replace("-", "\N{MINUS SIGN}"),
            one.r2,
            min(max(one.r2, 0.0), 1.0),
        )
        for one in baselines(result)
    )
    words = []
    score, name = result.score, target_name(result)
    if bars and score is not None:
        words.append(
            f"R² is the share of the variation of {name} that is predicted: 1 is perfect, 0 is no better than always "
            f"answering the mean. It is measured on {plural(score.n_rows, 'row')} that took no part in learning."
        )
        if any(bar.value < 0.0 for bar in bars):
            words[0] += (
                " The mean is that of the rows learned from, so on other rows it can fall slightly below 0. A thin "
                "line stands for 0 or less."
            )
        if score.r2_each:
            words.append("With several outputs it is a mean over them; each has a card of its own above.")
    if quality is None:
        return Section(key, title, (*words, "Not drawn: no rows were held out."), bars)
    if result.network.n_outputs > 1:
        return Section(key, title, tuple(words), bars, table=fit_table(result, quality))
    fit = Section(
        "fit",
        "Predicted against held out",
        (
            "Each point is a held-out row; a perfect network puts all of them on the line. The histogram counts what "
            f"is left, {name} minus prediction{_shape(result, quality.n_rows)}.",
        ),
        drawings=_fit_drawings(result),
        table=fit_table(result, quality),
    )
    return Section(key, title, tuple(words), bars, parts=(fit,))


def _shape(result: LearnResult, n_rows: int) -> str:
    """Say what the shape of the histogram means, where it means anything."""
    if not has_signal(result):
        return ""
    if is_met_to_rounding(result):
        return ": it is rounding"
    return (
        "; a clearly lopsided or two-humped shape means that something is missing. With "
        f"{plural(n_rows, 'row')}, gaps and small bumps are chance"
    )


def _fit_drawings(result: LearnResult) -> tuple[Drawing, ...]:
    (quality,) = output_qualities(result)
    rows = plural(quality.n_rows, "held-out row")
    return (
        drawn(
            result,
            "predicted",
            f"Predictions against labels of {rows} along the diagonal; the root mean square error is "
            f"{number(quality.rms)}.",
            figures.predicted,
            small=True,
        ),
        drawn(
            result,
            "residuals",
            f"How often which residual occurs among {rows}; the largest is {number(quality.largest)}.",
            figures.residual_histogram,
            small=True,
        ),
    )


def _matters(result: LearnResult) -> Section:
    key, title, found, held_out = "matters", "What matters most?", sensitivity(result), result.held_out
    if found is None or held_out is None:
        text = "Nothing to show: the network is constant, or no rows were held out."
        return Section(key, title, (text,))
    names, m = feature_names(result), result.network.n_outputs
    words = [
        "The bars show how much of the network's variation is lost without a feature. They can add up to more than "
        "100 %, as features act together. They are computed for independent features with the means and spreads of "
        "your rows: of two features that move together, the network may use either."
    ]
    bars = tuple(
        Bar(f"share-{place}", short(names[feature], _NAME), share_text(total), float(total), float(total))
        for place, (feature, total) in enumerate(zip(found.features, found.totals, strict=True))
    )
    drawings, table = [], None
    if m > 1:
        words.append(f"The bars are means over the outputs; the map shows each output by itself.{_cut(m)}")
        alt = (
            f"The share of each of {plural(len(found.features), 'feature')} for {m:,} outputs as a heat map."
        )
        drawings.append(drawn(result, "sobol", alt, figures.sobol, height=_heat_map_height(m)))
        table = sobol_table(result, found)
    parts = [_effects(result, found, held_out)]
    directions = leading_directions(result)
    if directions is not None:
        parts.append(_directions(result, directions))
    return Section(key, title, tuple(words), bars, drawings=tuple(drawings), table=table, parts=tuple(parts))


def _of_which(result: LearnResult) -> str:
    """Say of which of several outputs figures are."""
    if result.network.n_outputs == 1:
        return ""
    return f" Drawn is {short(result.output_names[worst_outputs(result)[0]], _NAME)}, the output that fits worst."


def _effects(result: LearnResult, found: Sensitivity, held_out: HeldOut) -> Section:
    words = (
        "The curves show the mean prediction as one feature changes and the others stay as they are in your rows. Grey "
        f"ticks are values of the feature in these rows.{_of_which(result)}"
    )
    output, drawings = worst_outputs(result)[0], []
    target = short(result.output_names[output], _NAME)
    leading = found.features[: max(1, int(np.sum(found.totals[:_EFFECTS] >= _SMALLEST_EFFECT)))]
    # On one scale, so that the curves can be compared.
    means = np.concatenate([effect(result.network, held_out.X, feature, output).means for feature in leading])
    scale = np.min(means), np.max(means)
    for place, feature in enumerate(leading):
        name = short(feature_names(result)[feature], _NAME)
        alt = f"The mean prediction of {target} against {name}, other features as in the rows."
        draw = partial(figures.effect, feature=feature, output=output, scale=scale)
        drawings.append(drawn(result, f"effect-{place}", alt, draw, small=True, height=2.4))
    return Section("effects", "The leading features one by one", (words,), drawings=tuple(drawings))


def _directions(result: LearnResult, found: Directions) -> Section:
    r, m = found.axes.shape[1], result.network.n_outputs
    whole = "its variation" if m == 1 else "the variation of all outputs, each in its own units"
    words = f"The network sees your columns only through {plural(r, 'weighted sum')} of them, called "
    words += f"{'a direction' if r == 1 else 'directions'}. {_explained(found, whole)}"
    points = f"coloured by their {short(result.output_names[worst_outputs(result)[0]], _NAME)}"
    if found.n_shown == 1:
        words += "Points are held-out rows, the line is the network."
        alt = "Held-out labels as points against the leading direction, with the network as a curve through them."
        drawing = drawn(result, "summary", alt, figures.summary)
    else:
        words += (
            f"Points are held-out rows, {points}, and the background is the network: points with the background's "
            "colour are predicted well."
        )
        alt = "Held-out labels as coloured points in the plane of the two leading directions, on the network's values."
        drawing = drawn(result, "summary", alt, figures.summary, height=4.1)
    table = directions_table(result, found)
    words += _of_which(result)
    return Section("directions", "All features together", (words,), drawings=(drawing,), table=table)


def _explained(found: Directions, whole: str) -> str:
    """Say what the directions that are drawn explain together and alone; nothing where the table says it all."""
    n, share, alone = found.n_shown, share_text(found.joint_share), found.shares[: found.n_shown]
    has_others = found.axes.shape[1] > n
    leading = "The leading one explains" if n == 1 else "The leading two explain"
    said = f"{leading} {share} of {whole}. " if has_others else ""
    if found.joint_share - sum(alone) < _ADDS_UP:
        return said
    of, rest = ("", f"the rest of the {share}") if has_others else (f" of {whole}", "the rest")
    return f"{said}Alone they explain {listed([*map(share_text, alone)])}{of}; {rest} is what they do only together. "


def _heat_map_height(n_lines: int) -> float:
    return 1.6 + 0.16 * min(n_lines, figures.MOST_LINES)


def _cut(n_lines: int) -> str:
    most = figures.MOST_LINES
    return f" Drawn are the first {most} of {n_lines:,} outputs." if n_lines > most else ""


def _network(result: LearnResult) -> Section:
    f = result.network
    linear, items = linear_sentence(result), unit_sentences(result)
    if f.n_hidden == 0:
        words = ["The network has no units: a linear model is enough."]
    else:
        words = [
            f"The network has {plural(f.n_hidden, 'unit')}. {'It' if f.n_hidden == 1 else 'Each'} is off until a "
            "weighted sum of the features passes a threshold, and from there on adds to the prediction in proportion. "
            "In these sentences, features are counted in standard deviations from their mean, so that weights can be "
            "compared."
        ]
    if f.n_hidden > MOST_UNITS:
        words.append(f"These are the {MOST_UNITS} that matter most.")
    codes = []
    if is_readable(result):
        text = "\n".join(text_formula(result))
        where = "\n\nrelu(t) is t where t is positive, and 0 elsewhere" if f.n_hidden else ""
        label = "As a formula, rounded, in the units of your columns"
        if items or linear:
            label += ": its weights differ from those above, which are for standard deviations"
        codes.append(Code(label, text + where, wrap=True))
        codes.append(Code("As LaTeX", latex_formula(result), wrap=True, fold=True))
    python = python_code(result)
    if python:
        codes.append(Code("As Python, with all digits", python, fold=True))
    else:
        words.append("It is too large to print: result.save keeps it, network.to_relu() gives its weights.")
    items = ([linear] if linear else []) + items
    return Section(
        "network", "What does the network say?", tuple(words), items=tuple(items), codes=tuple(codes)
    )


def _sure(result: LearnResult) -> Section:
    key, title, certificate = "sure", "How sure is it?", result.certificate
    if certificate is None:
        return Section(key, title, ("No rows were held out, so nothing is proven.",))
    rows, *for_bound = certificate.assumptions
    words = [
        f"{typeset(as_sentence(share_sentence(certificate)))} For this, nothing is assumed but that {rows}.",
        typeset(as_sentence(bound_sentence(certificate))),
    ]
    items, after, table = [], [], None
    if math.isfinite(certificate.error_bound):
        words[1] += _beside_what_was_seen(result, certificate)
        words.append("For this limit it is also assumed that")
        items = for_bound
        after.append(
            f"{_steepness(certificate)} Rows cannot prove these assumptions. If you do not know whether they hold, "
            "rely on the first statement, which needs none of them."
        )
    if certificate.per_output:
        after.append(
            "Each output has a bound of its own; all hold together with the confidence of the whole."
        )
        table = certificates_table(result)
    return Section(key, title, tuple(words), items=tuple(items), after=tuple(after), table=table)


def _beside_what_was_seen(result: LearnResult, certificate: Certificate) -> str:
    """Compare the proved bound with the labels' spread and with the errors of held-out rows."""
    spread = spread_below_bound(result)
    if spread is not None:
        return (
            f" This is larger than the spread of {target_name(result)} ({number(spread)}), so it says nothing: always "
            "answering the mean would do as well."
        )
    covers = "seen: a proved limit also covers what held-out rows may have missed."
    if certificate.error_bound > certificate.tolerance:
        return f" This is larger than any error {covers}"
    is_larger = certificate.error_bound > certificate.empirical_error
    return f" This is larger than the typical error {covers}" if is_larger else ""


def _steepness(certificate: Certificate) -> str:
    """Say what the assumed slope means."""
    given = certificate.basis.target_lipschitz
    if given is None:
        return (
            f"At most {STEEPNESS:g} times as steep means: no step of the inputs changes that function by more than "
            f"{STEEPNESS:g} times the most that an equal step changes the network."
        )
    return (
        f"No steeper than {given:.6g} means: a step of length 1 of the inputs changes that function by at most "
        f"{given:.6g}."
    )


def _next(result: LearnResult) -> Section:
    key, title, words = "next", "What next?", [what_next(result)]
    if not has_signal(result):
        return Section(key, title, tuple(words))
    line = "netlearn predict model.safetensors new.csv --out predictions.csv"
    code = (
        "from netlearn import LearnResult\n\n"
        'result = LearnResult.load("model.safetensors")\n'
        f"# X has shape (n, {result.network.n_features})\n"
        "y_predicted = result.predict(X)"
    )
    error = held_out_error(result)
    if error is not None and result.certificate is not None:
        line += "\nnetlearn recheck model.safetensors fresh.csv"
        code += "\nresult.recheck(X_fresh, y_fresh).empirical_error"
        several = result.network.n_outputs > 1
        words.append(
            f"For recheck, take new rows in which {target_name(result)} {'are' if several else 'is'} known, and look "
            f"at the error: if it is clearly above the {number(error.rms)} measured here"
            f"{' (all outputs together)' if several else ''}, the rows have changed. Then learn anew."
        )
    codes = (
        Code("On the command line, if it was saved with --out model.safetensors", line),
        Code('In Python, if it was saved so or with result.save("model.safetensors")', code),
    )
    return Section(key, title, tuple(words), codes=codes)
