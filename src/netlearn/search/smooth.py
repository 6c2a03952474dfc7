r"""The last step with noisy labels: Gauss-Newton steps, averaged over where they might have started.

With noise the mean square is rough: each row that changes sides of a kink adds a dent, and the dents make local
minima all over the region that statistics cannot resolve, above all where two units are close. Descending into
the nearest one, or even the deepest, fits noise. In theory one Gauss-Newton step from any start within that
region is already efficient (Le Cam's one-step estimator); its dents are averaged out over starts drawn from the
estimate's own law,

    a  <-  mean of  GN(a + c sigma / sqrt(N) H^{-1/2} xi),    xi ~ N(0, I) in pairs xi, -xi,   H = F^T F / N,

which moves each combination of parameters as far as the rows leave it undetermined, and no further. On twin
units with 200 rows per unknown this has a smaller error than least squares started at the truth; with few rows in
three or four dimensions it can be the larger one.

Where dents are deep, an average taken around a fit is still near the dent it was held in, and 12 starts leave much
chance. So averages are taken around averages, until their mean has little of it. With twenty units and as much noise as
signal, where least squares end with some 1.3 times the error of least squares started at the truth, that leaves 1.01 to
1.02 on three seeds that nothing was chosen by, and 1.02 and 1.10 on the two that it was built on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_root
from netlearn.fit import Fit, Params, Problem
from netlearn.fit.solve import conjugate_gradients
from netlearn.search import budget
from netlearn.source.blocks import over_blocks

# Beyond this many unknowns the normal matrix is too dear for a refinement.
_MOST_UNKNOWNS = 1500
# Length of the moves in standard errors, and pairs of them that an average is taken over.
_LENGTH = 2.0
_N_PAIRS = 6
# Averages at most, each around the one before; and the squared length, in units of what statistics leave open, below
# which what is random in their mean need be no smaller.
_MOST_AVERAGES = 8
_RANDOM = 0.0125
# How well the least squares of a start are solved, and products at most.
_TOLERANCE, _PRODUCTS = 1e-3, 12
# Rows that change sides of a unit when it moves by its standard error, for each unknown: fewer make no dents.
_DENTS = 4.0
_RIDGE = 1e-10


def smooth(problem: Problem, found: Fit, rng: np.random.Generator) -> Fit:
    """Return the averaged one-step estimate around `found`, or `found` where that would not be sound.

    Averages are taken only while their mean square stays within what P unknowns fitted to N rows may hide, a share
    P / N above the minimum: beyond that, starts have fallen into different basins.
    Cost: a normal matrix of some rows, and for each of 1 to 8 averages 12 starts with up to 12 products.
    """
    shape, rows = problem.shape(found.params.n_hidden), problem.rows
    P, N = shape.n_unknowns, rows.n_rows
    if P > _MOST_UNKNOWNS or not 2 * P <= N <= budget.ALIKE * P or problem.deadline():
        return found
    law = _Law.at(problem, found)
    if not _has_dents(problem, found, law, rng):
        return found
    # Steps need no more digits than statistics leave; copies of rows in single precision have no weights.
    steps = problem.on(rows.single()) if rows.can_be_single and rows.weight is None else problem
    most = found.loss * (1 + P / N)
    averages: list[np.ndarray] = []
    around, random = found.params, np.inf
    while len(averages) < _MOST_AVERAGES and random > _RANDOM * P * len(averages):
        average = _average_step(steps, around, law, rng)
        if average is None or not problem.equations(average).loss <= most:
            break
        random = min(random, law.squared_length(average.a - around.a))
        averages.append(average.a)
        around = average
    if not averages:
        return found
    # The first one is still on its way from where a dent has held the fit.
    mean = np.mean(averages[1:] or averages, axis=0)
    params = Params(mean[:1], mean[1:], found.params.C)
    loss = problem.equations(params).loss
    return replace(found, params=params, loss=loss) if loss <= most else found


@dataclass(frozen=True)
class _Law:
    """The law of the estimate: normal, with covariance sigma^2 / N H^{-1}."""

    root: np.ndarray  # upper triangular, of H
    free: np.ndarray
    scale: float  # sigma / sqrt(N)

    @classmethod
    def at(cls, problem: Problem, found: Fit) -> _Law:
        """Estimate it from as many rows as tell the matrix."""
        some = budget.enough(problem.rows, problem.shape(found.params.n_hidden), budget.MATRIX)
        equations = problem.on(some).equations(found.params)
        H = to_numpy(equations.normal_matrix())
        root = spd_root(H + _RIDGE * np.trace(H) * np.eye(len(H)))
        return cls(root, equations.free.astype(bool), np.sqrt(found.loss / problem.rows.n_rows))

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a move, one standard error long in each direction."""
        xi = np.zeros(self.free.shape)
        xi[self.free] = solve_triangular(self.root, rng.standard_normal(len(self.root)))
        return self.scale * xi

    def squared_length(self, move: np.ndarray) -> float:
        """Return the squared length of a move in standard errors, summed over directions."""
        return float(np.sum((self.root @ move[self.free]) ** 2)) / self.scale**2


def _has_dents(problem: Problem, found: Fit, law: _Law, rng: np.random.Generator) -> bool:
    """Whether a move by the standard error takes so many rows to the other side of some unit that the loss is rough."""
    away = found.params.moved(law.drawn(rng))

    def changed(block):
        X = block[0]
        return float((found.params.signs(X) * away.signs(X) < 0).sum())

    n_changed = sum(over_blocks(changed, problem.rows, 2 * found.params.n_hidden))
    return n_changed > _DENTS * len(law.root)


def _average_step(problem: Problem, params: Params, law: _Law, rng: np.random.Generator) -> Params | None:
    total = np.zeros(law.free.shape)
    for _ in range(_N_PAIRS):
        xi = _LENGTH * law.drawn(rng)
        for start in (params.moved(xi), params.moved(-xi)):
            if problem.deadline():
                return None
            equations = problem.equations(start)
            step, _ = conjugate_gradients(
                equations,
                _RIDGE,
                tolerance=_TOLERANCE,
                max_products=_PRODUCTS,
                single=equations.can_be_single,
            )
            total += start.a + step
    average = total / (2 * _N_PAIRS)
    return Params(average[:1], average[1:], params.C)
