r"""Few rows: least squares with a ridge on the units' vectors, its weight chosen by cross-validation.

With fewer than some ten rows per unknown and labels that no small network explains, least squares fits noise. Here
the minimum of

    mean over rows of (y - f(x))^2  +  beta |w|^2  +  alpha sum_i |a_i|^2

is followed along a path of alphas: falling ones, from units so small that only their hyperplanes matter; and rising
ones, from the network that was found without a ridge. beta is the best one of the fit without units. With the
activation pattern fixed each is a linear problem, small enough to be solved directly; five folds of the rows decide.

The network that was found knows the rows that a fold leaves out: its kinks lie where these rows have them best, and
refitting it would hardly move them. So in each fold it is first moved at random, as far as the rows leave it
undetermined: a network that is right comes back, one that fits noise does not.

The penalty is on columns scaled one by one, not on whitened ones: whitening stretches the directions in which few rows
hardly vary, and would let a ridge trust these as much as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.linalg import solve_triangular

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_root, spd_solver
from netlearn.fit import Fit, Params, Problem
from netlearn.inputs.whitening import ColumnWhitening, Whitening
from netlearn.search import budget
from netlearn.search.judge import paired_gain
from netlearn.search.starts import spread_planes

# Width that is tried where none is asked for.
_AUTO_WIDTH = 8
# Operations of one round up to which all this takes seconds.
_MOST_OPERATIONS = 2**27
# Columns up to which a matrix of them all is nothing to speak of.
_MOST_FEATURES = 4000
# Folds; and divisions into folds that choose the ridge of a linear fit, which one division alone can mislead.
_N_FOLDS = 5
_N_DIVISIONS = 4
_BETAS = np.geomspace(1e3, 1e-4, 22)
_FALLING = np.geomspace(1.0, 1e-5, 8)
_RISING = np.geomspace(1e-5, 1e-1, 5)
# Rounds at each alpha: over-relaxed ones, which leave poor minima, then descending ones.
_LEAPS, _MOST_ROUNDS, _LEAST_GAIN = 4, 20, 1e-3
_RELAXATION = 1.5
# How far the network that was found is moved, in standard errors; and a ridge that stands for none.
_SHAKE, _SMALL = 2.0, 1e-7
# Share by which units, and then a ridge on them, must lower the error of the folds; and by how many standard errors.
# The best of a dozen ridges is compared: by chance one of these is two ahead more often than once in forty tables.
_WORTHWHILE = 0.05
_STANDARD_ERRORS = 2.5

Ridge = tuple[float, float]  # alpha, beta


def regularised(
    problem: Problem,
    found: Fit,
    n_hidden: int | Literal["auto"],
    rng: np.random.Generator,
    *,
    whitening: Whitening = None,
) -> Fit | None:
    """Return a fit with a ridge, where rows are few and it does better in the folds than `found`; else None.

    Cost: some six hundred rounds, each of N P min(N, P) operations for P unknowns.

    Parameters
    ----------
    problem : Problem
        All rows that may be learned from; weights count.
    found : Fit
        The best network without a ridge.
    n_hidden : int or "auto"
        The width that was asked for.
    rng : numpy.random.Generator
    whitening : array of shape (p, d), ColumnWhitening or None
        The matrix that whitened the user's centred columns; the identity when left out.
    """
    rows, biases = problem.rows, problem.biases
    width = _AUTO_WIDTH if n_hidden == "auto" else n_hidden
    shape = problem.shape(width)
    N, P = rows.n_rows, shape.n_unknowns
    too_dear = rows.n_features > _MOST_FEATURES or N * P * min(N, P) > _MOST_OPERATIONS
    # Columns are scaled one by one only where they are more than that.
    if budget.has(rows, shape, budget.AMPLE) or too_dear or isinstance(whitening, ColumnWhitening):
        return None
    to_columns = _to_columns(rows.n_features, whitening)
    held = rows.in_memory()
    weight = np.ones(N) if rows.weight is None else rows.weight
    everything = _Rows(to_numpy(held.X) @ to_columns, to_numpy(held.y), weight, biases)
    folds, *others = (_folds(N, rng) for _ in range(_N_DIVISIONS))
    d = everything.X.shape[1]

    linear = Params.affine_only(np.zeros((1, d + 1)))
    betas = _Path(linear, [(1.0, beta) for beta in _BETAS])
    ridge = betas.ridges[betas.best(everything, sum(others, folds), rng)[0]]
    affine, beta = _Path(linear, [ridge]), ridge[1]
    start = found.params.in_coordinates(np.linalg.pinv(to_columns))
    as_found = _Path(start, [(_SMALL, _SMALL)], shake=_SHAKE)
    softened = _Path(start, [(alpha, alpha * beta) for alpha in _RISING], shake=_SHAKE)
    planes = Params.from_planes(spread_planes(width, d, rng, biases=biases))
    anew = _Path(planes, [(alpha, beta) for alpha in _FALLING], leaps=_LEAPS)
    path, (index, squares) = affine, affine.best(everything, folds, rng)
    # A network with as many unknowns as rows meets these whatever they are, and no fold could tell.
    is_known = found.params.n_hidden and budget.has(
        rows, problem.shape(found.params.n_hidden), budget.DETERMINED
    )
    for other in (as_found, softened, anew) if is_known else (anew,):
        if problem.deadline():
            return None
        chosen, errors = other.best(everything, folds, rng)
        if not _clearly_less(errors, squares, weight):
            continue
        # One of a dozen ridges may be ahead by the luck of the folds: it must be so in others as well.
        mine, its = (
            each.only(each_index).squares(everything, others[0], rng)[-1]
            for each, each_index in ((other, chosen), (path, index))
        )
        if _clearly_less(mine, its, weight):
            path, index, squares = other, chosen, errors
    if path is as_found:
        return None
    fit = list(path.followed(everything, path.start, index + 1))[-1]
    freedom = everything.freedom(fit, path.ridges[index])
    return replace(found, params=fit.in_coordinates(to_columns), loss=everything.loss(fit), freedom=freedom)


def _to_columns(n_features: int, whitening: np.ndarray | None) -> np.ndarray:
    """Return the matrix that takes whitened rows to the user's centred columns, each with unit variance."""
    if whitening is None:
        return np.eye(n_features)
    # Columns in very different units are brought to one scale first, for the sake of the digits.
    length = np.linalg.norm(whitening, axis=1)
    back = np.linalg.pinv(whitening / np.where(length > 0, length, 1.0)[:, None])
    spread = np.linalg.norm(back, axis=0)  # whitened rows have covariance I
    return np.where(length > 0, back / np.where(spread > 0, spread, 1.0), 0.0)


