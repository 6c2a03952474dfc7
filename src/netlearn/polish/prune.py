"""Merging units that coincide and dropping units that do nothing."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from netlearn.polish.iterate import Iterate


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
