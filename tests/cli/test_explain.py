"""`netlearn explain`: parts of a prediction that add up to it, for tables as `predict` reads them."""

import json

import numpy as np
import pandas as pd
import pytest

from netlearn import ShallowNetwork, learn
from tests.source.messy import frame, with_cells


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(run):
    """A model of a table with texts, and a table with gaps to explain."""
    frame().to_csv("clean.csv", index=False)
    with_cells({(3, "age"): "n/a", (7, "size"): ""}).to_csv("gaps.csv", index=False)
    how = ("-t", "price", "--encode", "onehot", "-k", "1", "--out", "m.safetensors")
    assert run("learn", "clean.csv", *how)[0] == 0
    return "m.safetensors"


def test_columns_and_units_add_up_to_what_predict_writes(run, model):
    run("predict", model, "gaps.csv", "--missing", "drop", "--out", "p.csv")
    code, text, _ = run("explain", model, "gaps.csv", "--missing", "drop", "--out", "c.csv")
    assert code == 0
    assert "row 4 price: no prediction, a value is missing" in " ".join(text.split())
    assert "2 of 60 rows have no prediction" in " ".join(text.split())
    made = pd.read_csv("c.csv", skip_blank_lines=False)
    columns = [name for name in frame().columns if name != "price"]
    assert list(made) == ["prediction", "at the mean row", *columns, "linear part", "unit 1"]
    assert np.flatnonzero(made.isna().all(axis=1)).tolist() == [3, 7]
    predicted = pd.read_csv("p.csv", skip_blank_lines=False)["prediction"]
    np.testing.assert_array_equal(made["prediction"], predicted)
    for parts in (columns, ["linear part", "unit 1"]):
        total = made["at the mean row"] + made[parts].sum(axis=1, skipna=False)
        np.testing.assert_allclose(total, predicted, rtol=1e-10)


def test_the_first_rows_are_shown(run, model):
    code, text, err = run("explain", model, "clean.csv")
    assert (code, err) == (0, "")
    assert text.count("(at the mean row)") == 5
    assert "row 5" in text
    assert "--out writes all 60 rows" in text
    found = json.loads(run("explain", model, "clean.csv", "--json")[1])
    assert found["files"] == {}
    assert len(found["rows"]) == 5
    assert len(found["rows"][0]) == len(found["columns"])


def test_several_outputs_have_columns_of_their_own(run):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    Y = np.column_stack([np.abs(X[:, 0]), X[:, 1] - np.maximum(X[:, 0], 0)])
    learn(X, Y, rng=0).save("m.safetensors")
    np.save("x.npy", X[:7])
    found = json.loads(run("explain", "m.safetensors", "x.npy", "--out", "c.npy", "--json")[1])
    table = np.load("c.npy").reshape(7, 2, len(found["columns"]))
    np.testing.assert_allclose(table[:, :, 0], Y[:7], atol=1e-9)
    np.testing.assert_allclose(table[:, :, 1:4].sum(axis=2), Y[:7], atol=1e-9)
    np.testing.assert_allclose(table[:, :, [1, *range(4, table.shape[2])]].sum(axis=2), Y[:7], atol=1e-9)


def test_a_network_alone_starts_at_zero(run):
    ShallowNetwork.from_relu(np.eye(2), [1.0, -2.0], intercept=5.0).save("n.safetensors")
    np.save("x.npy", np.array([[3.0, -1.0], [0.0, 0.0]]))
    found = json.loads(run("explain", "n.safetensors", "x.npy", "--json")[1])
    first, second = (dict(zip(found["columns"], row, strict=True)) for row in found["rows"])
    assert (first["prediction"], first["at the mean row"], first["x1"], first["x2"]) == (8.0, 5.0, 3.0, 0.0)
    assert second["prediction"] == second["at the mean row"] == 5.0


def test_nothing_is_read_into_noise(run):
    X = np.random.default_rng(0).standard_normal((400, 3))
    result = learn(X[:, :2], X[:, 2], rng=0)
    assert result.status.name == "NO_SIGNAL"
    result.save("m.safetensors")
    np.save("x.npy", X[:3, :2])
    found = json.loads(run("explain", "m.safetensors", "x.npy", "--json")[1])
    assert found["notes"] == [
        "the model predicts new rows no better than their mean does: do not read anything into these parts"
    ]
