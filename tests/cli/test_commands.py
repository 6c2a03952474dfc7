"""The commands as a shell sees them: stdout, stderr and exit code of `main`."""

import json
import sys

import pytest

from netlearn import __version__, cli, teachers
from netlearn.errors import MissingExtraError
from netlearn.paper import Schedule


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process; gives (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["netlearn", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return call


def test_version(run):
    assert run("--version") == (0, f"netlearn {__version__}\n", "")


@pytest.mark.parametrize("command", [(), ("demo",), ("plan",)])
def test_every_help_page_fits_the_terminal_and_ends_with_a_command_to_type(run, command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert f"netlearn {' '.join(command)}" in out.strip().splitlines()[-1]


def test_demo_learns_and_shows_its_evidence(run):
    code, out, err = run("demo", "--seed", "1")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for words in (
        "M_2",
        "M_4, g_8",
        "noise",
        "stand out",
        "sine",
        "error",
        "certificate",
        "CERTIFIED",
        "10^160",
    ):
        assert words in out


def test_demo_as_json_is_one_object_that_tells_the_same(run):
    code, out, err = run("demo", "--seed", "1", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    learned = answer["paper"]
    assert learned["exact_error"] <= learned["certificate"]["error_bound"] <= answer["epsilon"]
    assert learned["success"]
    assert learned["subspace_dimension"] == 2
    assert learned["sine_to_planted"] < 0.1
    assert learned["spectra"][0]["n_standing_out"] == 2
    assert len(learned["network"]["units"]) == len(answer["target"]["units"]) == 2


def test_the_seed_decides(run):
    def target(seed):
        return json.loads(run("demo", "--seed", seed, "--json")[1])["target"]

    assert target("2") == target("2") != target("3")


def test_what_was_not_certified_ends_with_code_three(run, monkeypatch):
    # Six neurons in six directions are more than the two that the demonstration allows its learner.
    monkeypatch.setattr(
        teachers, "hard_plane", lambda k, d, rng, radius: teachers.orthonormal(d, d, rng, radius=radius)
    )
    code, out, _ = run("demo", "--json")
    learned = json.loads(out)["paper"]
    assert code == 3
    assert learned["status"] == "FAILED"
    assert learned["network"] is learned["certificate"] is learned["exact_error"] is None
    code, out, _ = run("demo")
    assert code == 3
    assert "FAILED" in out


def test_plan_prints_theory_beside_practice(run):
    code, out, err = run("plan", "-k", "2", "-d", "10", "--epsilon", "0.1", "--radius", "1")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for symbol in (
        "tau",
        "xi",
        "Delta",
        "eta'",
        "nu",
        "eta",
        "N",
        "N_val",
        "|N_u|",
        "|N_lambda|",
        "candidates",
    ):
        assert any(line.split()[:1] == [symbol] for line in out.splitlines()), symbol
    assert "10^170.4" in out
    assert "1,228,800" in out


def test_plan_as_json_holds_the_schedules(run):
    problem = (30, 3, 0.2, 1.5)
    code, out, _ = run("plan", "-d", "30", "-k", "3", "--epsilon", "0.2", "--radius", "1.5", "--json")
    answer = json.loads(out)
    assert code == 0
    for origin, make in (("theory", Schedule.from_theory), ("practical", Schedule.practical)):
        schedule = make(*problem)
        for name, value in answer[origin]["log10"].items():
            assert value == getattr(schedule, f"log10_{name}")
        assert tuple(answer[origin]["orders"]) == schedule.orders


@pytest.mark.parametrize(
    ("arguments", "runnable", "words"),
    [
        (("-k", "2", "-d", "6", "--epsilon", "0.25", "--radius", "2"), True, None),
        (("-k", "3", "-d", "6", "--epsilon", "0.25", "--radius", "2"), False, "candidates"),
        (("-k", "2", "-d", "6", "--epsilon", "0.001", "--radius", "2"), False, "rows"),
    ],
)
def test_plan_says_what_can_run(run, arguments, runnable, words):
    answer = json.loads(run("plan", *arguments, "--json")[1])
    assert not answer["theory"]["runnable"]
    assert answer["practical"]["runnable"] is runnable
    assert words is None or words in answer["practical"]["obstacle"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("plan", "-k", "0", "-d", "10"), '"n_hidden" of a schedule must be at least 1, got 0.'),
        (
            ("plan", "-k", "2", "-d", "10", "--epsilon", "3"),
            '"epsilon" of a schedule must be in (0, 1], got 3.0.',
        ),
        (
            ("plan", "-k", "2", "-d", "10", "--radius", "nan", "--json"),
            '"R" of a schedule must be at least 1',
        ),
    ],
)
def test_bad_input_gets_one_sentence_on_stderr(run, arguments, sentence):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"netlearn: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "refusal",
    [FileNotFoundError(2, "No such file", "model"), MissingExtraError("pyarrow", "files", "Reading Parquet")],
)
def test_what_commands_refuse_is_said_without_a_traceback(run, monkeypatch, refusal):
    def refuse(seed):
        raise refusal

    monkeypatch.setattr("netlearn.cli.demo.answer", refuse)
    assert run("demo") == (2, "", f"netlearn: {refusal}\n")


@pytest.mark.parametrize("arguments", [("plan", "-k", "2"), ("demo", "--seed", "-1"), ("nonsense",)])
def test_wrong_usage_ends_with_code_two(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Error" in err
