"""What most rivals fit, as a network whose error can be computed exactly."""

import numpy as np

from netlearn import ShallowNetwork


def network(
    units: np.ndarray,
    weights: np.ndarray,
    linear: np.ndarray,
    intercept: float,
    biases: np.ndarray | None = None,
) -> ShallowNetwork:
    """Return x -> sum_i weights_i relu(<units_i, x> + biases_i) + <linear, x> + intercept."""
    d = len(linear)
    affine = ShallowNetwork(linear, np.zeros(0), np.zeros((0, d)))
    return ShallowNetwork.from_relu(units, weights, biases, intercept) + affine
