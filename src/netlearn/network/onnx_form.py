"""A network as an ONNX graph, there and back.

Written: MatMul, Add, Relu, MatMul, Add, with the weights as initializers and the number of rows left free.
Read: any graph in which nothing but affine maps with constant weights and one Relu lie between the input and the
output, however the affine maps are spelled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.network.files import write_whole
from netlearn.network.layers import Layer, to_form, to_layers
from netlearn.network.relu import ReluForm

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

# Old enough for every runtime of the last years, new enough for float64 in each of the operators.
_OPSET, _IR_VERSION = 14, 8


def to_onnx(network: ShallowNetwork, path: str | os.PathLike, dtype: str) -> None:
    """Write the graph; the output has the shape that calling the network gives."""
    onnx = need("onnx", extra="onnx", purpose="ShallowNetwork.to_onnx")
    if dtype not in ("float32", "float64"):
        raise InputError(f'"dtype" of to_onnx must be "float32" or "float64", got {dtype!r}.')
    # Runtimes add up nothing as anything: a graph without units would give what lay in memory.
    hidden, output = to_layers(network, at_least=1)
    axes = network.linear.shape[:-1]
    constants = {
        "hidden_weights": hidden.weights,
        "hidden_biases": hidden.biases,
        # A matrix with one axis makes MatMul give one number per row.
        "output_weights": output.weights.reshape(-1, *axes),
        "output_biases": output.biases,
    }
    make = onnx.helper
    element = make.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = make.make_graph(
        [
            make.make_node("MatMul", ["X", "hidden_weights"], ["projected"]),
            make.make_node("Add", ["projected", "hidden_biases"], ["shifted"]),
            make.make_node("Relu", ["shifted"], ["hidden"]),
            make.make_node("MatMul", ["hidden", "output_weights"], ["combined"]),
            make.make_node("Add", ["combined", "output_biases"], ["y"]),
        ],
        "shallow_network",
        [make.make_tensor_value_info("X", element, ["n", network.n_features])],
        [make.make_tensor_value_info("y", element, ["n", *axes])],
        [onnx.numpy_helper.from_array(array.astype(dtype), name) for name, array in constants.items()],
    )
    model = make.make_model(
        graph,
        producer_name="netlearn",
        ir_version=_IR_VERSION,
        opset_imports=[make.make_opsetid("", _OPSET)],
    )
    make.set_model_props(model, {"producer": "netlearn", "n_hidden": str(network.n_hidden)})
    write_whole(path, model.SerializeToString())


def from_onnx(path: str | os.PathLike) -> ReluForm:
    """Read the weights of a graph of one hidden layer of ReLUs."""
    onnx = need("onnx", extra="onnx", purpose="ShallowNetwork.from_onnx")
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"Cannot read {source}: there is no such file.")
    try:
        graph = onnx.load(source).graph
        constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    except Exception as error:  # protobuf, onnx and the file system each have their own
        raise InputError(f"{source} is not a whole ONNX model.") from error
    inputs = [value.name for value in graph.input if value.name not in constants]
    if len(inputs) != 1 or len(graph.output) != 1:
        raise InputError(
            f"{source} must have one input and one output, got {len(inputs)} and {len(graph.output)}."
        )
    signals = {inputs[0]: _Signal()}
    for node in graph.node:
        try:
            if any(name in signals for name in node.input):
                signals[node.output[0]] = _follow(onnx, node, signals, constants)
            else:
                constants.update(_fold(node, constants))
        except Exception as error:  # LookupError and ValueError from here, others from onnx on damaged nodes
            name = node.name or next(iter(node.output), "")
            raise InputError(
                f"{source} must be a chain of affine maps with constant weights and one Relu, but its "
                f'{node.op_type} node "{name}" does not fit in.'
            ) from error
    output = signals.get(graph.output[0].name)
    if output is None or output.open is None:
        raise InputError(f"{source} must end in an affine map of its ReLUs, but its output is none.")
    return to_form([*output.closed, output.open], str(source))


@dataclass(frozen=True)
class _Signal:
    """A tensor that depends on the input: through dense layers with ReLUs, then through an affine map.

    Attributes
    ----------
    closed : tuple of Layer
        Those that a ReLU follows.
    open : Layer or None
        The affine map since the last ReLU, or the input; None for the identity.
    """

    closed: tuple[Layer, ...] = ()
    open: Layer | None = None

    def times(self, W: NDArray) -> _Signal:
        """Multiply by a matrix; one of a single axis gives one number per row."""
        if W.ndim not in (1, 2) or (
            self.closed and self.open is None and len(W) != len(self.closed[-1].biases)
        ):
            raise ValueError("the sizes do not fit")
        W = W.astype(np.float64).reshape(len(W), -1)
        if self.open is None:
            return replace(self, open=Layer(W, np.zeros(W.shape[1])))
        return replace(self, open=Layer(self.open.weights @ W, self.open.biases @ W))

    def plus(self, b: NDArray) -> _Signal:
        """Add the same numbers to every row."""
        if b.shape[-1:] != (b.size,) and b.size != 1:
            raise ValueError("differs between rows")
        weights, biases = self._known()
        return replace(self, open=Layer(weights, biases + np.broadcast_to(b.ravel(), biases.shape)))

    def relu(self) -> _Signal:
        """Close the open layer."""
        return _Signal((*self.closed, self._known()))

    def reshaped(self, shape: list[int]) -> _Signal:
        """Change nothing, if rows stay rows of as many numbers."""
        width = len(self._known().biases)
        if shape in ([-1, width], [0, width], [0, -1]) or (width == 1 and shape in ([-1], [-1, 1])):
            return self
        raise ValueError("rows do not stay rows")

    def _known(self) -> Layer:
        if self.open is None:
            raise ValueError("there is no matrix to tell the width")
        return self.open


def _follow(onnx: Any, node: Any, signals: dict[str, _Signal], constants: dict[str, NDArray]) -> _Signal:
    """Return the output of a node that takes a signal; LookupError or ValueError if it does not fit in."""
    options = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    first, *rest = node.input
    match node.op_type if node.domain in ("", "ai.onnx") else None:
        case "MatMul":
            return signals[first].times(constants[rest[0]])
        case "Add":
            signal, constant = (first, rest[0]) if first in signals else (rest[0], first)
            return signals[signal].plus(constants[constant])
        case "Gemm" if not options.get("transA"):
            W = constants[rest[0]].astype(np.float64)
            product = signals[first].times(options.get("alpha", 1.0) * (W.T if options.get("transB") else W))
            if len(rest) == 1 or not rest[1]:
                return product
            return product.plus(options.get("beta", 1.0) * constants[rest[1]].astype(np.float64))
        case "Relu":
            return signals[first].relu()
        case "Reshape":
            return signals[first].reshaped(constants[rest[0]].tolist())
        case "Squeeze" if constants[rest[0]].tolist() in ([1], [-1]):
            return signals[first].reshaped([-1])
        case "Flatten" if options.get("axis", 1) == 1:
            return signals[first]
        case "Cast" if options["to"] in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            return signals[first]
        case "Identity":
            return signals[first]
    raise LookupError(node.op_type)


# Whose output is no larger than what the file holds: others could ask for any amount of memory.
_FOLDED = ("Cast", "Constant", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


def _fold(node: Any, constants: dict[str, NDArray]) -> dict[str, NDArray]:
    """Compute a node that takes constants only: weights that an exporter transposes or casts on the way."""
    if node.op_type not in _FOLDED:
        raise LookupError(node.op_type)
    from onnx.reference import ReferenceEvaluator

    inputs = {name: constants[name] for name in node.input if name}
    values: Any = ReferenceEvaluator(node).run(None, inputs)
    return dict(zip(node.output, values, strict=True))
