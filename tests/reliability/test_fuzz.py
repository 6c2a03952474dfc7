"""Readers and files that nobody wrote: refused in words, or read as others read them, in memory bounded by their size.

tests/reliability/fuzz.py goes on from here, guided by coverage; what it found is in the corpus.
"""

import json
import struct
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.reliability.readers import CORPUS, READERS, replay

FILES = [path for kind in READERS for path in sorted((CORPUS / kind).iterdir())]

# Blocks of Arrow and of the zip reader, beside what the file itself justifies.
FIXED, PER_BYTE = 2**25, 2000


@pytest.fixture(autouse=True)
def _others_may_warn():
    """NumPy warns of headers by Python 2, zipfile of members with one name: neither is a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read(name, data):
    """Read in bounded memory."""
    tracemalloc.start()
    try:
        refusal = replay(name, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= FIXED + PER_BYTE * len(data)
    return refusal


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_of_the_corpus(path):
    read(path.parent.name, path.read_bytes())


def test_the_corpus_is_small_and_has_both_kinds():
    assert sum(path.stat().st_size for path in FILES) < 200_000
    for kind in READERS:
        refused = {bool(replay(kind, path.read_bytes())) for path in FILES if path.parent.name == kind}
        assert refused == {True, False}, kind


def test_a_reader_that_breaks_or_is_wrong_is_seen(monkeypatch):
    data = (CORPUS / "npy" / "float64").read_bytes()
    monkeypatch.setattr("netlearn.source.npy.read_header", lambda stream: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        replay("npy", data)
    monkeypatch.undo()
    monkeypatch.setattr(
        "netlearn.source.files.FileSource._parts", lambda self, rows: (rows[:, :2], -rows[:, 2])
    )
    with pytest.raises(AssertionError):
        replay("npy", data)


EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from("flip cut insert repeat".split()),
        st.integers(0, 255),
    ),
    min_size=1,
    max_size=4,
)


def edited(data, edits):
    for place, edit, value in edits:
        at = int(place * len(data))
        if edit == "flip":
            data = data[:at] + bytes([value]) + data[at + 1 :]
        elif edit == "cut":
            data = data[:at] + data[at + value :]
        elif edit == "insert":
            data = data[:at] + bytes([value]) * (1 + value % 5) + data[at:]
        else:
            data = data[:at] + data[at : at + value] * 2 + data[at + value :]
    return data


# A busy machine is slow, which says nothing about the reader.
few = settings(deadline=None, max_examples=60, derandomize=True, database=None)
many = settings(few, max_examples=3000, suppress_health_check=list(HealthCheck))


def check_mutant(kind, chosen, edits):
    paths = [path for path in FILES if path.parent.name == kind]
    replay(kind, edited(paths[chosen % len(paths)].read_bytes(), edits))


@pytest.mark.parametrize("kind", READERS)
def test_files_that_were_damaged(kind):
    few(given(st.integers(0, 99), EDITS)(lambda chosen, edits: check_mutant(kind, chosen, edits)))()


@pytest.mark.soak
@pytest.mark.parametrize("kind", READERS)
def test_very_many_files_that_were_damaged(kind):
    many(given(st.integers(0, 99), EDITS)(lambda chosen, edits: check_mutant(kind, chosen, edits)))()


@few
@given(st.sampled_from(sorted(READERS)), st.binary(max_size=300))
@example("model", b"")
def test_any_bytes(kind, data):
    read(kind, data)


SIZES = st.integers(0, 3) | st.sampled_from([2**31, 2**62, 2**63, 2**64 - 1])
TENSOR = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F64", "F32", "BF16", "F8_E4M3", "I64", "BOOL", "C64", "X"]),
        "shape": st.lists(SIZES, max_size=3),
        "data_offsets": st.lists(st.integers(0, 64), min_size=2, max_size=2),
    }
)
NAMES = st.sampled_from(["linear", "coefficients", "units", "biases", "intercept", "a", "__metadata__"])


@few
@given(
    st.sampled_from(["model", "result", "checkpoint"]),
    st.dictionaries(NAMES, TENSOR, max_size=6),
    st.sampled_from(["netlearn.ShallowNetwork", "netlearn.LearnResult", "netlearn.Checkpoint", "x"]),
    st.sampled_from(["{}", "[]", "", '{"status": 1}', "[" * 500]),
)
def test_any_header_of_a_model(kind, tensors, form, text):
    own = {"format": form, "version": "1", "sha256": "0", "result": text, "result_sha256": "0"}
    header = json.dumps({"__metadata__": own | {"identity": "0", "text": text}, **tensors}).encode()
    read(kind, struct.pack("<Q", len(header)) + header + bytes(64))


@few
@given(
    st.sampled_from(["npy", "npz", "weights"]),
    st.sampled_from(
        ["<f8", ">i4", "|b1", "|O", "<U9", "<M8[s]", "V0", "nonsense", [("a", "<f8")], ("<f8", (2,))]
    ),
    st.lists(st.integers(-1, 3) | st.sampled_from([2**40, 2**63, 10**30]), max_size=3),
    st.booleans(),
)
def test_any_header_of_an_array(kind, descr, shape, fortran):
    text = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)}).encode()
    array = np.lib.format.MAGIC_PREFIX + b"\1\0" + struct.pack("<H", len(text)) + text + bytes(48)
    read(kind, array if kind == "npy" else archive({"weights_0.npy": array}))


def archive(members):
    import io
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)
    return data.getvalue()
