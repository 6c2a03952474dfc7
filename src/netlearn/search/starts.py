"""Where a fit starts: hyperplanes spread over the subspace, more of them than units are wanted."""

import numpy as np
from scipy.special import ndtri

from netlearn.fit import Params


def unused(planes: np.ndarray, n_outputs: int, rng: np.random.Generator) -> Params:
    """Return units at some hyperplanes that add nothing yet, their weights in several outputs at random."""
    C = rng.standard_normal((len(planes), n_outputs)) if n_outputs > 1 else None
    return Params.from_planes(planes, C)


def random_mixture(n_outputs: int, rng: np.random.Generator) -> np.ndarray:
    """Return weights of some outputs, a random vector of length 1."""
    v = rng.standard_normal(n_outputs)
    return v / np.linalg.norm(v)


def spread_planes(n_planes: int, n_features: int, rng: np.random.Generator, *, biases: bool) -> np.ndarray:
    """Return `n_planes` hyperplanes (q, b), shape (n_planes, n_features + 1).

    In a plane, equispaced directions over the half circle, as in the net of Algorithm 1, turned by a random
    angle; else directions uniform on the sphere. Biases are N(0, 1), so that kinks fall where whitened rows
    are; in a plane every other one is 0, for there it is homogeneous networks that need all directions.
    """
    if n_features == 2:
        angle = np.pi * (np.arange(n_planes) + rng.uniform()) / n_planes
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        directions = rng.standard_normal((n_planes, n_features))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = rng.standard_normal(n_planes) if biases else np.zeros(n_planes)
    if n_features == 1 and biases:  # kinks at the quantiles of whitened rows: as many rows between any two
        offsets = -directions[:, 0] * ndtri((np.arange(n_planes) + rng.uniform()) / n_planes)
    if n_features == 2:
        offsets[::2] = 0.0
    return np.column_stack([directions, offsets])
