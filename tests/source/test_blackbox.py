"""Black boxes by name: each kind answers as its origin does, and what cannot be asked is refused in a sentence."""

import sys
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from netlearn import Oracle, ShallowNetwork, Status, learn, teachers
from netlearn.errors import InputError, MissingExtraError
from netlearn.source.blackbox import load_blackbox

D = 4
X = np.random.default_rng(0).standard_normal((25, D))
NETWORK = teachers.random(3, D, 0, biases=0.5)

MODULE = """
import numpy as np
from netlearn_box_neighbour import OFFSET

def predict(X):
    from netlearn_box_late import SLOPE
    return SLOPE * np.abs(X[:, 0]) + OFFSET

class Model:
    n_features = 4
    def predict(self, X):
        return X.sum(axis=1, keepdims=True).astype("float32")

model = Model()
broken = None
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "netlearn_box.py").write_text(MODULE)
    (tmp_path / "netlearn_box_neighbour.py").write_text("OFFSET = 2.0")
    (tmp_path / "netlearn_box_late.py").write_text("SLOPE = 3.0")
    (tmp_path / "netlearn_box_raises.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("netlearn_box")]:
        del sys.modules[name]


def test_a_function_of_the_current_folder_is_found(folder):
    box = load_blackbox("netlearn_box:predict", n_features=D)
    assert (box.n_features, box.dtype) == (D, None)
    assert "netlearn_box:predict" in box.description
    assert "netlearn_box_late" not in sys.modules  # only what is named is imported
    np.testing.assert_array_equal(box.f(X), 3.0 * np.abs(X[:, 0]) + 2.0)
    assert load_blackbox("netlearn_box:predict").n_features is None


def test_attributes_of_attributes_are_found_and_columns_become_numbers(folder):
    y = load_blackbox("netlearn_box:model.predict").f(X)
    assert (y.shape, y.dtype) == ((25,), np.float64)
    np.testing.assert_array_equal(y, X.sum(axis=1).astype("float32"))


def test_layers_in_an_npz_file_are_a_black_box(folder):
    rng = np.random.default_rng(0)
    W0, b0, W1, b1 = (
        rng.standard_normal((3, 2)),
        rng.standard_normal(2),
        rng.standard_normal((2, 1)),
        np.ones(1),
    )
    np.savez("layers.npz", weights_0=W0, biases_0=b0, weights_1=W1, biases_1=b1)
    box = load_blackbox("layers.npz")
    X = rng.standard_normal((20, 3))
    assert box.n_features == 3
    np.testing.assert_allclose(box.f(X), (np.maximum(X @ W0 + b0, 0) @ W1 + b1)[:, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("netlearn_box_absent:f", "importing 'netlearn_box_absent' failed .*No module named"),
        (
            "netlearn_box_raises:f",
            "importing 'netlearn_box_raises' failed .ZeroDivisionError: division by zero",
        ),
        ("netlearn_box:absent", "there is no such function .*'absent'"),
        ("netlearn_box:model.absent", "there is no such function .*'absent'"),
        ("netlearn_box:broken", "must be something that can be called with rows, got a NoneType"),
        ("netlearn_box:model", "got a Model; try netlearn_box:model.predict"),
        ("netlearn_box:", "there is no such function"),
        (":f", "importing '' failed"),
        (
            "model.h5",
            r"must be package.module:function, or a file ending in .onnx, .pt, .pth, .safetensors, .npz; got",
        ),
        ("mlp.joblib", r"mlp.joblib is a pickle, .* runs whatever code is in it.*from_sklearn\(model\).save"),
        ("mlp.pkl", r"mlp.pkl is a pickle, .*torch.save\(model.state_dict\(\), 'model.pt'\)"),
    ],
)
def test_what_is_no_function_is_refused_in_one_sentence(folder, spec, sentence):
    with pytest.raises(InputError, match=sentence):
        load_blackbox(spec)


@pytest.mark.parametrize("name", ["f.onnx", "f.pt", "f.pth", "f.safetensors"])
def test_missing_files_are_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"Cannot read .*{name}: there is no such file"):
        load_blackbox(tmp_path / name)


def test_a_network_of_our_own(tmp_path):
    NETWORK.save(tmp_path / "f.safetensors")
    box = load_blackbox(tmp_path / "f.safetensors")
    assert (box.n_features, box.dtype) == (D, "float64")
    np.testing.assert_array_equal(box.f(X), NETWORK(X))


# --- ONNX -------------------------------------------------------------------------------------------------


def onnx_graph(path, shape, outputs=1, element="float64", extra_input=False):
    """Write y = X @ ones + 1 with the declared input shape."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    make = onnx.helper
    kind = make.np_dtype_to_tensor_dtype(np.dtype(element))
    ones = np.arange(1.0, 1 + D * 2).reshape(D, 2).astype(element)
    nodes = [make.make_node("MatMul", ["rows", "W"], ["y"]), make.make_node("Neg", ["y"], ["z"])]
    infos = [make.make_tensor_value_info("rows", kind, shape)]
    infos += [make.make_tensor_value_info("more", kind, shape)] * extra_input
    model = make.make_graph(
        nodes[:outputs],
        "g",
        infos,
        [make.make_tensor_value_info(name, kind, [None, 2]) for name in "yz"[:outputs]],
        [onnx.numpy_helper.from_array(ones, "W")],
    )
    onnx.save(make.make_model(model, opset_imports=[make.make_opsetid("", 14)], ir_version=8), path)
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_onnx_file(tmp_path, dtype):
    pytest.importorskip("onnxruntime")
    NETWORK.to_onnx(tmp_path / "f.onnx", dtype=dtype)
    box = load_blackbox(str(tmp_path / "f.onnx"))
    assert (box.n_features, box.dtype) == (D, dtype)
    y = box.f(X)
    assert (y.shape, y.dtype) == ((25,), np.float64)
    np.testing.assert_allclose(y, NETWORK(X), rtol=0, atol={"float32": 1e-6, "float64": 1e-14}[dtype])
    assert np.array_equal(y, y.astype(dtype))  # what came back is what that precision can hold


