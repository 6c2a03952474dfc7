"""Numbers of a run in, status and words out."""

import math
from dataclasses import replace

import pytest

from netlearn.outcome import Evidence, outcome
from netlearn.result import Status

RECOVERED = Evidence(
    n_features=5,
    n_hidden=2,
    asked=2,
    n_rows=300,
    n_distinct=300,
    n_train=280,
    unknowns=18,
    least_unknowns=18,
    loss=1e-30,
    exact=True,
    n_off=0,
    n_fresh=100,
    share=0.045,
    tolerance=1.2345e-15,
    failure_prob=0.01,
    error_bound=0.1,
    beats_mean=True,
)
NOISY = replace(RECOVERED, loss=0.1, exact=False, n_off=100, tolerance=0.5)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, Status.RECOVERED),
        ({"share": 0.0501}, Status.REPRODUCED),
        ({"n_distinct": 18}, Status.TOO_FEW_ROWS),
        ({"active": (3,)}, Status.TOO_FEW_ROWS),
        ({"contradicted": (7, 9)}, Status.TOO_FEW_ROWS),
        ({"contradicted": (7, 9), "robust": True}, Status.RECOVERED),
        ({"n_off": 2}, Status.TOO_FEW_ROWS),
        ({"exact": False, "loss": 1e-8, "rounded": "multiples of 0.01"}, Status.RECOVERED),
        ({"exact": False, "loss": 1e-8}, Status.NOISE_LIMITED),
        ({"epsilon": 0.01}, Status.RECOVERED),  # reproduces all rows, whatever bound was asked for
    ],
)
def test_labels_that_are_met(change, status):
    assert outcome(replace(RECOVERED, **change)).status is status


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, Status.NOISE_LIMITED),
        ({"epsilon": 0.1}, Status.CERTIFIED),
        ({"epsilon": 0.0999}, Status.NOISE_LIMITED),
        ({"epsilon": 0.1, "n_copies": 11}, Status.NOISE_LIMITED),
        ({"epsilon": 0.1, "timed_out": True}, Status.CERTIFIED),
        ({"timed_out": True}, Status.OUT_OF_TIME),
        ({"timed_out": True, "more_units_help": True}, Status.OUT_OF_TIME),
        ({"timed_out": True, "beats_mean": False}, Status.OUT_OF_TIME),
        ({"n_train": 18}, Status.TOO_FEW_ROWS),
        ({"more_units_help": True}, Status.NOT_A_SMALL_NETWORK),
        ({"more_units_help": None}, Status.TOO_FEW_ROWS),
        ({"overfitted": True}, Status.TOO_FEW_ROWS),
        ({"overfitted": True, "more_units_help": True}, Status.NOT_A_SMALL_NETWORK),
        ({"beats_mean": False}, Status.NO_SIGNAL),
        ({"beats_mean": False, "more_units_help": None}, Status.NO_SIGNAL),
        ({"beats_mean": False, "n_fresh": 4}, Status.TOO_FEW_ROWS),
        ({"beats_mean": False, "more_units_help": True}, Status.NOT_A_SMALL_NETWORK),
        ({"repeats": True}, Status.NOT_A_SMALL_NETWORK),
        ({"repeats": True, "loss": 1e-5, "active": (3,)}, Status.NOT_A_SMALL_NETWORK),
        ({"repeats": True, "loss": 1e-5, "active": (3,), "n_off": 40}, Status.TOO_FEW_ROWS),
        ({"repeats": True, "loss": 1e-5, "active": (3,), "n_train": 80}, Status.TOO_FEW_ROWS),
        ({"repeats": True, "loss": 1e-5, "contradicted": (7,)}, Status.TOO_FEW_ROWS),
        ({"loss": 1e-5, "active": (3,)}, Status.TOO_FEW_ROWS),
        ({"loss": 1e-3, "active": (3,)}, Status.NOISE_LIMITED),
    ],
)
def test_labels_that_are_not(change, status):
    assert outcome(replace(NOISY, **change)).status is status


def test_the_message_of_a_recovered_network_states_its_share():
    message = outcome(RECOVERED).message
    assert "at most 4.5 % of new rows differ by more than 1.24e-15 (100 held-out rows)" in message
    assert "confidence 99 %" in message
    assert outcome(RECOVERED).advice == ""


