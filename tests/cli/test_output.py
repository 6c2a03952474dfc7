import io
import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import netlearn
from netlearn.certify import Basis, Score, certify
from netlearn.cli.describe import (
    Comparison,
    certificate_data,
    certificate_sentences,
    compare,
    n_kept,
    network_data,
    progress_sentence,
    result_card,
    result_data,
    spectrum_name,
)
from netlearn.cli.output import number
from netlearn.network import ShallowNetwork
from netlearn.result import Diagnostics, LearnResult, MomentSpectrum, Status
from netlearn.run import Progress
from netlearn.words import rounded_up


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (0.000125, "0.000125"),
        (99, "99"),
        (158, "158"),
        (1_228_800, "1,228,800"),
        (2e9, "10^9.3"),
        (1e-5, "10^-5.0"),
    ],
)
def test_numbers_are_written_in_full_where_that_is_short(value, text):
    assert number(math.log10(value)) == text


def test_numbers_beyond_float64_are_powers_of_ten():
    assert number(-616.04) == "10^-616.0"
    assert number(1271.8) == "10^1271.8"


def test_a_network_comes_back_from_its_json():
    rng = np.random.default_rng(0)
    network = ShallowNetwork(
        rng.standard_normal(3), rng.standard_normal(2), rng.standard_normal((2, 3)), [1, 2], 3
    )
    assert ShallowNetwork(**json.loads(json.dumps(network_data(network)))).distance(network) <= 1e-14


def test_a_bound_that_is_infinite_is_null():
    network = ShallowNetwork(np.zeros(1), np.zeros(0), np.zeros((0, 1)))
    X = np.ones((2, 1))
    certificate = certify(network, X, np.zeros(2), failure_prob=0.01)
    assert certificate.error_bound == math.inf
    data = certificate_data(certificate)
    assert data["error_bound"] is None
    assert data["why_no_bound"] == certificate.why_no_bound != ""
    assert (data["share"], data["tolerance"]) == (certificate.share, 0.0)
    assert dict(certificate_sentences(certificate))["bound"].startswith("no bound")
    assert certificate_data(replace(certificate, error_bound=0.5))["error_bound"] == 0.5


@pytest.fixture
def noisy():
    """A result with every field of the practical learner filled."""
    network = ShallowNetwork(np.zeros(3), np.array([1.0]), np.eye(3)[:1])
    X = np.random.default_rng(0).standard_normal((500, 3))
    seen = Diagnostics(
        spectra=(MomentSpectrum(2, None, np.array([0.5, -0.25, 0.125]), 0.2, "rank of |label|", 1),),
        rows={"train": 400, "judge": 80, "certify": 20},
        seconds={"search": 0.5},
        trace=(1.0, 0.25),
        noise_level=0.5,
        excess_error=0.0625,
        departure=1.5,
        notes=("[seen]",),
        advice="[do]",
    )
    basis = Basis("N(0, I)", noisy=True)
    certificate = certify(network, X, network(X) + 0.5, failure_prob=0.01, basis=basis)
    return LearnResult(
        network,
        certificate,
        Status.NOISE_LIMITED,
        subspace=np.eye(3)[:, :1],
        diagnostics=seen,
        message="[said]",
        score=Score(500, 0.5, 0.25, -0.125, 0.5, math.inf, True),
    )


def test_a_result_is_whole_in_its_json(noisy):
    data = json.loads(json.dumps(result_data(noisy), allow_nan=False))
    for name in ("rows", "seconds", "noise_level", "excess_error", "departure"):
        assert data[name] == getattr(noisy.diagnostics, name)
    assert (data["trace"], data["notes"]) == ([1.0, 0.25], ["[seen]"])
    assert (data["message"], data["advice"]) == ("[said]", "[do]")
    assert data["score"] == {
        "n_rows": 500,
        "r2": 0.5,
        "r2_linear": 0.25,
        "r2_mean": -0.125,
        "rmse": 0.5,
        "rmse_error": None,  # JSON knows no infinity
        "beats_mean": True,
        "r2_each": [],
    }
    assert data["certificate"]["basis"]["law"] == "N(0, I)"
    assert data["subspace"] == [[1.0], [0.0], [0.0]]
    assert data["spectra"][0] == {
        "name": "rank of |label|",
        "order": 2,
        "direction": None,
        "eigenvalues": [0.5, -0.25, 0.125],
        "noise_floor": 0.2,
        "n_kept": 1,
    }
    empty = result_data(LearnResult(None, None, Status.FAILED))
    assert empty["network"] is empty["certificate"] is empty["subspace"] is empty["score"] is None
    assert empty["message"] == Status.FAILED.value


def printed(view):
    console = Console(width=100, file=io.StringIO())
    console.print(view)
    return console.file.getvalue()


def test_a_result_is_told_in_words(noisy):
    target = ShallowNetwork(np.zeros(3), np.array([2.0]), np.eye(3)[:1])
    card = " ".join(printed(result_card(noisy, compare(noisy, target))).split())
    for words in (
        "dimension 1 of 3; sine of its angle to the planted one 0",
        "network 1 neuron ",
        "0.5 of the planted network's norm",
        "share with confidence 99 %, at most 0.92 % of new rows have an error above",
        f"bound root mean square error, label noise included, at most {rounded_up(noisy.certificate.error_bound)} with",
        "assumed the rows are independent draws",
        "deviation 0.5; the network's own error about 0.062",
        "NOISE_LIMITED: [said]",
        "500 rows",
        "[seen]",
    ):
        assert words in card
    assert "planted" not in printed(result_card(noisy))


def test_comparison_with_the_truth(noisy):
    target = ShallowNetwork(np.zeros(3), np.array([1.0]), np.eye(3)[:1])
    assert compare(noisy, target) == Comparison(0.0, 0.0, 0.0)
    affine = ShallowNetwork(np.zeros(3), np.zeros(0), np.zeros((0, 3)))
    beside = compare(noisy, affine)
    assert (beside.sine, beside.relative_error) == (None, None)
    assert beside.error == pytest.approx(1.0)
    assert compare(LearnResult(None, None, Status.FAILED), target) == Comparison(None, None, None)


def test_what_is_kept_is_what_the_learner_kept_or_what_reaches_the_cut():
    spectrum = MomentSpectrum(4, 0, np.array([-3.0, 2.0, 1.0]), 0.5)
    assert (n_kept(spectrum, cut=4.0), n_kept(spectrum, cut=6.0), n_kept(spectrum)) == (2, 1, 0)
    assert n_kept(replace(spectrum, n_kept=3), cut=6.0) == 3
    assert spectrum_name(spectrum) == "M_4, g_1"
    assert spectrum_name(replace(spectrum, order=2)) == "M_2"


def test_progress_is_one_line():
    assert progress_sentence(Progress("search", "8 units", 3.2)) == "search: 8 units (3 s)"


def test_the_package_itself_is_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "netlearn", "--version"], capture_output=True, text=True, check=True
    )
    assert netlearn.__version__ in shown.stdout
