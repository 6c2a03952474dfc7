r"""Units that do the same as another: pairs become one, in closed form.

Where both have the same sign two units add C_i a^T + C_j b^T to the linear map, with one orientation of both
hyperplanes. The nearest matrix of rank one is one unit. What it leaves are the second singular value sigma and, with t
the angle between the hyperplanes, the share t / pi of the rows on which the signs differ, where |<a, (x,1)>| < t |a|:
about

    sigma^2 + |a|^2 t^3

of the mean square, for the shorter vector a. A unit that adds next to nothing goes to whichever is nearest.
"""

from __future__ import annotations

import numpy as np

from netlearn.fit.params import Params, dots, unit_rows


def merged(params: Params, level: float) -> Params:
    """Return the network with pairs of units as one, as long as none changes the mean square by `level` or more.

    Cost: (d + m) K^2 operations for each time that pairs of K units are formed, a few times in all.
    """
    while params.n_hidden > 1:
        first, second, costs = _nearest(params)
        pairs: list[tuple[int, int]] = []
        taken: set[int] = set()
        for n in np.argsort(costs, kind="stable"):
            pair = int(first[n]), int(second[n])
            if costs[n] < level and taken.isdisjoint(pair):
                pairs.append(pair)
                taken.update(pair)
        if not pairs:
            break
        params = _with_sums(params, *np.array(pairs).T)
    return params


def _nearest(params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each unit, the one whose hyperplane is nearest to its own, and what it costs to make them one."""
    u, length = unit_rows(params.planes), np.linalg.norm(params.planes, axis=1)
    cosines = np.abs(u @ u.T)
    np.fill_diagonal(cosines, -1.0)
    i, j = np.arange(len(u)), np.argmax(cosines, axis=1)
    t = np.linalg.norm(u - _oriented(u[j], u), axis=1)
    sigma = np.linalg.svd(_sums(params, i, j)[0], compute_uv=False)[:, 1:].sum(axis=1)
    return i, j, sigma**2 + np.minimum(length, length[j]) ** 2 * t**3


def _oriented(planes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the planes, each turned to the side of another one."""
    return planes * np.where(dots(planes, others) < 0, -1.0, 1.0)


def _sums(params: Params, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return C_i a^T + C_j b^T, shape (n, m, 2), in coordinates along a and what b has across, and these directions."""
    a = params.planes[i]
    b = _oriented(params.planes[j], a)
    along = unit_rows(a)
    across = b - dots(along, b) * along
    in_a = np.hstack([np.linalg.norm(a, axis=1, keepdims=True), np.zeros((len(i), 1))])
    in_b = np.hstack([dots(along, b), np.linalg.norm(across, axis=1, keepdims=True)])
    matrices = params.C[i][:, :, None] * in_a[:, None, :] + params.C[j][:, :, None] * in_b[:, None, :]
    return matrices, along, unit_rows(across)


def _with_sums(params: Params, i: np.ndarray, j: np.ndarray) -> Params:
    """Return the network with units i and j as one each, the last ones."""
    matrices, along, across = _sums(params, i, j)
    left, size, right = np.linalg.svd(matrices, full_matrices=False)
    # Both singular vectors may have changed their signs, and |<q, x>| has not.
    sign = np.where(right[:, 0, :1] < 0, -1.0, 1.0)
    planes = sign * size[:, :1] * (right[:, 0, :1] * along + right[:, 0, 1:] * across)
    others = params.keep(np.setdiff1d(np.arange(params.n_hidden), np.concatenate([i, j])))
    return others.joined(Params(np.zeros_like(params.affine), planes, sign * left[:, :, 0]))
