"""A network as scikit-learn's MLPRegressor, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netlearn.errors import InputError
from netlearn.network.layers import Layer, to_form, to_layers
from netlearn.network.relu import ReluForm

if TYPE_CHECKING:
    from sklearn.neural_network import MLPRegressor

    from netlearn.network.model import ShallowNetwork


def to_sklearn(network: ShallowNetwork) -> MLPRegressor:
    """Return an MLPRegressor in the state that `fit` leaves behind, with the network's weights."""
    from sklearn.neural_network import MLPRegressor

    hidden, output = to_layers(network, at_least=1)
    model: Any = MLPRegressor(hidden_layer_sizes=(hidden.weights.shape[1],), activation="relu")
    model.coefs_ = [hidden.weights, output.weights]
    model.intercepts_ = [hidden.biases, output.biases]
    model.n_features_in_, model.n_outputs_, model.n_layers_ = network.n_features, network.n_outputs, 3
    model.out_activation_ = "identity"
    # The counters of a training that has not begun: `partial_fit` and a warm start go on from here.
    model.n_iter_, model.t_ = 0, 0
    model.loss_curve_, model.loss_, model.best_loss_ = [], np.inf, np.inf
    model.validation_scores_ = model.best_validation_score_ = None
    return model


def from_sklearn(model: MLPRegressor) -> ReluForm:
    """Read the weights of a fitted MLPRegressor with one hidden layer of ReLUs."""
    from sklearn.neural_network import MLPRegressor

    if not isinstance(model, MLPRegressor):
        raise InputError(f'"model" of from_sklearn must be an MLPRegressor, got a {type(model).__name__}.')
    if not hasattr(model, "coefs_"):
        raise InputError('"model" of from_sklearn must be a fitted MLPRegressor, got one without weights.')
    for what, name, wanted in (
        ("activation", model.activation, "relu"),
        ("output activation", model.out_activation_, "identity"),
    ):
        if name != wanted:
            raise InputError(f'"model" of from_sklearn must have the {what} "{wanted}", got "{name}".')
    layers = [Layer(*arrays) for arrays in zip(model.coefs_, model.intercepts_, strict=True)]
    return to_form(layers, '"model" of from_sklearn')
