"""Bad input through every door of the library: the exception, the sentence, nothing changed, no hang.

The doors of the command line are in test_bad_input_cli.py, damaged tables in tests/source/test_files.py as well.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError

from netlearn import (
    FileSource,
    LearnResult,
    NetLearnRegressor,
    Oracle,
    ShallowNetwork,
    Status,
    learn,
    teachers,
)
from netlearn.errors import BudgetError, InputError
from netlearn.network import files as model_files
from netlearn.paper import Schedule
from netlearn.paper import netlearn as algorithm_1
from netlearn.paper.bruteforce import check_budget
from netlearn.source import OnDevice, OracleError
from netlearn.source.checkpoint import Checkpoint
from tests.reliability.doors import contents, files, no_hang

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = np.abs(X[:, 0]) + X[:, 1]
MASKED = np.ma.masked_array(X, mask=X > 1)
FRAME = pd.DataFrame(X, columns=list("abc"))
NETWORK = teachers.random(2, 3, 0)
FITTED = NetLearnRegressor(n_hidden=0, random_state=0).fit(X, Y)


def with_one(array, value):
    """Return a copy with another value in the middle."""
    array = array.copy()
    array.flat[array.size // 2] = value
    return array


def from_rows(**given):
    return learn(**{"X": X, "y": Y, "n_hidden": 1, "rng": 0, **given})


def from_oracle(f=lambda X: np.abs(X[:, 0]), y=None, sample_weight=None, checkpoint=None, **given):
    oracle = Oracle(f, **{"n_features": 2, "budget": 200, **given})
    return learn(oracle, y, sample_weight=sample_weight, checkpoint=checkpoint, n_hidden=1, rng=0)


def from_file(**given):
    return learn(FileSource("rows.npy"), n_hidden=0, rng=0, **given)


def fitted(X=X, y=Y, sample_weight=None, **given):
    return NetLearnRegressor(**{"n_hidden": 0, "random_state": 0, **given}).fit(X, y, sample_weight)


def network(**given):
    return ShallowNetwork(**{"linear": [1.0, 2.0], "coefficients": [1.0], "units": [[1.0, 0.0]], **given})


def loaded(**header):
    """Load a network from a file with other entries in its header."""
    with safe_open("network.safetensors", framework="numpy") as opened:
        metadata = opened.metadata()
    save_file(load_file("network.safetensors"), "altered.safetensors", metadata={**metadata, **header})
    return ShallowNetwork.load("altered.safetensors")


def result_with(**changed):
    """Load a result from a file whose text has other entries, and a checksum that is right."""
    network, arrays, text = model_files.read_result("result.safetensors")
    model_files.write_result(
        "altered.safetensors", network, arrays, json.dumps({**json.loads(text), **changed})
    )
    return LearnResult.load("altered.safetensors")


def result_with_arrays(**changed):
    network, arrays, text = model_files.read_result("result.safetensors")
    changed = {name.replace("__", "."): array for name, array in changed.items()}
    model_files.write_result("altered.safetensors", network, {**arrays, **changed}, text)
    return LearnResult.load("altered.safetensors")


def resumed(data, part="search"):
    """Go on from a checkpoint of which a part was replaced by other bytes."""
    from_rows(y=Y + 0.1 * X[:, 2] ** 2, checkpoint="folder")  # labels that take a search
    (path,) = Path("folder").glob(f"{part}.safetensors")
    path.write_bytes(data(path.read_bytes()))
    from_rows(y=Y + 0.1 * X[:, 2] ** 2, checkpoint="folder")


def flipped(data):
    """Change one bit of the last tensor."""
    return data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]


LEARN = [
    ("X is None", {"X": None}, "X must"),
    ("X is a path beside labels", {"X": "data.csv"}, '"y" of learn must name the column'),
    ("X is a generator", {"X": (row for row in X)}, "X must"),
    ("X is a dict", {"X": {"a": 1.0}}, "X must"),
    ("X is ragged", {"X": [[1.0], [1.0, 2.0]] * 30}, "X must be an array of numbers"),
    ("X has one axis", {"X": Y}, "X must have 2 axes; got an array of shape (60,)"),
    ("X has three axes", {"X": X[None]}, "X must have 2 axes; got an array of shape (1, 60, 3)"),
    ("X has no rows", {"X": X[:0], "y": Y[:0]}, "X has 0 rows; at least 4"),
    ("X has three rows", {"X": X[:3], "y": Y[:3]}, "X has 3 rows; at least 4"),
    ("X has no columns", {"X": X[:, :0]}, "X must have at least one column"),
    ("X has NaN", {"X": with_one(X, np.nan)}, "X must be finite; got NaN or infinity"),
    ("X has infinity", {"X": with_one(X, -np.inf)}, "X must be finite"),
    ("X is masked", {"X": MASKED}, "X must not be masked"),
    ("X is sparse", {"X": scipy.sparse.csr_array(X)}, "X must"),
    ("X is complex", {"X": X + 0j}, "X must hold real numbers; got elements of type complex128"),
    ("X holds objects", {"X": X.astype(object)}, "X must hold real numbers; got elements of type object"),
    ("X holds truth values", {"X": X > 0}, "X must hold real numbers; got elements of type bool"),
    ("X holds dates", {"X": X.astype("M8[s]")}, "X must hold real numbers"),
    ("X holds text", {"X": FRAME.assign(b="tall")}, 'column "b" holds text: "tall" in row 1'),
    ("X has records", {"X": np.zeros(60, dtype=[("a", "f8")])}, "X must hold real numbers"),
    ("X is a frame with NaN", {"X": FRAME.mask(FRAME > 2)}, "missing value"),
    ("X is in bfloat16", {"X": torch.tensor(X).bfloat16()}, "X must be a dense tensor"),
    ("X is a sparse tensor", {"X": torch.tensor(X).to_sparse()}, "X must be a dense tensor"),
    ("X is on no device", {"X": torch.zeros(60, 3, device="meta")}, "X must be a dense tensor"),
    ("X is a complex tensor", {"X": torch.tensor(X + 0j)}, "X must hold real numbers"),
    ("y is None", {"y": None}, '"y" of learn must be given'),
    ("y is one number", {"y": 1.0}, "y must have 1 axes; got an array of shape ()"),
    ("y has three axes", {"y": X[None]}, "y must have 1 axes"),
    ("y is short", {"y": Y[:5]}, "y must have one entry per row of X; got 5 entries and 60 rows"),
    ("y is ragged", {"y": [[1.0], [1.0, 2.0]] * 30}, "ragged sequence"),
    ("y has no columns", {"y": X[:, :0]}, "y must have at least one column"),
    ("y has NaN", {"y": with_one(Y, np.nan)}, "y must be finite"),
    ("y is masked", {"y": np.ma.masked_array(Y, mask=Y > 1)}, "y must not be masked"),
    ("y holds text", {"y": ["a"] * 60}, "y must hold real numbers"),
    ("y is complex", {"y": Y + 0j}, "y must hold real numbers"),
    ("weights are negative", {"sample_weight": -np.ones(60)}, "sample_weight must hold numbers >= 0; got -1"),
    ("weights have NaN", {"sample_weight": with_one(Y, np.nan)}, "sample_weight must be finite"),
    ("weights are few", {"sample_weight": Y[:7] ** 2}, "sample_weight must have one entry per row"),
    ("weights are all zero", {"sample_weight": np.zeros(60)}, "above zero for at least 4 rows; it is for 0"),
    ("weights are one number", {"sample_weight": 2.0}, "sample_weight must have 1 axes"),
    ("weights are a word", {"sample_weight": "balanced"}, "sample_weight must"),
    (
        "weights are masked",
        {"sample_weight": np.ma.masked_array(Y**2, mask=Y > 1)},
        "sample_weight must not be masked",
    ),
    (
        "n_hidden is negative",
        {"n_hidden": -1},
        '"n_hidden" of learn must be "auto" or an integer >= 0, got -1',
    ),
    ("n_hidden is a float", {"n_hidden": 1.0}, '"n_hidden" of learn'),
    ("n_hidden is a truth value", {"n_hidden": True}, '"n_hidden" of learn'),
    ("n_hidden is a list", {"n_hidden": [1]}, '"n_hidden" of learn'),
    ("n_hidden is an array", {"n_hidden": np.array([1, 2])}, '"n_hidden" of learn'),
    ("biases is one", {"biases": 1}, '"biases" of learn must be "auto", True or False, got 1'),
    ("biases is an array", {"biases": np.zeros(3)}, '"biases" of learn'),
    ("epsilon is zero", {"epsilon": 0}, '"epsilon" of learn must be None or a positive number, got 0'),
    ("epsilon is NaN", {"epsilon": np.nan}, '"epsilon" of learn'),
    ("epsilon is infinite", {"epsilon": np.inf}, '"epsilon" of learn'),
    ("epsilon is text", {"epsilon": "0.1"}, '"epsilon" of learn'),
    ("epsilon is a truth value", {"epsilon": True}, '"epsilon" of learn'),
    ("epsilon is complex", {"epsilon": np.complex128(1)}, '"epsilon" of learn'),
    ("failure_prob is zero", {"failure_prob": 0}, '"failure_prob" of learn must be in (0, 1), got 0'),
    ("failure_prob is one", {"failure_prob": 1.0}, '"failure_prob" of learn'),
    ("failure_prob is None", {"failure_prob": None}, '"failure_prob" of learn'),
    ("time_limit is zero", {"time_limit": 0}, '"time_limit" of learn must be None or a positive number'),
    ("time_limit is NaN", {"time_limit": np.nan}, '"time_limit" of learn'),
    ("time_limit is text", {"time_limit": "1h"}, '"time_limit" of learn'),
    ("rng is negative", {"rng": -1}, '"rng" of learn must be None, a non-negative integer or a Generator'),
    ("rng is text", {"rng": "seed"}, '"rng" of learn'),
    ("rng cannot spawn", {"rng": np.random.RandomState(0)}, '"rng" of learn'),
    ("progress cannot be called", {"progress": 3}, '"progress" of learn must be callable, got 3'),
    ("checkpoint without rng", {"checkpoint": "new", "rng": None}, '"checkpoint" of learn needs an "rng"'),
    ("checkpoint is a number", {"checkpoint": 5}, '"checkpoint" must be a path, got 5'),
    ("checkpoint is empty", {"checkpoint": ""}, '"checkpoint" must be a path'),
    ("checkpoint has a zero byte", {"checkpoint": "a\0b"}, '"checkpoint" must be a path'),
    ("checkpoint is a file", {"checkpoint": "rows.csv"}, "rows.csv is a file"),
    ("checkpoint has no parent", {"checkpoint": "none/new"}, "none, which is no folder"),
]
ORACLES = [
    ("f cannot be called", {"f": 3}, InputError, '"f" of Oracle must be callable, got a int'),
    ("f gives None", {"f": lambda X: None}, InputError, "must return"),
    ("f gives text", {"f": lambda X: ["a"] * len(X)}, InputError, "must return real numbers, got a list"),
    ("f gives a dict", {"f": lambda X: {}}, InputError, "must return real numbers, got a dict"),
    ("f gives complex numbers", {"f": lambda X: X[:, 0] + 1j}, InputError, "must return real numbers"),
    ("f gives one number", {"f": lambda X: 1.0}, InputError, "it returned an array of shape ()"),
    ("f gives too few", {"f": lambda X: X[:3, 0]}, InputError, "it returned an array of shape (3,)"),
    ("f gives no columns", {"f": lambda X: X[:, :0]}, InputError, "one number per row"),
    ("f gives NaN", {"f": lambda X: X[:, 0] * np.nan}, OracleError, "returned NaN or infinity"),
    (
        "f gives masked values",
        {"f": lambda X: np.ma.masked_greater(X[:, 0], 0.0)},
        OracleError,
        "returned NaN or infinity",
    ),
    ("f raises", {"f": lambda X: 1 / 0}, OracleError, "The oracle raised ZeroDivisionError"),
    ("f exits", {"f": lambda X: exit(0)}, OracleError, "The oracle raised SystemExit(0)"),
    (
        "n_features is zero",
        {"n_features": 0},
        InputError,
        '"n_features" of Oracle must be an integer >= 1, got 0',
    ),
    ("n_features is a float", {"n_features": 2.0}, InputError, '"n_features" of Oracle'),
    ("n_features is a truth value", {"n_features": True}, InputError, '"n_features" of Oracle'),
    ("budget is zero", {"budget": 0}, InputError, '"budget" of Oracle must be an integer >= 1, got 0'),
    ("budget is NaN", {"budget": np.nan}, InputError, '"budget" of Oracle'),
    ("budget is text", {"budget": "100"}, InputError, '"budget" of Oracle'),
    ("budget is three", {"budget": 3}, InputError, "at least"),
    ("batch is a float", {"batch": 1.5}, InputError, '"batch" of Oracle'),
    ("retries is negative", {"retries": -1}, InputError, '"retries" of Oracle must be an integer >= 0'),
    ("with labels", {"y": Y}, InputError, '"y" of learn must be left out'),
    ("with weights", {"sample_weight": Y}, InputError, '"sample_weight" of learn'),
    ("with a checkpoint", {"checkpoint": "new"}, InputError, "what it answered is in Oracle.bought"),
]
SOURCES = [
    ("path is None", {"path": None}, '"path" of a table must be a path, got None'),
    ("path is a number", {"path": 3}, '"path" of a table must be a path, got 3'),
    ("path is bytes", {"path": b"rows.csv"}, '"path" of a table must be a path'),
    ("path is a list", {"path": ["rows.csv"]}, '"path" of a table must be a path'),
    ("path is empty", {"path": ""}, '"path" of a table must be a path'),
    ("path has a zero byte", {"path": "a\0.csv"}, '"path" of a table must be a path'),
    ("path is very long", {"path": "a" * 5000 + ".csv"}, "there is no such file"),
    ("path is a folder", {"path": "."}, "there are no Parquet files"),
    (
        "target is a float",
        {"path": "rows.npy", "target": 1.7},
        '"target" of rows.npy must be a list of columns',
    ),
    ("target holds a float", {"path": "rows.npy", "target": [1.7]}, '"target" of rows.npy must be in its 4'),
    ("target is a truth value", {"path": "rows.npy", "target": True}, '"target" of rows.npy'),
    ("target is a set", {"path": "rows.csv", "target": {"y"}}, '"target" of rows.csv must be a list'),
    ("target is bytes", {"path": "rows.csv", "target": b"y"}, '"target" of rows.csv must be a list'),
    ("target is far off", {"path": "rows.npy", "target": 10**30}, '"target" must be the number of a column'),
    ("features are text", {"path": "rows.csv", "target": "y", "features": "ab"}, '"features" of rows.csv'),
    ("features are a number", {"path": "rows.csv", "target": "y", "features": 1}, '"features" of rows.csv'),
    ("features are a dict", {"path": "rows.csv", "target": "y", "features": {"a": 1}}, '"features" of'),
    (
        "features hold a float",
        {"path": "rows.csv", "target": "y", "features": [0.5]},
        '"features" of rows.csv',
    ),
    ("no features", {"path": "rows.csv", "target": "y", "features": []}, "leaves no column for the features"),
    ("a feature is the target", {"path": "rows.csv", "target": "y", "features": ["y"]}, "was chosen twice"),
    ("every column is a target", {"path": "rows.csv", "target": "*"}, "leaves no column for the features"),
]
ESTIMATOR = [
    ("X has NaN", {"X": with_one(X, np.nan)}, "fit cannot use its X and y: Input X contains NaN"),
    ("X is masked", {"X": MASKED}, "X must not be masked"),
    ("y is masked", {"y": np.ma.masked_array(Y, mask=Y > 1)}, "y must not be masked"),
    ("X is a path beside labels", {"X": "rows"}, '"y" of learn must name the column'),
    ("X is complex", {"X": X + 1j}, "fit cannot use its X and y: Complex data not supported"),
    ("y is None", {"y": None}, "fit cannot use its X and y"),
    ("y holds text", {"y": ["a"] * 60}, "y must hold real numbers; got elements of type <U1"),
    ("y is short", {"y": Y[:5]}, "inconsistent numbers of samples"),
    ("three rows", {"X": X[:3], "y": Y[:3]}, "minimum of 4 is required"),
    ("weights are negative", {"sample_weight": -np.ones(60)}, "sample_weight must hold numbers >= 0"),
    ("random_state is text", {"random_state": "seed"}, '"rng" of learn must be'),
    ("n_hidden is text", {"n_hidden": "many"}, '"n_hidden" of learn'),
    ("epsilon is negative", {"epsilon": -1.0}, '"epsilon" of learn'),
]
NETWORKS = [
    ("linear has NaN", {"linear": [np.nan, 1.0]}, '"linear" must hold finite numbers, got 1 of 2 not finite'),
    ("linear is complex", {"linear": [1j, 1.0]}, '"linear" must be an array of real numbers'),
    ("linear is masked", {"linear": np.ma.masked_array([1.0, 2.0], [0, 1])}, '"linear" must not be masked'),
    ("linear is empty", {"linear": []}, '"linear" must have shape (d,) or (m, d)'),
    ("units have one axis", {"units": [1.0]}, '"units" must have shape (1, 2)'),
    ("coefficients are too many", {"coefficients": [1.0, 2.0]}, '"coefficients" must have shape (1,)'),
    ("biases are text", {"biases": "b"}, '"biases" must be an array of real numbers, got str'),
    ("intercept is infinite", {"intercept": np.inf}, '"intercept" must hold finite numbers'),
]
OTHERS = [
    ("predict without fit", NetLearnRegressor().predict, {"X": X}, NotFittedError, "not fitted yet"),
    ("predict other columns", FITTED.predict, {"X": X[:, :2]}, ValueError, "2 features, but NetLearnRegressor"),
    ("predict NaN", FITTED.predict, {"X": with_one(X, np.nan)}, ValueError, "contains NaN"),
    ("predict masked rows", FITTED.predict, {"X": MASKED}, InputError, "X must not be masked"),
    ("transform other columns", FITTED.transform, {"X": X[:, :2]}, ValueError, "2 features"),
    ("call with other columns", NETWORK, {"X": X[:, :2]}, InputError, '"X" must have shape (n, 3) or (3,)'),
    ("call with text", NETWORK, {"X": "abc"}, InputError, '"X" must be an array of real numbers'),
    ("call with complex rows", NETWORK, {"X": X + 1j}, InputError, '"X" must hold real numbers'),
    ("call with masked rows", NETWORK, {"X": MASKED}, InputError, '"X" must not be masked'),
    ("distance to a number", NETWORK.distance, {"other": 3}, InputError, '"other" must be a ShallowNetwork'),
    (
        "distance to another shape",
        NETWORK.distance,
        {"other": teachers.random(2, 2, 0)},
        InputError,
        '"other" must be a network',
    ),
    ("save to None", NETWORK.save, {"path": None}, InputError, "must be a path, got None"),
    ("save to a folder", NETWORK.save, {"path": "."}, IsADirectoryError, "Cannot write .: it is a folder"),
    ("save to nowhere", NETWORK.save, {"path": "none/m"}, FileNotFoundError, "folder none does not exist"),
    ("load a number", ShallowNetwork.load, {"path": 7}, InputError, "A model must be a path, got 7"),
    ("load a folder", ShallowNetwork.load, {"path": "."}, FileNotFoundError, "there is no such file"),
    ("load a table", ShallowNetwork.load, {"path": "rows.csv"}, InputError, "not a whole safetensors file"),
    ("load a network as a result", LearnResult.load, {"path": "network.safetensors"}, InputError, "network alone"),
    ("load another format", loaded, {"format": "other"}, InputError, "not one that holds a netlearn network"),
    ("load another version", loaded, {"version": "99"}, InputError, "has format version 99"),
    ("load a wrong checksum", loaded, {"sha256": "0"}, InputError, "was altered after it was written"),
    ("result without a status", result_with, {"status": "FINE"}, InputError, "does not hold a usable result"),
    ("result with names that are none", result_with, {"names": [1, 2, 3]}, InputError, "usable result"),
    ("result with half a character", result_with, {"target": "\ud800"}, InputError, "usable result"),
    ("result with numbers for words", result_with, {"diagnostics": 3}, InputError, "usable result"),
    ("result with other rows", result_with_arrays, {"held_out__X": np.ones((2, 9))}, InputError, "rows held out"),
    ("result with another span", result_with_arrays, {"subspace": np.ones((9, 1))}, InputError, "the subspace"),
    ("checkpoint cut short", resumed, {"data": lambda data: data[:-3]}, InputError, "a damaged one"),
    ("checkpoint with one bit changed", resumed, {"data": flipped}, InputError, "checksum does not match"),
    ("checkpoint of nothing", resumed, {"data": lambda data: b""}, InputError, "no part of a checkpoint"),
    ("device that is none", OnDevice, {"rows": X, "device": "abacus"}, InputError, '"device" must name a device'),
    ("device is a float", OnDevice, {"rows": X, "device": 3.5}, InputError, '"device" must name a device'),
    ("device is None", OnDevice, {"rows": X, "device": None}, InputError, '"device" must name a device'),
    ("file with labels besides", from_file, {"y": Y}, InputError, '"y" of learn must be left out'),
    ("file with weights", from_file, {"sample_weight": Y}, InputError, '"sample_weight" of learn'),
    ("schedule of many neurons", Schedule.from_theory,
     {"n_features": 3, "n_hidden": 10**6, "epsilon": 0.1, "R": 1.0}, InputError, "must be in [1, 100]"),
    ("schedule of no rows", algorithm_1, {"sample": None, "n_features": 2, "k": 0, "epsilon": 0.1, "R": 1.0},
     InputError, '"n_hidden"'),
    ("too many candidates", check_budget, {"n_directions": 10**6, "n_weights": 10**6, "n_hidden": 3, "budget": 10**6},
     BudgetError, "more than its budget"),
]  # fmt: skip
CASES = [
    *(("learn", name, from_rows, given, InputError, words) for name, given, words in LEARN),
    *(("oracle", name, from_oracle, given, kind, words) for name, given, kind, words in ORACLES),
    *(("source", name, FileSource, given, InputError, words) for name, given, words in SOURCES),
    *(("estimator", name, fitted, given, InputError, words) for name, given, words in ESTIMATOR),
    *(("network", name, network, given, InputError, words) for name, given, words in NETWORKS),
    *(("other", *case) for case in OTHERS),
]


@pytest.fixture(scope="module")
def result():
    return replace(from_rows(n_hidden=0), names=("a", "b", "c"), target="y")


@pytest.fixture
def folder(tmp_path, monkeypatch, result):
    """A folder with rows in two formats, a network and a result."""
    monkeypatch.chdir(tmp_path)
    FRAME.assign(y=Y).to_csv("rows.csv", index=False)
    np.save("rows.npy", np.column_stack([X, Y]))
    NETWORK.save("network.safetensors")
    result.save("result.safetensors")


@pytest.mark.parametrize(
    ("call", "given", "kind", "words"),
    [case[2:] for case in CASES],
    ids=[f"{door}: {name}" for door, name, *_ in CASES],
)
def test_bad_input_is_refused_in_words_and_changes_nothing(folder, call, given, kind, words):
    before = {name: contents(value) for name, value in given.items()}, contents(X), contents(Y)
    kept = files()
    with pytest.raises(kind) as refusal, no_hang():
        call(**given)
    assert words in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1 or kind is ValueError  # scikit-learn's own have more
    assert ({name: contents(value) for name, value in given.items()}, contents(X), contents(Y)) == before
    assert {path: data for path, data in files().items() if path in kept} == kept


def test_no_row_of_the_table_is_there_twice():
    assert len({(door, name) for door, name, *_ in CASES}) == len(CASES) > 150


def test_the_same_calls_are_fine_without_what_is_wrong(folder):
    """Each refusal is of what was changed in it, and of nothing else."""
    assert from_rows().status is Status.REPRODUCED
    assert from_oracle().status is Status.REPRODUCED
    assert from_file().network.n_features == 3
    assert FileSource("rows.csv", "y").n_features == 3
    assert fitted().predict(X).shape == Y.shape
    assert network().n_hidden == 1
    assert loaded() == NETWORK
    assert result_with().names == ("a", "b", "c")
    assert result_with_arrays().held_out.X.shape[1] == 3
    resumed(lambda data: data)


def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    Checkpoint(tmp_path / "folder", {"run": 1}).save("part", {"a": np.arange(3.0)})
    monkeypatch.setattr("netlearn.source.checkpoint.version", lambda name: "0.0")
    with pytest.raises(InputError, match="another version of netlearn"):
        Checkpoint(tmp_path / "folder", {"run": 1}).load("part")
