"""Faults of the world around, each caused on purpose: what was there before stays, and one sentence tells.

Workers of a cluster are lost in tests/source/test_dask.py, and runs killed at random moments in
tests/test_checkpoint.py.
"""

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import feather, parquet

from netlearn import FileSource, Oracle, ShallowNetwork, learn, teachers
from netlearn.backend import memory
from netlearn.backend.grain import grain
from netlearn.errors import InputError
from netlearn.network import files as model_files
from netlearn.source import OracleError
from netlearn.source.arrays import SelectedRows
from tests.reliability.doors import called, files

ROWS = np.random.default_rng(0).standard_normal((400, 4))
NETWORK = teachers.random(2, 3, 0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with rows, a model, and a file under every name that a command is to write."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("rows.csv", ROWS, delimiter=",", header="a,b,c,y", comments="")
    np.save("rows.npy", ROWS)
    called("learn", "rows.csv", "-t", "y", "--n-hidden", "0", "--out", "m.safetensors")
    for name in OUTPUTS:
        Path(name).write_text("old")


WRITING = [
    "learn rows.csv -t y --n-hidden 0 --out o.safetensors",
    "learn rows.csv -t y --n-hidden 0 --report o.html",
    "learn rows.csv -t y --n-hidden 0 --predictions o.npy",
    "predict m.safetensors rows.csv --out o.csv",
    "predict m.safetensors rows.csv --out o.parquet",
    "predict m.safetensors rows.csv --out o.npy",
    "export m.safetensors --out o.onnx",
    "export m.safetensors --out o.npz",
    "export m.safetensors --out o.safetensors",
    "report m.safetensors --out o.html",
]
OUTPUTS = [f"o.{suffix}" for suffix in ("safetensors", "html", "npy", "csv", "parquet", "onnx", "npz")]


@contextmanager
def small_disk(n_bytes=200):
    """Let no file become longer: writing on gives an error of the system, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def check_kept(code, out, err, before, command, words):
    assert (code, out) == (2, ""), err
    assert err.startswith("netlearn: ")
    assert err.count("\n") == 1
    assert words in err
    assert command.split()[-1] in err
    assert files() == before


@pytest.mark.parametrize("command", WRITING)
def test_a_disk_that_is_full_costs_no_file(folder, command):
    before = files()
    with small_disk():
        code, out, err = called(*command.split())
    check_kept(code, out, err, before, command, "Cannot write")
    assert called(*command.split())[0] in (0, 3)
    assert Path(command.split()[-1]).read_bytes() != b"old"


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "No space left on device"), (errno.EIO, "Input/output error"), (errno.EDQUOT, "quota")],
)
@pytest.mark.parametrize("command", [WRITING[0], WRITING[3]], ids=["model", "predictions"])
def test_a_disk_that_fails_at_the_last_moment_costs_no_file(folder, monkeypatch, command, number, words):
    """A file system may take all bytes, and say only when asked that they are on no disk."""

    def fail(descriptor):
        raise OSError(number, os.strerror(number))

    before = files()
    monkeypatch.setattr(os, "fsync", fail)
    check_kept(*called(*command.split()), before, command, words)


@pytest.mark.parametrize("command", [WRITING[0], WRITING[3]], ids=["model", "predictions"])
def test_a_folder_that_may_not_be_written_to_is_told(folder, monkeypatch, command):
    def deny(source, target):
        raise PermissionError(errno.EACCES, "Permission denied", str(source), None, str(target))

    before = files()
    monkeypatch.setattr(os, "replace", deny)
    check_kept(*called(*command.split()), before, command, "Permission denied")


def test_a_file_that_may_not_be_read_is_told(folder, monkeypatch):
    """Also where tests are run by someone who may read everything."""
    opened = open

    def deny(path, *arguments, **options):
        if str(path).endswith("rows.csv"):
            raise PermissionError(errno.EACCES, "Permission denied", "rows.csv")
        return opened(path, *arguments, **options)

    monkeypatch.setattr("builtins.open", deny)
    assert called("learn", "rows.csv", "-t", "y") == (2, "", "netlearn: rows.csv: Permission denied.\n")


def test_an_interrupted_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    path.write_text("old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model_files.write_whole(path, b"new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("m.safetensors", "old")]


def write_rows(path, rows):
    if path.suffix == ".csv":
        np.savetxt(path, rows, delimiter=",")
    elif path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".npz":
        np.savez(path, a=rows)
    elif path.suffix == ".feather":
        table = pyarrow.table({f"c{column}": rows[:, column] for column in range(rows.shape[1])})
        feather.write_feather(table, path, chunksize=2000, compression="uncompressed")
    else:
        names = [f"c{column}" for column in range(rows.shape[1])]
        parquet.write_table(
            pyarrow.table(list(rows.T), names=names), path, row_group_size=2000, compression="none"
        )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet", ".feather"])
def test_a_file_that_is_cut_short_while_it_is_read_is_told(tmp_path, monkeypatch, suffix, order):
    """Read through a map, it would end the process: here it does not, and no part of it passes for the whole."""
    path = tmp_path / f"rows{suffix}"
    rows = np.asarray(np.random.default_rng(0).standard_normal((40_000, 4)), order=order)
    write_rows(path, rows)
    monkeypatch.setattr("netlearn.source.files.CHUNK_ENTRIES", 4000)
    monkeypatch.setattr("netlearn.source.csv_arrow._BLOCK_BYTES", 2**14)
    source = FileSource(path, target=-1)
    whole = sum(len(y) for _, y in source.blocks())
    assert whole == source.n_rows == len(rows)
    blocks = source.blocks()
    next(blocks)
    os.truncate(path, path.stat().st_size * 2 // 3)
    if suffix == ".npz" and order == "F":  # it was in memory by then
        blocks = source.blocks()
    with pytest.raises(InputError, match=r"rows\.(npy|npz|csv|parquet|feather)"):
        for _ in blocks:
            pass


class Flaky:
    """A network behind a line that is down, or garbles, at every hundredth call."""

    def __init__(self, fault):
        self.fault, self.calls = fault, 0

    def __call__(self, X):
        self.calls += 1
        if self.calls % 100 == 0:
            if self.fault == "raises":
                raise ConnectionError("the line is down")
            return np.full(len(X), {"NaN": np.nan, "infinity": np.inf}[self.fault])
        return NETWORK(X)


@pytest.mark.parametrize("fault", ["raises", "NaN", "infinity"])
def test_an_oracle_that_fails_at_every_hundredth_call_is_asked_again(fault):
    box = Flaky(fault)
    oracle = Oracle(box, n_features=3, budget=3000, batch=1)
    result = learn(oracle, n_hidden=2, rng=0)
    assert result.success
    assert result.network.distance(NETWORK) < 1e-9
    assert box.calls > 200
    X, y = oracle.bought
    assert len(y) == oracle.n_queries <= 3000
    # Labels of far points are rounded by the size of the terms that cancel in them.
    assert np.all(np.abs(y - NETWORK(X)) <= 1e-14 * np.maximum(np.linalg.norm(X, axis=1), 1.0))
    plain = learn(Oracle(NETWORK, n_features=3, budget=3000, batch=1), n_hidden=2, rng=0)
    assert result.network == plain.network


def test_an_oracle_that_stays_down_leaves_what_was_bought(tmp_path, monkeypatch):
    calls = [0]

    def box(X):
        calls[0] += 1
        if calls[0] > 30:
            raise ConnectionError("the line is down")
        return NETWORK(X)

    oracle = Oracle(box, n_features=3, batch=4)
    with pytest.raises(OracleError, match=r"120 answers it gave are kept in Oracle\.bought"):
        learn(oracle, n_hidden=2, rng=0)
    X, y = oracle.bought
    assert X.shape == (120, 3)
    assert learn(X, y, n_hidden=2, rng=0).network.distance(NETWORK) < 1e-9


# A run of the command line that stops in the middle of its fit until a signal comes, if `wait` is given.
SCRIPT = textwrap.dedent("""
    import signal, sys
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which it ignores where tests run in the background
    from netlearn import cli, learning, pipeline
    from netlearn.source import checkpoint, files
    learning.LARGE_FILE, pipeline.SMALLEST_PILOT = 2**12, 2000
    checkpoint._EVERY, files.CHUNK_ENTRIES = 0.0, 2**13
    save = checkpoint.Checkpoint.save
    def save_and_wait(self, part, *a, **k):
        save(self, part, *a, **k)
        if part == "pass":
            print("in the middle", flush=True)
            signal.pause()
    if sys.argv.pop(1) == "wait":
        checkpoint.Checkpoint.save = save_and_wait
    sys.argv += ["learn", "rows.npy", "--n-hidden", "2", "--checkpoint", "folder", "--out", "m.safetensors"]
    cli.main()
""")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_cleanly_and_the_checkpoint_goes_on(tmp_path, number, code):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 3))
    np.save(tmp_path / "rows.npy", np.column_stack([X, NETWORK(X) + 0.1 * rng.standard_normal(len(X))]))
    (tmp_path / "m.safetensors").write_text("old")

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments],
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    process = start("wait")
    assert process.stdout.readline() == "in the middle\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (code, "")
    assert err.startswith(f"netlearn: stopped by {number.name}: ")
    assert err.count("\n") == 1
    assert (tmp_path / "m.safetensors").read_text() == "old"
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {
        "rows.npy",
        "m.safetensors",
        "rows.safetensors",
        "search.safetensors",
        "pass.safetensors",
    }
    again = start("go on")
    _, err = again.communicate(timeout=300)
    assert again.returncode in (0, 3), err
    resumed = ShallowNetwork.load(tmp_path / "m.safetensors")
    for path in (tmp_path / "folder").iterdir():
        path.unlink()
    start("go on").communicate(timeout=300)  # from the beginning
    assert ShallowNetwork.load(tmp_path / "m.safetensors").distance(resumed) <= 1e-10 * resumed.norm()


def out_of_memory(library):
    """Return the error by which a library says that memory ran out."""
    if library == "numpy":
        return MemoryError("Unable to allocate 3 GiB")
    if library == "torch":
        return torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 3 GiB")
    return RuntimeError("DefaultCPUAllocator: can't allocate memory")


@pytest.fixture
def memory_for(monkeypatch):
    """Let blocks of more rows than given be too large for memory; gives the number of times they were."""
    refused = []
    gathered = SelectedRows._gathered

    def limit(n_rows, library):
        def gather(self, rows):
            if len(range(*rows.indices(self.n_rows))) > n_rows:
                refused.append(rows)
                raise out_of_memory(library)
            return gathered(self, rows)

        monkeypatch.setattr(SelectedRows, "_gathered", gather)
        return refused

    return limit


@pytest.mark.parametrize("library", ["numpy", "torch", "torch on the host"])
def test_where_memory_runs_out_blocks_get_smaller_and_the_network_is_the_same(memory_for, library):
    X = np.random.default_rng(1).standard_normal((5000, 3))
    y = NETWORK(X)
    rows = (X, y) if library == "numpy" else (torch.tensor(X), torch.tensor(y))
    plain = learn(*rows, n_hidden=2, rng=0)
    refused = memory_for(1000, library)
    result = learn(*rows, n_hidden=2, rng=0)
    # Blocks of 2**17 numbers hold all 4,650 rows of three, those of 2**13 hold 2,730; the next ones are small enough.
    assert len(refused) == 2
    assert any("256 times as small" in note for note in result.diagnostics.notes)
    assert result.status is plain.status
    assert result.network.distance(plain.network) <= 1e-9 * plain.network.norm()
    assert grain(X).block_entries == 2**17  # and large again for the next run


def test_memory_that_does_not_do_is_told_in_one_sentence(monkeypatch, folder):
    refused = []

    def fail(rows, rng):
        refused.append(rng.bit_generator.state)
        raise out_of_memory("numpy")

    monkeypatch.setattr("netlearn.pipeline.standardise", fail)
    code, out, err = called("learn", "rows.csv", "-t", "y", "--out", "o.safetensors")
    assert (code, out) == (2, "")
    assert err.startswith(
        "netlearn: There is not enough memory: memory ran out, with blocks a 4,096th of their"
    )
    assert err.count("\n") == 1
    assert Path("o.safetensors").read_text() == "old"
    assert len(refused) == 4
    assert all(state == refused[0] for state in refused)  # each attempt begins anew


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    def fail():
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError, match="a mistake of ours"):
        memory.with_smaller_blocks(fail, lambda factor: pytest.fail("tried again"))


def test_what_was_held_is_let_go_before_the_next_attempt():
    """An error keeps the frames it came through, and these what they had allocated."""
    import weakref

    class Held:
        pass

    alive = []

    def run():
        if alive:
            assert alive[0]() is None
            return "done"
        held = Held()
        alive.append(weakref.ref(held))
        raise MemoryError

    assert memory.with_smaller_blocks(run, lambda factor: None) == "done"