@pytest.mark.parametrize("batch", ["n", 1, 4, 25, 40])
def test_an_onnx_model_of_a_fixed_number_of_rows_is_asked_in_pieces(tmp_path, batch):
    box = load_blackbox(onnx_graph(tmp_path / "f.onnx", [batch, D]))
    np.testing.assert_allclose(box.f(X), X @ np.arange(1.0, 9.0).reshape(4, 2), rtol=0, atol=1e-13)


def test_an_onnx_model_that_does_not_tell_its_inputs(tmp_path):
    path = onnx_graph(tmp_path / "f.onnx", ["n", "d"])
    assert load_blackbox(path).n_features is None
    assert load_blackbox(path, n_features=D).n_features == D


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shape": ["n", "k", D]}, "must take one float32 or float64 matrix of rows"),
        ({"shape": ["n", D], "outputs": 2}, "give one output, got 2 outputs for rows"),
        ({"shape": ["n", D], "extra_input": True}, "got 1 outputs for rows .*, more"),
        ({"shape": ["n", D], "element": "float16"}, r"for rows tensor\(float16\)"),
    ],
)
def test_onnx_models_of_another_kind_are_refused(tmp_path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        load_blackbox(onnx_graph(tmp_path / "f.onnx", **options))


# --- torch ------------------------------------------------------------------------------------------------


def chain(dtype, *sizes):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    modules = []
    for ends in pairwise(sizes):
        modules += [torch.nn.Linear(*ends), torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1]).to(getattr(torch, dtype))


def answers(module, dtype):
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        return module(torch.tensor(X, dtype=getattr(torch, dtype))).numpy()


def save_script(module, path, frozen=False):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        compiled = torch.jit.script(module)
        torch.jit.save(torch.jit.freeze(compiled.eval()) if frozen else compiled, path)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(D, 3), (D, 5, 1), (D, 5, 6, 7, 3)])
