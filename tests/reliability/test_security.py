"""What SECURITY.md promises: files run no code and take no more memory than their size allows; data is never markup."""

import ast
import io
import os
import subprocess
import sys
import textwrap
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netlearn import FileSource, learn
from netlearn.errors import InputError
from netlearn.source.blackbox import load_blackbox
from tests.reliability.doors import called

PACKAGE = Path(__file__).parents[2] / "src" / "netlearn"

# Modules that run what they read, and functions that do.
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
NEEDED = {"np.load": ("allow_pickle", False), "numpy.load": ("allow_pickle", False)}
NEEDED |= {"torch.load": ("weights_only", True)}


def dangers(code):
    """Sentences on what in the code could run what a file says."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            for name in [node.module or "", *names] if isinstance(node, ast.ImportFrom) else names:
                if name.partition(".")[0] in MODULES:
                    yield f"imports {name}"
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in FUNCTIONS:
                yield f"calls {name}"
            if name.split(".")[-1] == "read_pickle":
                yield f"calls {name}"
            if name in NEEDED:
                option, value = NEEDED[name]
                given = [keyword.value for keyword in node.keywords if keyword.arg == option]
                if [ast.unparse(one) for one in given] != [repr(value)]:
                    yield f"calls {name} without {option}={value}"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_no_code_runs_what_a_file_says(path):
    assert list(dangers(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import pickle", "imports pickle"),
        ("from pickle import loads", "imports pickle"),
        ("def f():\n    import joblib", "imports joblib"),
        ("eval('1')", "calls eval"),
        ("np.load(f)", "calls np.load without allow_pickle=False"),
        ("np.load(f, allow_pickle=True)", "calls np.load without allow_pickle=False"),
        ("torch.load(f, weights_only=False)", "calls torch.load without weights_only=True"),
        ("pd.read_pickle(f)", "calls pd.read_pickle"),
    ],
)
def test_a_danger_is_found(code, sentence):
    assert sentence in list(dangers(code))


def test_an_object_in_a_file_is_not_brought_to_life(tmp_path):
    """Files that would write a marker if they were unpickled are refused by every reader that takes their name."""
    marker = tmp_path / "marker"
    make = textwrap.dedent(f"""
        import os, sys, numpy as np, torch, zipfile
        class Bomb:
            def __reduce__(self):
                return os.mkdir, ({str(marker)!r},)
        np.save("rows.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
        np.savez("rows.npz", X=np.array([[Bomb()]], dtype=object))
        torch.save(Bomb(), "model.pt")
    """)
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True)
    for name in ("rows.npy", "rows.npz"):
        assert called("learn", tmp_path / name)[0] == 2
    code, _, err = called("extract", tmp_path / "model.pt")
    assert code == 2
    assert "holds Python objects, which run code when they are read" in err
    assert not marker.exists()
    # The bomb is real.
    np.load(tmp_path / "rows.npy", allow_pickle=True)
    assert marker.exists()


def test_promises_of_a_header_take_no_memory(tmp_path):
    """Under a limit on memory, the files of the corpus that promise terabytes are refused in words.

    That the limit holds is shown by asking for the memory outright.
    """
    script = textwrap.dedent("""
        import resource, sys, warnings
        from pathlib import Path
        import numpy as np
        warnings.simplefilter("ignore")
        from tests.reliability.readers import CORPUS, replay
        paths = [path for path in CORPUS.rglob("*") if "promise" in path.name or path.name in ("lie", "huge_axis")]
        assert len(paths) >= 7
        for kind in {path.parent.name for path in paths}:
            for path in sorted((CORPUS / kind).iterdir())[:3]:
                replay(kind, path.read_bytes())  # imports what it needs
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + 2**26, resource.RLIM_INFINITY))
        for path in paths:
            assert replay(path.parent.name, path.read_bytes()), path
        try:
            np.empty(2**27, dtype=np.int8)
        except MemoryError:
            print("as promised")
    """)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "as promised\n"), done.stderr


def test_rows_that_are_promised_take_memory_as_they_come(tmp_path, monkeypatch):
    """Some rows are there, a million times as many are promised."""
    rows = io.BytesIO()
    np.lib.format.write_array_header_1_0(rows, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 2)})
    rows.write(np.ones((1000, 2)))
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("a.npy", rows.getvalue())
    monkeypatch.setattr("netlearn.source.files.CHUNK_ENTRIES", 200)
    source = FileSource(tmp_path / "rows.npz")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="not a whole NumPy file"):
            source.arrays()
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


EVIL = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"


def test_what_came_from_data_is_never_markup(tmp_path, monkeypatch):
    """Names of columns, of the target and of files, notes: all appear in the page, and none as an element."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).standard_normal((80, 3))
    result = learn(rows[:, :2], rows[:, 2], n_hidden=1, rng=0)
    seen = replace(result.diagnostics, notes=(*result.diagnostics.notes, EVIL[0]))
    replace(result, names=EVIL[:2], target=EVIL[2], diagnostics=seen).save("m.safetensors")
    assert called("report", "m.safetensors", "--out", "<b>r.html")[0] == 0
    page = Path("<b>r.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7 * 7 }}" in page
    card = replace(result, names=EVIL[:2], target=EVIL[2], diagnostics=seen)._repr_html_()
    assert "<script" not in card
    assert "<img" not in card


def test_a_terminal_is_shown_names_and_does_not_obey_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).standard_normal((80, 4))
    head = "a,b,\x1b[31mu\x1b]0;x\x07,\x1b[2Jv"
    np.savetxt("t.csv", rows, delimiter=",", header=head, comments="", encoding="utf-8")
    code, out, err = called("learn", "t.csv", "-t", "2", "-t", "3", "--n-hidden", "0")
    assert code in (0, 3), err
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert r"\x1b[2Jv" in out


def test_extract_imports_only_what_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = Path("only_this_one")
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "named.py").write_text("def f(X):\n    return abs(X[:, 0])\n")
    (package / "sibling.py").write_text("open('marker', 'w').close()\n")
    Path("conftest.py").write_text("open('marker', 'w').close()\n")
    before = set(sys.modules)
    box = load_blackbox("only_this_one.named:f", 2)
    assert box.f(np.array([[-2.0, 1.0]])).tolist() == [2.0]
    assert {name for name in set(sys.modules) - before if "only_this_one" in name} == {
        "only_this_one",
        "only_this_one.named",
    }
    assert not Path("marker").exists()
    # The marker would have been seen.
    with pytest.raises(InputError):
        load_blackbox("only_this_one.sibling:f", 2)
    assert Path("marker").exists()
