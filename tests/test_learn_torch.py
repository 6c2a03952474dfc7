"""`learn` on torch tensors: the same network as on NumPy arrays, wherever the rows are."""

import numpy as np
import pytest

from netlearn import FileSource, Oracle, Status, learn, learning, pipeline, teachers
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.source import OnDevice

torch = pytest.importorskip("torch")

FAMILIES = {
    "random": (teachers.random(3, 8, 0), False, 0.0),
    "biases": (teachers.random(6, 5, 1, biases=0.5), True, 0.0),
    "hard plane": (teachers.hard_plane(4, 12, 2), False, 0.0),
    "clustered": (teachers.clustered(3, 6, 3), False, 0.0),
    "affine": (ShallowNetwork(np.ones(4), [], np.zeros((0, 4)), [], 1.0), False, 0.0),
    "noise": (teachers.random(2, 5, 5), False, 0.3),
    "many features": (teachers.random(2, 450, 6), False, 0.0),
}


def rows(network, noise=0.0, n=None):
    n = n or max(3000, 6 * (network.n_hidden + 1) * network.n_features)
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, network.n_features))
    return X, network(X) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_network_as_from_numpy(family):
    network, biases, noise = FAMILIES[family]
    X, y = rows(network, noise)
    options = {"n_hidden": network.n_hidden, "biases": biases, "rng": 0}
    here, there = learn(X, y, **options), learn(torch.from_numpy(X), torch.from_numpy(y), **options)
    assert there.status is here.status
    assert there.network.distance(here.network) < 1e-8 * max(network.norm(), 1.0)
    assert isinstance(there.network.units, np.ndarray)


@pytest.mark.parametrize("n_hidden", ["auto", 3])
def test_widths_whitening_and_weights(n_hidden):
    network = teachers.random(3, 5, 0, biases=0.5)
    X, _ = rows(network)
    A = np.random.default_rng(1).standard_normal((5, 5))
    X = X @ A + 2.0
    y = network(X)
    weight = np.random.default_rng(2).uniform(0.0, 2.0, len(y))
    options = {"n_hidden": n_hidden, "rng": 0, "sample_weight": weight}
    here, there = learn(X, y, **options), learn(torch.from_numpy(X), torch.from_numpy(y), **options)
    assert there.status is here.status is Status.RECOVERED
    fresh = np.random.default_rng(3).standard_normal((100, 5)) @ A + 2.0
    np.testing.assert_allclose(there.network(fresh), here.network(fresh), rtol=1e-8, atol=1e-12)


def test_float32_integers_and_gradients_are_taken_as_they_are():
    network = teachers.random(2, 4, 0)
    X = np.random.default_rng(0).standard_normal((2000, 4)).astype(np.float32)
    X_there = torch.from_numpy(X).requires_grad_()
    y = network(X.astype(float))
    result = learn(X_there, torch.from_numpy(y)[:, None], n_hidden=2, rng=0)
    assert result.network.distance(network) < 1e-8
    assert X_there.requires_grad
    assert learn(X_there, list(y), n_hidden=2, rng=0).network.distance(network) < 1e-8
    integers = torch.from_numpy(np.random.default_rng(0).integers(-9, 9, (2000, 4)))
    assert learn(integers, integers[:, 0].abs(), n_hidden=1, rng=0).status is Status.RECOVERED


def test_mixed_libraries_meet_where_X_is():
    network = teachers.random(2, 4, 0)
    X, y = rows(network)
    for pair in ((torch.from_numpy(X), y), (X, torch.from_numpy(y))):
        assert learn(*pair, n_hidden=2, rng=0).network.distance(network) < 1e-8


@pytest.mark.parametrize("entries", [2**25, 2**14], ids=["held", "streamed"])
def test_a_file_on_a_device(tmp_path, monkeypatch, entries):
    network = teachers.random(3, 8, 0)
    X, y = rows(network, n=30_000)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    monkeypatch.setattr(learning, "LARGE_FILE", entries)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
    source = FileSource(tmp_path / "rows.npy", target=8)
    here, there = learn(source, n_hidden=3, rng=0), learn(OnDevice(source, "cpu"), n_hidden=3, rng=0)
    assert here.network.distance(network) < 1e-10
    assert there.network.distance(here.network) < 1e-8
    assert there.diagnostics.rows == here.diagnostics.rows
    assert ("fit" in there.diagnostics.rows) == (entries == 2**14)


def test_a_black_box_on_a_device():
    network = teachers.random(3, 5, 0)
    result = learn(OnDevice(Oracle(network, n_features=5), "cpu"), n_hidden=3, rng=0)
    assert result.network.distance(network) < 1e-10


def test_checkpoints_know_tensors_from_other_tensors(tmp_path):
    network = teachers.random(2, 4, 0)
    X, y = (torch.from_numpy(part) for part in rows(network))
    first = learn(X, y, n_hidden=2, rng=0, checkpoint=tmp_path / "run")
    again = learn(X, y, n_hidden=2, rng=0, checkpoint=tmp_path / "run")
    assert again.network.distance(first.network) < 1e-12
    with pytest.raises(InputError, match="checkpoint"):
        learn(X + 1, y, n_hidden=2, rng=0, checkpoint=tmp_path / "run")


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (torch.full((9, 2), torch.nan), torch.zeros(9), "finite"),
        (torch.zeros((9, 2)), torch.zeros(8), "one entry per row"),
        (torch.zeros((9, 2, 2)), torch.zeros(9), "2 axes"),
        (torch.zeros((9, 2), dtype=torch.complex64), torch.zeros(9), "real numbers"),
    ],
)
def test_bad_tensors_get_one_sentence(X, y, words):
    with pytest.raises(InputError, match=words):
        learn(X, y)


@pytest.mark.parametrize("device", ["cuda:7", "abacus"])
def test_a_device_that_is_not_there(device):
    if device.startswith("cuda") and torch.cuda.device_count() > 7:
        pytest.skip("this machine has it")
    with pytest.raises(InputError, match="device"):
        OnDevice(None, device)
