"""The commands as a shell sees them: stdout, stderr and exit code of `main`."""

import json
from importlib import import_module

import numpy as np
import pytest

from netlearn import ShallowNetwork, __version__, teachers
from netlearn.errors import InputError, MissingExtraError
from netlearn.paper import Schedule

cli_demo = import_module("netlearn.cli.demo")  # netlearn.cli.demo itself is the command


def test_version(run):
    assert run("--version") == (0, f"netlearn {__version__}\n", "")


COMMANDS = ("demo", "plan", "learn", "predict", "explain", "recheck", "extract", "export", "report")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
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
        "kept",
        "rank of |label|",
        "sine",
        "error",
        "share",
        "bound",
        "CERTIFIED",
        "RECOVERED",
        "d^Omega(k)",
        "10^3493.0",
        "Side by side",
    ):
        assert words in out


@pytest.fixture(scope="module")
def demonstration():
    return cli_demo.answer(1)


@pytest.fixture
def demo(run, monkeypatch, demonstration):
    """The JSON object of one demonstration, as it comes out of the command."""
    monkeypatch.setattr(cli_demo, "answer", lambda seed, tell: demonstration)
    code, out, err = run("demo", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_demo_as_json_tells_of_algorithm_1(demo):
    learned = demo["paper"]
    assert learned["exact_error"] <= learned["certificate"]["error_bound"] <= learned["epsilon"]
    assert learned["success"]
    assert learned["subspace_dimension"] == 2
    assert learned["sine_to_planted"] < 0.1
    assert learned["spectra"][0]["n_kept"] == 2
    assert len(learned["network"]["units"]) == len(learned["target"]["units"]) == 2
    assert learned["theory_log10_rows"] == Schedule.from_theory(6, 2, 0.25, 2.0).log10_N


def test_demo_as_json_tells_of_the_practical_learner(demo):
    learned = demo["learn"]
    assert learned["status"] == "RECOVERED"
    assert learned["subspace_dimension"] == 2
    assert np.shape(learned["subspace"]) == (50, 2)
    assert learned["sine_to_planted"] < 1e-10
    assert learned["relative_error"] < 1e-10
    assert len(learned["network"]["units"]) == len(learned["target"]["units"]) == 8
    assert sum(learned["rows"].values()) == learned["n_rows"] == 20_000
    assert learned["trace"][-1] < 1e-18 < learned["trace"][0]
    assert learned["noise_level"] is learned["excess_error"] is None
    assert learned["departure"] > 0
    kept = {spectrum["name"]: spectrum["n_kept"] for spectrum in learned["spectra"]}
    assert kept["label"] == 0
    assert kept["rank of |label|"] == 2


def test_demo_says_what_algorithm_1_would_need(demo):
    needed = demo["learn"]["algorithm_1"]
    schedule = Schedule.from_theory(50, 8, needed["epsilon"], 1.0)
    assert needed["log10_rows"] == schedule.log10_N > 1000
    assert needed["highest_degree"] == 2 * 8**2 + 2
    norm = ShallowNetwork(**demo["learn"]["target"]).norm()
    assert needed["epsilon"] == pytest.approx(needed["relative_error"] * norm)


def test_the_moments_that_demo_calls_zero_are_zero():
    target = teachers.hard_plane(8, 50, 0)
    g = np.random.default_rng(0).standard_normal(50)
    for ell in range(2, 9, 2):
        weights = target.coefficients * (target.units @ g / np.linalg.norm(target.units @ g)) ** (ell - 2)
        M_ell = np.einsum("i,ij,il->jl", weights, target.units, target.units)
        assert (np.linalg.norm(M_ell) < 1e-12) == (ell < 8)


def test_the_seed_decides(monkeypatch):
    # Smaller than the demonstration, as only its use of the seed is at stake.
    monkeypatch.setattr(cli_demo, "N_FEATURES", 5)
    monkeypatch.setattr(cli_demo, "N_ROWS", 2_000)

    def learned(seed):
        found = cli_demo.answer(seed).data
        return [found[key][of] for key in ("paper", "learn") for of in ("target", "network")]

    assert learned(2) == learned(2)
    assert all(one != other for one, other in zip(learned(2), learned(3), strict=True))


@pytest.mark.parametrize("failing", ["paper", "learn"])
def test_what_was_not_certified_ends_with_code_three(run, monkeypatch, failing):
    planted = teachers.hard_plane

    def plant(k, d, rng, radius=1.0):
        if (k == 2) == (failing == "paper"):
            # More neurons than the brute force allows, or than these few rows can show.
            return teachers.orthonormal(d, d, rng, radius=radius)
        return planted(k, d, rng, radius=radius)

    monkeypatch.setattr(teachers, "hard_plane", plant)
    monkeypatch.setattr(cli_demo, "N_FEATURES", 12)
    monkeypatch.setattr(cli_demo, "N_ROWS", 80 if failing == "learn" else 4_000)
    code, out, _ = run("demo", "--json")
    answer = json.loads(out)
    assert code == 3
    assert {key: answer[key]["success"] for key in ("paper", "learn")} == {
        key: key != failing for key in ("paper", "learn")
    }
    if failing == "paper":
        learned = answer["paper"]
        assert learned["status"] == "FAILED"
        assert learned["network"] is learned["certificate"] is learned["exact_error"] is None
    code, out, _ = run("demo")
    assert code == 3
    assert answer[failing]["status"] in out


def test_demo_tells_where_it_is():
    heard = []
    cli_demo.learn_in_practice(np.random.default_rng(0), heard.append)
    steps = [news.split(":")[0] for news in heard]
    assert steps[0] == "read"
    assert {"subspace", "search", "refine", "check"} <= set(steps)


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
    assert "10^170.9" in out
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
        (("-k", "3", "-d", "6", "--epsilon", "0.25", "--radius", "2"), True, None),
        (("-k", "2", "-d", "6", "--epsilon", "0.001", "--radius", "2"), False, "rows"),
    ],
)
def test_plan_says_what_can_run(run, arguments, runnable, words):
    answer = json.loads(run("plan", *arguments, "--json")[1])
    assert not answer["theory"]["runnable"]
    assert answer["practical"]["runnable"] is runnable
    assert words is None or words in answer["practical"]["obstacle"]


