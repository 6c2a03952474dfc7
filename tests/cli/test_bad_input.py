"""Bad input through every command: exit code 2, one sentence on stderr, no traceback, no file lost or begun."""

import os
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet
from safetensors.numpy import save_file

from netlearn import learn as learn_network
from netlearn import teachers

GOOD = np.random.default_rng(0).standard_normal((50, 4))


def text(data, name="t.csv"):
    """Writer of a file of bytes or text."""
    return lambda: Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())


def cut(name, n):
    """Writer that takes the last `n` bytes off a file that is there."""
    return lambda: Path(name).write_bytes(Path(name).read_bytes()[:-n])


def write_folder():
    Path("folder").mkdir()


def write_box():
    Path("box.py").write_text(
        "def wide(X):\n    return X\n"
        "def fails(X):\n    raise RuntimeError('the line is down')\n"
        "def good(X):\n    return abs(X[:, 0])\n"
        "number = 3\n"
    )


def write_two_outputs():
    layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2))
    torch.save(layers.state_dict(), "two.pt")


def write_objects():
    np.save("t.npy", np.array([[1, None]], dtype=object), allow_pickle=True)


def write_foreign_model():
    save_file({"weight": np.ones(3)}, "foreign.safetensors")


def nothing():
    """There is nothing to write beside what every case has."""


LEARN = [
    ("good.csv -t y --out none/m.safetensors", nothing, ["none/m.safetensors", "folder none does not exist"]),
    (
        "good.csv -t y --out folder.safetensors",
        lambda: Path("folder.safetensors").mkdir(),
        ["it is a folder"],
    ),
    ("good.csv -t y --out m.pt", nothing, ["--out", ".safetensors", "m.pt"]),
    ("good.csv -t y --report r.pdf", nothing, ["--report", ".html", "r.pdf"]),
    ("good.csv -t y --report none/r.html", nothing, ["folder none does not exist"]),
    ("good.csv -t y --predictions p.xlsx", nothing, ["--predictions", ".csv or .parquet or .npy"]),
    ("good.csv -t y --predictions good.csv", nothing, ["--predictions", "must not be a file that is read"]),
    ("missing.csv -t y", nothing, ["missing.csv", "no such file"]),
    ("folder -t y", write_folder, ["folder", "no Parquet files"]),
    ("*.parquet -t y", lambda: os.remove("good.parquet"), ["*.parquet", "no Parquet files"]),
    ("t.xlsx -t y", text("x", "t.xlsx"), ["t.xlsx", "reads tables in .csv"]),
    ("good.csv", nothing, ['"target"', "its columns a, b, c, y"]),
    ("good.csv -t Y", nothing, ['"target"', "its columns a, b, c, y", 'got "Y"']),
    ("t.csv -t prise", text("price,size\n1,2\n"), ['did you mean "price"?']),
    ("good.csv -t y --features a,d", nothing, ['"features"', 'got "d"']),
    ("good.csv -t y --features a,y", nothing, ['column "y" was chosen twice']),
    ("good.csv -t 4", nothing, ['"target"', "got 4"]),
    ("t.csv -t y", text("a,city,y\n" + "1,Ulm,3\n" * 9), ['"Ulm" in row 1, column "city"', "not a number"]),
    ("t.csv -t y", text("a,y\n1,2\n,3\n"), ["missing value", "row 2", 'column "a"']),
    ("t.csv -t y", text("a,y\n1,2\n2,NaN\n"), ["missing value or NaN", "row 2", 'column "y"']),
    ("t.csv -t y", text("a,y\n1,2\n-inf,3\n"), ["infinity", "row 2", 'column "a"']),
    ("t.csv -t y", text(""), ["t.csv is empty"]),
    ("t.csv -t y", text("a,y\n"), ["t.csv has no rows"]),
    ("t.csv -t y", text("a,y\n1,2\n2,3\n"), ["2 rows", "at least 4"]),
    ("t.csv -t y", text('a,y\n"1,234.5",3\n'), ["thousands separator"]),
    ("t.csv -t y", text("a,a,y\n1,2,3\n"), ['more than one column "a"']),
    ("t.csv -t y", text("a,y\n1,2\n1,2,3\n"), ["3 cells in row 2"]),
    ("t.csv -t y", text(b"\x00\x01\x02"), ["not a text file"]),
    ("good.parquet -t y", cut("good.parquet", 30), ["good.parquet is not a whole Parquet file"]),
    ("good.npy", cut("good.npy", 30), ["good.npy is not a whole npy file"]),
    ("t.npy", write_objects, ["does not unpickle"]),
    ("t.npy", lambda: np.save("t.npy", np.ones((3, 3, 3))), ["shape (3, 3, 3)"]),
    ("good.npy -t missing.npy", nothing, ["missing.npy", "no such file"]),
    ("good.csv -t y --n-hidden many", nothing, ['"n_hidden"', "'many'"]),
    ("good.csv -t y --n-hidden -1", nothing, ['"n_hidden"', "-1"]),
    ("good.csv -t y --epsilon 0", nothing, ['"epsilon"', "0.0"]),
    ("good.csv -t y --failure-prob 1.5", nothing, ['"failure_prob"', "1.5"]),
    ("good.csv -t y --time-limit 0", nothing, ['"time_limit"', "0.0"]),
    ("good.csv -t y --device abacus", nothing, ['"device" must name a device', "'abacus'"]),
    ("good.csv -t y --device cuda:99", nothing, ['"device" must name a device', "'cuda:99'"]),
    ("good.csv -t y --device cuda --workers 2", nothing, ["--device", "cluster"]),
]
MODELS = [
    ("missing.safetensors", nothing, ["missing.safetensors", "no such file"]),
    ("good.csv", nothing, ["good.csv is not a whole safetensors file"]),
    ("foreign.safetensors", write_foreign_model, ["foreign.safetensors", "not one that holds a netlearn"]),
    ("m.safetensors", cut("m.safetensors", 8), ["m.safetensors is not a whole safetensors file"]),
]
OTHERS = [
    *((f"predict {model} good.csv --out p.csv", make, words) for model, make, words in MODELS),
    *((f"recheck {model} good.csv", make, words) for model, make, words in MODELS),
    *((f"export {model} --out m.onnx", make, words) for model, make, words in MODELS),
    *((f"report {model} --out r.html", make, words) for model, make, words in MODELS),
    ("predict m.safetensors missing.csv --out p.csv", nothing, ["missing.csv", "no such file"]),
    ("predict m.safetensors t.csv --out p.csv", text("a,c,y\n1,2,3\n"), ["its columns a, c, y", 'got "b"']),
    ("predict m.safetensors good.npy --out p.csv", nothing, ["must have 3 columns", "got 4"]),
    ("predict m.safetensors good.csv --out p.txt", nothing, ["--out", ".csv or .parquet or .npy", "p.txt"]),
    ("predict m.safetensors good.csv --out none/p.csv", nothing, ["folder none does not exist"]),
    ("predict m.safetensors good.csv --out good.csv", nothing, ["--out must not be a file that is read"]),
    ("predict m.safetensors good.csv --out p.csv -t z", nothing, ['"target"', 'got "z"']),
    # The fault comes late, when writing has begun.
    (
        "predict m.safetensors t.csv --out kept.csv",
        text("a,b,c\n" + "1,2,3\n" * 900_000 + "1,2,\n"),
        ["missing value", "row 900,001", 'column "c"'],
    ),
    ("recheck m.safetensors t.csv", text("a,b,c,z\n1,2,3,4\n"), ['"target"', "its columns a, b, c, z"]),
    ("recheck m.safetensors good.csv --failure-prob 0", nothing, ["--failure-prob", "0.0"]),
    ("recheck m.safetensors good.csv --epsilon -1", nothing, ["--epsilon", "-1.0"]),
    ("extract missing:f -d 3", nothing, ["missing"]),
    ("extract box:missing -d 3", write_box, ["box:missing"]),
    ("extract box:number -d 3", write_box, ["box:number", "int"]),
    ("extract box:good", write_box, ["--features", "box:good"]),
    ("extract box:fails -d 3", write_box, ["the line is down"]),
    ("extract box:good -d 3 --budget 3", write_box, ["--budget must be at least 8", "3"]),
    ("extract box:good -d 3 --out none/m.safetensors", write_box, ["folder none does not exist"]),
    ("extract box:good -d 3 --time-limit 0", write_box, ['"time_limit"', "0.0"]),
    ("extract missing.onnx", nothing, ["missing.onnx", "no such file"]),
    ("extract t.onnx", text("x", "t.onnx"), ["t.onnx"]),
    ("extract nonsense", nothing, ["nonsense", "module:function"]),
    ("export m.safetensors --out m.pt", nothing, ["--out", ".onnx or .npz or .safetensors", "m.pt"]),
    ("export m.safetensors --out m.safetensors", nothing, ["--out must not be a file that is read"]),
    ("report m.safetensors --out r.pdf", nothing, ["--out", ".html", "r.pdf"]),
    (
        "report alone.safetensors --out r.html",
        lambda: teachers.random(2, 3, 0).save("alone.safetensors"),
        ["alone"],
    ),
]
CASES = [*((f"learn {rest}", make, words) for rest, make, words in LEARN), *OTHERS]