def test_a_state_dict_file_is_a_chain_of_any_length(tmp_path, dtype, sizes):
    torch = pytest.importorskip("torch")
    module = chain(dtype, *sizes)
    torch.save(module.state_dict(), tmp_path / "f.pt")
    box = load_blackbox(tmp_path / "f.pt")
    assert (box.n_features, box.dtype) == (D, dtype)
    expected = answers(module, dtype)
    y = box.f(X)
    assert y.shape == (expected[:, 0] if sizes[-1] == 1 else expected).shape
    assert np.array_equal(y, y.astype(dtype))
    np.testing.assert_allclose(
        y.reshape(expected.shape), expected, rtol=0, atol=50 * np.finfo(dtype).eps * np.abs(expected).max()
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("frozen", [False, True])
def test_a_torchscript_file(tmp_path, dtype, frozen):
    module = chain(dtype, D, 5, 1)
    save_script(module, tmp_path / "f.pt", frozen)
    if frozen:
        with pytest.raises(
            InputError, match='does not tell how many inputs it takes: "n_features" must be given'
        ):
            load_blackbox(tmp_path / "f.pt")
    box = load_blackbox(tmp_path / "f.pt", n_features=D if frozen else None)
    assert (box.n_features, box.dtype) == (D, dtype)
    np.testing.assert_allclose(box.f(X), answers(module, dtype)[:, 0], rtol=1e-5, atol=1e-7)
    with pytest.raises(InputError, match=r'"n_features" must be what .* but it cannot be run on rows of 7'):
        load_blackbox(tmp_path / "f.pt", n_features=7)


def test_dropout_of_a_saved_module_is_off(tmp_path):
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(
        torch.nn.Linear(D, 50), torch.nn.Dropout(0.5), torch.nn.Linear(50, 1)
    ).double()
    save_script(module.train(), tmp_path / "f.pth")
    f = load_blackbox(tmp_path / "f.pth").f
    np.testing.assert_array_equal(f(X), f(X))


def test_a_torch_module_in_python_is_asked_with_tensors(folder):
    pytest.importorskip("torch")
    (folder / "netlearn_box_torch.py").write_text(
        "import torch\ntorch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(4, 1))\n"
        "W, b = net[0].weight.detach().numpy(), net[0].bias.detach().numpy()"
    )
    box = load_blackbox("netlearn_box_torch:net")
    assert (box.n_features, box.dtype) == (D, "float32")
    held = sys.modules["netlearn_box_torch"]
    np.testing.assert_allclose(box.f(X), (X @ held.W.T.astype(float) + held.b)[:, 0], rtol=0, atol=1e-6)
    assert held.net.training


def whole_module(torch, path):
    torch.save(chain("float32", D, 3, 1), path)


def truncated(torch, path):
    torch.save(chain("float32", D, 3, 1).state_dict(), path)
    path.write_bytes(path.read_bytes()[:700])


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (
            whole_module,
            "holds Python objects, .* save the model's state_dict or its TorchScript form instead",
        ),
        (lambda torch, path: torch.save(Fraction(1, 2), path), "holds Python objects"),
        (truncated, "is not a whole torch file"),
        (lambda torch, path: path.write_text("hello there"), "is not a whole torch file"),
        (lambda torch, path: path.write_bytes(b""), "is not a whole torch file"),
        (lambda torch, path: torch.save(torch.zeros(3), path), "must hold a state_dict .* got a Tensor"),
        (
            lambda torch, path: torch.save({"state_dict": {"0.weight": torch.zeros(2, 3)}, "epoch": 3}, path),
            'Linear layers only, got an entry "state_dict"',
        ),
        (
            lambda torch, path: torch.save(
                torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).state_dict(), path
            ),
            'Linear layers only, got an entry "1.weight"',
        ),
        (
            lambda torch, path: torch.save(
                {"a.weight": torch.zeros(2, 3), "b.weight": torch.zeros(1, 5)}, path
            ),
            'must be a chain of Linear layers, but "b" takes 5 numbers where 2 come',
        ),
    ],
)
def test_torch_files_of_another_kind_are_refused(tmp_path, write, sentence):
    torch = pytest.importorskip("torch")
    path = tmp_path / "f.pt"
    write(torch, path)
    with pytest.raises(InputError, match=sentence) as caught:
        load_blackbox(path)
    assert str(path) in str(caught.value)


# --- all kinds --------------------------------------------------------------------------------------------


def save_state_dict(path):
    torch = pytest.importorskip("torch")
    torch.save(NETWORK.to_torch().state_dict(), path)


WRITERS = {"f.safetensors": NETWORK.save, "f.onnx": NETWORK.to_onnx, "f.pt": save_state_dict}


@pytest.mark.parametrize("name", WRITERS)
def test_another_number_of_inputs_is_refused(tmp_path, name):
    WRITERS[name](tmp_path / name)
    with pytest.raises(InputError, match=f'"n_features" must be {D} or left out, .* got 7'):
        load_blackbox(tmp_path / name, n_features=7)
    assert load_blackbox(tmp_path / name, n_features=D).n_features == D


@pytest.mark.parametrize("name", ["f.onnx", "f.pt"])
def test_broken_files_are_refused(tmp_path, name):
    for content in (b"", b"hello", b"\x80" * 1000):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=r"not a model that onnxruntime can run|not a whole torch file"):
            load_blackbox(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "package", "extra"), [("f.onnx", "onnxruntime", "onnx"), ("f.pt", "torch", "torch")]
)
def test_an_absent_package_is_named_with_the_line_to_type(tmp_path, monkeypatch, name, package, extra):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"needs {package}, .* pip install '\.\[{extra}\]'"):
        load_blackbox(tmp_path / name)


@pytest.mark.parametrize("name", WRITERS)
def test_learn_recovers_what_a_file_holds(tmp_path, name):
    WRITERS[name](tmp_path / name)
    box = load_blackbox(tmp_path / name)
    result = learn(Oracle(box.f, n_features=box.n_features), n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert isinstance(result.network, ShallowNetwork)
    assert result.network.distance(NETWORK) <= 1e-10 * NETWORK.norm()
