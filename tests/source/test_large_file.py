"""A file that is never held whole: the peak of resident memory, in a process of its own."""

import json
import subprocess
import sys

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from netlearn import ShallowNetwork, teachers

K, D, N = 4, 40, 200_000
# Smaller than by default, where so few rows would be held as a whole: rows of a Parquet group, entries of the rows
# held and of a chunk that is read, and rows that judge and certify.
GROUP, HELD_ENTRIES, CHUNK_ENTRIES, MOST = 2**14, 2**19, 2**18, 2000

# Not ru_maxrss, which begins at what the parent holds. A tiny file comes first, so that all modules are loaded.
LEARN = f"""
import json, sys
from netlearn import FileSource, learn, learning, pipeline
from netlearn.source import files, samples

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

tiny, path, model = sys.argv[1:]
learning.LARGE_FILE, pipeline.SMALLEST_PILOT, samples._MOST = {HELD_ENTRIES}, 2000, {MOST}
files.CHUNK_ENTRIES = {CHUNK_ENTRIES}
learn(FileSource(tiny, target="y"), n_hidden=1, rng=0)
before = peak()
result = learn(FileSource(path, target="y"), n_hidden={K}, rng=0)
result.network.save(model)
print(json.dumps([peak() - before, result.status.name, result.diagnostics.rows]))
"""


def write(path, target, n_rows, seed):
    X = np.random.default_rng(seed).standard_normal((target.n_features, n_rows))
    names = [*(f"x{j}" for j in range(len(X))), "y"]
    table = pyarrow.table([*X, target(X.T)], names=names)
    parquet.write_table(table, path, row_group_size=GROUP, compression="none", use_dictionary=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files of N rows each, of one planted network."""
    folder = tmp_path_factory.mktemp("rows")
    for part in range(2):
        write(folder / f"{part}.parquet", teachers.random(K, D, 0), N, part)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A file that is learned at once."""
    path = tmp_path_factory.mktemp("tiny") / "tiny.parquet"
    write(path, teachers.random(1, 2, 0), 1000, 0)
    return path


def learned(tiny, path, model):
    """Return bytes beyond those of learning a tiny file, the status and the rows of each part."""
    call = [sys.executable, "-c", LEARN, str(tiny), str(path), str(model)]
    return json.loads(subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_depends_on_the_rows_held_and_not_on_their_number(tiny, folder, tmp_path):
    grown, status, rows = learned(tiny, folder / "0.parquet", tmp_path / "half.safetensors")
    grown_twice, status_twice, rows_twice = learned(tiny, folder, tmp_path / "all.safetensors")
    assert status == status_twice == "RECOVERED"
    assert rows["fit"] == N - MOST
    assert rows_twice["fit"] == 2 * N - MOST
    target = teachers.random(K, D, 0)
    for name in ("half", "all"):
        network = ShallowNetwork.load(tmp_path / f"{name}.safetensors")
        assert network.distance(target) < 1e-12 * target.norm()
    # Held: the rows, and those that judge once more. To read: a page of each column and its buffer of 64 KiB, and four
    # chunks. To compute: 16 sums of d x d for each of three probes; signs, and rows in single precision, which are no
    # more than is held. Allocators keep as much again and a few MB.
    held = 8 * (D + 1) * (HELD_ENTRIES // D + 3 * MOST)
    reading = (D + 1) * (8 * GROUP + 2**16) + 4 * 8 * CHUNK_ENTRIES
    computing = held + 3 * 16 * 8 * D**2
    bound = 2 * (held + reading + computing) + 2**24
    in_all = 8 * N * (D + 1)
    assert bound < 2 * in_all  # had all rows been held, it would be seen
    assert max(grown, grown_twice) < bound
    assert abs(grown_twice - grown) < in_all / 4
