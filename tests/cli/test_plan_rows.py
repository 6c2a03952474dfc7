"""`netlearn plan --rows` on a machine whose rates are known."""

import json

import pytest

from netlearn.backend.calibrate import Rates
from netlearn.cli import plan_rows
from netlearn.cli.plan_rows import amount, duration, whole_number

ARGUMENTS = ("plan", "--rows", "1e9", "--features", "1000", "--hidden", "10")


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Half a gigabyte from disk in a second; everything else is fast."""
    asked = []

    def calibrate(width, path):
        asked.append((width, path))
        return Rates(wide=1e12, narrow=1e12, memory=1e12, disk=5e8)

    monkeypatch.setattr(plan_rows, "calibrate", calibrate)
    return asked


def test_time_is_that_of_reading_the_rows_twice(run, machine):
    code, out, err = run(*ARGUMENTS, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert machine == [(11, None)]
    # Twice 10^9 rows of 1,001 numbers of 8 bytes; all else is below two seconds at these rates.
    assert found["seconds"] == pytest.approx(2 * 8 * 1001 * 1e9 / 5e8, abs=2.0)
    assert found["seconds"] == pytest.approx(sum(part["seconds"] for part in found["passes"]))
    assert found["bottleneck"] == "disk"
    assert found["n_passes"] == 2
    assert found["n_unknowns"] == 11 * 1001
    assert found["least_rows"] == 18_392
    assert found["enough_rows"] is True
    assert found["rates"]["disk"] == 5e8


def test_what_a_person_is_shown_fits_the_terminal(run):
    code, out, err = run(*ARGUMENTS)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for words in (
        "N = 1,000,000,000, d = 1,000, k = 10",
        "8.0 TB",
        "4.4 h",
        "about 8.9 h",
        "at least 18,392",
    ):
        assert words in out
    assert "read 2 times" in out
    assert "limited by reading from disk" in out
    assert "500 MB/s from disk" in out


def test_workers_share_the_reading(run):
    found = json.loads(run(*ARGUMENTS, "--workers", "100", "--json")[1])
    assert found["seconds"] == pytest.approx(2 * 8 * 1001 * 1e9 / 5e8 / 100, abs=2.0)
    out = run(*ARGUMENTS, "--workers", "100")[1]
    assert "on 100 workers" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_file_to_read_is_passed_on(run, machine, tmp_path):
    run(*ARGUMENTS, "--data", tmp_path)
    assert machine == [(11, str(tmp_path))]


@pytest.mark.parametrize(
    ("rows", "features", "words"),
    [("1e4", "1000", "too few: at least 18,392"), ("1e9", "10000", "20,000 rows that are held are too few")],
)
def test_too_few_rows_are_said_to_be_so(run, rows, features, words):
    arguments = ("plan", "--rows", rows, "--features", features, "--hidden", "10")
    assert words in " ".join(run(*arguments)[1].split())
    assert json.loads(run(*arguments, "--json")[1])["enough_rows"] is False


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--rows", "many"), '"rows" of a plan must be a whole number such as 20000 or 1e9, got "many".'),
        (("--rows", "2.5"), '"rows" of a plan must be a whole number such as 20000 or 1e9, got "2.5".'),
        (("--rows", "inf"), '"rows" of a plan must be a whole number such as 20000 or 1e9, got "inf".'),
        (("--rows", "nan"), '"rows" of a plan must be a whole number such as 20000 or 1e9, got "nan".'),
        (("--rows", "-5"), '"n_rows" of a plan must be at least 4, got -5.'),
        (("--rows", "1e6", "--workers", "0"), '"workers" of a plan must be at least 1, got 0.'),
        (("--rows", "1e6", "--hidden", "0"), '"n_hidden" of a plan must be at least 1, got 0.'),
        (("--rows", "1e6", "--features", "-1"), '"n_features" of a plan must be at least 1, got -1.'),
        (
            ("--rows", "1e6", "--epsilon", "0.1"),
            '"epsilon" of a plan belongs to Algorithm 1 and must be left out with --rows, got 0.1.',
        ),
        (("--workers", "3"), '"workers" of a plan needs --rows, got 3.'),
        (("--data", "x"), '"data" of a plan needs --rows, got x.'),
    ],
)
def test_bad_values_get_one_sentence(run, arguments, sentence):
    assert run("plan", "-d", "10", "-k", "2", *arguments) == (2, "", f"netlearn: {sentence}\n")


def test_without_rows_it_is_the_plan_of_algorithm_1(run, machine):
    code, out, _ = run("plan", "--features", "10", "--hidden", "2", "--json")
    assert code == 0
    assert json.loads(out)["epsilon"] == 0.1
    assert machine == []


@pytest.mark.parametrize(
    ("text", "value"), [("1e9", 10**9), ("20_000", 20_000), ("7", 7), ("1e12", 10**12), (" 5 ", 5)]
)
def test_numbers_of_rows(text, value):
    assert whole_number(text) == value


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "B", ""),
        (512, "B", "512 B"),
        (999.4, "", "999"),
        (999.6, "", "1.0 k"),
        (8.04e12, "B", "8.0 TB"),
        (44e12, "", "44 T"),
        (3e21, "B", "3,000 EB"),
    ],
)
def test_amounts(value, unit, text):
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "< 0.1 s"), (3.21, "3.2 s"), (89, "89.0 s"), (150, "2.5 min"), (9000, "2.5 h"), (4e6, "46 days")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
