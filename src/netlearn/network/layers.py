"""A network as the two dense layers that other libraries store, there and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netlearn.errors import InputError
from netlearn.network.relu import ReluForm

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

Array = NDArray[np.float64]


class Layer(NamedTuple):
    """The affine map x -> x @ weights + biases.

    Attributes
    ----------
    weights : array of shape (n_in, n_out)
    biases : array of shape (n_out,)
    """

    weights: Array
    biases: Array


def to_layers(network: ShallowNetwork, *, at_least: int = 0) -> tuple[Layer, Layer]:
    """Return the layers before and after the ReLUs of `network.to_relu()`; a single output keeps its axis.

    Parameters
    ----------
    network : ShallowNetwork
    at_least : int
        Number of ReLUs to have in any case, for libraries that know no layer without units: a constant gets
        silent ones.

    Returns
    -------
    hidden, output : Layer
    """
    form = network.to_relu()
    n, d, m = len(form.weights), network.n_features, network.n_outputs
    width = max(n, at_least)
    hidden = Layer(np.zeros((d, width)), np.zeros(width))
    output = Layer(np.zeros((width, m)), np.reshape(form.intercept, m))
    hidden.weights[:, :n], hidden.biases[:n] = form.weights.T, form.biases
    output.weights[:n] = form.output_weights.reshape(n, m)
    return hidden, output


def to_form(layers: Sequence[Layer], model: str) -> ReluForm:
    """Return what `ShallowNetwork.from_relu` takes; one output makes a network of one number per row.

    Parameters
    ----------
    layers : sequence of Layer
        With a ReLU between each and the next.
    model : str
        What they come from; opens the sentence of the refusal.

    Returns
    -------
    ReluForm
    """
    if len(layers) != 2:
        raise InputError(
            f"{model} must have one hidden layer, which is two dense layers with a ReLU between, "
            f"got {len(layers)} dense layer{'' if len(layers) == 1 else 's'}."
        )
    hidden, output = layers
    one = output.weights.shape[1] == 1
    # Sums depend in their last digit on how a matrix lies in memory; here all lie as `to_relu` lays them.
    return ReluForm(
        np.ascontiguousarray(hidden.weights.T),
        np.ascontiguousarray(output.weights[:, 0] if one else output.weights),
        hidden.biases,
        float(output.biases[0]) if one else output.biases,
    )