def test_plan_claims_what_is_proved_and_no_more(run):
    _, out, _ = run(
        "plan", "-k", "3", "-d", "6", "--epsilon", "0.25", "--radius", "2", "--failure-prob", "0.07"
    )
    text = " ".join(out.split())
    assert "Proved to end with a certified network but for a probability of 0.07, 0.01 for each of:" in text
    assert "Nothing is proved before the run" in text
    assert "comes back CERTIFIED is within epsilon but for 0.005." in text
    assert "FAILED after the whole net excludes, but for 0.02," in text
    assert "sets of directions at most, less than a second on one core" in text


def test_plan_shows_the_printed_lemma_beside_the_sharper_one(run):
    answer = json.loads(run("plan", "-k", "2", "-d", "10", "--json")[1])["theory"]
    assert answer["log10"]["N_val"] < 6.0 < 11.9 < answer["log10"]["N_val_printed"]
    assert sum(answer["shares"].values()) == pytest.approx(0.01)
    assert answer["search_time"] == "less than a second"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("plan", "-k", "0", "-d", "10"),
            '"n_hidden" of a schedule must be in [1, 100], as degrees go up to 2 k^2 + 2, got 0.',
        ),
        (
            ("plan", "-k", "2", "-d", "10", "--epsilon", "3"),
            '"epsilon" of a schedule must be in [1e-30, 1], got 3.0.',
        ),
        (
            ("plan", "-k", "2", "-d", "10", "--radius", "nan", "--json"),
            '"R" of a schedule must be in [1, 1e30]',
        ),
    ],
)
def test_bad_input_gets_one_sentence_on_stderr(run, arguments, sentence):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"netlearn: {sentence}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (FileNotFoundError(2, "No such file", "model"), "model: No such file."),
        (OSError(28, "Cannot write m: No space left on device"), "Cannot write m: No space left on device."),
        (FileNotFoundError("Cannot read m: there is no such file."), "Cannot read m: there is no such file."),
        (MemoryError("Unable to allocate 2 TiB"), "There is not enough memory: Unable to allocate 2 TiB."),
        (MemoryError(), "There is not enough memory."),
        (InputError("a\x1b[2Jb\nc."), r"a\x1b[2Jb\nc."),
        (
            MissingExtraError("pyarrow", "files", "Reading Parquet"),
            "Reading Parquet needs pyarrow, which is not installed: type pip install '.[files]' in the folder of "
            "netlearn's source, or pip install pyarrow anywhere.",
        ),
    ],
)
def test_what_commands_refuse_is_said_without_a_traceback(run, monkeypatch, refusal, sentence):
    def refuse(seed, tell):
        raise refusal

    monkeypatch.setattr("netlearn.cli.demo.answer", refuse)
    assert run("demo") == (2, "", f"netlearn: {sentence}\n")


def test_a_fault_of_our_own_keeps_its_traceback(run, monkeypatch):
    def break_down(seed, tell):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("netlearn.cli.demo.answer", break_down)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        run("demo")


@pytest.mark.parametrize("arguments", [("plan", "-k", "2"), ("demo", "--seed", "-1"), ("nonsense",)])
def test_wrong_usage_ends_with_code_two(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Error" in err
