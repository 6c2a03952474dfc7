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

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_root
from netlearn.polish.gauss_newton import Deadline, Polished, never
from netlearn.polish.iterate import Iterate, free_entries
from netlearn.polish.system import ModulatedSystem
from netlearn.source import Source

# Beyond this many unknowns the normal matrices are too dear for a refinement.
_MOST_UNKNOWNS = 600
_LENGTH, _N_PAIRS, _N_REPEATS = 2.0, 6, 4
_RIDGE = 1e-10
# Rows per unknown beyond which starts are so close that one normal matrix serves all.
_ALIKE = 1000


def smooth(
    rows: Source, found: Polished, rng: np.random.Generator, *, biases: bool, deadline: Deadline = never
) -> Polished:
    """Return the averaged one-step estimate around `found`, or `found` where that would not be sound.

    An average is taken over only while its mean square stays within what P unknowns fitted to N rows may
    hide, a share P / N above the minimum: beyond that, starts have fallen into different basins.
    Cost: 12 normal matrices for each of at most 4 repeats; with very many rows, where the matrix is the same all over
    the region, one for each.
    """
    free = free_entries(found.iterate.n_hidden, rows.n_features, biases)
    P, N = int(free.sum()), rows.n_rows
    if P > _MOST_UNKNOWNS or 2 * P > N:
        return found
    best = found
    for _ in range(_N_REPEATS):
        average = _average_step(rows, best.iterate, free, found.loss, rng, deadline)
        if average is None:
            break
        loss = ModulatedSystem(rows, average.linearise, free).loss
        if not loss <= found.loss * (1 + P / N):
            break
        best = Polished(average, loss, found.trace, found.n_products)
    return best


def _average_step(rows, iterate, free, loss, rng, deadline) -> Iterate | None:
    mask = free.astype(bool)
    root, _ = _normal_root(rows, iterate, free)
    alike = rows.n_rows > _ALIKE * len(root)
    total = np.zeros(free.shape)
    for _ in range(_N_PAIRS):
        xi = np.zeros(free.shape)
        xi[mask] = solve_triangular(root, rng.standard_normal(len(root)))
        xi *= _LENGTH * np.sqrt(loss / rows.n_rows)
        for start in (iterate.moved(xi), iterate.moved(-xi)):
            if deadline():
                return None
            if alike:
                root_there = root
                gradient = to_numpy(ModulatedSystem(rows, start.linearise, free).gradient)
            else:
                root_there, gradient = _normal_root(rows, start, free)
            step = np.zeros(free.shape)
            step[mask] = cho_solve((root_there, False), gradient[mask])
            total += start.a + step
    return Iterate(total / (2 * _N_PAIRS), iterate.sigma)


def _normal_root(rows, iterate, free) -> tuple[np.ndarray, np.ndarray]:
    """Return an upper triangular root of H and the gradient."""
    system = ModulatedSystem(rows, iterate.linearise, free)
    H = to_numpy(system.normal_matrix())
    return spd_root(H + _RIDGE * np.trace(H) * np.eye(len(H))), to_numpy(system.gradient)