def test_a_reproduced_network_says_how_many_rows_would_do():
    seen = outcome(replace(RECOVERED, share=0.2, n_fresh=20))
    assert "give about 180 rows, or hold out 90" in seen.advice  # 90 + 5 * 18
    assert "at most 20 % of new rows" in seen.message


def test_whoever_overfits_is_told_to_give_more_rows_than_there_are():
    seen = outcome(replace(NOISY, overfitted=True))
    assert seen.advice == "give about 600 rows"


def test_a_certified_network_names_bound_and_epsilon():
    message = outcome(replace(NOISY, epsilon=0.25)).message
    assert "The bound is 0.1, epsilon 0.25" in message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0.01}, "epsilon = 0.01 was asked for, but is not certified: the bound is 0.1"),
        (
            {"epsilon": 0.01, "error_bound": math.inf, "why_no_bound": "because"},
            "epsilon = 0.01 was asked for, but is not certified: because",
        ),
        ({"n_hidden": 0, "asked": "auto"}, "a linear model is enough"),
        ({"n_distinct": 200}, "only 200 of 300 rows differ"),
        ({"n_copies": 50}, "50 of the 100 held-out rows are copies"),
        ({"departure": 7.0}, "the inputs are not Gaussian"),
        ({"freedom": 3.25}, "leaves 3.2 of the unknowns free"),
        ({"active": (3, 1)}, "2 of the units switch on so few rows"),
        ({"contradicted": (4, 8)}, "2 rows contradict the 2 units"),
        ({"contradicted": (4, 8), "robust": True}, "contradicts: 4, 8"),
    ],
)
def test_notes(change, words):
    assert any(words in note for note in outcome(replace(NOISY, **change)).notes)
    assert not any(words in note for note in outcome(NOISY).notes)


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({}, "use it as it is: nearly all that is left is noise"),  # P/N = 0.06
        ({"n_distinct": 3000, "n_rows": 3000}, "use it as it is"),
        ({"n_distinct": 60}, "the error on new rows would fall by about 12 %"),  # 1 - 1 / sqrt(1.3)
        ({"freedom": 3.25}, "give more rows if you can: they lower the network's own error"),
    ],
)
def test_more_rows_are_asked_for_only_where_they_would_lower_the_error(change, advice):
    ended = outcome(replace(NOISY, **change))
    assert ended.status is Status.NOISE_LIMITED
    assert advice in ended.advice
    assert ended.advice.startswith("use it") or "give more rows if you can" in ended.advice


def test_rows_that_new_ones_contradict_are_counted():
    ended = outcome(replace(RECOVERED, n_off=2))
    assert any("2 of the 100 held-out rows are not reproduced" in note for note in ended.notes)
    assert "1,200 rows" in ended.advice  # 4 (d + 1) rows of such a kind, at the rate seen


def test_units_that_were_asked_for_and_not_seen():
    notes = outcome(replace(RECOVERED, asked=5)).notes
    assert any("3 of the 5 units asked for are not seen" in note for note in notes)


def test_labels_of_few_digits_are_named():
    single = outcome(replace(RECOVERED, single_precision=3e-7)).notes
    assert any("single precision" in note for note in single)
    rounded = outcome(replace(NOISY, n_off=0, rounded="multiples of 0.01")).notes
    assert any("the labels are multiples of 0.01" in note for note in rounded)


def test_nothing_found_is_no_linear_model():
    notes = outcome(replace(NOISY, n_hidden=0, beats_mean=False)).notes
    assert not any("linear model" in note for note in notes)


@pytest.mark.parametrize(
    "status", ["NOISE_LIMITED", "NO_SIGNAL", "NOT_A_SMALL_NETWORK", "OUT_OF_TIME", "TOO_FEW_ROWS"]
)
def test_whatever_did_not_succeed_comes_with_advice(status):
    change = {
        "NOISE_LIMITED": {},
        "NO_SIGNAL": {"beats_mean": False},
        "NOT_A_SMALL_NETWORK": {"more_units_help": True},
        "OUT_OF_TIME": {"timed_out": True},
        "TOO_FEW_ROWS": {"more_units_help": None},
    }[status]
    ended = outcome(replace(NOISY, **change))
    assert ended.status.name == status
    assert ended.advice
