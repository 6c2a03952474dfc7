"""Every reader of files as a function of bytes, with an independent opinion on what it should have read.

A reader either refuses its bytes with `InputError`, or what it returns is compared with what NumPy, Arrow or the csv
module read from them. Anything else, another exception first of all, is a fault. Checksums are set aside: they tell
damage, and anyone who means harm can compute them.
"""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

from netlearn import FileSource, LearnResult, ShallowNetwork
from netlearn.errors import InputError
from netlearn.network import files
from netlearn.source.checkpoint import Checkpoint

CORPUS = Path(__file__).parent / "corpus"


@contextmanager
def stored(data: bytes, name: str) -> Iterator[Path]:
    """Give a file that holds `data`, for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="netlearn-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def table(suffix: str, expected: Callable[[bytes, FileSource], np.ndarray]) -> Callable[[bytes], None]:
    """Return the reader of a kind of table."""

    def read(data: bytes) -> None:
        with stored(data, f"t{suffix}") as path:
            source = FileSource(path, target=-1)
            X, y = source.arrays()
            again = list(source.blocks())
            wanted = expected(data, source)
        np.testing.assert_array_equal(np.column_stack([X, y]), wanted)
        np.testing.assert_array_equal(np.concatenate([block for block, _ in again]), X)
        assert np.isfinite(wanted).all()
        assert len(y) == source.n_rows > 0

    return read


def as_numpy_reads(data: bytes, source: FileSource) -> np.ndarray:
    if data.startswith(np.lib.format.MAGIC_PREFIX):
        return np.load(io.BytesIO(data), allow_pickle=False).astype(float)
    held = members(data)
    names = ["X", "y"] if {"X", "y"} <= set(held) else held
    return np.column_stack([held[name] for name in names]).astype(float)


def members(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an archive; `numpy.load` wants it to begin at the first byte, which archives need not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
        }


def as_arrow_reads(data: bytes, source: FileSource) -> np.ndarray:
    from pyarrow import parquet

    columns = parquet.ParquetFile(io.BytesIO(data)).read().columns
    return np.column_stack([np.array(column.to_pylist(), dtype=float) for column in columns])


def as_python_reads(data: bytes, source: FileSource) -> np.ndarray:
    dialect = source._table.dialect
    text = data.decode(dialect.encoding).removeprefix("\ufeff")
    lines = io.StringIO(text, newline="")
    for _ in range(dialect.skip):
        next(lines)
    rows = [row for row in csv.reader(lines, delimiter=dialect.separator) if any(map(str.strip, row))]
    if dialect.header:
        del rows[0]
    n = source._table.n_columns
    assert not any(cell.strip() for row in rows for cell in row[n:])
    rows = [row[:n] for row in rows]

    def number(cell: str) -> float:
        truth = {"true": 1.0, "false": 0.0}.get(cell.lower())
        return float(cell.replace(dialect.decimal, ".")) if truth is None else truth

    return np.array([list(map(number, row)) for row in rows])


def as_json_reads(data: bytes, source: FileSource) -> np.ndarray:
    objects = [json.loads(line) for line in data.decode("utf-8-sig").splitlines() if line.strip()]
    truths = {"true": 1.0, "false": 0.0}

    def number(cell: object) -> float:
        return truths.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell

    names = dict.fromkeys(key for found in objects for key in found)
    return np.array([[float(number(found[name])) for name in names] for found in objects])


def as_ipc_reads(data: bytes, source: FileSource) -> np.ndarray:
    from pyarrow import ArrowInvalid, ipc

    try:
        read = ipc.open_file(io.BytesIO(data)).read_all()
    except ArrowInvalid:
        read = ipc.open_stream(io.BytesIO(data)).read_all()
    return np.column_stack([np.array(column.to_pylist(), dtype=float) for column in read.columns])


def model(data: bytes) -> None:
    """Read a network, and write and read it again."""
    with stored(data, "m.safetensors") as path, unchecked():
        network = ShallowNetwork.load(path)
        network.save(path)
        assert ShallowNetwork.load(path) == network
    assert np.isfinite(network(np.ones(network.n_features))).all() or _is_huge(network)


def result(data: bytes) -> None:
    """Read a result, tell it, and write and read it again."""
    with stored(data, "m.safetensors") as path, unchecked():
        found = LearnResult.load(path)
        words = found.summary()
        found.save(path)
        assert LearnResult.load(path).summary() == words
        found._repr_html_().encode()


def result_text(data: bytes) -> None:
    """Read a result whose arrays are as they should be, and whose text is `data`."""
    network = ShallowNetwork([1.0, 2.0], [1.0], [[1.0, 0.0]])
    own = {name: getattr(network, name) for name in files.NAMES}
    others = {"subspace": np.eye(2)[:, :1], "held_out.X": np.ones((3, 2)), "held_out.y": np.ones(3)}
    others["taught"] = np.arange(3.0)
    others |= {
        f"{name}.{index}.eigenvalues": np.ones(2) for name in ("spectra", "probes") for index in range(2)
    }
    with stored(b"", "m.safetensors") as path, unchecked():
        files.write_result(path, own, others, data.decode("utf-8", "replace"))
        result(path.read_bytes())


def checkpoint(data: bytes) -> None:
    """Read a part of a checkpoint that claims to belong to this run."""
    with stored(data, "part.safetensors") as path, unchecked():
        folder = Checkpoint(path.parent, {})
        folder._identity = "0"
        tensors, text = folder.load("part")
    assert all(isinstance(tensor, np.ndarray) for tensor in tensors.values())
    assert isinstance(text, dict)


def weights(data: bytes) -> None:
    """Read the weights of a network from an npz file."""
    with stored(data, "m.npz") as path:
        network = ShallowNetwork.from_npz(path)
    held = members(data)
    X = np.linspace(-1, 1, 3 * network.n_features).reshape(3, -1)
    hidden = np.maximum(X @ held["weights_0"] + held["biases_0"], 0)
    expected = hidden @ held["weights_1"] + held["biases_1"]
    if np.isfinite(expected).all() and not _is_huge(network):
        np.testing.assert_allclose(network(X), expected, atol=1e-9 * (1 + np.max(np.abs(expected))))


def graph(data: bytes) -> None:
    """Read a network from an ONNX file."""
    with stored(data, "m.onnx") as path:
        ShallowNetwork.from_onnx(path)


@contextmanager
def unchecked() -> Iterator[None]:
    """Let every checksum be right."""
    with mock.patch.object(files, "checksum", return_value="0"):
        yield


def _is_huge(network: ShallowNetwork) -> bool:
    return any(np.max(np.abs(part), initial=0.0) > 1e100 for part in network._parameters)


READERS: dict[str, Callable[[bytes], None]] = {
    "csv": table(".csv", as_python_reads),
    "npy": table(".npy", as_numpy_reads),
    "npz": table(".npz", as_numpy_reads),
    "parquet": table(".parquet", as_arrow_reads),
    "jsonl": table(".jsonl", as_json_reads),
    "feather": table(".feather", as_ipc_reads),
    "model": model,
    "result": result,
    "result_text": result_text,
    "checkpoint": checkpoint,
    "weights": weights,
    "graph": graph,
}


def replay(name: str, data: bytes) -> str:
    """Read `data` as the reader `name` does; gives what it refused, or nothing. A fault is raised."""
    try:
        READERS[name](data)
    except InputError as refusal:
        sentence = str(refusal)
        json.dumps(sentence)
        assert sentence.strip()
        return sentence
    return ""
