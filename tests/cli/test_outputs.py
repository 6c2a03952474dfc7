"""Networks with several outputs through every command, on files as a user has them."""

import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pyarrow
import pytest
import torch
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from rich.console import Console
from safetensors.torch import load_file

from netlearn import LearnResult, ShallowNetwork
from netlearn.certify import Basis, certify
from netlearn.cli import predictions
from netlearn.cli.describe import outputs_table
from netlearn.words import percent_up, rounded_up
from tests.fit.several import network

NETWORK = network(3, 4, 3, 0)
NAMES = ("age", "size", "dose", "salt", "logit_0", "logit_1", "logit_2")
TARGETS = NAMES[4:]
NOISE = np.array([0.05, 0.1, 0.3])


def rows(n, seed=1, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, NETWORK(X) + noise * NOISE * rng.standard_normal((n, 3))


def write(path, X, y, order=NAMES):
    table = pyarrow.table(dict(zip(NAMES, np.column_stack([X, y]).T, strict=True))).select(order)
    (arrow_csv.write_csv if path.endswith(".csv") else parquet.write_table)(table, path)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("exact.csv", *rows(600))
    write("noisy.parquet", *rows(2000, noise=1.0))
    return tmp_path


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A model of noisy rows, learned once, as bytes."""
    from netlearn import FileSource, learn

    folder = tmp_path_factory.mktemp("learned")
    write(str(folder / "noisy.parquet"), *rows(2000, noise=1.0))
    result = learn(FileSource(folder / "noisy.parquet", target=TARGETS), n_hidden=3, rng=0)
    result.save(folder / "m.safetensors")
    return (folder / "m.safetensors").read_bytes()


@pytest.fixture
def model(learned):
    Path("m.safetensors").write_bytes(learned)
    return "m.safetensors"


def answer(done, expected_code=0):
    """The JSON object on stdout; nothing else may be said."""
    code, out, err = done
    assert (code, err) == (expected_code, "")
    assert out.count("\n") == 1
    return json.loads(out)


def read(path):
    """Column names and values of predictions."""
    if path.endswith(".npy"):
        return None, np.load(path)
    table = (arrow_csv.read_csv if path.endswith(".csv") else parquet.read_table)(path)
    return tuple(table.column_names), np.column_stack([column.to_numpy() for column in table.columns])


EVERY_WAY = {
    "each by name": ("-t", "logit_0", "-t", "logit_1", "--target", "logit_2"),
    "a star": ("-t", "logit_*"),
    "numbers": ("-t", "4", "-t", "5", "-t", "-1"),
}


@pytest.mark.parametrize("way", EVERY_WAY)
def test_one_command_learns_saves_reports_and_predicts(run, folder, way):
    files = ("--out", "m.safetensors", "--report", "r.html", "--predictions", "p.csv")
    found = answer(run("learn", "exact.csv", *EVERY_WAY[way], "-k", 3, *files, "--json"))
    assert found["status"] == "RECOVERED"
    assert (found["names"], found["target"]) == (list(NAMES[:4]), list(TARGETS))
    assert found["outputs"] == list(TARGETS)
    assert ShallowNetwork(**found["network"]).distance(NETWORK) < 1e-12
    each = found["certificate"]["per_output"]
    assert [set(own) for own in each] == [set(found["certificate"])] * 3
    assert found["certificate"]["empirical_error"] == pytest.approx(
        math.hypot(*(own["empirical_error"] for own in each))
    )
    loaded = LearnResult.load("m.safetensors")
    assert (loaded.names, loaded.target) == (NAMES[:4], TARGETS)
    names, values = read("p.csv")
    assert names == TARGETS
    np.testing.assert_allclose(values, rows(600)[1], rtol=0, atol=1e-12)
    assert "3 outputs" in (folder / "r.html").read_text(encoding="utf-8")
    assert set(os.listdir()) == {"exact.csv", "noisy.parquet", "m.safetensors", "r.html", "p.csv"}


def test_order_is_as_given_and_a_star_as_in_the_file(run):
    write("exact.csv", *rows(600), order=NAMES[::-1])
    for target, order in ((("-t", "logit_1", "-t", "logit_2"), [1, 2]), (("-t", "logit_*"), [2, 1, 0])):
        features = ("--features", ",".join(NAMES[:4]))
        found = answer(run("learn", "exact.csv", *target, *features, "-k", 3, "--json"))
        assert found["target"] == [TARGETS[index] for index in order]
        X, y = rows(600)
        np.testing.assert_allclose(ShallowNetwork(**found["network"])(X), y[:, order], rtol=0, atol=1e-10)


def test_a_star_that_matches_one_column_is_one_output(run):
    found = answer(run("learn", "exact.csv", "-t", "*_2", "--features", "age,size,dose,salt", "--json"))
    assert found["target"] == "logit_2"
    assert found["certificate"]["per_output"] == []
    assert np.ndim(found["network"]["intercept"]) == 0


def test_the_card_says_what_matters_and_fits_the_terminal(run):
    code, out, err = run("learn", "noisy.parquet", "--target", "logit_*", "-k", 3, "--out", "m.safetensors")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    result = LearnResult.load("m.safetensors")
    certificate, y = result.certificate, result.held_out.y
    for words in (
        "network 3 neurons on 4 features, 3 outputs, spanning 3 dimensions",
        f"error {certificate.empirical_error:.3g} ± {result.score.rmse_error:.1g}, estimated on 100 held-out rows, of "
        f"all outputs together; the labels' standard deviation is {math.sqrt(y.var(axis=0).sum()):.3g}",
        f"of new rows have an error (all outputs together) above {rounded_up(certificate.tolerance)};",
        f"bound root mean square error, label noise included, at most {rounded_up(certificate.error_bound)} with",
        "noise standard deviation 0.3",
        f"At most {percent_up(certificate.per_output[0].share)} of new rows exceed the largest errors, all with "
        "confidence 0.99",
    ):
        assert words in text
    for name, own, labels in zip(TARGETS, certificate.per_output, y.T, strict=True):
        line = next(line for line in out.splitlines() if line.split()[:1] == [name])
        _, error, largest, bound, deviation = line.split()
        assert error == f"{own.empirical_error:.3g}"
        assert own.tolerance <= float(largest) <= 1.011 * own.tolerance
        assert own.error_bound <= float(bound) <= 1.011 * own.error_bound
        assert deviation == f"{labels.std():.3g}"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_predict_goes_by_names(run, monkeypatch, model, suffix):
    monkeypatch.setattr(predictions, "_GROUP", 40_000)  # reached once, with a rest
    X, y = rows(70_000, seed=5)
    y = y + np.array([0.25, 0.5, 1.0])
    shuffled = ("logit_2", "salt", "logit_0", "age", "dose", "logit_1", "size")
    write("new.parquet", X, y, order=shuffled)
    expected = LearnResult.load(model).network(X)
    out = f"p{suffix}"
    found = answer(run("predict", model, "new.parquet", "--out", out, "--json"))
    assert (found["n_rows"], found["errors"], found["outputs"]) == (70_000, None, list(TARGETS))
    names, values = read(out)
    assert names in (TARGETS, None)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    # Labels and outputs meet by name, whatever the order in the file.
    errors = answer(run("predict", model, "new.parquet", "-t", "logit_*", "-o", out, "--json"))["errors"]
    each = np.sqrt(np.mean((y - expected) ** 2, axis=0))
    np.testing.assert_allclose([own["root_mean_square"] for own in errors["per_output"]], each)
    np.testing.assert_allclose(
        [own["largest"] for own in errors["per_output"]], np.abs(y - expected).max(axis=0)
    )
    np.testing.assert_allclose([own["label_deviation"] for own in errors["per_output"]], y.std(axis=0))
    assert errors["root_mean_square"] == pytest.approx(np.linalg.norm(each))
    assert errors["largest"] == pytest.approx(np.abs(y - expected).max())
    assert errors["label_deviation"] == pytest.approx(math.sqrt(y.var(axis=0).sum()))
    text = run("predict", model, "new.parquet", "-t", "logit_*", "-o", out)[1]
    assert max(map(len, text.splitlines())) <= 80
    assert "70,000 rows, 3 outputs" in text
    assert f"{each[2]:.3g}" in next(line for line in text.splitlines() if "logit_2" in line)


def test_names_with_commas_and_quotes_are_columns_all_the_same(run, folder):
    X, y = rows(600)
    odd = ("a,b", 'the "real" one', "plain")
    with open("odd.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([(*NAMES[:4], *odd), *np.column_stack([X, y]).tolist()])
    options = [part for name in odd for part in ("-t", name)]
    answer(run("learn", "odd.csv", *options, "-k", 3, "--predictions", "p.csv", "--json"))
    with open("p.csv", newline="") as stream:
        first = next(csv.reader(stream))
    assert tuple(first) == odd


@pytest.mark.parametrize("kind", ["by name", "shuffled", "npy", "npz"])
def test_recheck_certifies_each_output_on_other_rows(run, model, kind):
    X, y = rows(500, seed=7, noise=1.0)
    path, options = "fresh.parquet", ()
    if kind == "npy":
        path = "fresh.npy"
        np.save(path, np.column_stack([X, y]))  # the last columns are the labels
    elif kind == "npz":
        path = "fresh.npz"
        np.savez(path, X=X, y=y)
    else:
        shuffled = ("logit_1", "logit_2", "dose", "logit_0", "age", "salt", "size")
        write(path, X, y, NAMES if kind == "by name" else shuffled)
        options = () if kind == "by name" else ("-t", "logit_2", "-t", "logit_1", "-t", "logit_0")
    found = answer(run("recheck", model, path, *options, "--failure-prob", "0.06", "--json"))
    result = LearnResult.load(model)
    errors = np.abs(y - result.network(X))
    expected = certify(result.network, X, y, failure_prob=0.06, basis=Basis("N(0, I)", noisy=True))
    each = zip(found["certificate"]["per_output"], expected.per_output, errors.T, strict=True)
    for own, wanted, values in each:
        assert own["error_bound"] == pytest.approx(wanted.error_bound)
        assert own["tolerance"] == pytest.approx(values.max())
        assert own["share"] == pytest.approx(1 - 0.02 ** (1 / 500))
        assert own["confidence"] == pytest.approx(0.98)
    bound = expected.error_bound
    assert found["certificate"]["error_bound"] == pytest.approx(bound)
    assert found["certificate"]["tolerance"] == pytest.approx(np.linalg.norm(errors, axis=1).max())
    assert found["certificate"]["share"] == pytest.approx(1 - 0.06 ** (1 / 500))
    assert found["outputs"] == list(TARGETS)
    assert len(found["certificate_when_learned"]["per_output"]) == 3
    code, out, _ = run("recheck", model, path, *options, "--epsilon", bound / 2)
    assert code == 3
    assert max(map(len, out.splitlines())) <= 80
    assert "of all outputs together" in " ".join(out.split())
    assert all(name in out for name in TARGETS)


def test_extract_and_back_to_torch(run):
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 3)).double()
    torch.save(layers.state_dict(), "net.pt")
    found = answer(run("extract", "net.pt", "-k", 3, "--out", "m.safetensors", "--json"))
    assert (found["status"], found["outputs"]) == ("RECOVERED", ["y1", "y2", "y3"])
    X = torch.tensor(rows(50)[0])
    expected = layers(X).detach().numpy()
    np.testing.assert_allclose(ShallowNetwork.load("m.safetensors")(X.numpy()), expected, rtol=0, atol=1e-12)

    exported = answer(run("export", "m.safetensors", "--out", "m.onnx", "--json"))
    assert (exported["n_features"], exported["n_outputs"]) == (4, 3)
    session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": X.numpy()})[0], expected, rtol=0, atol=1e-12)
    assert "3 neurons on 4 features, 3 outputs" in run("export", "m.safetensors", "-o", "m.npz")[1]
    np.testing.assert_allclose(ShallowNetwork.from_npz("m.npz")(X.numpy()), expected, rtol=0, atol=1e-12)
    run("export", "m.safetensors", "--out", "t.safetensors")
    state = load_file("t.safetensors")
    wide = torch.nn.Sequential(
        torch.nn.Linear(4, len(state["0.weight"])),
        torch.nn.ReLU(),
        torch.nn.Linear(len(state["0.weight"]), 3),
    ).double()
    wide.load_state_dict(state)
    np.testing.assert_allclose(wide(X).detach().numpy(), expected, rtol=0, atol=1e-12)
    assert run("report", "m.safetensors", "--out", "r.html")[0] == 0


@pytest.mark.parametrize(
    ("m", "shown", "more"), [(12, 12, None), (13, 12, "and 1 more"), (500, 12, "and 488 more")]
)
def test_a_table_of_many_outputs_shows_the_largest_errors(m, shown, more):
    errors = np.random.default_rng(0).permutation(m) + 1.0
    table = outputs_table(
        [f"name {index}" for index in range(m)], {"error": errors, "bound": errors + 0.12345}
    )
    with (console := Console(width=80, no_color=True)).capture() as captured:
        console.print(table)
    lines = [line.split() for line in captured.get().splitlines() if "name" in line]
    assert len(lines) == shown
    drawn = {int(line[1]): float(line[2]) for line in lines}
    assert drawn == {index: errors[index] for index in drawn}
    assert set(drawn.values()) == set(np.sort(errors)[-12:])
    assert ("more" in captured.get()) == (more is not None)
    assert more is None or more in captured.get()
    assert all(float(line[3]) >= float(line[2]) + 0.12345 for line in lines)  # bounds are rounded up


BAD = {
    "learn exact.csv -t q*": ['"target"', "its columns age", 'got "q*"'],
    "learn exact.csv -t logit_0 -t logit_*": ['column "logit_0" was chosen twice'],
    "learn exact.csv -t logit_0 -t Logit_1": ['"target"', 'did you mean "logit_1"?'],
    "learn exact.csv -t logit_0 -t 9": ['"target"', "got 9"],
    "predict m.safetensors exact.csv -o p.csv -t logit_0": [
        "--target must name 3 columns of exact.csv",
        "got 1",
    ],
    "recheck m.safetensors exact.csv -t logit_0 -t logit_1": ["--target must name 3 columns", "got 2"],
    "recheck m.safetensors two.parquet": ['"target" of two.parquet must be given'],
    "recheck m.safetensors two.npz": ["--target must name 3 columns of two.npz", "got 2"],
}


@pytest.mark.parametrize("command", BAD)
def test_what_does_not_fit_is_told_in_one_sentence(run, model, command):
    X, y = rows(50)
    write("two.parquet", X, y, order=NAMES[:-1])
    np.savez("two.npz", X=X, y=y[:, :2])
    before = set(os.listdir())
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for word in BAD[command]:
        assert word in err
    assert set(os.listdir()) == before
