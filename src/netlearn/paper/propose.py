r"""A candidate found without a search: wide fits inside V, merged and pruned to k neurons.

In the coordinates z of V the target is r(z) = sum_i lambda_i |<u_i, z>|. With the signs s_j(z) = sign <u_j, z> of some
units fixed, sum_j lambda_j |<u_j, z>| = sum_j s_j(z) <a_j, z> is linear in a_j = lambda_j u_j. Solving that
least-squares problem, reading the new u_j and lambda_j off a_j and repeating is Gauss-Newton on activation patterns.
Started from more units than are wanted, spread over V, it finds those that are there; the others shrink or double one
of them, and merging and pruning leaves k.

Nothing is claimed for a proposal. It is tested on rows of its own, like every candidate of the net, and where it
fails, the whole net is searched.
"""

import numpy as np

from netlearn.paper.bruteforce import ValidationSum
from netlearn.paper.weights import best_weights

PROPOSAL_ROWS = 1 << 15
"""Rows that proposals are fitted to: a few hundred for each unknown of the widest fit."""

_STARTS = 12
_WIDTHS = (2, 4, 6, 1)  # units of a start, in multiples of k
_WIDE_ROUNDS, _FINAL_ROUNDS = 12, 12
_SAME = 0.95  # units with a larger |cosine| are merged
_DAMPING = 1e-6  # of the mean square of a feature: over-wide systems are singular


def propose(
    Z: np.ndarray, y: np.ndarray, n_hidden: int, R: float, *, good: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a network of at most `n_hidden` neurons with sum |lambda_i| <= R in the coordinates of V.

    Cost: up to twelve starts of 24 rounds with n (6 k r)^2 operations each.

    Parameters
    ----------
    Z : array of shape (n, r)
        Rows in the coordinates of V.
    y : array of shape (n,)
        Labels without their linear part.
    n_hidden : int
        The largest number k of neurons.
    R : float
        Bound on the sum of the absolute weights.
    good : float
        Mean square with which a fit ends the attempts.
    rng : numpy.random.Generator
        Draws the starts.

    Returns
    -------
    weights : array of shape (m,)
        Of the fit with the least mean square on the rows; m <= k, and 0 where no fit beats the zero function.
    units : array of shape (m, r)
    """
    r = Z.shape[1]
    best, least = (np.zeros(0), np.zeros((0, r))), float(np.mean(y**2))
    for start in range(_STARTS if r else 0):
        if start and least <= good:  # one fit is made even where the zero function would do
            break
        units = _spread(_WIDTHS[start % len(_WIDTHS)] * n_hidden, r, rng)
        units, weights = _gauss_newton(Z, y, units, _WIDE_ROUNDS)
        units = _reduced(units, weights, n_hidden)
        units, weights = _gauss_newton(Z, y, units, _FINAL_ROUNDS)
        weights, units, value = _within_class(Z, y, units, R)
        if value < least:
            best, least = (weights, units), value
    return best


def _spread(n: int, r: int, rng: np.random.Generator) -> np.ndarray:
    """Give unit vectors spread over the sphere: equispaced in a plane, turned by a random angle; else uniform."""
    if r == 2:
        angle = np.pi * (np.arange(n) + rng.uniform()) / n
        return np.column_stack([np.cos(angle), np.sin(angle)])
    units = rng.standard_normal((n, r))
    return units / np.linalg.norm(units, axis=1, keepdims=True)


def _gauss_newton(
    Z: np.ndarray, y: np.ndarray, units: np.ndarray, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Repeat the least-squares step of the module docstring; returns units and weights."""
    weights = np.zeros(len(units))
    for _ in range(rounds):
        k, r = units.shape
        F = (np.sign(Z @ units.T)[:, :, None] * Z[:, None, :]).reshape(len(Z), k * r)
        gram = F.T @ F + _DAMPING * len(Z) * np.eye(k * r)
        a = np.linalg.solve(gram, F.T @ y).reshape(k, r)
        length = np.linalg.norm(a, axis=1)
        alive = length > 1e-9 * length.max(initial=1e-300)
        a, length, before = a[alive], length[alive], units[alive]
        weights = np.where(np.sum(a * before, axis=1) < 0.0, -length, length)
        units = a / weights[:, None]
    return units, weights


def _reduced(units: np.ndarray, weights: np.ndarray, n_hidden: int) -> np.ndarray:
    """Merge units that nearly coincide, the larger ones first, and keep those of largest weight."""
    kept: list[int] = []
    total: list[float] = []
    for j in np.argsort(-np.abs(weights)):
        cosines = np.abs(np.array([units[i] @ units[j] for i in kept]))
        if len(kept) and cosines.max() > _SAME:
            total[int(np.argmax(cosines))] += float(weights[j])
        else:
            kept.append(int(j))
            total.append(float(weights[j]))
    largest = np.argsort(-np.abs(np.array(total)))[:n_hidden]
    return units[[kept[i] for i in largest]]


def _within_class(
    Z: np.ndarray, y: np.ndarray, units: np.ndarray, R: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Give the units their best weights with sum |lambda_i| <= R; where one of these is 0, leave that unit out."""
    loss = ValidationSum(np.zeros(Z.shape[1]), units).add(Z, y).finalize()
    chosen = np.arange(len(units))
    while len(chosen):
        weights, values = best_weights(loss, chosen[None, :], R)
        if np.isfinite(values[0]):
            return weights[0], units[chosen], float(values[0])
        chosen = np.delete(chosen, np.argmin(np.abs(weights[0])))
    return np.zeros(0), units[:0], loss.residual