@dataclass(frozen=True)
class _Path:
    """Minima for one ridge after the other, each found from the one before, the first from `start`, moved or not."""

    start: Params
    ridges: Sequence[Ridge]
    leaps: int = 0
    shake: float = 0.0

    def only(self, index: int) -> _Path:
        """Return the path up to one of its ridges."""
        return replace(self, ridges=self.ridges[: index + 1])

    def followed(self, rows: _Rows, current: Params, n_ridges: int | None = None) -> Iterator[Params]:
        """Yield the minimum for each ridge, the first one found from `current`."""
        for ridge in self.ridges[:n_ridges]:
            current = rows.descended(current, ridge, self.leaps)
            yield current

    def squares(self, rows: _Rows, folds: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """Return the squared error of each row in fits without its fold, for each ridge; shape (n_ridges, n)."""
        squares = np.zeros((len(self.ridges), len(rows.y)))
        for left_out in folds:
            train, test = rows.without(left_out), rows.only(left_out)
            start = train.shaken(self.start, self.shake, rng) if self.shake else self.start
            for i, fit in enumerate(self.followed(train, start)):
                squares[i, left_out] += test.squares(fit)
        return squares * len(rows.y) / sum(map(len, folds))

    def best(
        self, rows: _Rows, folds: Sequence[np.ndarray], rng: np.random.Generator
    ) -> tuple[int, np.ndarray]:
        """Return which of the ridges does best on rows that were left out, and its squared errors on them."""
        squares = self.squares(rows, folds, rng)
        index = int(np.argmin(np.average(squares, axis=1, weights=rows.weight)))
        return index, squares[index]


def _folds(n_rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the rows of each fold."""
    return np.array_split(rng.permutation(n_rows), min(_N_FOLDS, n_rows))


def _clearly_less(squares: np.ndarray, others: np.ndarray, weight: np.ndarray) -> bool:
    """Whether the mean of some squared errors is lower by a share that matters, and not by chance.

    Of several fits that do equally well one does best by chance, and it is not the simplest.
    """
    gain, error = paired_gain(squares, others, weight)
    return gain > max(_WORTHWHILE * np.average(others, weights=weight), _STANDARD_ERRORS * error)


@dataclass(frozen=True)
class _Rows:
    """Rows with weights, and the penalised least squares on them."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    biases: bool

    def only(self, rows: np.ndarray) -> _Rows:
        return _Rows(self.X[rows], self.y[rows], self.weight[rows], self.biases)

    def without(self, rows: np.ndarray) -> _Rows:
        return self.only(np.setdiff1d(np.arange(len(self.y)), rows))

    def squares(self, params: Params) -> np.ndarray:
        return params.residual(self.X, self.y) ** 2

    def loss(self, params: Params) -> float:
        return float(np.average(self.squares(params), weights=self.weight))

    def _objective(self, params: Params, ridge: Ridge) -> float:
        alpha, beta = ridge
        lengths = beta * np.sum(params.affine[0, :-1] ** 2) + alpha * np.sum(params.planes**2)
        return self.loss(params) + float(lengths)

    def _scaled(self, params: Params, ridge: Ridge):
        """Return the columns of the fixed pattern, so scaled that the ridge is one, and what scales the solution back.

        Rows carry the root of their share of the weight; means are taken off, which is what a free intercept does.
        """
        m = params.linearise(self.X)[1]
        free = params.shape(self.biases).free().astype(bool)
        free[0, -1] = False
        scale = np.full(free.shape, ridge[0] ** -0.5)
        scale[0] = ridge[1] ** -0.5
        F = m[:, :, None] * np.hstack([self.X, np.ones((len(m), 1))])[:, None, :]
        F = F[:, free] * scale[free]
        mean = np.average(F, axis=0, weights=self.weight)
        return self._roots[:, None] * (F - mean), mean, scale, free

    @property
    def _roots(self) -> np.ndarray:
        return np.sqrt(self.weight / self.weight.sum())

    def solved(self, params: Params, ridge: Ridge) -> Params:
        """Return the minimum over all a that keep the pattern of a network."""
        F, mean, scale, free = self._scaled(params, ridge)
        centre = float(np.average(self.y, weights=self.weight))
        e = self._roots * (self.y - centre)
        if len(F) < F.shape[1]:
            D = F.T @ spd_solver(F @ F.T + np.eye(len(F)))(e)
        else:
            D = spd_solver(F.T @ F + np.eye(F.shape[1]))(F.T @ e)
        a = np.zeros(free.shape)
        a[free] = D * scale[free]
        a[0, -1] = centre - mean @ D
        return Params(a[:1], a[1:], params.C)

    def freedom(self, params: Params, ridge: Ridge) -> float:
        """Return the trace of the map from labels to fitted values, for the pattern of a network."""
        F = self._scaled(params, ridge)[0]
        values = np.maximum(np.linalg.eigvalsh(F @ F.T if len(F) < F.shape[1] else F.T @ F), 0.0)
        return 1.0 + float(np.sum(values / (1.0 + values)))  # the intercept is the one

    def shaken(self, params: Params, length: float, rng: np.random.Generator) -> Params:
        """Return the network moved by `length` standard errors of its least squares, in a random direction of each."""
        F, _, scale, free = self._scaled(params, (_SMALL, _SMALL))
        left = max(1.0 - F.shape[1] / len(F), 1.0 / len(F))
        root = spd_root(F.T @ F + np.eye(F.shape[1]))
        step = np.zeros(free.shape)
        step[free] = scale[free] * solve_triangular(root, rng.standard_normal(len(root)))
        return params.moved(length * np.sqrt(self.loss(params) / left / len(F)) * step)

    def descended(self, current: Params, ridge: Ridge, leaps: int) -> Params:
        """Return a minimum near `current`: after some over-relaxed rounds, plain ones that never rise."""
        best, least = current, self._objective(current, ridge)
        for _ in range(leaps):
            current = current.moved(_RELAXATION * (self.solved(current, ridge).a - current.a))
            value = self._objective(current, ridge)
            if value < least:
                best, least = current, value
        for _ in range(_MOST_ROUNDS):
            step = self.solved(best, ridge).a - best.a
            trials = (best.moved(step / 2**halvings) for halvings in range(4))
            lower = next(((t, v) for t in trials if (v := self._objective(t, ridge)) < least), None)
            if lower is None:
                break
            gain = 1.0 - lower[1] / least
            best, least = lower
            if gain < _LEAST_GAIN:
                break
        return best
