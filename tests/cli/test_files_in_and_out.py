"""learn, predict, recheck, extract, export and report, on files as a user has them."""

import json
import math
import os

import numpy as np
import onnxruntime
import pyarrow
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import load_file

from netlearn import LearnResult, ShallowNetwork, teachers
from netlearn.certify import Basis, certify
from netlearn.cli import outputs, predictions
from netlearn.cli.tables import names
from netlearn.words import rounded_up, shown_r2

NAMES = ("a", "b", "c")
NETWORK = teachers.random(2, 3, 0, biases=0.5)


def rows(n, seed=1, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, NETWORK(X) + noise * rng.standard_normal(n)


def write_table(path, X, y, order=NAMES):
    columns = {**dict(zip(NAMES, X.T, strict=True)), "y": y}
    parquet.write_table(pyarrow.table({name: columns[name] for name in (*order, "y")}), path)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with rows of a planted network, exact ones and noisy ones."""
    monkeypatch.chdir(tmp_path)
    write_table("exact.parquet", *rows(400))
    write_table("noisy.parquet", *rows(2000, noise=0.1))
    return tmp_path


@pytest.fixture
def model(folder, run):
    """A model file learned from exact rows."""
    assert run("learn", "exact.parquet", "--target", "y", "--out", "m.safetensors")[0] == 0
    return "m.safetensors"


def answer(done, expected_code=0):
    """The JSON object on stdout; nothing else may be said."""
    code, out, err = done
    assert (code, err) == (expected_code, "")
    assert out.count("\n") == 1
    return json.loads(out)


def test_one_command_learns_saves_reports_and_predicts(run, folder):
    command = (
        "learn",
        "exact.parquet",
        "-t",
        "y",
        "--report",
        "r.html",
        "--predictions",
        "p.csv",
        "--threads",
        1,
    )
    found = answer(run(*command, "--out", "m.safetensors", "--json"))
    assert found["status"] == "RECOVERED"
    assert (found["names"], found["target"], found["n_rows"]) == (list(NAMES), "y", 400)
    assert found["files"] == {"model": "m.safetensors", "report": "r.html", "predictions": "p.csv"}
    assert ShallowNetwork(**found["network"]).distance(NETWORK) < 1e-12
    loaded = LearnResult.load("m.safetensors")
    assert loaded.network.distance(NETWORK) < 1e-12
    assert (loaded.names, loaded.target) == (NAMES, "y")
    assert "RECOVERED" in (folder / "r.html").read_text(encoding="utf-8")
    np.testing.assert_allclose(np.genfromtxt("p.csv", skip_header=1), rows(400)[1], rtol=0, atol=1e-12)
    files = {"exact.parquet", "noisy.parquet", "m.safetensors", "r.html", "p.csv"}
    assert set(os.listdir()) == files  # nothing is left beside them


def test_the_card_says_what_matters_and_fits_the_terminal(run):
    code, out, err = run("learn", "noisy.parquet", "--target", "y", "--out", "m.safetensors")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    result = LearnResult.load("m.safetensors")
    certificate, score = result.certificate, result.score
    for words in (
        "NOISE_LIMITED The residual looks like label noise",
        "network 2 neurons on 3 features, spanning 2 dimensions",
        f"held out R2 {shown_r2(score.r2)} (linear fit {shown_r2(score.r2_linear)}, mean ",
        f"root mean square error {certificate.empirical_error:.3g} ± {score.rmse_error:.1g}, estimated on 100 held-out",
        f"the labels' standard deviation is {result.held_out.y.std():.3g}",
        "share with confidence 99 %, at most 4.6 % of new rows have an error above",
        f"bound root mean square error, label noise included, at most {rounded_up(certificate.error_bound)} with",
        "assumed the rows are independent",
        "noise standard deviation 0.",
        "cost 2,000 rows",
        "model m.safetensors",
        f"next {result.diagnostics.advice}",
    ):
        assert words in text


def test_an_epsilon_that_is_met_ends_with_code_zero(run):
    found = answer(run("learn", "noisy.parquet", "-t", "y", "--epsilon", "0.5", "--json"))
    assert found["status"] == "CERTIFIED"
    assert found["certificate"]["error_bound"] <= 0.5
    missed = answer(run("learn", "noisy.parquet", "-t", "y", "--epsilon", "0.01", "--json"), 3)
    assert missed["success"] is False
    assert any("epsilon = 0.01 was asked for, but is not certified" in note for note in missed["notes"])


@pytest.mark.parametrize(
    ("data", "options", "code"),
    [
        ("exact.parquet", (), 0),
        ("exact.parquet", ("--strict",), 0),
        ("exact.parquet", ("--epsilon", "1e-9"), 0),  # recovered, whatever bound is missed
        ("noisy.parquet", (), 0),
        ("noisy.parquet", ("--strict",), 3),
        ("noisy.parquet", ("--epsilon", "1e-9"), 3),
        ("noisy.parquet", ("--epsilon", "0.5", "--strict"), 0),
    ],
)
def test_only_who_asks_for_success_gets_another_exit_code_without_it(run, data, options, code):
    found = answer(
        run("learn", data, "-t", "y", "-k", "2", *options, "--out", "m.safetensors", "--json"), code
    )
    assert found["success"] is (data == "exact.parquet" or "0.5" in options)
    assert LearnResult.load("m.safetensors").status.name == found["status"]  # written in any case


def test_a_network_without_units_says_that_a_linear_model_is_enough(run):
    X, _ = rows(400)
    write_table("linear.parquet", X, X @ [1.0, 2.0, 3.0])
    code, out, _ = run("learn", "linear.parquet", "-t", "y")
    assert code == 0
    assert "the network has no units: a linear model is enough" in " ".join(out.split())
    assert "linear model" not in run("learn", "exact.parquet", "-t", "y", "-k", "2")[1]


def test_without_out_nothing_is_written_and_that_is_said(run):
    before = os.listdir()
    assert "nothing was saved" in run("learn", "exact.parquet", "--target", "y")[1]
    assert os.listdir() == before
    # What would help most is said all the same.
    write_table("few.parquet", *rows(12))
    found = answer(run("learn", "few.parquet", "-t", "y", "-k", "2", "--json"))
    assert found["advice"].startswith("give about ")
    assert f"next {found['advice']}" in " ".join(run("learn", "few.parquet", "-t", "y", "-k", "2")[1].split())


def test_options_reach_the_learner(run):
    options = (
        "--n-hidden",
        "1",
        "--biases",
        "no",
        "--features",
        "c,a",
        "--failure-prob",
        "0.2",
        "--seed",
        "3",
    )
    found = answer(run("learn", "exact.parquet", "-t", "y", *options, "--json"))
    assert found["names"] == ["c", "a"]
    assert np.shape(found["network"]["units"]) == (1, 2)
    assert not np.any(found["network"]["biases"])
    assert found["certificate"]["confidence"] == 0.8
    assert found["seed"] == 3
    other = answer(run("learn", "exact.parquet", "-t", "y", *options[:-1], "4", "--json"))
    assert other["network"] != found["network"]


def test_slope_and_held_out_share_reach_the_certificate(run):
    command = ("learn", "exact.parquet", "-t", "y", "-k", "2", "--json")
    plain = answer(run(*command))["certificate"]
    given = answer(run(*command, "--target-lipschitz", "7.5", "--holdout", "0.4"))
    own = given["certificate"]
    assert (plain["n_val"], own["n_val"], own["n_bound"]) == (100, 160, 160)
    assert (plain["basis"]["target_lipschitz"], own["basis"]["target_lipschitz"]) == (None, 7.5)
    assert any("no steeper than 7.5" in assumption for assumption in own["assumptions"])
    assert sum(given["rows"].values()) == 400
    code, out, err = run(*command[:-1], "--holdout", "1.5")
    assert (code, out) == (2, "")
    assert '"holdout" of learn must be None or a share of the rows in (0, 1), got 1.5' in err


def test_a_list_of_features_may_hold_quoted_commas():
    assert names('a, "b, c",d') == ["a", "b, c", "d"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_predict_goes_by_names(run, monkeypatch, model, suffix):
    monkeypatch.setattr(predictions, "_GROUP", 40_000)  # reached once, with a rest
    X, y = rows(70_000, seed=5)
    write_table("new.parquet", X, y + 0.25, order=("c", "a", "b"))
    out = f"p{suffix}"
    found = answer(run("predict", model, "new.parquet", "--out", out, "--json"))
    assert (found["n_rows"], found["errors"]) == (70_000, None)
    read = {
        ".csv": lambda: np.genfromtxt(out, skip_header=1),
        ".parquet": lambda: parquet.read_table(out)["prediction"].to_numpy(),
        ".npy": lambda: np.load(out),
    }
    np.testing.assert_allclose(read[suffix](), y, rtol=0, atol=1e-12)
    errors = answer(run("predict", model, "new.parquet", "-t", "y", "--out", out, "--json"))["errors"]
    assert errors["root_mean_square"] == pytest.approx(0.25)
    assert errors["largest"] == pytest.approx(0.25)
    assert errors["label_deviation"] == pytest.approx(y.std())
    assert (
        "0.25 (root mean square), 0.25 at most"
        in run("predict", model, "new.parquet", "-t", "y", "-o", out)[1]
    )


def test_error_sums_merge_blocks_and_keep_their_digits():
    rng = np.random.default_rng(0)
    y, predicted = 1e6 + rng.standard_normal(1000), 1e6 + rng.standard_normal(1000)
    total = predictions.ErrorSum()
    for start in range(0, 1000, 130):
        total.add(y[start : start + 130], predicted[start : start + 130])
    errors = total.finalize()
    assert errors.root_mean_square == pytest.approx(math.sqrt(np.mean((y - predicted) ** 2)), rel=1e-12)
    assert errors.largest == np.max(np.abs(y - predicted))
    assert errors.label_deviation == pytest.approx(y.std(), rel=1e-9)


def test_predict_goes_by_order_where_there_are_no_names(run, model):
    X, y = rows(50, seed=6)
    np.save("new.npy", X)
    answer(run("predict", model, "new.npy", "--out", "p.npy", "--json"))
    np.testing.assert_allclose(np.load("p.npy"), y, rtol=0, atol=1e-12)
    NETWORK.save("alone.safetensors")  # a network alone has no names; its file is a model all the same
    write_table("new.parquet", X, y)
    found = answer(run("predict", "alone.safetensors", "new.parquet", "-t", "y", "--out", "p.npy", "--json"))
    assert found["errors"]["largest"] < 1e-12


def test_recheck_certifies_on_other_rows(run, model):
    X, y = rows(500, seed=7, noise=0.1)
    write_table("fresh.parquet", X, y)
    found = answer(run("recheck", model, "fresh.parquet", "--failure-prob", "0.05", "--json"))
    errors = np.abs(y - NETWORK(X))
    own = certify(NETWORK, X, y, failure_prob=0.05, basis=Basis("N(0, I)"))
    bound = own.error_bound
    assert found["certificate"]["error_bound"] == pytest.approx(bound, rel=1e-6)
    assert found["certificate"]["empirical_error"] == pytest.approx(math.sqrt(np.mean(errors**2)), rel=1e-6)
    assert found["certificate"]["tolerance"] == pytest.approx(errors.max(), rel=1e-6)
    assert found["certificate"]["share"] == pytest.approx(1 - 0.05 ** (1 / 500))
    assert (found["certificate"]["n_val"], found["certificate"]["confidence"], found["met"]) == (
        500,
        0.95,
        None,
    )
    assert found["certificate_when_learned"]["tolerance"] < 1e-12
    assert answer(run("recheck", model, "fresh.parquet", "--epsilon", bound * 1.5, "--json"))["met"] is True
    assert answer(run("recheck", model, "fresh.parquet", "--epsilon", bound / 2, "--json"), 3)["met"] is False
    code, out, _ = run("recheck", model, "fresh.parquet", "--epsilon", bound / 2)
    assert (code, "NOT MET" in out, "when learned" in out) == (3, True, True)


def test_recheck_refuses_rows_that_taught_the_network(run, model):
    X, y = rows(400)
    n_taught = 400 - LearnResult.load(model).certificate.n_val
    code, out, err = run("recheck", model, "exact.parquet")
    assert (code, out) == (2, "")
    assert f"must be fresh, but {n_taught} of the 400 given took part in learning" in err
    fresh = rows(1, seed=7)
    write_table("mixed.parquet", np.concatenate([X, fresh[0]]), np.concatenate([y, fresh[1]]))
    assert f"but {n_taught} of the 401 given" in run("recheck", model, "mixed.parquet")[2]
    # Those that were held out are fresh as they were.
    held_out = LearnResult.load(model).held_out
    write_table("held.parquet", held_out.X, held_out.y)
    found = answer(run("recheck", model, "held.parquet", "--json"))
    assert found["certificate"]["share"] == found["certificate_when_learned"]["share"]
    # A network alone does not know what taught it.
    NETWORK.save("alone.safetensors")
    found = answer(run("recheck", "alone.safetensors", "exact.parquet", "-t", "y", "--json"))
    assert found["certificate"]["n_val"] == 400


def test_extract_asks_a_function_and_counts(run, folder, monkeypatch):
    (folder / "mybox.py").write_text(
        "import numpy as np\n"
        "asked = 0\n"
        "def f(X):\n"
        "    global asked\n"
        "    asked += len(X)\n"
        "    return np.maximum(X[:, 0] + 0.5, 0) - 2 * np.maximum(X[:, 1] - X[:, 2], 0)\n"
    )
    found = answer(
        run("extract", "mybox:f", "--features", "3", "--budget", "600", "-o", "m.safetensors", "--json")
    )
    truth = ShallowNetwork.from_relu([[1, 0, 0], [0, 1, -1]], [1, -2], [0.5, 0])
    assert found["status"] == "RECOVERED"
    assert ShallowNetwork.load("m.safetensors").distance(truth) < 1e-12
    from mybox import asked

    assert found["n_queries"] == asked <= 600
    assert found["precision"] == "float64"


def test_extract_ends_with_code_three_only_where_success_was_asked_for(run, folder):
    (folder / "sinebox.py").write_text(
        "import numpy as np\ndef f(X):\n    return np.sin(5 * X[:, 0]) + X[:, 1]\n"
    )
    command = ("extract", "sinebox:f", "--features", "2", "--budget", "400", "-k", "2", "--json")
    found = answer(run(*command))
    assert found["status"] == "NOT_A_SMALL_NETWORK"  # a box that answers the same twice has no noise
    for options in (("--strict",), ("--epsilon", "0.01")):
        assert answer(run(*command, *options), 3)["success"] is False


def test_extract_says_that_a_model_computes_in_float32(run):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    torch.save(layers.state_dict(), "net.pt")
    command = ("extract", "net.pt", "--budget", "2000", "--n-hidden", "2")
    found = answer(run(*command, "--json"))
    assert found["precision"] == "float32"
    X = np.random.default_rng(0).standard_normal((100, 3))
    expected = layers(torch.tensor(X, dtype=torch.float32)).detach().numpy()[:, 0]
    np.testing.assert_allclose(ShallowNetwork(**found["network"])(X), expected, rtol=0, atol=3e-6)
    assert "answers in float32" in run(*command)[1]


def test_export_is_read_by_those_it_is_for(run, model):
    X, y = rows(20, seed=8)
    answer(run("export", model, "--out", "m.onnx", "--json"))
    session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    values = session.run(None, {session.get_inputs()[0].name: X})[0]
    np.testing.assert_allclose(np.ravel(values), y, rtol=0, atol=1e-12)
    answer(run("export", model, "--out", "single.onnx", "--dtype", "float32", "--json"))
    assert onnxruntime.InferenceSession("single.onnx").get_inputs()[0].type == "tensor(float)"

    answer(run("export", model, "--out", "m_torch.safetensors", "--json"))
    state = load_file("m_torch.safetensors")
    width = state["0.weight"].shape[0]
    layers = torch.nn.Sequential(
        torch.nn.Linear(3, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)
    ).double()
    layers.load_state_dict(state)
    np.testing.assert_allclose(layers(torch.tensor(X)).detach().numpy()[:, 0], y, rtol=0, atol=1e-12)

    answer(run("export", model, "--out", "m.npz", "--json"))
    with np.load("m.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype == np.float64 for name in arrays.files)


def test_report_of_a_saved_run(run, folder, model):
    answer(run("report", model, "--out", "r.html", "--json"))
    assert "RECOVERED" in (folder / "r.html").read_text(encoding="utf-8")


def test_a_file_is_replaced_only_by_a_whole_one(folder):
    (folder / "kept.csv").write_text("old")

    def write_half():
        with outputs.replacing("kept.csv") as beside:
            beside.write_text("half of the n")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        write_half()
    assert (folder / "kept.csv").read_text() == "old"
    with outputs.replacing("kept.csv") as beside:
        beside.write_text("new")
    assert (folder / "kept.csv").read_text() == "new"
    assert set(os.listdir()) == {"kept.csv", "exact.parquet", "noisy.parquet"}
