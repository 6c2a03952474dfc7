import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from netlearn import teachers
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork, files


def many_outputs():
    rng = np.random.default_rng(0)
    return ShallowNetwork.from_relu(rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), rng.normal(size=4))


@pytest.mark.parametrize(
    "network",
    [
        teachers.random(5, 4, 0, biases=1.0),
        many_outputs(),
        ShallowNetwork([1.0, 2.0], [], np.zeros((0, 2)), None, 3.0),
    ],
    ids=["one output", "many outputs", "no units"],
)
def test_saved_is_loaded(tmp_path, network):
    network.save(tmp_path / "f.safetensors")
    assert ShallowNetwork.load(tmp_path / "f.safetensors") == network
    network.save(str(tmp_path / "f.safetensors"))
    assert [path.name for path in tmp_path.iterdir()] == ["f.safetensors"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "f.safetensors"
    teachers.random(3, 4, 0, biases=1.0).save(path)
    return path


def refused(path, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        ShallowNetwork.load(path)
    assert str(path) in str(caught.value)


def test_every_truncation_is_refused(saved, tmp_path):
    data = saved.read_bytes()
    path = tmp_path / "cut.safetensors"
    for length in [*range(0, 16), *range(16, len(data), 37), len(data) - 1]:
        path.write_bytes(data[:length])
        refused(path, "whole safetensors")


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_every_flipped_bit_is_refused_or_harmless(saved, data):
    original = saved.read_bytes()
    position = data.draw(st.integers(0, len(original) - 1))
    altered = bytearray(original)
    altered[position] ^= 1 << data.draw(st.integers(0, 7))
    path = saved.with_name("altered.safetensors")
    path.write_bytes(altered)
    # In the header a space may turn into another that means the same; numbers may not change unseen.
    try:
        network = ShallowNetwork.load(path)
    except InputError:
        refused(path, ".")
    else:
        assert network == ShallowNetwork.load(saved)


def test_altered_numbers_are_refused(saved, tmp_path):
    altered = bytearray(saved.read_bytes())
    altered[-1] ^= 1
    path = tmp_path / "altered.safetensors"
    path.write_bytes(altered)
    refused(path, "checksum")


def test_an_oversized_header_is_refused(saved, tmp_path):
    path = tmp_path / "header.safetensors"
    path.write_bytes((2**62).to_bytes(8, "little") + saved.read_bytes()[8:])
    refused(path, "whole safetensors")


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "foreign"
    path.write_text(json.dumps({"linear": [1, 2]}))
    refused(path, "whole safetensors")
    save_file({"weight": np.zeros(3)}, path)
    refused(path, "not one that holds a netlearn network")


def test_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "f.safetensors"
    monkeypatch.setattr(files, "_VERSION", "2")
    teachers.random(2, 3, 0).save(path)
    monkeypatch.undo()
    refused(path, "format version 2, but this netlearn reads version 1")


def test_numbers_that_make_no_network_are_refused(tmp_path):
    """A file with a right checksum but wrong contents: only code that means to do harm writes one."""
    path = tmp_path / "f.safetensors"
    good = dict(zip(files.NAMES, teachers.random(2, 3, 0)._parameters, strict=True))
    files.write(path, good | {"linear": np.array([1.0, np.nan, 0.0])})
    refused(path, '"linear" must hold finite numbers')
    files.write(path, good | {"biases": np.zeros(7)})
    refused(path, '"biases" must have shape')


def test_missing_places_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        ShallowNetwork.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match=r"folder .* does not exist"):
        teachers.random(2, 3, 0).save(tmp_path / "absent" / "f.safetensors")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "f.safetensors"
    old = teachers.random(2, 3, 0)
    old.save(path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        teachers.random(2, 3, 1).save(path)
    monkeypatch.undo()
    assert ShallowNetwork.load(path) == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.safetensors"]
