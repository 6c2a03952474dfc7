"""Population values of a known network, from their definitions."""

import numpy as np


def random_direction(rng, d):
    """Uniform on the unit sphere."""
    g = rng.standard_normal(d)
    return g / np.linalg.norm(g)


def moment_matrix(network, g, ell):
    """M_ell^g = sum_i lambda_i <u_i, g>^(ell-2) u_i u_i^T."""
    weights = network.coefficients * (network.units @ g) ** (ell - 2)
    return (network.units.T * weights) @ network.units


def towards(units, g):
    """The same neurons, each u_i or -u_i, so that <u_i, g> >= 0 as section 2.3 assumes."""
    return units * np.where(units @ g < 0, -1.0, 1.0)[:, None]
