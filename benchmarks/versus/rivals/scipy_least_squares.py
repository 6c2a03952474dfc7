"""`scipy.optimize.least_squares` on all weights at once, with the exact Jacobian, best of ten starts.

A step decomposes the Jacobian, n rows by P unknowns; where n P^2 is beyond what a few seconds allow for one step, the
problem is recorded as too large.
"""

import numpy as np
from scipy.optimize import least_squares

from benchmarks.versus.methods import Found, TooLargeError
from benchmarks.versus.objective import Problem, Watch, relative_error
from benchmarks.versus.rivals.network import network
from netlearn import ShallowNetwork

STARTS = 10
MOST_STEPS = 100
LARGEST = 5e9
EXACT = 1e-14
"""Mean square, in units of the labels' variance, below which no other start is needed."""


class _OverError(Exception):
    """Time is over, in the middle of a start."""


class Model:
    """sum_i a_i relu(<u_i, x>) + <w, x> + c with all of (U, a, w, c) in one vector, labels scaled to variance one."""

    def __init__(self, problem: Problem, watch: Watch):
        self.X, self.k = problem.X, problem.k
        self.scale = float(np.std(problem.y))
        self.y = problem.y / self.scale
        self.watch = watch
        self.best, self.smallest = None, np.inf

    def parts(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Divide the vector into U, a, w and c."""
        k, d = self.k, self.X.shape[1]
        return p[: k * d].reshape(k, d), p[k * d : k * d + k], p[k * d + k : -1], p[-1]

    def residual(self, p: np.ndarray) -> np.ndarray:
        """Return the residual at all rows, and remember the best vector seen."""
        U, a, w, c = self.parts(p)
        r = np.maximum(self.X @ U.T, 0.0) @ a + self.X @ w + c - self.y
        if r @ r < self.smallest:
            self.best, self.smallest = p.copy(), r @ r
        if self.watch.is_over:
            raise _OverError
        return r

    def jacobian(self, p: np.ndarray) -> np.ndarray:
        """Return its derivative by each unknown."""
        U, a, _, _ = self.parts(p)
        z = self.X @ U.T
        by_units = ((z > 0) * a)[:, :, None] * self.X[:, None, :]
        columns = (by_units.reshape(len(z), -1), np.maximum(z, 0.0), self.X, np.ones((len(z), 1)))
        return np.concatenate(columns, axis=1)

    def network(self, p: np.ndarray) -> ShallowNetwork:
        """Return the network in the units of the labels."""
        U, a, w, c = self.parts(p)
        return self.scale * network(U, a, w, float(c))

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Draw unit directions with weights of variance 1 / k, and no affine part."""
        U = rng.standard_normal((self.k, self.X.shape[1]))
        U /= np.linalg.norm(U, axis=1, keepdims=True)
        a = rng.standard_normal(self.k) / np.sqrt(self.k)
        return np.concatenate([U.ravel(), a, np.zeros(self.X.shape[1] + 1)])


def fit(problem: Problem, watch: Watch) -> Found:
    """Return the start that is best on held-out rows; one that fits the rows exactly ends the search."""
    n, d = problem.X.shape
    unknowns = problem.k * (d + 1) + d + 1
    if n * unknowns**2 > LARGEST:
        raise TooLargeError(f"a Jacobian of {n:,} rows and {unknowns:,} columns")
    X_held, y_held = problem.held_out
    rng = np.random.default_rng(problem.seed)
    found, smallest = None, np.inf
    for _ in range(STARTS):
        model = Model(problem, watch)
        try:
            least_squares(
                model.residual, model.start(rng), model.jacobian, max_nfev=MOST_STEPS, xtol=None, gtol=None
            )
        except _OverError:
            pass
        candidate = model.network(model.best)
        watch.look(candidate)
        error = relative_error(candidate(X_held), y_held)
        if found is None or error < smallest:
            found, smallest = candidate, error
        if model.smallest < EXACT * n or watch.is_over:
            break
    return Found(found)
