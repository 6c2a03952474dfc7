"""What `netlearn learn` prints for people: headline, formula, what matters, a missed epsilon; and lines of progress."""

import io
import re
import sys
import time
from dataclasses import replace

import pytest
from rich.console import Console

from netlearn.cli import learning, progress
from netlearn.result import Status
from netlearn.run import Progress
from tests.report.headlines import linear, nothing, useful
from tests.report.results import CASES, in_dimension, made


@pytest.fixture(scope="module")
def learned():
    return {"useful": useful(), "nothing": nothing(), "linear": linear()}


def printed(result, written=None):
    console = Console(width=100, file=io.StringIO())
    console.print(learning.result_view(result, written or {}, {}))
    return " ".join(console.file.getvalue().split())


def test_the_headline_comes_first_and_a_missed_epsilon_beneath_it(learned):
    text = printed(learned["useful"])
    assert text.startswith(
        "Useful fit. It explains 86 % of the variation of price in rows it has never seen."
    )
    missed = "epsilon = 2 was asked for, but is not certified: the bound is "
    assert text.index(missed) < text.index("NOISE_LIMITED")
    assert "times as large." in text
    assert text.count("not certified") == 1


def test_a_small_network_is_a_formula_with_the_columns_names(learned):
    text = printed(learned["useful"])
    assert "formula price = " in text
    assert text.count("relu(") == 2
    assert "*income" in text
    assert re.search(r"matters \w+ \(\d+ %\), \w+ \(\d+ %\) and \w+ \(\d+ %\)", text)
    assert "noise limits any model to an R2 of about 0.87" in text
    assert "formula" not in printed(made(CASES["many units"]().network))


def test_nothing_found_is_said_and_nothing_told_of_it(learned):
    text = printed(learned["nothing"])
    assert text.startswith("Nothing found. ")
    assert "NO_SIGNAL" in text
    assert not any(words in text for words in ("formula", "matters", "noise standard", "income"))
    assert text.endswith(
        "next check that the columns have to do with what is to be predicted, or give more rows"
    )


def test_a_linear_model_is_enough_where_it_is(learned):
    text = printed(learned["linear"])
    assert "a linear model is enough" in text
    assert "relu" not in text


@pytest.mark.parametrize("status", Status)
def test_every_status_can_be_printed(status):
    text = printed(replace(in_dimension(2), status=status, message=""), {"model": "m.safetensors"})
    assert status.name in text


def test_without_a_terminal_a_line_tells_where_the_run_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.05)
    display = progress.Display("Learning t.csv")
    display(Progress("fit", "fitting \x1b[31m all rows", 0.0))
    with progress.showing(display):
        end = time.monotonic() + 20
        while time.monotonic() < end and not (err := capsys.readouterr().err):
            time.sleep(0.02)
    line = err.splitlines()[0]
    assert line.startswith("netlearn: Learning t.csv (")
    assert line.endswith(r"s): refine, fitting \x1b[31m all rows")
    time.sleep(0.2)
    written = capsys.readouterr().err.count("\n")
    time.sleep(0.2)
    assert capsys.readouterr().err == ""  # it ends with the block
    assert written <= 5


def test_a_run_that_fails_stops_the_lines(monkeypatch):
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with pytest.raises(RuntimeError), progress.showing(progress.Display("Learning")):
        raise RuntimeError
    written = sys.stderr.getvalue()
    time.sleep(0.05)
    assert sys.stderr.getvalue() == written
