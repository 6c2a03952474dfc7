"""What a reader asks first, answered in plain words: is it any good, what matters, how sure is it, what next.

Page, notebook card, `repr` and command line all say these same sentences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlearn.report.importance import sensitivity
from netlearn.report.measures import (
    HeldOutError,
    feature_names,
    has_signal,
    held_out_error,
    noise_limit,
    spread_below_bound,
)
from netlearn.report.words import as_sentence, listed, number, plural, short, target_name
from netlearn.words import confidence, is_missed_epsilon, percent_up, rounded_up, shown_r2

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Below this R^2 a fit is called weak.
_WEAK = 0.3
# Features that are named, characters of a name, and units above which sensitivities take seconds.
_NAMED, _NAME, _MOST_UNITS = 3, 40, 200
# Features that explain less than this are not among those that matter most.
_SMALLEST_SHARE = 0.01

KINDS = {
    "recovered": "Recovered",
    "certified": "Certified",
    "useful": "Useful fit",
    "nothing": "Nothing found",
}
"""The four headlines, each with a colour of its own, and their short names."""


@dataclass(frozen=True)
class Headline:
    """The result in one sentence.

    Attributes
    ----------
    kind : {"recovered", "certified", "useful", "nothing"}
    short : str
        Two or three words.
    sentence : str
    """

    kind: str
    short: str
    sentence: str


def headline(result: LearnResult) -> Headline:
    """Return how a result is announced."""
    status, signal = result.status.name, has_signal(result)
    if status == "RECOVERED":
        sentence = "The network reproduces rows that it has never seen, down to rounding."
        return Headline("recovered", KINDS["recovered"], sentence)
    if status == "CERTIFIED":
        sentence = "The typical error on new rows is proved to be as small as was asked for."
        if result.certificate is not None and math.isfinite(result.certificate.error_bound):
            bound = rounded_up(result.certificate.error_bound)
            sentence = (
                f"The typical error on new rows is proved to be at most {bound}, as was asked for, under stated "
                "assumptions."
            )
        if not signal:
            sentence += " Yet the mean of all labels predicts as well as the network."
        return Headline("certified", KINDS["certified"], sentence)
    if not signal:
        return Headline("nothing", KINDS["nothing"], _NOTHING.get(status, _NO_BETTER))
    r2 = result.r2
    weak = r2 is not None and r2 < _WEAK
    name = "Weak fit" if weak else KINDS["useful"]
    explained = "It predicts new rows"
    if r2 is not None:
        share, target = _percent_explained(r2), target_name(result)
        explained = f"It explains {share} of the variation of {target} in rows it has never seen"
    return Headline("useful", name, f"{explained}{_BUT.get(status, '.')}")


_NO_BETTER = "The network predicts new rows no better than their mean does."
_NOTHING = {
    "NO_SIGNAL": f"{_NO_BETTER} Do not read anything into it.",
    "FAILED": "The search ended without a network whose error it could certify.",
    "TOO_FEW_ROWS": f"There are too few rows to tell. {_NO_BETTER}",
    "OUT_OF_TIME": f"Time ran out. {_NO_BETTER}",
}
_BUT = {
    "REPRODUCED": ", but too few rows were held out to call it recovered.",
    "NOISE_LIMITED": ". The rest looks like noise.",
    "NOT_A_SMALL_NETWORK": ". A larger network would explain more.",
    "TOO_FEW_ROWS": ", but there are too few rows to determine it: more would change it.",
    "OUT_OF_TIME": ". Time ran out before the search was over.",
}


def _percent_explained(r2: float) -> str:
    """Write an R^2 in percent, never 100 where something is left."""
    percent = 100.0 * r2
    if percent > 99.5:
        return "all" if percent > 99.9999 else f"{math.floor(100 * percent) / 100:g} %"
    return f"{percent:.0f} %"


@dataclass(frozen=True)
class Answer:
    """A question that every reader has, and the answer.

    Attributes
    ----------
    key, question, text : str
    """

    key: str
    question: str
    text: str


def answers(result: LearnResult) -> list[Answer]:
    """Answer the four questions."""
    return [
        Answer("good", "Is it any good?", _how_good(result)),
        Answer("matters", "What matters most?", what_matters(result)),
        Answer("sure", "How sure is it?", _how_sure(result)),
        Answer("next", "What next?", what_next(result)),
    ]


def warning(result: LearnResult) -> str:
    """Return what must not be overlooked: a bound that was asked for and not reached; empty where there is nothing."""
    missed = as_sentence(next(filter(is_missed_epsilon, result.diagnostics.notes), ""))
    spread = spread_below_bound(result) if missed else None
    if spread is not None:
        missed += f" Above the spread of {target_name(result)}, {number(spread)}, a bound says nothing."
    return missed


def _how_good(result: LearnResult) -> str:
    score, error = result.score, held_out_error(result)
    if not result.has_network:
        return "No network was found."
    if error is None:
        return "Unknown: no rows were held out."
    # Errors of several outputs, in units of their own, have no sum that means anything.
    typical = "" if result.network.n_outputs > 1 else f" {_typical_error(result, error)}"
    if score is None or score.r2 is None:
        return typical.strip() or "See the outputs one by one."
    others = [f"a linear fit reaches {shown_r2(score.r2_linear)}", f"the mean {shown_r2(score.r2_mean)}"]
    limit = noise_limit(result)
    if limit is not None:
        others.append(f"and noise limits any model to about {shown_r2(limit)}")
    mean = "R² (a mean over outputs)" if score.r2_each else "R²"
    return (
        f"{_yes_or_no(result)} {mean} is {shown_r2(score.r2)} on {plural(score.n_rows, 'held-out row')}; "
        f"{', '.join(others)}.{typical}"
    )


def _typical_error(result: LearnResult, error: HeldOutError) -> str:
    """Say how large errors are on held-out rows, beside what is proved and how far the labels spread."""
    spread = ""
    if error.relative:
        spread = f"; {target_name(result)} spreads by {number(error.rms / error.relative)}"
    certificate = result.certificate
    if result.status.name == "CERTIFIED" and certificate is not None:
        proved = f"proved: at most {rounded_up(certificate.error_bound)}"
        return f"The typical error: measured {number(error.rms)}; {proved}{spread}."
    return f"The typical error is {number(error.rms)}{spread}."


def _yes_or_no(result: LearnResult) -> str:
    found = headline(result)
    if not has_signal(result):
        return "No."
    is_weak = result.r2 is not None and result.r2 < _WEAK
    return "A little." if found.kind == "useful" and is_weak else "Yes."


def what_matters(result: LearnResult) -> str:
    """Name the features that the network depends on most."""
    if not result.has_network:
        return "Nothing can be said without a network."
    if not has_signal(result):
        return "Nothing can be said: the columns do not predict held-out rows."
    f = result.network
    linear = "" if f.n_hidden else " The network has no units: a linear model is enough."
    if f.n_hidden > _MOST_UNITS:
        return f"See the sensitivities: result.sensitivity().{linear}"
    found = sensitivity(result)
    if found is None:
        return f"No feature changes the prediction, or no rows were held out to tell.{linear}"
    names, totals = feature_names(result), found.totals
    leading = [
        f"{short(names[feature], _NAME)} ({100 * total:.0f} %)"
        for feature, total in zip(found.features[:_NAMED], totals, strict=False)
        if total >= _SMALLEST_SHARE
    ]
    return (
        f"{listed(leading)}: the share of the network's variation that is lost without the feature.{linear}"
    )


def _how_sure(result: LearnResult) -> str:
    certificate = result.certificate
    if certificate is None:
        return "No rows were held out, so nothing is proven."
    together = " (of all outputs together)" if certificate.per_output else ""
    return (
        f"With confidence {confidence(certificate)}, at most {percent_up(certificate.share)} of new rows have an error"
        f"{together} above {rounded_up(certificate.tolerance)}; from {plural(certificate.n_val, 'held-out row')}."
    )


def what_next(result: LearnResult) -> str:
    """Say what to do with the result."""
    if result.diagnostics.advice:
        return as_sentence(result.diagnostics.advice)
    if not result.has_network:
        return "Give more rows, or allow more units."
    return (
        "Use it: netlearn predict, or result.predict(X) in Python. When the source of the rows changes, check it again "
        "with recheck."
    )
