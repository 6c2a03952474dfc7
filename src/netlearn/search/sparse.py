r"""Sparse regression on the net: the search of Algorithm 1, with all weights at once instead of one net for each.

The network is linear in its weights: with one atom |<u, z> + b| for each point of a net of V, fitting labels by
few atoms is a sparse regression. The path of the lasso finds it in some steps per unit, where brute force tries
all combinations; neighbouring atoms that share one unit are for the polish to merge.
"""

from __future__ import annotations

import warnings

import numpy as np

from netlearn.search.nets import sphere_net

# Beyond this dimension a net fine enough to tell units apart has too many points, and beyond this many units the
# path too many steps.
MOST_DIMENSIONS, MOST_UNITS = 2, 16
_N_ANGLES, _N_DIRECTIONS = 180, 600
_OFFSETS = np.array([-1.0, 0.0, 1.0])
# Neighbouring atoms enter and leave the path again and again before it settles on those nearest to the units.
_STEPS_PER_UNIT = 60


def net_of_planes(n_dimensions: int, rng: np.random.Generator, *, biases: bool) -> np.ndarray:
    """Return hyperplanes (u, b) whose atoms |<u, z> + b| labels are regressed on, shape (n, n_dimensions + 1)."""
    if n_dimensions <= 2:
        directions = sphere_net(np.eye(n_dimensions), np.pi / (2 * _N_ANGLES))
    else:
        directions = rng.standard_normal((_N_DIRECTIONS, n_dimensions))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = _OFFSETS if biases else np.zeros(1)
    return np.column_stack([np.repeat(directions, len(offsets), axis=0), np.tile(offsets, len(directions))])


def sparse_atoms(
    Z: np.ndarray, y: np.ndarray, n_hidden: int, rng: np.random.Generator, *, biases: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Regress labels on the net's atoms and an affine part, along the lasso's path.

    Cost: n m^2 operations for n rows and m atoms, for the Gram matrix.

    Parameters
    ----------
    Z : array of shape (n, r)
        Rows in the coordinates of V.
    y : array of shape (n,)
    n_hidden : int
        Number of units looked for.
    rng : numpy.random.Generator
        Draws the net for r >= 3.
    biases : bool

    Returns
    -------
    planes : array of shape (k, r + 1)
        Hyperplanes of the atoms with a weight that is not zero.
    weights : array of shape (k,)
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path_gram

    planes = net_of_planes(Z.shape[1], rng, biases=biases)
    atoms = np.abs(Z @ planes[:, :-1].T + planes[:, -1])
    affine = np.linalg.qr(np.column_stack([np.ones(len(Z)), Z]))[0]
    atoms -= affine @ (affine.T @ atoms)
    y = y - affine @ (affine.T @ y)
    length = np.linalg.norm(atoms, axis=0)
    atoms, planes, length = atoms[:, length > 0], planes[length > 0], length[length > 0]
    atoms /= length
    with warnings.catch_warnings():
        # Neighbouring atoms are almost parallel; a path that ends early for it has served.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, weights = lars_path_gram(
            atoms.T @ y,
            atoms.T @ atoms,
            n_samples=len(Z),
            max_iter=_STEPS_PER_UNIT * n_hidden,
            method="lasso",
            return_path=False,
        )
    chosen = weights != 0
    return planes[chosen], weights[chosen] / length[chosen]
