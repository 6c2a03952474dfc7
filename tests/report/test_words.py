# ruff: noqa: RUF001  minus and multiplication signs are what the report writes
import math
from dataclasses import replace

import pytest

from netlearn.report.facts import facts
from netlearn.report.words import as_sentence, column, listed, number, percent, short, typeset
from netlearn.result import Status
from tests.report.results import in_dimension


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (8, "8"),
        (0.0599123, "0.0599"),
        (-1.2345, "−1.23"),
        (99.96, "100"),
        (152.3, "152"),
        (20_000, "20,000"),
        (1.5e6, "1.5×10⁶"),
        (1e-28, "10⁻²⁸"),
        (-8.683e-17, "−8.68×10⁻¹⁷"),
        (0.00099961, "10⁻³"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_numbers_are_written_for_reading(value, text):
    assert number(value) == text


def test_a_column_has_equal_decimals():
    assert column([12.3456, -0.5, 3e-9]) == ["12.35", "−0.50", "0.00"]
    assert column([2e-9, 1e-10]) == ["2×10⁻⁹", "10⁻¹⁰"]
    assert column([0.0, 0.0]) == ["0", "0"]
    assert column([1.0, math.nan]) == ["1.000", "not a number"]
    assert column([]) == []


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.1104, "11\u202f%"), (4e-15, "4×10⁻¹⁵"), (0.0, "0\u202f%"), (30.0, "30")]
)
def test_ratios_are_percent_where_that_is_readable(ratio, text):
    assert percent(ratio) == text


def test_the_facts_are_the_numbers_of_the_result():
    result = in_dimension(3)
    values = {fact.key: fact.value for fact in facts(result)}
    assert values == {
        "n-hidden": 5,
        "dimension": 3,
        "held-out-error": result.certificate.empirical_error,
        "noise-level": 0.1,
        "excess-error": 0.01,
        "rows": 4200,
        "seconds": 1.75,
    }
    other = facts(replace(result, status=Status.NOT_A_SMALL_NETWORK))
    assert next(fact.label for fact in other if fact.key == "noise-level").endswith(
        "if all that is left were noise"
    )


def test_sentences_begin_and_end_as_such():
    assert as_sentence("give more rows") == "Give more rows."
    assert as_sentence("Why?") == "Why?"
    assert as_sentence("") == ""
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert (listed(["a"]), listed([])) == ("a", "")
    assert (short("abcdef", 4), short("abcd", 4)) == ("abc…", "abcd")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("above 2.67e-15; from 8 rows", "above 2.67×10⁻¹⁵; from 8 rows"),
        ("at most 1e+20", "at most 1×10²⁰"),
        ("the mean -0.002, fold 1-2", "the mean −0.002, fold 1-2"),
        ("a column x1e-5 and 12", "a column x1e-5 and 12"),
    ],
)
def test_numbers_of_a_sentence_are_typeset(text, shown):
    assert typeset(text) == shown
