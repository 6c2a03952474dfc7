r"""The best weights of a set of directions within |lambda|_1 <= R, in closed form.

Where the least-squares weights lambda_0 = G^{-1} b satisfy the constraint they are the answer. Otherwise the answer
lies on the boundary. If all its entries differ from 0 and have the signs s, it is the least value on the plane
s.lambda = R,

    lambda = lambda_0 - mu G^{-1} s,    mu = (s.lambda_0 - R) / (s^T G^{-1} s),

and it is found by trying all 2^m signs: a solution counts if its entries have the signs it was computed for. If some
entry of the answer is 0, the answer belongs to a smaller set, which the search visits by itself.
"""

from itertools import product

import numpy as np

from netlearn.paper.bruteforce import ValidationLoss

_SETS_AT_ONCE = 1024


def best_weights(loss: ValidationLoss, sets: np.ndarray, R: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of least loss with |lambda|_1 <= R, for several sets of one size.

    Cost: O(m^3 + 2^m m^2) for each set whose least-squares weights leave the class, O(m^3) for the others.

    Parameters
    ----------
    loss : ValidationLoss
        The quadratic form.
    sets : integer array of shape (n_sets, m)
        Indices of directions.
    R : float
        Bound on the sum of the absolute weights.

    Returns
    -------
    weights : array of shape (n_sets, m)
    values : array of shape (n_sets,)
        Their losses, the least of the set unless its best weights have a zero among them; then they may be larger,
        or infinite.
    """
    parts = [_block(loss, sets[i : i + _SETS_AT_ONCE], R) for i in range(0, len(sets), _SETS_AT_ONCE)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _block(loss: ValidationLoss, sets: np.ndarray, R: float) -> tuple[np.ndarray, np.ndarray]:
    m = sets.shape[1]
    b = loss.correlations[sets]
    # Directions that coincide to rounding have a singular G; the ridge is far below any threshold in use.
    G = loss.gram[sets[:, :, None], sets[:, None, :]] + 1e-12 * np.eye(m)
    weights = np.linalg.solve(G, b[:, :, None])[:, :, 0]
    values = (
        loss.residual
        + np.einsum("ci,cij,cj->c", weights, G, weights)
        - 2.0 * np.einsum("ci,ci->c", b, weights)
    )
    beyond = np.flatnonzero(np.abs(weights).sum(axis=1) > R * (1.0 + 1e-12))
    if len(beyond):
        weights[beyond], values[beyond] = _on_the_boundary(
            loss.residual, b[beyond], G[beyond], weights[beyond], R
        )
    return weights, values


def _on_the_boundary(
    residual: float, b: np.ndarray, G: np.ndarray, free: np.ndarray, R: float
) -> tuple[np.ndarray, np.ndarray]:
    """Best weights with |lambda|_1 = R and no zero among them, given the unconstrained ones."""
    signs = np.array(list(product([1.0, -1.0], repeat=free.shape[1])))
    G_s = np.linalg.solve(G, np.broadcast_to(signs.T, (len(free), *signs.T.shape)))  # (c, m, 2^m)
    mu = (free @ signs.T - R) / np.einsum("si,cis->cs", signs, G_s)
    lam = free[:, None, :] - mu[:, :, None] * np.swapaxes(G_s, 1, 2)
    values = residual + np.einsum("csi,cij,csj->cs", lam, G, lam) - 2.0 * np.einsum("ci,csi->cs", b, lam)
    values[np.any(signs * lam < 0.0, axis=2)] = np.inf
    best = np.argmin(values, axis=1)
    each = np.arange(len(free))
    return lam[each, best], values[each, best]
