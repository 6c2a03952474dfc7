r"""Would more units help? What a fit leaves, seen by units that it does not have.

A new unit with the sign pattern s_u(x) = sign <h, (x,1)> lowers the mean square where |mean s_u r (x,1)| is more than
noise makes of it. Noise of the residual's own variance gives a vector of q numbers a length of about
sqrt(var / n) sqrt(q), and the largest of M such lengths exceeds it by sqrt(2 log M) at most. Random patterns,
each moved once to where its own vector points, see whatever units are missing; some of them keep the directions of the
fit's own units, as what oscillates along these is seen from nowhere else. Of several outputs a mixture is looked at.

No pattern sees that one unit stands for two at a small angle. What that leaves is on the few rows between the two, all
of them near the hyperplane of the one, where noise has no reason to be.
"""

from __future__ import annotations

import math

import numpy as np

from netlearn.backend import Array, as_like, namespace, to_numpy
from netlearn.fit import Params, Problem
from netlearn.fit.modulated import outer
from netlearn.search.starts import random_mixture, spread_planes
from netlearn.source.blocks import over_blocks

# Patterns that are tried, and rows that are enough for them.
_N_PATTERNS = 48
_N_OWN = 16
_MOST_ROWS = 50_000
# Noise alone gives 0.8 to 1.1, a missing unit 1.3 and more.
NOTHING = 1.15
# Distances of rows from hyperplanes, at most, that are asked whether one unit is fitted to two; the share of rows that
# counts as near; and the share of the squares that must be there, and by how many standard errors more than of noise.
_MOST_DISTANCES = 2**22
_NEAREST = 0.1
_SHARE_THERE, _STANDARD_ERRORS = 0.2, 4.0


def unexplained(problem: Problem, params: Params, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """Return how far the residual rises above noise along new units, and their hyperplanes, the best first.

    Cost: two readings of at most 50,000 rows, 4 n M d operations each.
    """
    rows = problem.rows.head(min(problem.rows.n_rows, _MOST_ROWS))
    shape = problem.shape(1)
    planes = spread_planes(_N_PATTERNS, rows.n_features, rng, biases=problem.biases)
    if params.n_hidden and problem.biases:
        own = rng.integers(params.n_hidden, size=_N_OWN)
        length = np.linalg.norm(params.planes[:, :-1], axis=1, keepdims=True)
        directions = params.planes[:, :-1] / np.maximum(length, np.finfo(float).tiny)
        planes[:_N_OWN, :-1] = directions[own]

    several = problem.n_outputs > 1
    mixture = random_mixture(problem.n_outputs, rng) if several else np.ones(1)

    def term(block):
        X, y = block
        e, h = params.residual(X, y), as_like(planes, X)
        e = e @ as_like(mixture, e) if several else e
        signs = namespace(X).sign(X @ h[:, :-1].T + h[:, -1])
        return to_numpy(outer(signs, as_like(e, X), X)), float(e @ e)

    variance, largest = 0.0, 0.0
    for _ in range(2):
        sums = list(over_blocks(term, rows, _N_PATTERNS))
        g: Array = sum(part[0] for part in sums) / rows.n_rows
        variance = sum(part[1] for part in sums) / rows.n_rows
        if not problem.biases:
            g[:, -1] = 0.0
        length = np.linalg.norm(g, axis=1)
        largest = max(largest, float(length.max()))
        order = np.argsort(-length, kind="stable")
        planes = (g / np.maximum(length, np.finfo(float).tiny)[:, None])[order]
    noise = math.sqrt(variance / rows.n_rows) * (
        math.sqrt(shape.per_unit) + math.sqrt(2 * math.log(_N_PATTERNS)) + 1
    )
    return largest / max(noise, np.finfo(float).tiny), planes


def stands_for_two(problem: Problem, params: Params) -> bool:
    """Whether what a fit leaves is so much larger near the hyperplane of a unit that it must stand for two or more.

    Of noise the nearest tenth of the rows has a tenth of the squares r^2, give or take 0.3 / sqrt(n') for the number
    n' = (sum r^2)^2 / sum r^4 of rows that make up the sum.
    """
    if params.n_hidden == 0:
        return False
    n = min(problem.rows.n_rows, _MOST_ROWS, _MOST_DISTANCES // params.n_hidden)
    some = problem.rows.head(n).in_memory()
    X, e = to_numpy(some.X), to_numpy(params.residual(some.X, some.y))
    squares = np.sum(e.reshape(len(e), -1) ** 2, axis=1)
    total = float(np.sum(squares))
    if total == 0.0:
        return False
    n_near = max(1, int(_NEAREST * len(X)))
    distances = np.abs(X @ params.planes[:, :-1].T + params.planes[:, -1])
    nearest = np.argpartition(distances, n_near - 1, axis=0)[:n_near]
    share = float(np.max(np.sum(squares[nearest], axis=0))) / total
    error = math.sqrt(_NEAREST * (1 - _NEAREST) * float(np.sum(squares**2))) / total
    return share > max(_SHARE_THERE, _NEAREST + _STANDARD_ERRORS * error)
