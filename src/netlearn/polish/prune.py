"""Merging units that coincide and dropping units that do nothing."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.polish.iterate import Iterate, free_entries
from netlearn.polish.system import ModulatedSystem
from netlearn.source import Source

# Ridge of the normal matrix where surplus units make it singular, relative to its trace.
_RIDGE = 1e-9
_ROWS_PER_UNKNOWN = 20


def kink_strengths(iterate: Iterate) -> np.ndarray:
    r"""Return what each unit adds that no affine function could, as a root mean square under N(0, I).

    For |z + b| with z ~ N(0,1): E|z+b|^2 = 1 + b^2, E|z+b| = 2 phi(b) + b s and E z|z+b| = s with
    s = 2 Phi(b) - 1; the part outside the affine functions has variance 1 + b^2 - (2 phi + b s)^2 - s^2.
    """
    length = np.linalg.norm(iterate.a[1:, :-1], axis=1)
    b = iterate.a[1:, -1] / np.maximum(length, np.finfo(float).tiny)
    b = np.clip(b, -1e3, 1e3)
    phi = np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    s = 2 * ndtr(b) - 1
    return length * np.sqrt(np.maximum(1 + b**2 - (2 * phi + b * s) ** 2 - s**2, 0.0))


def merge(iterate: Iterate, angle: float, *, at_least: int = 0) -> Iterate:
    r"""Merge units whose hyperplanes make less than `angle` with each other, into the strongest of them.

    Two units with the same pattern up to a sign epsilon add up: s_i <a_i, .> + s_j <a_j, .> =
    s_i <a_i + epsilon a_j, .>. Stops when `at_least` units are left.
    """
    a, sigma = iterate.a[1:], iterate.sigma
    order = np.argsort(-kink_strengths(iterate), kind="stable")
    planes = sigma[:, None] * a
    planes = planes / np.maximum(np.linalg.norm(planes, axis=1, keepdims=True), np.finfo(float).tiny)
    kept: list[int] = []
    n_merged = 0
    merged: dict[int, np.ndarray] = {}
    for j in order:
        if kept:
            cosines = planes[kept] @ planes[j]
            nearest = int(np.argmax(np.abs(cosines)))
            i, epsilon = kept[nearest], np.sign(cosines[nearest])
            # |u - epsilon v| is the angle for small ones, without the cancellation of 1 - cos.
            surplus = len(order) - at_least > n_merged
            if surplus and np.linalg.norm(planes[i] - epsilon * planes[j]) < angle:
                n_merged += 1
                merged[i] = merged[i] + epsilon * a[j]
                continue
        kept.append(int(j))
        merged[int(j)] = a[j]
    a_new = np.array([merged[i] for i in kept]).reshape(len(kept), a.shape[1])
    turned = np.einsum("ij,ij->i", a_new, planes[kept]) < 0
    return Iterate(np.vstack([iterate.a[:1], a_new]), np.where(turned, -1.0, 1.0))


def drop_weakest(iterate: Iterate, n_hidden: int) -> Iterate:
    """Return the iterate with its `n_hidden` strongest units."""
    order = np.argsort(-kink_strengths(iterate), kind="stable")
    return iterate.keep(np.sort(order[:n_hidden]))


def drop_least_missed(rows: Source, iterate: Iterate, *, biases: bool) -> Iterate:
    r"""Return the iterate without the unit that the others can replace best, moved so that they do.

    With the activation pattern fixed the mean square is quadratic in a. Forcing a_j to zero and letting all other
    vectors make up for it raises it by <a_j, ([H^{-1}]_jj)^{-1} a_j>, H = F^T F / N: small for a weak unit, and for
    a strong one that has close neighbours. They make up for it within the span of the units, which is where
    a Gaussian's correlations between units are.
    Cost: n^2 (20 n + n) operations for n = (K + 1)(r + 1) unknowns, r = min(K, d).

    Parameters
    ----------
    rows : Source
    iterate : Iterate
        With at least one unit, at a minimum of the mean square over the rows.
    biases : bool
        Whether units may have biases.
    """
    d = rows.n_features
    free = free_entries(iterate.n_hidden, d, biases)
    span = iterate.span() if iterate.n_hidden < d else np.eye(d)
    inside = free_entries(iterate.n_hidden, span.shape[1], biases).astype(bool)
    system = ModulatedSystem(rows.head(_ROWS_PER_UNKNOWN * inside.size), iterate.linearise, free)
    H = to_numpy(system.normal_matrix(span))
    inverse = spd_solver(H + _RIDGE * np.trace(H) * np.eye(len(H)))(np.eye(len(H)))
    entries = np.full(inside.shape, -1)
    entries[inside] = np.arange(len(H))
    a = np.hstack([iterate.a[:, :-1] @ span, iterate.a[:, -1:]])

    def pull(unit):
        """Where this unit's entries are, its vector, and the force that holds it at zero."""
        own = entries[unit][inside[unit]]
        vector = a[unit][inside[unit]]
        return own, vector, spd_solver(inverse[np.ix_(own, own)])(vector[:, None])[:, 0]

    costs = [vector @ force for _, vector, force in map(pull, range(1, len(a)))]
    least = 1 + int(np.argmin(costs))
    own, _, force = pull(least)
    step = np.zeros(inside.shape)
    step[inside] = -inverse[:, own] @ force
    step[least] = 0.0
    moved = iterate.moved(np.hstack([step[:, :-1] @ span.T, step[:, -1:]]))
    return moved.keep(np.delete(np.arange(iterate.n_hidden), least - 1))
