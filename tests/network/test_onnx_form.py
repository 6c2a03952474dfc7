"""ONNX graphs: out through onnxruntime, back from the ways exporters write them, and what is refused."""

import os
import sys
import warnings

import numpy as np
import pytest

from netlearn import ShallowNetwork
from netlearn.errors import InputError, MissingExtraError
from tests.network.exported import NETWORKS, rows, values

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
each_network = pytest.mark.parametrize("f", NETWORKS.values(), ids=NETWORKS)

rng = np.random.default_rng(5)
W, B, MU, C = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(3, 2)), rng.normal(size=2)
EXPECTED = ShallowNetwork.from_relu(W.T.copy(), MU, B, C)


def run(path, X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [value.name for value in session.get_inputs()] == ["X"]
    return session.run(["y"], {"X": X})[0]


def graph(path, nodes, constants, inputs=("X",), outputs=("y",), element="float64"):
    """Write a graph from lines (operator, inputs, output, options)."""
    make = onnx.helper
    kind = make.np_dtype_to_tensor_dtype(np.dtype(element))
    model = make.make_model(
        make.make_graph(
            [make.make_node(op, into.split(), [out], **options) for op, into, out, options in nodes],
            "by_hand",
            [make.make_tensor_value_info(name, kind, ["n", 4]) for name in inputs],
            [make.make_tensor_value_info(name, kind, None) for name in outputs],
            [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
        ),
        opset_imports=[make.make_opsetid("", 14)],
        ir_version=8,
    )
    onnx.save(model, path)
    return path


@each_network
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-6)])
def test_onnxruntime_computes_the_network(f, dtype, tolerance, tmp_path):
    path = tmp_path / "f.onnx"
    f.to_onnx(path, dtype=dtype)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    X = rows(f, dtype)
    y = run(path, X)
    assert y.dtype == dtype
    assert y.shape == f(X).shape
    expected = values(f, X.astype(float))
    np.testing.assert_allclose(
        y.reshape(expected.shape), expected, rtol=0, atol=tolerance * np.abs(expected).max()
    )
    np.testing.assert_array_equal(run(path, X[:1]), y[:1])  # the number of rows is free


def test_the_file_says_who_wrote_it(tmp_path):
    NETWORKS["wide"].to_onnx(tmp_path / "f.onnx")
    model = onnx.load(tmp_path / "f.onnx")
    assert model.producer_name == "netlearn"
    assert {p.key: p.value for p in model.metadata_props} == {"producer": "netlearn", "n_hidden": "30"}


@each_network
def test_there_and_back_is_exact(f, tmp_path):
    f.to_onnx(tmp_path / "f.onnx")
    assert ShallowNetwork.from_onnx(tmp_path / "f.onnx") == ShallowNetwork.from_relu(*f.to_relu())


DENSE = [("Relu", "z", "h", {})]
GEMMS = [("Gemm", "X W b", "z", {}), *DENSE, ("Gemm", "h mu c", "y", {})]
CONSTANTS = {"W": W, "b": B, "mu": MU, "c": C}


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        (GEMMS, CONSTANTS),
        (
            [
                ("Gemm", "X W b", "z", {"transB": 1, "alpha": 0.5, "beta": 4.0}),
                *DENSE,
                ("Gemm", "h mu c", "y", {"transB": 1}),
            ],
            {"W": 2 * W.T, "b": B / 4, "mu": MU.T, "c": C},
        ),
        (
            [
                ("MatMul", "X W", "a", {}),
                ("Add", "b a", "z", {}),
                *DENSE,
                ("MatMul", "h mu", "s", {}),
                ("Add", "s c", "y", {}),
            ],
            CONSTANTS | {"b": B[None, :]},
        ),
        (
            [
                ("Cast", "X", "x", {"to": onnx.TensorProto.DOUBLE}),
                ("Flatten", "x", "flat", {}),
                ("Transpose", "Wt", "W", {}),
                ("Gemm", "flat W b", "z", {}),
                *DENSE,
                ("Identity", "h", "i", {}),
                ("MatMul", "i mu", "s", {}),
                ("Add", "s c", "t", {}),
                ("Constant", "", "shape", {"value_ints": [-1, 2]}),
                ("Reshape", "t shape", "y", {}),
            ],
            {"Wt": W.T, "b": B, "mu": MU, "c": C},
        ),
    ],
    ids=["Gemm", "Gemm with options", "MatMul and Add", "casts, shapes and folded constants"],
)
def test_every_spelling_is_the_same_network(nodes, constants, tmp_path):
    path = graph(tmp_path / "f.onnx", nodes, constants)
    X = rows(EXPECTED)
    np.testing.assert_allclose(run(path, X), values(EXPECTED, X), rtol=0, atol=1e-13)  # the graph is right
    assert ShallowNetwork.from_onnx(path) == EXPECTED


