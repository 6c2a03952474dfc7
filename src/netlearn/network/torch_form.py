"""A network as torch's Linear, ReLU, Linear, there and back."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.network.layers import Layer, to_form, to_layers
from netlearn.network.relu import ReluForm

if TYPE_CHECKING:
    import torch

    from netlearn.network.model import ShallowNetwork

_MODEL = '"model" of from_torch'
# Rows on which a module is compared with what was read from it: from close to the origin to where every
# activation that saturates has done so.
_PROBE_ROWS, _SMALLEST_PROBE, _LARGEST_PROBE = 64, 1e-2, 1e4
# Share of the magnitudes added up by which two float64 evaluations may differ.
_SAME = 1e-12


def to_torch(network: ShallowNetwork, dtype: str | torch.dtype) -> torch.nn.Sequential:
    """Return Linear, ReLU, Linear of the width of `network.to_relu()`."""
    torch = need("torch", extra="torch", purpose="ShallowNetwork.to_torch")
    precision = str(dtype).removeprefix("torch.")
    if precision not in ("float32", "float64"):
        raise InputError(f'"dtype" of to_torch must be "float32" or "float64", got {dtype!r}.')
    modules = []
    for layer in to_layers(network):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Initializing zero-element tensors", UserWarning)
            # Not initialised at random: that would draw from the caller's generator.
            linear = torch.nn.utils.skip_init(
                torch.nn.Linear, *layer.weights.shape, dtype=getattr(torch, precision)
            )
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(layer.weights.T))
            linear.bias.copy_(torch.tensor(layer.biases))
        modules += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def from_torch(model: torch.nn.Module | Mapping[str, torch.Tensor]) -> ReluForm:
    """Read the weights of a module or a state_dict; a module is also run, to see that it computes with ReLUs."""
    torch = need("torch", extra="torch", purpose="ShallowNetwork.from_torch")
    if isinstance(model, Mapping):
        return to_form(linear_chain(model, _MODEL), _MODEL)
    if isinstance(model, torch.nn.Module):
        layers = linear_chain(model.state_dict(), _MODEL)
        form = to_form(layers, _MODEL)
        _check_module(torch, model, layers)
        return form
    raise InputError(f"{_MODEL} must be a torch.nn.Module or a state_dict, got a {type(model).__name__}.")


def linear_chain(state: Mapping[str, Any], model: str) -> list[Layer]:
    """Read a state_dict as Linear layers in the order of its keys, each taking what the one before gives.

    Parameters
    ----------
    state : mapping of str to torch.Tensor
    model : str
        What it comes from; opens the sentence of the refusal.

    Returns
    -------
    list of Layer
        In float64; a layer without bias gets zeros.
    """
    torch = need("torch", extra="torch", purpose="Reading a state_dict")
    weights, biases = {}, {}
    for key, value in state.items():
        prefix, _, kind = str(key).rpartition(".")
        known = isinstance(value, torch.Tensor) and value.is_floating_point()
        if known and (kind, value.ndim) == ("weight", 2):
            weights[prefix] = value.detach().to("cpu", torch.float64).numpy().T
        elif known and (kind, value.ndim) == ("bias", 1):
            biases[prefix] = value.detach().to("cpu", torch.float64).numpy()
        else:
            raise InputError(
                f'{model} must hold the "weight" and "bias" of Linear layers only, got an entry "{key}" '
                f"({_described(value)})."
            )
    lonely = [prefix for prefix in biases if prefix not in weights]
    if lonely or not weights:
        missing = f'no weight for the bias of "{lonely[0]}"' if lonely else "no weights at all"
        raise InputError(f"{model} must hold the weights of Linear layers, got {missing}.")
    layers = [Layer(W, biases.get(prefix, np.zeros(W.shape[1]))) for prefix, W in weights.items()]
    given = len(layers[0].weights)
    for prefix, (W, b) in zip(weights, layers, strict=True):
        if (given, b.shape) != (len(W), W.shape[1:]):
            raise InputError(
                f'{model} must be a chain of Linear layers, but "{prefix}" takes {len(W)} numbers where {given} '
                f"come, and adds {len(b)} biases to {W.shape[1]} units."
            )
        given = W.shape[1]
    return layers


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"shape {tuple(shape)}"


def _check_module(torch: Any, module: torch.nn.Module, layers: list[Layer]) -> None:
    """Run a float64 copy of the module, in evaluation mode, against its layers with a ReLU between."""
    hidden, output = layers
    scales = np.geomspace(_SMALLEST_PROBE, _LARGEST_PROBE, _PROBE_ROWS)
    X = scales[:, None] * np.random.default_rng(0).standard_normal((_PROBE_ROWS, len(hidden.weights)))
    inside = ", ".join(type(part).__name__ for part in module.modules() if not list(part.children()))
    try:
        with torch.no_grad():
            answer = copy.deepcopy(module).to("cpu", torch.float64).eval()(torch.from_numpy(X))
        answer = answer.numpy().reshape(_PROBE_ROWS, -1)
    except Exception as error:  # whatever a module's own forward may raise
        raise InputError(
            f"{_MODEL} ({inside}) cannot be run on rows of {X.shape[1]} numbers: {type(error).__name__}."
        ) from error
    expected = np.maximum(X @ hidden.weights + hidden.biases, 0.0) @ output.weights + output.biases
    size = (np.abs(X) @ np.abs(hidden.weights) + np.abs(hidden.biases)) @ np.abs(output.weights)
    tolerance = _SAME * (size + np.abs(output.biases))
    if answer.shape != expected.shape or not np.all(np.abs(answer - expected) <= tolerance):
        raise InputError(
            f"{_MODEL} must compute Linear, ReLU, Linear, but its answers are others; it is made of {inside}."
        )
