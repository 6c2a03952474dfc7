"""Tables on the command line: options that say how to read them, and models that read others in the same way."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from netlearn import LearnResult
from tests.source.messy import frame, with_cells

GAPS = {(3, "age"): "n/a", (7, "size"): "", (11, "city"): "?", (20, "price"): "-"}
HOW = ("--encode", "onehot", "-k", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_cells(GAPS).to_csv("gaps.csv", index=False)
    frame().to_csv("clean.csv", index=False)


@pytest.fixture
def model(run):
    """A model of a table with texts and without gaps."""
    assert run("learn", "clean.csv", "-t", "price", *HOW, "--out", "m.safetensors")[0] in (0, 3)
    return "m.safetensors"


def written(path):
    if path.endswith(".npy"):
        return np.load(path)
    made = pd.read_csv(path) if path.endswith(".csv") else parquet.read_table(path).to_pandas()
    return made["prediction"].to_numpy()


@pytest.mark.parametrize("out", ["p.csv", "p.npy", "p.parquet"])
def test_predictions_of_a_file_with_gaps_keep_its_rows(run, model, out):
    assert run("predict", model, "clean.csv", "--out", "all.npy")[0] == 0
    code, text, _ = run("predict", model, "gaps.csv", "--missing", "drop", "--out", out)
    assert code == 0
    assert "3 of 60 rows have no prediction" in " ".join(text.split())
    values = written(out)
    assert np.flatnonzero(np.isnan(values)).tolist() == [3, 7, 11]
    np.testing.assert_allclose(np.delete(values, [3, 7, 11]), np.delete(np.load("all.npy"), [3, 7, 11]))
    code, text, _ = run("predict", model, "gaps.csv", "--missing", "mean", "--out", out)
    assert "1 in size, 1 in age, 1 in city" in " ".join(text.split())
    assert np.isfinite(written(out)).all()
    code, _, err = run("predict", model, "gaps.csv", "--out", out)
    assert code == 2
    assert err.count("missing value, in row") == 3
    assert "--drop" not in err  # of no use to a model


def test_labels_that_lack_are_not_compared(run, model):
    found = json.loads(
        run("predict", model, "gaps.csv", "--missing", "mean", "-t", "price", "--out", "p.csv", "--json")[1]
    )
    assert found["n_rows"] == 60
    assert np.isfinite(found["errors"]["root_mean_square"])
    assert len(found["notes"]) == 1


def test_learn_recheck_and_predictions_go_by_one_recipe(run):
    how = ("--missing", "mean", "--predictions", "p.csv", "--out", "m.safetensors", "--report", "r.html")
    found = json.loads(run("learn", "gaps.csv", "-t", "price", *HOW, *how, "--json")[1])
    assert found["n_rows"] == 59
    assert any("1 of 60 rows was left out for want of a label" in note for note in found["notes"])
    assert len(written("p.csv")) == 60
    # Rows that were learned from are recognised through the recipe; others are certified on.
    code, _, err = run("recheck", "m.safetensors", "gaps.csv")
    assert code == 2
    assert "of the 59 given took part in learning" in err
    others = {(row, "age"): 60.0 + row for row in range(60) if row != 3} | {(3, "size"): 60.0}
    with_cells(GAPS | others).to_csv("fresh.csv", index=False)
    again = json.loads(run("recheck", "m.safetensors", "fresh.csv", "--json")[1])
    assert again["certificate"]["n_val"] == 59
    assert len(again["notes"]) == 2
    run("predict", "m.safetensors", "gaps.csv", "--out", "q.csv")
    np.testing.assert_array_equal(written("p.csv"), written("q.csv"))
    assert run("report", "m.safetensors", "--out", "again.html")[0] == 0


def test_a_text_that_was_not_there_is_told(run, model):
    frame().assign(city=["Rom", "Oslo", *["Ulm"] * 58]).to_csv("new.csv", index=False)
    code, _, err = run("predict", model, "new.csv", "--out", "p.csv")
    assert code == 2
    assert (
        'column "city" holds texts in rows 1, 2 that were not there when the model was learned: "Rom", "Oslo"'
        in err
    )
    code, text, _ = run("predict", model, "new.csv", "--missing", "mean", "--out", "p.csv")
    assert code == 0
    assert (
        "texts that the model has not seen were filled with the mean of their column: 2 in city"
        in " ".join(text.split())
    )


def test_columns_that_are_not_there_are_all_named(run, model):
    frame()[["city", "new"]].rename(columns={"new": "New"}).to_csv("few.csv", index=False)
    code, _, err = run("predict", model, "few.csv", "--out", "p.csv")
    assert code == 2
    assert '"size", "age", "new"' in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--drop", "city"), ["size", "age", "new"]),
        (("--drop", "c*,new"), ["size", "age"]),
        (("--drop", "city", "--drop", "age"), ["size", "new"]),
        (("--keep", "size,age"), ["size", "age"]),
        (("--keep", "*e*", "--drop", "new"), ["size", "age"]),
        (("--features", "age,size"), ["age", "size"]),
    ],
)
def test_columns_are_kept_and_dropped(run, options, names):
    found = json.loads(run("learn", "clean.csv", "-t", "price", "-k", 0, *options, "--json")[1])
    assert found["names"] == names


def test_a_model_without_means_says_so(run):
    from netlearn import learn

    X = np.random.default_rng(0).standard_normal((50, 2))
    learn(X, X[:, 0], n_hidden=0, rng=0).save("m.safetensors")
    pd.DataFrame(X, columns=["a", "b"]).to_csv("t.csv", index=False)
    code, _, err = run("predict", "m.safetensors", "t.csv", "--missing", "mean", "--out", "p.csv")
    assert code == 2
    assert "learned from an array" in err
    assert run("predict", "m.safetensors", "t.csv", "--out", "p.csv")[0] == 0
    assert LearnResult.load("m.safetensors").recipe is None


def test_the_base_install_reads_csv_and_lines_of_json():
    """Nothing that reads tables can be imported."""
    frame().to_json("t.jsonl", orient="records", lines=True)
    code = (
        "import sys\n"
        "for name in ('pyarrow', 'pandas', 'polars', 'python_calamine'): sys.modules[name] = None\n"
        "from netlearn.cli import main\n"
        "main()"
    )
    for table in ("clean.csv", "t.jsonl"):
        command = ["learn", table, "-t", "price", *HOW, "--out", "m.safetensors", "--json"]
        done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True)
        assert done.returncode in (0, 3), done.stderr
        assert json.loads(done.stdout)["n_rows"] == 60
    done = subprocess.run([sys.executable, "-c", code, "learn", "x.parquet"], capture_output=True, text=True)
    assert done.returncode == 2
