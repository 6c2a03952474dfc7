"""What a certificate says, in words that promise no more than it does."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.certify import Basis, Score, certify, moved_by, without_bound
from netlearn.network import ShallowNetwork
from netlearn.words import (
    bound_sentence,
    confidence,
    percent_up,
    rounded_up,
    score_sentence,
    share_sentence,
    shown_r2,
)


@settings(derandomize=True, deadline=None)
@given(st.floats(1e-300, 1e300))
def test_a_bound_is_never_rounded_down(bound):
    assert bound <= float(rounded_up(bound)) <= 1.0101 * bound


@settings(derandomize=True, deadline=None)
@given(st.floats(1e-12, 1.0))
def test_a_share_is_never_rounded_down(share):
    number, percent = percent_up(share).split()
    assert percent == "%"
    assert 100.0 * share <= float(number) <= 101.0 * 1.1 * share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.10301, "0.104"),
        (0.1037, "0.104"),
        (2.5, "2.5"),
        (0.0, "0"),
        (1.2341e-16, "1.24e-16"),
        (9.991, "10"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_rounded_up(value, text):
    assert rounded_up(value) == text
    assert value <= float(text) <= value * 1.011


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.500"),
        (0.91234, "0.912"),
        (0.99, "0.990"),
        (0.9949, "0.9949"),
        (0.999987, "0.999987"),
        (1.0 - 1e-12, "1"),
        (1.0, "1"),
        (-0.004, "-0.004"),
        (-12.0, "below -10"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_a_share_of_variance_shows_how_far_it_is_from_one(value, text):
    assert shown_r2(value) == text


@pytest.fixture
def certificate():
    network = ShallowNetwork(np.zeros(2), np.array([1.0]), np.eye(2)[:1])
    X = np.random.default_rng(0).standard_normal((400, 2))
    return certify(network, X, network(X) + 0.2504, failure_prob=0.01, basis=Basis("N(0, I)", 1.0))


def test_the_share_is_said_with_its_tolerance_confidence_and_rows(certificate):
    assert share_sentence(certificate) == (
        "with confidence 99 %, at most 1.2 % of new rows have an error above 0.251; from 400 held-out rows"
    )
    several = replace(certificate, per_output=(certificate,))
    assert "have an error (all outputs together) above" in share_sentence(several)


def test_the_bound_is_said_with_what_it_counts(certificate):
    bound = rounded_up(certificate.error_bound)
    plain = f"at most {bound} with confidence 99 %; from 400 held-out rows"
    assert bound_sentence(certificate) == f"root mean square error {plain}"
    noisy = replace(certificate, basis=replace(certificate.basis, noisy=True))
    assert bound_sentence(noisy) == f"root mean square error, label noise included, {plain}"
    moved = bound_sentence(moved_by(replace(certificate, n_val=100), 0.0312))
    assert moved.endswith(
        "; from 400 held-out rows, 300 of which joined the last fit afterwards; what it changed adds 0.031"
    )
    assert rounded_up(certificate.error_bound + 0.0312) in moved
    assert bound_sentence(without_bound(certificate, "nobody knows why")) == (
        "no bound on the root mean square error: nobody knows why"
    )


@pytest.mark.parametrize(
    ("value", "text"), [(0.99, "99 %"), (1 - 1e-6, "99.9999 %"), (1 - 0.05 / 3, "98.3 %")]
)
def test_the_confidence_is_in_percent(certificate, value, text):
    assert confidence(replace(certificate, confidence=value)) == text


def test_a_score_is_called_an_estimate():
    score = Score(50, 0.75, 0.5, -0.01, 0.1234, 0.0056, True)
    assert score_sentence(score) == (
        "R2 0.750 (linear fit 0.500, mean -0.010); root mean square error 0.123 ± 0.006, estimated on 50 held-out rows"
    )
    alone = Score(1, None, None, None, 0.5, math.inf, False)
    assert score_sentence(alone) == "root mean square error 0.5, estimated on 1 held-out rows"
