"""A run that is cut off goes on from its checkpoint, and comes to the same network."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from netlearn import FileSource, ShallowNetwork, learn, learning, pipeline, teachers
from netlearn.errors import InputError
from netlearn.fit import stream as fit_stream
from netlearn.source import checkpoint as checkpoint_module
from netlearn.source.checkpoint import Checkpoint

K, D, N = 3, 6, 60_000


class Cut(BaseException):
    """Raised where a run is to be cut off; nothing in the package catches it."""


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A file with noisy labels, too large for what may be held, whose passes are saved at every block."""
    monkeypatch.setattr(learning, "LARGE_FILE", 2**14)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
    monkeypatch.setattr(checkpoint_module, "_EVERY", 0.0)
    monkeypatch.setattr("netlearn.source.files.CHUNK_ENTRIES", 2**14)
    path = tmp_path / "rows.npy"
    np.save(path, noisy_rows())
    return path


def noisy_rows():
    """Rows with a label, and a second one, of the same units, in the column before."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D))
    first = teachers.random(K, D, 0)
    second = ShallowNetwork(-first.linear, first.coefficients[::-1], first.units, first.biases)
    labels = np.column_stack([second(X), first(X)])
    return np.column_stack([X, labels + 0.2 * rng.standard_normal((N, 2))])


def run(path, folder, target=-1, **options):
    source = FileSource(path, target=target, features=range(D))
    return learn(source, n_hidden=K, rng=0, checkpoint=folder, **options)


@pytest.mark.parametrize("target", [-1, [-2, -1]], ids=["one output", "two outputs"])
def test_cut_after_any_saving_it_comes_to_the_same_network(rows, tmp_path, monkeypatch, target):
    whole = run(rows, tmp_path / "whole", target).network
    save = Checkpoint.save
    parts = []
    monkeypatch.setattr(
        Checkpoint, "save", lambda self, part, *a, **k: (parts.append(part), save(self, part, *a, **k))
    )
    run(rows, tmp_path / "counted", target)
    assert {"rows", "search", "pass"} == set(parts)
    assert parts.count("rows") > 3
    assert parts.count("pass") > 10
    rng = np.random.default_rng(0)
    for place in {0, parts.index("search"), *rng.integers(0, len(parts), 6).tolist()}:
        count = [0]

        def cut(self, part, *a, _count=count, _place=place, **k):
            save(self, part, *a, **k)
            _count[0] += 1
            if _count[0] > _place:
                raise Cut

        folder = tmp_path / f"cut{place}"
        monkeypatch.setattr(Checkpoint, "save", cut)
        with pytest.raises(Cut):
            run(rows, folder, target)
        monkeypatch.setattr(Checkpoint, "save", save)
        assert run(rows, folder, target).network.distance(whole) <= 1e-10 * whole.norm()


@pytest.mark.parametrize("target", [-1, [-2, -1]], ids=["one output", "two outputs"])
def test_what_was_saved_is_not_done_again(rows, tmp_path, monkeypatch, target):
    first = run(rows, tmp_path / "folder", target)

    def never(*args, **kwargs):
        raise AssertionError("the search was saved")

    monkeypatch.setattr(pipeline, "look", never)
    monkeypatch.setattr(fit_stream, "_sums_of", never)
    again = run(rows, tmp_path / "folder", target)
    np.testing.assert_array_equal(again.network.units, first.network.units)
    assert [spectrum.name for spectrum in again.diagnostics.spectra] == [
        p.name for p in first.diagnostics.spectra
    ]
    # Without the folder the search does run.
    with pytest.raises(AssertionError, match="was saved"):
        run(rows, None, target)


def test_arrays_too_go_on_after_the_search(tmp_path, monkeypatch):
    table = noisy_rows()[:4000]
    X, y = table[:, :D], table[:, -1]
    first = learn(X, y, n_hidden=K, rng=0, checkpoint=tmp_path / "folder")
    plain = learn(X, y, n_hidden=K, rng=0)
    np.testing.assert_array_equal(first.network.units, plain.network.units)
    again = learn(X, y, n_hidden=K, rng=0, checkpoint=tmp_path / "folder")
    np.testing.assert_array_equal(again.network.units, plain.network.units)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_hidden": 2}, "other data, options or random state"),
        ({"rng": 1}, "other data, options or random state"),
        ({"y": 1.0}, "other data, options or random state"),
        ({"rng": None}, 'needs an "rng"'),
        ({"checkpoint": "missing/folder"}, "is no folder"),
        ({"checkpoint": "a file"}, "is a file"),
    ],
)
def test_another_run_is_refused(tmp_path, monkeypatch, change, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").write_text("something else")
    table = noisy_rows()[:2000]
    arguments = {"X": table[:, :D], "y": table[:, -1], "n_hidden": K, "rng": 0, "checkpoint": "folder"}
    learn(**arguments)
    if "y" in change:
        change = {"y": arguments["y"] + change["y"]}
    with pytest.raises(InputError, match=words):
        learn(**{**arguments, **change})
    assert (tmp_path / "a file").read_text() == "something else"


def test_a_damaged_part_is_refused_and_a_half_written_one_never_read(tmp_path):
    saved = Checkpoint(tmp_path / "folder", {"run": 1})
    saved.save("part", {"a": np.arange(5.0)}, n=3)
    (tensors, text) = saved.load("part")
    np.testing.assert_array_equal(tensors["a"], np.arange(5.0))
    assert text == {"n": 3}
    assert saved.load("another") is None
    path = tmp_path / "folder" / "part.safetensors"
    path.with_name("part.safetensors.tmp").write_bytes(path.read_bytes()[:20])  # what a kill leaves behind
    assert saved.load("part") is not None
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="damaged"):
        saved.load("part")


def test_a_kill_at_a_random_moment_costs_nothing_but_time(rows, tmp_path):
    script = textwrap.dedent(f"""
        import sys
        from netlearn import FileSource, learn, learning, pipeline
        from netlearn.source import checkpoint, files
        learning.LARGE_FILE, pipeline.SMALLEST_PILOT = 2**14, 2000
        checkpoint._EVERY, files.CHUNK_ENTRIES = 0.0, 2**14
        source = FileSource(sys.argv[1], features=range({D}))
        result = learn(source, n_hidden={K}, rng=0, checkpoint=sys.argv[2])
        result.network.save(sys.argv[3])
    """)
    (tmp_path / "run.py").write_text(script)

    def start(folder, out):
        return subprocess.Popen([sys.executable, tmp_path / "run.py", rows, folder, out])

    begun = time.monotonic()
    assert start(tmp_path / "whole", tmp_path / "whole.safetensors").wait() == 0
    seconds = time.monotonic() - begun
    whole = ShallowNetwork.load(tmp_path / "whole.safetensors")
    rng = np.random.default_rng(int(os.environ.get("NETLEARN_KILLS", "2")))
    for kill in range(int(os.environ.get("NETLEARN_KILLS", "2"))):
        out = tmp_path / f"{kill}.safetensors"
        process = start(tmp_path / f"folder{kill}", out)
        time.sleep(seconds * rng.uniform(0.2, 0.95))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert start(tmp_path / f"folder{kill}", out).wait() == 0
        assert ShallowNetwork.load(out).distance(whole) <= 1e-10 * whole.norm()
