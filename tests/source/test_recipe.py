"""The recipe: fitted once, saved with the network, and applied in the same way by everything that reads a table."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from pyarrow import parquet

from netlearn import FileSource, LearnResult, learn, learning, pipeline
from netlearn.errors import InputError
from netlearn.network import files as network_files
from netlearn.source import files
from netlearn.source.dask import DaskSource
from netlearn.source.problems import TableError
from netlearn.source.reading import predicted, rows_as_learned
from netlearn.source.recipe import Recipe
from tests.source.messy import frame, with_cells

GAPS = {(3, "age"): None, (7, "size"): None, (11, "city"): None}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_means_and_texts_are_those_of_the_table():
    made = frame()
    made.loc[[3, 7], "age"] = np.nan
    made.loc[11, "city"] = None
    recipe = FileSource(made, "price", missing="mean", encode="onehot").recipe
    assert recipe.columns == ("size", "age", "city", "new")
    assert recipe.categories == ((), (), ("Bonn", "Köln", "Ulm"), ())
    shares = [(made["city"] == city).sum() / 59 for city in ("Bonn", "Köln", "Ulm")]
    expected = [made["size"].mean(), made["age"].mean(), *shares, made["new"].mean()]
    np.testing.assert_allclose(recipe.means, expected)
    assert recipe.feature_names == ("size", "age", "city=Bonn", "city=Köln", "city=Ulm", "new")


def test_features_are_indicators_and_gaps_are_means():
    recipe = Recipe(("a", "b"), ((), ("x", "y")), "mean", (5.0, 0.25, 0.75))
    values = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, np.nan], [4.0, -1.0]])
    expected = [[1, 1, 0], [2, 0, 1], [5, 0.25, 0.75], [4, 0.25, 0.75]]
    np.testing.assert_array_equal(recipe.features(values), expected)
    kept = recipe.with_policy("drop").features(values)
    np.testing.assert_array_equal(np.isnan(kept).any(axis=1), [False, False, True, True])
    plain = np.ones((3, 2))
    assert Recipe(("a", "b"), ((), ())).features(plain) is plain


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"missing": "guess"}, '"missing" must be "error", "drop" or "mean"'),
        ({"columns": ("a",), "categories": ()}, "must be as many"),
        ({"categories": ((),), "means": (1.0, 2.0)}, "must be 1 finite"),
        ({"categories": ((),), "means": (np.inf,)}, "must be 1 finite"),
        ({"categories": (("x", "x"),)}, "must not hold a text twice"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(fields, words):
    with pytest.raises(InputError, match=words):
        Recipe(**fields)


def test_it_travels_with_the_network_and_damage_is_told(monkeypatch):
    result = learn(FileSource(frame(), "price", encode="onehot", missing="mean"), n_hidden=1, rng=0)
    result.save("m.safetensors")
    assert LearnResult.load("m.safetensors").recipe == result.recipe
    network, arrays, text = network_files.read_result("m.safetensors")
    for change in (
        {"categories": [[], [], ["Ulm"], []]},
        {"missing": "guess"},
        {"means": [1.0]},
        {"columns": "size"},
        {"more": 1},
    ):
        data = json.loads(text)
        data["recipe"] |= change
        network_files.write_result("bad.safetensors", network, arrays, json.dumps(data))
        with pytest.raises(InputError, match="does not hold a usable result"):
            LearnResult.load("bad.safetensors")
    data = json.loads(text)
    del data["recipe"]  # as written before there were any
    network_files.write_result("old.safetensors", network, arrays, json.dumps(data))
    assert LearnResult.load("old.safetensors").recipe is None


def test_what_learning_and_predicting_do_to_a_table_is_the_same():
    made = with_cells(GAPS)
    made.to_csv("t.csv", index=False)
    result = learn(FileSource("t.csv", "price", missing="mean", encode="onehot"), n_hidden=1, rng=0)
    X, _ = FileSource("t.csv", "price", missing="mean", encode="onehot").arrays()
    for table in ("t.csv", made, made.iloc[:, ::-1]):
        np.testing.assert_array_equal(rows_as_learned(table, result.recipe), X)
    # A file of other rows is filled with the means of those that were learned from.
    other = made.iloc[:4].assign(city=["Ulm", "Rom", None, "Bonn"])
    filled = rows_as_learned(other, result.recipe)
    np.testing.assert_array_equal(filled[1, 2:5], result.recipe.means[2:5])
    np.testing.assert_array_equal(filled[2, 2:5], result.recipe.means[2:5])
    assert filled[3, 1] == result.recipe.means[1]
    dropped = rows_as_learned(other, result.recipe.with_policy("drop"))
    values = predicted(result.network, dropped)
    np.testing.assert_array_equal(np.isnan(values), [False, True, True, True])
    with pytest.raises(
        TableError, match='texts in row 2 that were not there when the model was learned: "Rom"'
    ):
        rows_as_learned(other, result.recipe.with_policy("error"))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(kind):
    made = kind(frame().drop(columns="city").to_dict("list"))
    inside = learn(made, "price", n_hidden=1, rng=0)
    labels = made["price"]
    X = made.drop(columns="price") if kind is pd.DataFrame else made.drop("price")
    beside = learn(X, labels, n_hidden=1, rng=0)
    for result in (inside, beside):
        assert (result.names, result.target) == (("size", "age", "new"), "price")
    assert inside.network == beside.network
    np.testing.assert_allclose(beside.recipe.means, [frame()[name].mean() for name in beside.names])
    two = learn(X, kind({"a": labels, "b": labels}), n_hidden=1, rng=0)
    assert two.target == ("a", "b")


def test_frames_without_names_and_in_single_precision_stay_as_they_are():
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    result = learn(pd.DataFrame(X), X[:, 0], n_hidden=0, rng=0)
    assert (result.names, result.target) == ((), "")
    assert result.network == learn(X, X[:, 0], n_hidden=0, rng=0).network
    weighted = learn(
        pd.DataFrame(X, columns=list("abc")), X[:, 0], n_hidden=0, rng=0, sample_weight=np.ones(50)
    )
    assert weighted.names == ("a", "b", "c")


def test_problems_of_labels_beside_a_frame_are_listed_with_its_own():
    made = frame()
    labels = made["price"].where(made.index != 4)
    with pytest.raises(TableError) as refusal:
        learn(made.drop(columns="price"), labels)
    assert [
        words in str(refusal.value) for words in ('column "city" holds text', 'column "price" has 1 missing')
    ]
    assert len(refusal.value.problems) == 2
    with pytest.raises(InputError, match="60 rows"):
        learn(made[["city"]], labels[:50])


@pytest.mark.parametrize("path", [str, Path])
def test_a_path_is_read(path):
    frame().drop(columns="city").to_csv("clean.csv", index=False)
    result = learn(path("clean.csv"), "price", n_hidden=1, rng=0)
    assert (result.names, result.target) == (("size", "age", "new"), "price")
    assert result.network == learn(FileSource("clean.csv", "price"), n_hidden=1, rng=0).network
    several = learn(path("clean.csv"), ["age", "price"], n_hidden=1, rng=0)
    assert several.target == ("age", "price")
    with pytest.raises(InputError, match='"y" of learn must name the column'):
        learn(path("clean.csv"), np.ones(60))
    with pytest.raises(InputError, match="no such file"):
        learn(path("absent.csv"), "price")


# Rows that are left out


def with_gaps(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 3))
    rows[rng.random(n) < 0.1, rng.integers(3)] = np.nan
    rows[::37, 1] = np.nan
    return rows


def write_parts(rows, group=70):
    for number, part in enumerate(np.array_split(rows, 3)):
        table = pyarrow.table({name: part[:, i] for i, name in enumerate("abc")})
        parquet.write_table(table, f"{number}.parquet", row_group_size=group)
    return "*.parquet"


def test_reading_begins_at_any_row_that_is_left(monkeypatch):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 3 * 50)
    rows = with_gaps()
    source = FileSource(write_parts(rows), "c", missing="drop")
    whole = rows[~np.isnan(rows).any(axis=1)]
    assert (source.n_rows, source.n_lines) == (len(whole), 1000)
    for start in (0, 1, 33, 300, len(whole) - 1):
        X, y = (np.concatenate(parts) for parts in zip(*source.blocks(start=start), strict=True))
        np.testing.assert_array_equal(np.column_stack([X, y]), whole[start:])
    X = np.concatenate([X for X, _ in source.aligned()])
    np.testing.assert_array_equal(X, rows[:, :2])


def test_a_cluster_reads_the_same_rows(monkeypatch):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 3 * 50)
    monkeypatch.setattr("netlearn.source.dask._PARTITION_ENTRIES", 3 * 100)
    rows = with_gaps()
    source = FileSource(write_parts(rows), "c", missing="drop")
    spread = DaskSource.from_files(source)
    assert len(spread.partitions) > 5
    assert spread.n_rows == source.n_rows
    total = sum(spread.over_rows(_total, np.zeros(0, dtype=int)))
    assert total == pytest.approx(np.nansum(rows[~np.isnan(rows).any(axis=1)]))


def _total(X, y, here):
    return X.sum() + y.sum()


def test_a_large_file_with_gaps_and_texts_is_streamed(monkeypatch):
    monkeypatch.setattr(learning, "LARGE_FILE", 2**12)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 500)
    rng = np.random.default_rng(0)
    n = 5000
    made = pd.DataFrame(rng.standard_normal((n, 3)), columns=list("abc"))
    made["kind"] = rng.choice(["x", "y"], n)
    made["t"] = np.abs(made["a"] - 0.5 * made["b"]) + 2.0 * (made["kind"] == "x") + made["c"]
    made.loc[rng.choice(n, 100, replace=False), "c"] = np.nan
    made.to_csv("t.csv.gz", index=False)
    result = learn(FileSource("t.csv.gz", "t", missing="drop", encode="onehot"), n_hidden=1, rng=0)
    assert result.diagnostics.rows["fit"] + result.diagnostics.rows["certify"] == n - 100
    assert result.status.name == "RECOVERED"
    assert any("100 of 5,000 rows were left out" in note for note in result.diagnostics.notes)


def test_memory_does_not_grow_with_rows_that_are_surveyed(monkeypatch):
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 2**12)
    peaks = []
    for n in (4_000, 40_000):
        lines = "a,kind,y\n" + "".join(f"{i},{'xyz'[i % 3]},{'' if i % 50 == 0 else i}\n" for i in range(n))
        with open("t.csv", "w") as stream:
            stream.write(lines)
        source = FileSource("t.csv", "y", missing="drop", encode="onehot")
        source._table._has_arrow = False
        tracemalloc.start()
        for _ in source.blocks():
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 2**20


def test_checkpoints_tell_policies_apart():
    made = with_cells(GAPS)
    made.to_csv("t.csv", index=False)
    ways = [{"missing": "drop"}, {"missing": "mean"}]
    first, second = (FileSource("t.csv", "price", encode="onehot", **way).identity() for way in ways)
    assert first != second
    assert FileSource(made, "price", encode="onehot", missing="drop").identity() != first


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "guess"}, '"missing" must be'),
        ({"encode": "hash"}, '"encode" must be None or "onehot"'),
        ({"drop": ["sise"]}, r'"drop" of the data frame must be in its columns .* \(did you mean "size"\?\)'),
        ({"keep": "*x"}, '"keep" of the data frame must be in'),
        ({"drop": "*"}, "leaves no column"),
        ({"drop": {"a": 1}}, '"drop" of the data frame must be a list'),
    ],
)
def test_options_that_cannot_be_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        FileSource(frame(), "price", **options)


def test_no_row_without_a_gap_says_which_column_is_to_blame():
    made = frame().drop(columns="city").assign(age=[None, 1.0] * 30, size=[1.0, None] * 30)
    with pytest.raises(InputError, match='no row without a missing value: column "size" lacks 30 of 60'):
        learn(FileSource(made, "price", missing="drop"))
