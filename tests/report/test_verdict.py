"""Headlines, the four answers and the short text: what a reader sees first."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn.report.verdict import KINDS, answers, headline, warning
from netlearn.report.words import number
from netlearn.result import Status
from netlearn.words import missed_epsilon, rounded_up
from tests.report.headlines import EVERY, HEADLINES
from tests.report.results import CASES, in_dimension

KIND_OF = {
    Status.RECOVERED: "recovered",
    Status.CERTIFIED: "certified",
    Status.REPRODUCED: "useful",
    Status.NOISE_LIMITED: "useful",
    Status.NOT_A_SMALL_NETWORK: "useful",
    Status.TOO_FEW_ROWS: "useful",
    Status.OUT_OF_TIME: "useful",
    Status.NO_SIGNAL: "nothing",
    Status.FAILED: "nothing",
}


@pytest.fixture(scope="module")
def learned():
    return {name: make() for name, make in EVERY.items()}


@pytest.mark.parametrize("status", Status)
def test_every_status_has_one_of_four_headlines(status):
    result = replace(in_dimension(2), status=status, message="")
    assert headline(result).kind == KIND_OF[status]
    no_better = replace(result, score=replace(result.score, beats_mean=False))
    kind = KIND_OF[status] if result.success else "nothing"
    assert headline(no_better).kind == kind
    assert headline(result).sentence.endswith(".")


@pytest.mark.parametrize("kind", HEADLINES)
def test_what_is_learned_gets_the_headline_it_deserves(learned, kind):
    found = headline(learned[kind])
    assert (found.kind, found.short) == (kind, KINDS[kind])


def test_a_reader_finds_the_four_answers(learned):
    good, matters, sure, following = (
        {name: answers(result)[place].text for name, result in learned.items()} for place in range(4)
    )
    assert all(
        good[name].startswith("Yes. R² is ") for name in ("recovered", "certified", "useful", "linear")
    )
    assert good["nothing"].startswith("No. R² is ")
    assert "a linear fit reaches" in good["useful"]
    assert "noise limits any model to about" in good["useful"]
    assert matters["useful"].startswith("rooms (")
    assert "income (" in matters["useful"]
    assert matters["nothing"].startswith("Nothing can be said")
    assert matters["linear"].endswith("a linear model is enough.")
    assert all(text.startswith("With confidence 99 %, at most ") for text in sure.values())
    assert "check that the columns" in following["nothing"].lower()
    assert following["recovered"].startswith("Use it")


def test_a_weak_fit_is_called_weak():
    result = in_dimension(2)
    weak = replace(result, score=replace(result.score, r2=0.1))
    assert headline(weak).short == "Weak fit"
    assert "explains 10 %" in headline(weak).sentence
    assert answers(weak)[0].text.startswith("A little.")


def test_almost_all_is_not_all():
    result = in_dimension(2)
    shown = [
        headline(replace(result, score=replace(result.score, r2=r2))).sentence
        for r2 in (0.996, 0.99996, 0.9999996, 1.0)
    ]
    assert [sentence.split(" of ")[0] for sentence in shown] == [
        "It explains 99.6 %",
        "It explains 99.99 %",
        "It explains all",
        "It explains all",
    ]


def test_a_missed_epsilon_is_warned_of(learned):
    assert warning(learned["useful"]).startswith(
        "An error of at most epsilon = 2 was asked for, but is not certified: the bound is "
    )
    assert warning(learned["useful"]).endswith(" Above the spread of price, 54.7, a bound says nothing.")
    assert warning(learned["certified"]) == ""
    assert missed_epsilon(0.1, float("inf"), "because") == (
        "an error of at most epsilon = 0.1 was asked for, but is not certified: because"
    )


def test_a_bound_below_the_spread_of_the_labels_says_something():
    result = in_dimension(2)
    note = missed_epsilon(0.1, result.certificate.error_bound, "")
    noted = replace(result, diagnostics=replace(result.diagnostics, notes=(note,)))
    far = result.certificate.error_bound / np.std(result.held_out.y)
    assert far < 1
    assert "says nothing" not in warning(noted)
    larger = replace(result.certificate, error_bound=1.01 / far * result.certificate.error_bound)
    assert warning(replace(noted, certificate=larger)).endswith("a bound says nothing.")
    assert warning(replace(result, certificate=larger)) == ""


def test_a_certified_error_is_said_as_measured_and_as_proved(learned):
    result = learned["certified"]
    measured = number(result.certificate.empirical_error)
    proved = rounded_up(result.certificate.error_bound)
    assert f"measured {measured}; proved: at most {proved}" in answers(result)[0].text
    assert f"is proved to be at most {proved}, as was asked for" in headline(result).sentence
    assert not any(
        "proved" in answers(learned[name])[0].text for name in ("useful", "recovered", "nothing", "linear")
    )


@pytest.mark.parametrize("name", [*CASES, *EVERY])
def test_the_repr_is_short_and_informative(learned, name):
    result = learned[name] if name in learned else CASES[name]()
    lines = repr(result).splitlines()
    assert 1 <= len(lines) <= 12
    assert result.status.name in lines[0]
    assert headline(result).short in lines[0]
    if result.network is not None:
        assert f"{result.network.n_hidden} unit" in repr(result)
    if result.score is not None and result.score.r2 is not None:
        assert "linear fit" in repr(result)
    if result.certificate is not None:
        assert len(repr(result.certificate)) < 160
        assert f"n_val={result.certificate.n_val}" in repr(result.certificate)
