"""A network as a function of features in standard deviations, and of outputs in units of their own size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netlearn.network import ShallowNetwork

Array = NDArray[np.float64]


def standardised(f: ShallowNetwork, scale: Array, centre: Array) -> ShallowNetwork:
    """Return z -> f(scale * z + centre), as `precompose` would with a diagonal matrix, which may be huge."""
    return ShallowNetwork(
        f.linear * scale,
        f.coefficients,
        f.units * scale,
        f.biases + f.units @ centre,
        f.intercept + f.linear @ centre,
    )


def in_own_units(f: ShallowNetwork) -> tuple[ShallowNetwork, Array]:
    """Return the network with each output in units of the size of its parameters, and these; y's own play no part."""
    size = np.abs(f.linear).sum(axis=-1) + np.abs(f.coefficients).sum(axis=0)
    size = np.where(size > 0, size, 1.0)
    return scaled(f, 1 / size), size


def scaled(f: ShallowNetwork, factors: Array) -> ShallowNetwork:
    """Return the network with each output multiplied by its factor."""
    linear = (factors * f.linear.T).T
    return ShallowNetwork(linear, factors * f.coefficients, f.units, f.biases, factors * f.intercept)


def gradients(f: ShallowNetwork, X: Array) -> Array:
    """Return the gradients of all outputs at all rows, shape (n * outputs, d)."""
    signs = np.sign(X @ f.units.T + f.biases)
    lam = f.coefficients.reshape(f.n_hidden, f.n_outputs)
    jumps = np.einsum("nk,km,kd->nmd", signs, lam, f.units, optimize=True)
    return (jumps + f.linear.reshape(-1, f.n_features)).reshape(-1, f.n_features)
