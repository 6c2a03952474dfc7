r"""Variable projection: L-BFGS over the units, the best outer weights for them inside, best of ten starts.

With Z the columns [relu(X U^T), X, 1] the outer weights c solve least squares, and by the envelope theorem the
gradient of min_c |y - Z c|^2 / 2 with respect to unit u_j is -c_j X^T (r * [X u_j > 0]), r the residual. The affine
columns do not change: their part is projected out of labels and ReLUs once and for all by a QR factor.
"""

import numpy as np
from scipy.optimize import minimize

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch, relative_error
from benchmarks.versus.rivals.network import network
from netlearn import ShallowNetwork

STARTS = 10
EXACT = 1e-14
"""Mean square, in units of the labels' variance, below which no other start is needed."""
STALL_ITERATIONS, STALL = 50, 0.99
"""A start ends when this many iterations leave this share of the mean square."""


class Projected:
    """The least-squares problem that is left for the units."""

    def __init__(self, X: np.ndarray, y: np.ndarray):
        self.X, self.scale = X, float(np.std(y))
        self.y = y / self.scale
        self.affine = np.column_stack([X, np.ones(len(X))])
        self.Q, self.R = np.linalg.qr(self.affine)
        self.y_rest = self._rest(self.y)

    def _rest(self, columns: np.ndarray) -> np.ndarray:
        return columns - self.Q @ (self.Q.T @ columns)

    def solve(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which rows each unit is active on, the outer weights and the residual."""
        z = self.X @ U.T
        relus = self._rest(np.maximum(z, 0.0))
        gram = relus.T @ relus
        gram[np.diag_indices_from(gram)] += 1e-13 * np.trace(gram) / len(gram)
        weights = np.linalg.solve(gram, relus.T @ self.y_rest)
        return z > 0, weights, self.y_rest - relus @ weights

    def value(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Return half the mean square and its gradient."""
        U = flat.reshape(-1, self.X.shape[1])
        active, weights, r = self.solve(U)
        gradient = -weights[:, None] * ((active * r[:, None]).T @ self.X)
        return r @ r / (2 * len(r)), gradient.ravel() / len(r)

    def network(self, U: np.ndarray) -> ShallowNetwork:
        """Return the network with these units, in the units of the labels."""
        weights = self.solve(U)[1]
        affine = np.linalg.solve(self.R, self.Q.T @ (self.y - np.maximum(self.X @ U.T, 0.0) @ weights))
        return self.scale * network(U, weights, affine[:-1], float(affine[-1]))


def fit(problem: Problem, watch: Watch) -> Found:
    """Return the start that is best on held-out rows; one that fits the rows exactly ends the search."""
    projected = Projected(problem.X, problem.y)
    X_held, y_held = problem.held_out
    rng = np.random.default_rng(problem.seed)
    best, smallest = None, np.inf
    for _ in range(STARTS):
        start = rng.standard_normal((problem.k, problem.X.shape[1]))
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        U, mean_square = _descend(projected, start, watch)
        found = projected.network(U)
        error = relative_error(found(X_held), y_held)
        if best is None or error < smallest:
            best, smallest = found, error
        if mean_square < EXACT or watch.is_over:
            break
    return Found(best)


def _descend(projected: Projected, start: np.ndarray, watch: Watch) -> tuple[np.ndarray, float]:
    seen = []

    def after_iteration(intermediate_result) -> None:
        seen.append(intermediate_result.fun)
        if len(seen) % 10 == 0:
            watch.look(projected.network(intermediate_result.x.reshape(start.shape)))
        if watch.is_over or 2 * seen[-1] < EXACT / 100:
            raise StopIteration
        if len(seen) > STALL_ITERATIONS and seen[-1] > STALL * seen[-1 - STALL_ITERATIONS]:
            raise StopIteration

    options = {"maxcor": 30, "ftol": 0.0, "gtol": 1e-12, "maxiter": 1_000, "maxfun": 5_000}
    end = minimize(
        projected.value, start.ravel(), jac=True, method="L-BFGS-B", callback=after_iteration, options=options
    )
    watch.look(projected.network(end.x.reshape(start.shape)))
    return end.x.reshape(start.shape), 2 * end.fun
