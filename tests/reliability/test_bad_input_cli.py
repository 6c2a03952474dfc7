"""Bad input through every command: exit code 2, one sentence on stderr, no traceback, no file lost or begun, no hang.

Nearly all commands are called in this process, where they end as `main` ends them; a few are run as a user runs them.
"""

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet
from safetensors.numpy import save_file

from netlearn import learn as learn_network
from netlearn import teachers
from tests.reliability.doors import called, files

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
        "def complex_numbers(X):\n    return X[:, 0] + 1j\n"
        "def leaves(X):\n    raise SystemExit(0)\n"
    )
    Path("script.py").write_text("import sys\nsys.exit(0)\n")


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
    ("t.doc -t y", text("x", "t.doc"), ["t.doc", "reads tables in .csv"]),
    ("good.csv", nothing, ['"target"', "its columns a, b, c, y"]),
    ("good.csv -t Y", nothing, ['"target"', "its columns a, b, c, y", 'got "Y"']),
    ("t.csv -t prise", text("price,size\n1,2\n"), ['did you mean "price"?']),
    ("good.csv -t y --features a,d", nothing, ['"features"', 'got "d"']),
    ("good.csv -t y --features a,y", nothing, ['column "y" was chosen twice']),
    ("good.csv -t 4", nothing, ['"target"', "got 4"]),
    (
        "t.csv -t y",
        text("a,city,y\n" + "1,Ulm,3\n" * 9),
        ['column "city" holds text: "Ulm" in row 1', "--encode onehot", "--drop city"],
    ),
    ("t.csv -t y", text("a,y\n1,2\n,3\n"), ["missing value", "row 2", 'column "a"']),
    ("t.csv -t y", text("a,y\n1,2\n2,NaN\n"), ["missing value", "row 2", 'column "y"', "--missing drop"]),
    ("t.csv -t y", text("a,y\n1,2\n-inf,3\n"), ["infinity", "row 2", 'column "a"']),
    ("t.csv -t y", text(""), ["t.csv is empty"]),
    ("t.csv -t y", text("a,y\n"), ["t.csv has no rows"]),
    ("t.csv -t y", text("a,y\n1,2\n2,3\n"), ["2 rows", "at least 4"]),
    ("t.csv -t y", text('a,y\n"1,234.5",3\n'), ["thousands separator"]),
    ("t.csv -t y", text("a,a,y\n1,2,3\n"), ['column "a" is there 2 times']),
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
    ("good.csv -t y --n-hidden=--1", nothing, ['"n_hidden"', "'--1'"]),
    ("good.csv -t y --n-hidden \u00b2", nothing, ['"n_hidden"', "'\u00b2'"]),
    ("good.csv -t y --n-hidden 1.5", nothing, ['"n_hidden"', "'1.5'"]),
    ("good.csv -t y --epsilon nan", nothing, ['"epsilon"', "nan"]),
    ("good.csv -t y --epsilon inf", nothing, ['"epsilon"', "inf"]),
    ("good.csv -t y --failure-prob nan", nothing, ['"failure_prob"', "nan"]),
    ("good.csv -t y --time-limit nan", nothing, ['"time_limit"', "nan"]),
    ("good.csv -t y --features ''", nothing, ["leaves no column for the features"]),
    ("good.csv -t ''", nothing, ['"target"', 'got ""']),
    ("good.csv -t y -t y", nothing, ['column "y" was chosen twice']),
    ("'' -t y", nothing, ["must be a path, got ''"]),
    (". -t y", lambda: os.remove("good.parquet"), ["no Parquet files"]),
    ("good.csv -t y --checkpoint kept.csv", nothing, ['"checkpoint" must be a folder', "kept.csv is a file"]),
    ("good.csv -t y --checkpoint none/new", nothing, ['"checkpoint"', "none, which is no folder"]),
    ("good.csv -t y --checkpoint ''", nothing, ['"checkpoint" must be a path']),
    ("good.csv -t y --scheduler x --workers 2", nothing, ["--scheduler and --workers exclude each other"]),
    ("t.csv -t y", text("a,y\n1,2\nx\x1b[2J,3\n"), [r'"x\x1b[2J" in row 2']),
    ("t.csv -t y", text('"a\nb",y\n1,2\nx,3\n'), [r'column "a\nb"', '"x" in row 2']),
    ("t.csv -t y", text("a,y\n1,2\n".encode("utf-16")[:-1]), ["t.csv"]),
    ("t.csv -t y", text("größe,y\n1,2\n".encode("cp1252") + b"1,\x81\n"), ["not a text file"]),
    ("t.csv -t y", text(b"a,y\n" + b"1,2\n" * 300_000 + b"1,\xff\n"), ["t.csv"]),
    ("t.npz", text(b"PK\x03\x04", "t.npz"), ["t.npz is not a whole npz file"]),
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
    ("predict m.safetensors t.csv --out p.csv", text("a,c,y\n1,2,3\n"), ["its columns a, c, y", 'is "b"']),
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
    ("extract box:complex_numbers -d 3", write_box, ["must return real numbers"]),
    ("extract box:leaves -d 3", write_box, ["raised SystemExit(0)"]),
    ("extract script:f -d 3", write_box, ["importing 'script' failed (SystemExit: 0)"]),
    ("extract :good -d 3", write_box, ["Empty module name"]),
    ("extract .:good -d 3", write_box, ["importing '.' failed"]),
    ("extract box:good -d 3 --budget -3", write_box, ["--budget must be at least 8", "-3"]),
    ("extract missing.onnx", nothing, ["missing.onnx", "no such file"]),
    ("extract t.onnx", text("x", "t.onnx"), ["t.onnx"]),
    ("extract nonsense", nothing, ["nonsense", "module:function"]),
    ("recheck m.safetensors good.csv --epsilon nan", nothing, ["--epsilon", "nan"]),
    ("recheck m.safetensors good.csv --failure-prob nan", nothing, ["--failure-prob", "nan"]),
    ("recheck m.safetensors good.csv -t a -t b", nothing, ['column "a" was chosen twice']),
    ("plan -k 0 -d 3", nothing, ['"n_hidden" of a schedule']),
    ("plan -k 1000000000 -d 3", nothing, ['"n_hidden" of a schedule must be in [1, 100]']),
    ("plan -k 2 -d 0", nothing, ['"n_features" of a schedule']),
    ("plan -k 2 -d 3 --epsilon nan", nothing, ['"epsilon" of a schedule', "nan"]),
    ("plan -k 2 -d 3 --radius nan", nothing, ['"R" of a schedule', "nan"]),
    ("plan -k 2 -d 3 --rows nan", nothing, ['"rows" of a plan', "nan"]),
    ("plan -k 2 -d 3 --rows 1e400", nothing, ['"rows" of a plan', "1e400"]),
    ("plan -k 2 -d 3 --rows -5", nothing, ['"n_rows" of a plan', "-5"]),
    ("plan -k 2 -d 3 --rows 9 --epsilon 1", nothing, ['"epsilon" of a plan', "must be left out with --rows"]),
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
    monkeypatch.chdir(tmp_path)
    np.savetxt("good.csv", GOOD, delimiter=",", header="a,b,c,y", comments="")
    np.save("good.npy", GOOD)
    parquet.write_table(pyarrow.table(dict(zip("abcy", GOOD.T, strict=True))), "good.parquet")
    replace(result, names=("a", "b", "c"), target="y").save("m.safetensors")
    Path("kept.csv").write_text("old")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")


