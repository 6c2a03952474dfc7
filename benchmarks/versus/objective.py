"""What is compared: families of planted networks, the rows every method gets, and the error of what it returns.

A rival owns none of this. It is given rows, the number of units, further rows to choose on, and a watch that tells
it how long it may go on; it gives back a network, a predictor or a basis, and is judged here.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netlearn import ShallowNetwork, teachers
from netlearn.subspace import sine

REACHED = 1e-3
"""Relative error at which a fit counts as a success, and up to which its time is taken."""
N_HELD_OUT = 2_000
N_FRESH = 100_000

Predictor = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Family:
    """A kind of planted network, and how many rows of it are given.

    Attributes
    ----------
    kind : str
        A function of `netlearn.teachers`.
    k, d, n_rows : int
    noise : float
        Standard deviation of the label noise, in units of the labels' own.
    limit : float
        Most seconds for one fit.
    """

    kind: str
    k: int
    d: int
    n_rows: int
    noise: float = 0.0
    limit: float = 60.0

    @property
    def name(self) -> str:
        """Kind, width and dimension, as it stands in tables."""
        return f"{self.kind} {self.k}/{self.d}" + (f" noise {self.noise:g}" if self.noise else "")

    def problem(self, seed: int) -> "Problem":
        """Draw the planted network and its rows."""
        rng_teacher, rng_rows, rng_more = np.random.default_rng(seed).spawn(3)
        truth = getattr(teachers, self.kind)(self.k, self.d, rng_teacher)
        return Problem(self, seed, truth, *_rows(truth, self.n_rows, self.noise, rng_rows), rng_more)


# On the widest hard planes no rival gets anywhere in a minute; a third of that shows the same failure.
FAMILIES = {
    family.name: family
    for family in (
        Family("hard_plane", 2, 6, 10_000),
        Family("random", 3, 20, 10_000),
        Family("random", 5, 50, 20_000),
        Family("random", 8, 200, 20_000),
        Family("random", 10, 30, 825),
        Family("random", 20, 50, 4_200),
        Family("orthonormal", 20, 50, 8_400),
        Family("clustered", 6, 30, 20_000),
        Family("hard_plane", 4, 20, 20_000),
        Family("hard_plane", 4, 50, 20_000),
        Family("hard_plane", 6, 20, 20_000),
        Family("hard_plane", 8, 50, 40_000, limit=20.0),
        Family("hard_plane", 12, 100, 100_000, limit=20.0),
        Family("random", 5, 50, 20_000, noise=0.1),
        Family("hard_plane", 6, 20, 20_000, noise=0.1),
    )
}


@dataclass(frozen=True)
class Problem:
    """One planted network with its rows.

    Attributes
    ----------
    family : Family
    seed : int
    truth : ShallowNetwork
        For judging; no method may look at it.
    X, y : arrays of shape (n, d) and (n,)
        The rows to learn from.
    rng : numpy Generator
        Draws all further rows.
    """

    family: Family
    seed: int
    truth: ShallowNetwork
    X: np.ndarray
    y: np.ndarray
    rng: np.random.Generator

    @property
    def k(self) -> int:
        """Number of units, which every method is told."""
        return self.family.k

    @cached_property
    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows beyond those to learn from, on which a rival chooses among its own fits."""
        return self.draw(N_HELD_OUT)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw fresh rows, with noise as the others have: for choosing, and for Algorithm 1, which asks for rows."""
        return _rows(self.truth, n, self.family.noise, self.rng)

    def rank(self) -> int:
        """Dimension of the span of the planted units, which methods that seek it alone are told."""
        return int(np.linalg.matrix_rank(self.truth.units))

    def error(self, found: ShallowNetwork | Predictor) -> float:
        """Return ||found - truth|| / ||truth|| in L2(gamma): exact for a network, on fresh rows for anything else."""
        if isinstance(found, ShallowNetwork):
            return found.distance(self.truth) / self.truth.norm()
        X = self.rng.standard_normal((N_FRESH, self.family.d))
        return relative_error(found(X), self.truth(X))

    def sine(self, basis: np.ndarray) -> float:
        """Return the sine of the largest angle between a subspace (columns span it) and the span of the units.

        A subspace of the wrong dimension counts as one at a right angle.
        """
        planted = np.linalg.svd(self.truth.units, full_matrices=False)[2][: self.rank()].T
        return sine(np.linalg.qr(basis)[0], planted) if basis.shape[1] == planted.shape[1] else 1.0


def relative_error(found: np.ndarray, true: np.ndarray) -> float:
    """Return the root mean square of the difference, over that of the true values."""
    return float(np.sqrt(np.mean((found - true) ** 2) / np.mean(true**2)))


class Watch:
    """Processor seconds of one fit on one thread, without those spent on judging it.

    On an idle core they are the seconds of the clock on the wall; on a busy one they do not count the neighbours.
    """

    def __init__(self, problem: Problem, limit: float):
        X = problem.held_out[0]
        self._X, self._y = X, problem.truth(X)
        self.limit = limit
        self.reached: float | None = None
        self._begun = time.process_time()

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.process_time() - self._begun

    @property
    def is_over(self) -> bool:
        """Whether the fit should come back with what it has; a little later it is ended from outside."""
        return self.seconds > self.limit

    def look(self, predict: Predictor) -> None:
        """Note the time at which a fit comes within `REACHED` of the truth, on the held-out rows and without noise."""
        seconds = self.seconds
        if self.reached is None and relative_error(predict(self._X), self._y) <= REACHED:
            self.reached = seconds
        self._begun += self.seconds - seconds


def _rows(
    truth: ShallowNetwork, n: int, noise: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, truth.n_features))
    y = truth(X)
    return X, y + noise * np.std(y) * rng.standard_normal(n) if noise else y
