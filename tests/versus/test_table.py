"""Medians, successes and where a rival is better, on lines written by hand."""

import math

import pytest

from benchmarks.versus.table import markdown, not_first, summary

FAMILY, NOISY = "random 3/20", "random 5/50 noise 0.1"


def record(family, method, seed, error, seconds, seconds_to, failure="", sine=None):
    return {
        "family": family,
        "method": method,
        "seed": seed,
        "limit": 30.0 if method == "xrfm" else 60.0,
        "N": 10_000,
        "noise": 0.1 if family == NOISY else 0.0,
        "error": error,
        "sine": sine,
        "seconds": seconds,
        "seconds_to_1e-3": seconds_to,
        "failure": failure,
        "hardware": "H",
        "versions": "V",
        "commit": "C",
    }


RECORDS = [
    record(FAMILY, "learn", 0, 1e-15, 0.5, 0.5, sine=1e-14),
    record(FAMILY, "learn", 1, 3e-15, 0.7, 0.7, sine=1e-14),
    record(FAMILY, "learn", 2, 2e-3, 0.6, None, sine=0.5),
    record(FAMILY, "variable projection", 0, 1e-9, 2.0, 0.1),
    record(FAMILY, "variable projection", 1, 1e-9, 3.0, 0.2),
    record(FAMILY, "variable projection", 2, 1e-3, 4.0, 4.0),
    record(FAMILY, "xrfm", 0, 0.1, 9.0, None),
    record(FAMILY, "xrfm", 1, None, 30.0, None, "time"),
    record(FAMILY, "xrfm", 2, None, 30.0, None, "time"),
    record(FAMILY, "SIR", 0, None, 0.1, None, sine=0.2),
    record(NOISY, "least squares from the truth", 0, 0.010, 1.0, None),
    record(NOISY, "learn", 0, 0.0109, 1.0, None),
    record(NOISY, "variable projection", 0, 0.0111, 1.0, None),
]


@pytest.fixture(scope="module")
def lines():
    return {(line.family, line.method): line for line in summary(RECORDS)}


def test_medians_and_successes(lines):
    ours = lines[FAMILY, "learn"]
    assert (ours.error, ours.n_reached, ours.n_fits, ours.seconds, ours.seconds_to) == (3e-15, 2, 3, 0.6, 0.7)
    assert lines[FAMILY, "variable projection"].n_reached == 3


def test_a_failure_counts_as_an_infinite_error(lines):
    line = lines[FAMILY, "xrfm"]
    assert (line.error, line.seconds_to, line.failure) == (math.inf, math.inf, "time")
    assert line.cells == ("xrfm", "time", "0/3", "30", "")


def test_under_noise_success_is_measured_by_the_limit_on_the_same_rows(lines):
    assert lines[NOISY, "learn"].n_reached == 1
    assert lines[NOISY, "variable projection"].n_reached == 0


def test_it_says_where_a_rival_is_better():
    assert not_first(summary(RECORDS)) == [
        f"{FAMILY}: variable projection, 3 successes against 2, 0.20 s to 1e-3 against 0.70"
    ]


def test_an_error_at_rounding_level_is_a_tie_and_a_larger_one_is_not():
    def said(ours):
        records = [
            record(FAMILY, "learn", 0, ours, 1.0, 1.0),
            record(FAMILY, "least_squares", 0, 1e-15, 2.0, 2.0),
        ]
        return not_first(summary(records))

    assert said(1e-8) == []
    assert said(1e-6) == [f"{FAMILY}: least_squares, error 1.00e-15 against 1.00e-06"]


def test_the_page_holds_every_number():
    text = markdown(RECORDS)
    assert text.startswith("Seeds 0 to 2; a fit may take 30 or 60 seconds.")
    assert f"| {FAMILY} | 2/3 | 3/3 | 0/3 |" in text
    assert f"### {FAMILY}, 10,000 rows" in text
    assert "| learn | 3.0e-15 | 2/3 | 0.60 | 0.70 |" in text
    assert "| median sine of the largest angle | learn | SIR | SAVE | PHD |" in text
    assert f"| {FAMILY} | 1.0e-14 | 2.0e-01 |  |  |" in text
    assert "13 fits: H; V; commit C" in text