# What the parser of options refuses itself, with its own frame around the sentence.
USAGE = [
    ("learn good.csv -t y --seed -1", "--seed"),
    ("learn good.csv -t y --threads 0", "--threads"),
    ("learn good.csv -t y --workers 0", "--workers"),
    ("learn good.csv -t y --biases maybe", "maybe"),
    ("learn good.csv -t y --nonsense", "--nonsense"),
    ("learn", "data"),
    ("extract box:good -d 0", "--features"),
    ("export m.safetensors --out m.onnx --dtype int8", "int8"),
    ("demo --seed -1", "--seed"),
    ("nonsense", "nonsense"),
]
# One of each kind, as a process of its own.
AS_A_USER = [
    "learn missing.csv -t y",
    "learn good.csv -t y --n-hidden=--1",
    "predict good.csv good.csv --out kept.csv",
    "extract box:leaves -d 3 --out m.safetensors",
    "nonsense",
]


def check_refusal(code, out, err, before):
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert files() == before


@pytest.mark.parametrize(("command", "make", "words"), CASES, ids=[case[0] for case in CASES])
def test_one_sentence_and_nothing_lost(command, make, words):
    make()
    before = files()
    code, out, err = called(*shlex.split(command))
    check_refusal(code, out, err, before)
    assert err.startswith("netlearn: ")
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    for word in words:
        assert word in err


@pytest.mark.parametrize(("command", "make", "words"), CASES[::7], ids=[case[0] for case in CASES[::7]])
def test_it_is_the_same_sentence_for_programs(command, make, words):
    make()
    assert called(*shlex.split(command), "--json") == called(*shlex.split(command))


@pytest.mark.parametrize(("command", "word"), USAGE, ids=[case[0] for case in USAGE])
def test_wrong_options_are_named(command, word):
    before = files()
    code, out, err = called(*shlex.split(command))
    check_refusal(code, out, err, before)
    assert word in err


@pytest.mark.parametrize("command", AS_A_USER)
def test_a_process_ends_the_same_way(command):
    write_box()
    before = files()
    done = subprocess.run(
        [sys.executable, "-c", "from netlearn.cli import main; main()", *shlex.split(command)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    check_refusal(done.returncode, done.stdout, done.stderr, before)
    assert done.stderr


def test_the_table_is_large_and_the_rest_of_each_row_is_fine():
    assert len(CASES) + len(USAGE) > 100
    assert called("learn", "good.csv", "-t", "y", "--n-hidden", "0", "--out", "new.safetensors")[0] in (0, 3)
    assert called("predict", "new.safetensors", "good.csv", "--out", "kept.csv")[0] == 0
    assert Path("kept.csv").read_text() != "old"


def test_labels_that_never_change_are_fine():
    rows = "".join(f"{a},{b},7\n" for a, b in GOOD[:, :2])
    Path("t.csv").write_text("a,b,y\n" + rows)
    assert called("learn", "t.csv", "-t", "y")[0] in (0, 3)
