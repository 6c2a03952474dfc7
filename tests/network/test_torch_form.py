"""Torch modules and state_dicts: out, back, and what is refused."""

import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest

from netlearn import ShallowNetwork
from netlearn.errors import InputError, MissingExtraError
from tests.network.exported import NETWORKS, rows, values

torch = pytest.importorskip("torch")
nn = torch.nn
each_network = pytest.mark.parametrize("f", NETWORKS.values(), ids=NETWORKS)


def plain(d, width, m, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on layers without units
        return nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, m)).to(dtype)


@each_network
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-6)])
def test_the_module_computes_the_network(f, dtype, tolerance):
    X = rows(f, dtype)
    answer = f.to_torch(dtype=dtype)(torch.tensor(X))
    assert answer.dtype == getattr(torch, dtype)
    expected = values(f, X.astype(float))
    np.testing.assert_allclose(
        answer.detach().numpy(), expected, rtol=0, atol=tolerance * np.abs(expected).max()
    )


@each_network
def test_the_state_dict_loads_into_a_plain_module(f):
    width = len(f.to_relu().weights)
    module = plain(f.n_features, width, f.n_outputs, torch.float64)
    module.load_state_dict(f.to_torch().state_dict())
    X = rows(f)
    np.testing.assert_allclose(module(torch.tensor(X)).detach().numpy(), values(f, X), rtol=0, atol=1e-12)


@each_network
def test_there_and_back_is_exact(f):
    module = f.to_torch()
    expected = ShallowNetwork.from_relu(*f.to_relu())
    assert ShallowNetwork.from_torch(module) == expected
    assert ShallowNetwork.from_torch(module.state_dict()) == expected
    assert expected.distance(f) <= 1e-14 * f.norm()


def test_weights_of_a_module_come_over_unchanged():
    torch.manual_seed(0)
    module = plain(6, 5, 1, torch.float32)
    W, b, mu, c = (p.detach().numpy().astype(float) for p in module.parameters())
    assert ShallowNetwork.from_torch(module) == ShallowNetwork.from_relu(W, mu[0], b, c[0])


def test_an_export_draws_no_random_numbers_and_can_be_trained():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    module = NETWORKS["wide"].to_torch()
    assert torch.rand(1) == expected
    module(torch.zeros(1, 10, dtype=torch.float64)).sum().backward()
    assert all(parameter.grad is not None for parameter in module.parameters())


@pytest.mark.parametrize("dtype", [torch.float32, "float32", np.dtype("float32")])
def test_dtypes_may_be_named_or_given(dtype):
    assert NETWORKS["one output"].to_torch(dtype=dtype)[0].weight.dtype == torch.float32


class Own(nn.Module):
    """Linear layers without biases, a functional ReLU, and one number per row."""

    def __init__(self, activation=torch.relu):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 3, bias=False), nn.Linear(3, 1, bias=False)
        self.activation = activation

    def forward(self, X):
        return self.fc2(self.activation(self.fc1(X)))[:, 0]


def test_a_module_of_any_class_is_read_by_what_it_computes():
    torch.manual_seed(1)
    module = Own()
    f = ShallowNetwork.from_torch(module)
    X = rows(f)
    expected = module.double()(torch.tensor(X)).detach().numpy()
    np.testing.assert_allclose(f(X), expected, rtol=0, atol=1e-14)


def test_reading_a_module_leaves_it_as_it_was():
    module = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.5), nn.Linear(3, 1)).train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    ShallowNetwork.from_torch(module)
    assert module.training
    assert module[0].weight.dtype == torch.float32
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())


def chain(*sizes, activation=nn.ReLU):
    modules = [part for ends in pairwise(sizes) for part in (nn.Linear(*ends), activation())]
    return nn.Sequential(*modules[:-1])


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (chain(4, 3, 3, 1), "must have one hidden layer, .* got 3 dense layers"),
        (chain(4, 1), "must have one hidden layer, .* got 1 dense layer"),
        (chain(4, 3, 1, activation=nn.Tanh), "answers are others; it is made of Linear, Tanh, Linear"),
        (chain(4, 3, 1, activation=nn.GELU), "made of Linear, GELU, Linear"),
        (chain(4, 3, 1, activation=nn.ReLU6), "made of Linear, ReLU6, Linear"),
        (chain(4, 3, 1, activation=nn.LeakyReLU), "made of Linear, LeakyReLU, Linear"),
        (chain(4, 3, 1, activation=nn.Identity), "made of Linear, Identity, Linear"),
        (Own(torch.tanh), "made of Linear, Linear"),
        (Own(lambda X: X.missing), "cannot be run on rows of 4 numbers: AttributeError"),
        (nn.Sequential(nn.Conv1d(1, 1, 3)), r'an entry "0.weight" \(shape \(1, 1, 3\)\)'),
        (
            nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1)),
            r'entry "1.weight" \(shape \(3,\)',
        ),
        ({}, "got no weights at all"),
        ({"0.bias": torch.zeros(3)}, 'no weight for the bias of "0"'),
        ({"0.weight": torch.zeros(3, 4), "0.scale": torch.zeros(3)}, 'an entry "0.scale"'),
        ({"model": {}, "epoch": 3}, r'an entry "model" \(dict\)'),
        ({"0.weight": torch.zeros((3, 4), dtype=torch.int64)}, 'an entry "0.weight"'),
        (
            {"0.weight": torch.zeros(3, 4), "2.weight": torch.zeros(1, 5)},
            '"2" takes 5 numbers where 3 come',
        ),
        (
            {"0.weight": torch.zeros(3, 4), "0.bias": torch.zeros(2), "2.weight": torch.zeros(1, 3)},
            '"0" takes 4 numbers where 4 come, and adds 2 biases to 3 units',
        ),
        (
            {"0.weight": torch.full((3, 4), torch.nan), "2.weight": torch.zeros(1, 3)},
            '"weights" must hold finite numbers',
        ),
        ([torch.zeros(3, 4)], "must be a torch.nn.Module or a state_dict, got a list"),
    ],
)
def test_other_models_are_refused_in_one_sentence(model, sentence):
    with pytest.raises(InputError, match=sentence):
        ShallowNetwork.from_torch(model)


def test_other_dtypes_are_refused():
    with pytest.raises(InputError, match='"dtype" of to_torch must be "float32" or "float64", got torch'):
        NETWORKS["wide"].to_torch(dtype=torch.float16)


def test_an_absent_torch_is_named_with_the_line_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for call in (NETWORKS["wide"].to_torch, lambda: ShallowNetwork.from_torch({})):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[torch\]'"):
            call()
