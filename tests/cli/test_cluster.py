"""`netlearn learn` on workers: the same network as without them, and one sentence where there are none."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from distributed import default_client

from netlearn import FileSource, ShallowNetwork, learn, teachers
from netlearn.cli import cluster as cluster_module
from netlearn.source.dask import DaskSource


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with Parquet files, to be in."""
    monkeypatch.chdir(tmp_path)
    target = teachers.random(2, 3, 0)
    rng = np.random.default_rng(1)
    for i in range(3):
        X = rng.standard_normal((500, 3))
        pd.DataFrame({**dict(zip("abc", X.T, strict=True)), "y": target(X)}).to_parquet(f"{i}.parquet")
    return tmp_path


def test_two_workers_learn_the_network_of_the_files(run, folder):
    words = ["learn", "*.parquet", "-t", "y", "-k", "2", "--workers", "2", "--json", "-o", "m.safetensors"]
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert (answer["status"], answer["n_rows"], answer["names"]) == ("RECOVERED", 1500, ["a", "b", "c"])
    here = learn(DaskSource.from_files(FileSource("*.parquet", target="y")), n_hidden=2, rng=0).network
    assert ShallowNetwork.load("m.safetensors").distance(here) <= 1e-10 * here.norm()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--workers 2 --scheduler tcp://127.0.0.1:1", ["--scheduler and --workers exclude each other"]),
        ("--scheduler tcp://127.0.0.1:1", ["--scheduler", "tcp://127.0.0.1:1 did not answer", "1 seconds"]),
        ("--scheduler nonsense://x", ["--scheduler", "nonsense://x did not answer"]),
    ],
)
def test_a_cluster_that_cannot_be_had_is_refused_in_one_sentence(run, folder, monkeypatch, options, words):
    monkeypatch.setattr(cluster_module, "_PATIENCE", 1)
    code, out, err = run("learn", "*.parquet", "-t", "y", *options.split())
    assert (code, out) == (2, "")
    assert err.startswith("netlearn: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
    with pytest.raises(ValueError, match="No clients found"):  # it would be asked by whatever comes next
        default_client()


def test_the_extra_is_named_where_dask_is_absent(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run("learn", "*.parquet", "-t", "y", "--workers", "2")
    assert code == 2
    assert err == (
        "netlearn: Learning on a cluster needs distributed, which is not installed: type pip install '.[dask]' in the "
        "folder of netlearn's source, or pip install distributed anywhere.\n"
    )
