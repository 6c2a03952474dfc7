r"""The last step with noisy labels: one Gauss-Newton step, averaged over where it might have started.

With noise the mean square is rough: each row that changes sides of a kink adds a dent, and the dents make local
minima all over the region that statistics cannot resolve, above all where two units are close. Descending into
the nearest one, or even the deepest, fits noise. In theory one Gauss-Newton step from any start within that
region is already efficient (Le Cam's one-step estimator); its dents are averaged out over starts drawn from the
estimate's own law,

    a  <-  mean of  GN(a + c sigma / sqrt(N) H^{-1/2} xi),    xi ~ N(0, I) in pairs xi, -xi,   H = F^T F / N,

which moves each combination of parameters as far as the rows leave it undetermined, and no further. On twin
units with 200 rows per unknown this has a smaller error than least squares started at the truth; with few rows in
three or four dimensions it can be the larger one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_root
from netlearn.fit import Fit, Params, Problem
from netlearn.search import budget
from netlearn.source.arrays import over_blocks

# Beyond this many unknowns the normal matrices are too dear for a refinement.
_MOST_UNKNOWNS = 600
# Length of the moves in standard errors, and pairs of them that are averaged over.
_LENGTH = 2.0
_N_PAIRS = 6
# Rows that change sides of a unit when it moves by its standard error, for each unknown: fewer make no dents.
_DENTS = 4.0
_RIDGE = 1e-10


def smooth(problem: Problem, found: Fit, rng: np.random.Generator) -> Fit:
    """Return the averaged one-step estimate around `found`, or `found` where that would not be sound.

    The average is taken only where its mean square stays within what P unknowns fitted to N rows may hide, a share
    P / N above the minimum: beyond that, starts have fallen into different basins.
    Cost: 12 normal matrices.
    """
    P, N = problem.shape(found.params.n_hidden).n_unknowns, problem.rows.n_rows
    if P > _MOST_UNKNOWNS or not 2 * P <= N <= budget.ALIKE * P:
        return found
    if not _has_dents(problem, found, rng):
        return found
    average = _average_step(problem, found.params, found.loss, rng)
    if average is None:
        return found
    loss = problem.equations(average).loss
    return replace(found, params=average, loss=loss) if loss <= found.loss * (1 + P / N) else found


def _has_dents(problem: Problem, found: Fit, rng: np.random.Generator) -> bool:
    """Whether a move by the standard error takes so many rows to the other side of some unit that the loss is rough."""
    root, _ = _normal_root(problem, found.params)
    away = found.params.moved(_random_move(problem, found.params, root, found.loss, rng))

    def changed(block):
        X = block[0]
        return float((found.params.signs(X) * away.signs(X) < 0).sum())

    n_changed = sum(over_blocks(changed, problem.rows, 2 * found.params.n_hidden))
    return n_changed > _DENTS * len(root)


def _random_move(problem, params, root, loss, rng) -> np.ndarray:
    """Draw a move from the estimate's own law, one standard error long in each direction."""
    mask = params.shape(problem.biases).free().astype(bool)
    xi = np.zeros(mask.shape)
    xi[mask] = solve_triangular(root, rng.standard_normal(len(root)))
    return np.sqrt(loss / problem.rows.n_rows) * xi


def _average_step(problem: Problem, params: Params, loss: float, rng: np.random.Generator) -> Params | None:
    mask = params.shape(problem.biases).free().astype(bool)
    root, _ = _normal_root(problem, params)
    total = np.zeros(mask.shape)
    for _ in range(_N_PAIRS):
        xi = _LENGTH * _random_move(problem, params, root, loss, rng)
        for start in (params.moved(xi), params.moved(-xi)):
            if problem.deadline():
                return None
            root_there, gradient = _normal_root(problem, start)
            step = np.zeros(mask.shape)
            step[mask] = cho_solve((root_there, False), gradient[mask])
            total += start.a + step
    average = total / (2 * _N_PAIRS)
    return Params(average[:1], average[1:], params.C)


def _normal_root(problem: Problem, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return an upper triangular root of H and the gradient."""
    equations = problem.equations(params)
    H = to_numpy(equations.normal_matrix())
    return spd_root(H + _RIDGE * np.trace(H) * np.eye(len(H))), to_numpy(equations.gradient)
