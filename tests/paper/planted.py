"""Rows on demand, for the tests of whole runs."""

import numpy as np

from netlearn.network import ShallowNetwork


def rows_of(f, rng, n_features=6):
    def sample(n):
        X = rng.standard_normal((n, n_features))
        return X, f(X)

    return sample


def orthonormal_alternating(n_hidden, n_features, weight, rng):
    """sum_i (-1)^i weight |<u_i, x>|, u_i orthonormal: a unit that is left out costs sqrt(1 - 2/pi) = 0.6 weight."""
    units = np.linalg.qr(rng.standard_normal((n_features, n_hidden)))[0].T
    return ShallowNetwork(np.zeros(n_features), weight * (-1.0) ** np.arange(n_hidden), units)
