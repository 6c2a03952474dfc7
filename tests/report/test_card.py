import subprocess
import sys
from dataclasses import replace

import pytest

from netlearn import teachers
from netlearn.report import card_html
from netlearn.report.page import page_html
from netlearn.report.verdict import answers, headline
from netlearn.result import Status
from netlearn.words import rounded_up
from tests.report.results import CASES, in_dimension, made
from tests.report.test_page import Reader


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_result_has_a_card(name):
    result = CASES[name]()
    page = Reader(result._repr_html_())
    assert result._repr_html_() == card_html(result)
    assert result.status.name in page.text
    assert "style" not in page.tags


def test_the_card_says_what_the_first_screen_of_the_report_says():
    result = made(teachers.random(12, 4, 0, biases=1.0), names=("age", "height", "weight", "dose"))
    card, page = (" ".join(Reader(html).text.split()) for html in (card_html(result), page_html(result)))
    place = 0
    for words in (headline(result).sentence, *(one.text for one in answers(result))):
        assert words in page.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
        place = card.index(words, place)  # in the same order


def test_the_card_lists_the_bounds_of_several_outputs():
    result = CASES["one output constant"]()
    text = Reader(card_html(result)).text
    assert "have an error (of all outputs together) above" in text
    for name, own in zip(result.output_names, result.certificate.per_output, strict=True):
        assert name in text
        assert own.empirical_error == 0 or f"{own.empirical_error:.4g}" in text
        assert own.tolerance == 0 or rounded_up(own.tolerance) in text
        assert rounded_up(own.error_bound) in text
    many = Reader(card_html(CASES["many outputs"]())).text
    assert "The worst 12, and 48 more." in many
    assert len(many) < 4000


def test_nothing_that_was_found_is_interpreted_where_there_is_no_signal():
    result = replace(in_dimension(2), names=tuple("abcdefgh"))
    shown, nothing = (
        " ".join(Reader(card_html(replace(result, status=status, message=""))).text.split())
        for status in (Status.NOISE_LIMITED, Status.NO_SIGNAL)
    )
    assert "lost without the feature" in shown
    assert "Nothing found." in nothing
    assert "lost without the feature" not in nothing


def test_the_card_needs_neither_matplotlib_nor_jinja():
    code = (
        "import sys; from tests.report.results import in_dimension; in_dimension(2)._repr_html_(); "
        "print([m for m in ('matplotlib', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