@pytest.mark.parametrize(
    ("last", "constants"),
    [
        ([("Gemm", "h mu", "y", {})], {"mu": MU[:, :1]}),
        ([("MatMul", "h mu", "y", {})], {"mu": MU[:, 0]}),
        (
            [("MatMul", "h mu", "s", {}), ("Squeeze", "s axes", "y", {})],
            {"mu": MU[:, :1], "axes": np.array([1])},
        ),
        (
            [("MatMul", "h mu", "s", {}), ("Reshape", "s to", "y", {})],
            {"mu": MU[:, :1], "to": np.array([-1])},
        ),
    ],
)
def test_one_output_is_one_number_per_row(last, constants, tmp_path):
    path = graph(tmp_path / "f.onnx", [("Gemm", "X W", "z", {}), *DENSE, *last], {"W": W} | constants)
    f = ShallowNetwork.from_onnx(path)
    assert f == ShallowNetwork.from_relu(W.T.copy(), MU[:, 0].copy())
    X = rows(f)
    np.testing.assert_allclose(run(path, X).ravel(), f(X), rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bias", [True, False])
def test_what_torch_exports_is_read(dtype, bias, tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 5, bias=bias), torch.nn.ReLU(), torch.nn.Linear(5, 3, bias=bias)
    ).to(getattr(torch, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is the deprecated one
        example = (torch.zeros(1, 4, dtype=getattr(torch, dtype)),)
        torch.onnx.export(module, example, tmp_path / "f.onnx", dynamo=False)
    assert ShallowNetwork.from_onnx(tmp_path / "f.onnx") == ShallowNetwork.from_torch(module)


def test_a_failed_export_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f.onnx"
    NETWORKS["one output"].to_onnx(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        NETWORKS["wide"].to_onnx(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


SQUARE = CONSTANTS | {"V": np.eye(3)}


@pytest.mark.parametrize(
    ("nodes", "constants", "sentence"),
    [
        (
            [("Gemm", "X W b", "z", {}), ("Tanh", "z", "h", {}), GEMMS[2]],
            CONSTANTS,
            'its Tanh node "h" does not',
        ),
        (
            [GEMMS[0], ("Relu", "z", "g", {}), ("MatMul", "g V", "k", {}), ("Relu", "k", "h", {}), GEMMS[2]],
            SQUARE,
            "one hidden layer, .* got 3 dense layers",
        ),
        ([("Gemm", "X W b", "y", {})], CONSTANTS, "one hidden layer, .* got 1 dense layer"),
        ([GEMMS[0], ("Relu", "z", "y", {})], CONSTANTS, "must end in an affine map"),
        (GEMMS, {"W": W, "b": B, "c": C}, 'its Gemm node "y" does not fit'),
        (GEMMS, CONSTANTS | {"mu": MU[:2]}, 'its Gemm node "y" does not fit'),
        (GEMMS, CONSTANTS | {"b": B[:, None]}, 'its Gemm node "z" does not fit'),
        ([("Gemm", "X W b", "z", {"transA": 1}), *GEMMS[1:]], CONSTANTS, 'its Gemm node "z"'),
        ([("MatMul", "W X", "z", {}), *GEMMS[1:]], CONSTANTS, 'its MatMul node "z"'),
        ([("MatMul", "X W", "z", {}), *GEMMS[1:]], CONSTANTS | {"W": W[:, :, None]}, 'its MatMul node "z"'),
        ([("Cast", "X", "x", {"to": onnx.TensorProto.INT64})], CONSTANTS, 'its Cast node "x"'),
        ([GEMMS[0], ("Relu", "z", "h", {"domain": "of.others"}), GEMMS[2]], CONSTANTS, 'its Relu node "h"'),
        ([("Relu", "X", "h", {}), ("MatMul", "h W", "y", {})], CONSTANTS, 'its Relu node "h"'),
        ([("MatMul", "X X", "z", {}), *GEMMS[1:]], CONSTANTS, 'its MatMul node "z"'),
        (
            [*GEMMS[:2], ("Gemm", "h mu c", "t", {}), ("Reshape", "t to", "y", {})],
            CONSTANTS | {"to": np.array([2, -1])},
            'its Reshape node "y"',
        ),
    ],
)
def test_other_graphs_are_refused_in_one_sentence(nodes, constants, sentence, tmp_path):
    path = graph(tmp_path / "f.onnx", nodes, constants)
    with pytest.raises(InputError, match=sentence) as caught:
        ShallowNetwork.from_onnx(path)
    assert str(path) in str(caught.value)


def test_several_inputs_or_outputs_are_refused(tmp_path):
    path = tmp_path / "f.onnx"
    with pytest.raises(InputError, match="one input and one output, got 2 and 1"):
        ShallowNetwork.from_onnx(graph(path, GEMMS, CONSTANTS, inputs=("X", "Z")))
    with pytest.raises(InputError, match="one input and one output, got 1 and 2"):
        ShallowNetwork.from_onnx(graph(path, GEMMS, CONSTANTS, outputs=("y", "h")))


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "f.onnx"
    with pytest.raises(FileNotFoundError, match="no such file"):
        ShallowNetwork.from_onnx(path)
    NETWORKS["wide"].to_onnx(path)
    data = path.read_bytes()
    for content in (b"", b"hello", data[:100], data[: len(data) // 2], data[:-1]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"not a whole ONNX model|one input and one output"):
            ShallowNetwork.from_onnx(path)


def test_other_dtypes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r'"dtype" of to_onnx must be "float32" or "float64", got .half'):
        NETWORKS["wide"].to_onnx(tmp_path / "f.onnx", dtype="half")
    assert list(tmp_path.iterdir()) == []


def test_an_absent_onnx_is_named_with_the_line_to_type(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (NETWORKS["wide"].to_onnx, ShallowNetwork.from_onnx):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[onnx\]'"):
            call(tmp_path / "f.onnx")
