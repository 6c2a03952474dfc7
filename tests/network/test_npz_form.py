"""Arrays in an .npz file: out, back, and what is refused."""

import os

import numpy as np
import pytest

from netlearn import ShallowNetwork
from netlearn.errors import InputError
from tests.network.exported import NETWORKS, rows, values

each_network = pytest.mark.parametrize("f", NETWORKS.values(), ids=NETWORKS)
GOOD = {"weights_0": np.eye(2), "biases_0": np.zeros(2), "weights_1": np.ones(2), "biases_1": np.zeros(())}


@each_network
def test_the_documented_formula_is_the_network(f, tmp_path):
    path = tmp_path / "f.npz"
    f.to_npz(path)
    X = rows(f)
    with np.load(path, allow_pickle=False) as a:
        y = np.maximum(X @ a["weights_0"] + a["biases_0"], 0) @ a["weights_1"] + a["biases_1"]
    assert y.shape == f(X).shape
    np.testing.assert_allclose(y.reshape(len(X), -1), values(f, X), rtol=0, atol=1e-12)


@each_network
def test_there_and_back_is_exact(f, tmp_path):
    f.to_npz(tmp_path / "f.npz")
    assert ShallowNetwork.from_npz(tmp_path / "f.npz") == ShallowNetwork.from_relu(*f.to_relu())


def test_a_failed_export_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f.npz"
    NETWORKS["one output"].to_npz(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        NETWORKS["wide"].to_npz(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"weights_0": np.eye(2)}, "must hold the arrays weights_0, .* got weights_0"),
        (GOOD | {"weights_2": np.eye(2)}, "got weights_0, biases_0, weights_1, biases_1, weights_2"),
        (GOOD | {"weights_0": np.ones(2)}, "must hold the arrays"),
        (GOOD | {"biases_0": np.zeros(3)}, '"biases" must have shape'),
        (GOOD | {"weights_1": np.zeros(3)}, '"weights" and "output_weights" must have shapes'),
        (GOOD | {"biases_0": np.array(["a", "b"])}, '"biases" must be an array of real numbers'),
        (GOOD | {"biases_0": np.array([1.0, None])}, "not a whole .npz file of numbers"),
    ],
)
def test_other_arrays_are_refused_in_one_sentence(arrays, sentence, tmp_path):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(InputError, match=sentence):
        ShallowNetwork.from_npz(tmp_path / "f.npz")


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "f.npz"
    with pytest.raises(FileNotFoundError, match="no such file"):
        ShallowNetwork.from_npz(path)
    NETWORKS["wide"].to_npz(path)
    data = path.read_bytes()
    for content in (b"", b"hello", data[:100], data[: len(data) // 2], data[:-1]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"not a whole \.npz file"):
            ShallowNetwork.from_npz(path)
    np.save(tmp_path / "f.npy", np.eye(2))
    with pytest.raises(InputError, match=r"not a whole \.npz file"):
        ShallowNetwork.from_npz(tmp_path / "f.npy")