@pytest.fixture(scope="module")
def result():
    return learn_network(GOOD[:, :3], GOOD[:, 3], n_hidden=0, rng=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, result):
    """A folder with good rows in three formats, a model, and a file that must stay as it is."""
    from dataclasses import replace

    monkeypatch.chdir(tmp_path)
    np.savetxt("good.csv", GOOD, delimiter=",", header="a,b,c,y", comments="")
    np.save("good.npy", GOOD)
    parquet.write_table(pyarrow.table(dict(zip("abcy", GOOD.T, strict=True))), "good.parquet")
    replace(result, names=("a", "b", "c"), target="y").save("m.safetensors")
    Path("kept.csv").write_text("old")


def contents():
    return {
        path: path.read_bytes()
        for path in Path().rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize(("command", "make", "words"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("json", [(), ("--json",)], ids=["", "json"])
def test_one_sentence_and_nothing_lost(run, command, make, words, json):
    make()
    before = contents()
    code, out, err = run(*command.split(), *json)
    assert (code, out) == (2, "")
    assert err.startswith("netlearn: ")
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    assert "Traceback" not in err
    for word in words:
        assert word in err
    assert contents() == before


def test_labels_that_never_change_are_fine(run):
    rows = "".join(f"{a},{b},7\n" for a, b in GOOD[:, :2])
    Path("t.csv").write_text("a,b,y\n" + rows)
    assert run("learn", "t.csv", "-t", "y")[0] in (0, 3)
