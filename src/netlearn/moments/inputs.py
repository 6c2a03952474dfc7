r"""Mean, covariance and spread: the affine maps that bring rows to N(0, I) and labels to unit variance.

Rows of N(0, I), n of them in d columns, pass three tests, each but for a third of the false-alarm rate:

* n |mean|^2 is below the quantile of chi^2_d;
* the variance of every column lies between quantiles of chi^2_{n-1} / n, the rate divided over both sides of each;
* all singular values of X / sqrt(n) lie within sqrt(d/n) + sqrt(2 log(2 / rate) / n) of 1 (Davidson and Szarek).

The third needs the extreme eigenvalues of X^T X / n alone. In many dimensions a few products with it find them, if not
quite: what Krylov iteration finds lies within the spectrum, so it raises no false alarm, but it may miss an eigenvalue
close to the edge. No test of n rows sees a direction whose variance differs from 1 by less than about sqrt(d/n): of a
pair of columns, a correlation below that. Left as it is, such a direction costs the polish a few products and nothing
else, as the filters of the probes have mean zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import device
from scipy.stats import chi2

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.moments.krylov import Krylov
from netlearn.moments.whitening import ColumnWhitening, constant, covariance_whitening, inverse
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource, Source
from netlearn.source.arrays import block_slices, over_blocks

# Chance that rows from N(0, I) are taken for something else and whitened needlessly (which does no harm).
_FALSE_ALARM = 1e-6
# Up to this dimension the second moments are formed to be looked at; beyond, a few products with them cost less.
_MANY_FEATURES = 400
# Up to this one the covariance is formed to whiten by it, which at 20 d rows takes half a minute there.
_MOST_WHITENED = 4000
# Vectors and products of the Krylov iteration.
_N_VECTORS, _N_PRODUCTS = 8, 6
# Entries of X up to which a copy in single precision is held for these products.
_HELD_ENTRIES = 2**25
# Blocks whose Gram matrix one thread takes at a time: it is larger than they are.
_N_CACHED = 2
# A value computed in single precision is off by a few roundings, not by one.
_ROUNDINGS = 8
# Share of the labels that is usual, and by how much the spread of all may exceed theirs.
_USUAL, _FAR = 0.95, 10.0
# Projections on which the departure from normality is measured.
_N_PROJECTIONS = 64
# Rows that are looked at: more see weaker correlations, in proportion to their root. Whitening takes all rows given.
_ROWS_PER_FEATURE, _FEWEST_ROWS = 10, 10_000


@dataclass(frozen=True)
class Standardiser:
    """Maps rows to z = (x - mean) W, about N(0, I), and labels to (y - centre) / scale.

    Attributes
    ----------
    mean : array of shape (d,)
    W : array of shape (d, r), ColumnWhitening or None
        None stands for the identity: rows that agree with N(0, I) are left as they are.
    centre, scale : float or array of shape (m,)
        Of the labels, one of each for each output.
    rounding : float
        Root mean square, in units of the labels' spread, that labels computed in their precision may be off.
    departure : float
        Largest of |skewness| and |excess kurtosis| over random projections, in units of what N(0, I) rows
        as many as these would show in one projection (their standard error).
    """

    mean: np.ndarray
    W: np.ndarray | ColumnWhitening | None
    centre: float | np.ndarray
    scale: float | np.ndarray
    rounding: float
    departure: float

    @property
    def constant(self) -> bool:
        """Whether the rows do not vary at all, so that no unit can be seen."""
        return isinstance(self.W, np.ndarray) and not np.any(self.W)

    @property
    def is_cheap(self) -> bool:
        """Whether bringing rows to these coordinates costs little more than reading them."""
        return not isinstance(self.W, np.ndarray)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of it, in sentences."""
        if not isinstance(self.W, ColumnWhitening):
            return ()
        d, r = self.W.Q.shape
        directions = f" and the {r} direction{'s' * (r > 1)} in which they vary together most" if r else ""
        return (
            f"the inputs are not N(0, I), and with {d:,} columns only these{directions} were scaled: "
            "weaker correlations stay as they are",
        )

    def rows(self, X):
        """Return the rows in whitened coordinates; the same array where there is nothing to do."""
        if self.W is None:
            return X
        W = as_like(self.W, X) if isinstance(self.W, np.ndarray) else self.W
        return (X - as_like(self.mean, X)) @ W

    def labels(self, y):
        """Return the labels with mean zero and unit variance."""
        centre, scale = (as_like(np.asarray(part), y) for part in (self.centre, self.scale))
        return (y - centre) / scale

    def network(self, network: ShallowNetwork) -> ShallowNetwork:
        """Take a network of whitened rows and scaled labels back to the user's coordinates."""
        linear, units = network.linear, network.units
        if self.W is not None:
            linear, units = (self.W @ linear.T).T, (self.W @ units.T).T
        return ShallowNetwork(
            (self.scale * linear.T).T,
            self.scale * network.coefficients,
            units,
            network.biases - units @ self.mean,
            self.scale * (network.intercept - linear @ self.mean) + self.centre,
        )


def standardise(rows: Source, rng: np.random.Generator) -> Standardiser:
    r"""Measure rows and labels.

    Rows that are not N(0, I) are whitened by their covariance. With fewer rows than columns there is none, and columns
    are scaled one by one; with more columns than some thousands, columns and the directions that stand out most.
    Cost: eight readings of the rows where they are N(0, I) in many columns, six of them products with 8 vectors;
    otherwise n d**2 operations.
    """
    d = rows.n_features
    n = min(rows.n_rows, max(_ROWS_PER_FEATURE * d, _FEWEST_ROWS))
    y, mean, variance, held = _columns(rows.head(n))
    if n > d and _standard_columns(n, mean, variance) and _standard_spectrum(n, d, *_edges(held, rng)):
        mean, W = np.zeros(d), None
    elif not variance.any():
        W = constant(d)
    elif d > _MOST_WHITENED:
        W = _column_whitening(rows.head(n), mean, inverse(np.sqrt(variance)), rng)
    elif n > d:
        W = covariance_whitening(_covariance(rows, mean))
    else:
        W = np.diag(inverse(np.sqrt(variance)))[:, variance > 0]
    centre, scale = _centre_and_scale(y)
    projected = (held if W is None else rows).head(min(n, _FEWEST_ROWS))
    departure = _departure(projected, mean, W, rng)
    return Standardiser(mean, W, centre, scale, _rounding(y, scale), departure)


def _columns(rows: Source) -> tuple[np.ndarray, np.ndarray, np.ndarray, Source]:
    """Return labels, the columns' means and variances, and the rows again: held, where small, in single precision."""
    n, d = rows.n_rows, rows.n_features
    xp = namespace(rows.like)
    # Taken off first: squares of large means would drown small variances, and a column that does not vary is all zero.
    shift = rows.head(1).in_memory().X[0, :]
    single = None
    if n * d <= _HELD_ENTRIES:
        single = xp.empty((n, d), dtype=xp.float32, device=device(rows.like))

    def term(block, place):
        X, y = block
        if single is not None:
            with np.errstate(over="ignore"):  # rows so large are not N(0, I), and nothing will read the copy
                single[place, :] = X
        X = X - shift
        return xp.sum(X, axis=0), xp.sum(X * X, axis=0), y

    total, squares, labels = np.zeros(d), np.zeros(d), []
    for part, part_squares, y in over_blocks(term, rows, beside=block_slices(n, d, like=rows.like)):
        total += to_numpy(part)
        squares += to_numpy(part_squares)
        labels.append(to_numpy(y))
    y = np.concatenate(labels)
    variance = np.maximum(squares / n - (total / n) ** 2, 0.0)
    held = rows if single is None else ArraySource(single, y)
    return y, to_numpy(shift) + total / n, variance, held


def _standard_columns(n: int, mean: np.ndarray, variance: np.ndarray) -> bool:
    """Whether the columns' means and variances are those of n rows of N(0, I)."""
    d, rate = len(mean), _FALSE_ALARM / 3
    least, most = chi2.ppf(rate / (2 * d), n - 1), chi2.isf(rate / (2 * d), n - 1)
    centred = n * float(mean @ mean) < chi2.isf(rate, d)
    return bool(centred and np.all((least < n * variance) & (n * variance < most)))


def _slack(n: int, d: int) -> float:
    """Return how far from 1 singular values of X / sqrt(n) can be expected for rows of N(0, I)."""
    return float(np.sqrt(d / n) + np.sqrt(2 * np.log(2 / (_FALSE_ALARM / 3)) / n))


def _standard_spectrum(n: int, d: int, least: float, largest: float) -> bool:
    """Whether the extreme eigenvalues of X^T X / n are those of n rows of N(0, I)."""
    spread = np.sqrt(np.maximum([least, largest], 0.0))
    return bool(np.all(np.abs(spread - 1) < _slack(n, d)))


def _edges(rows: Source, rng: np.random.Generator) -> tuple[float, float]:
    """Return the extreme eigenvalues of X^T X / n, or what a few products show of them."""
    if rows.n_features <= _MANY_FEATURES:
        values = np.linalg.eigvalsh(_covariance(rows))
    else:
        values, _ = _outer_spectrum(rows, rng)
    return float(np.min(values)), float(np.max(values))


def _outer_spectrum(rows: Source, rng: np.random.Generator, change=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the outer eigenvalues of X^T X / n, largest first, and their vectors; of changed rows, if wanted."""
    space = Krylov(rng.standard_normal((rows.n_features, _N_VECTORS)))

    def term(block):
        X = block[0] if change is None else change(block[0])
        xp = namespace(X)
        X = xp.astype(X, xp.float32, copy=False)  # its rounding is far below what n rows show by chance
        return to_numpy((X @ as_like(space.fresh, X)).T @ X)

    for _ in range(_N_PRODUCTS):
        image = np.zeros((_N_VECTORS, rows.n_features))
        for part in over_blocks(term, rows, _N_VECTORS):
            image += part
        space.grow(image.T / rows.n_rows)
    return space.ritz()


def _column_whitening(
    rows: Source, mean: np.ndarray, factor: np.ndarray, rng: np.random.Generator
) -> ColumnWhitening:
    """Return the map that scales columns, and of what correlates them the directions that no N(0, I) would show."""
    values, vectors = _outer_spectrum(rows, rng, lambda X: (X - as_like(mean, X)) * as_like(factor, X))
    beyond = values > (1 + _slack(rows.n_rows, rows.n_features)) ** 2
    return ColumnWhitening(factor, vectors[:, beyond], values[beyond] ** -0.5 - 1)


def _covariance(rows: Source, mean: np.ndarray | None = None) -> np.ndarray:
    """Return E[(x - mean)(x - mean)^T] over the rows, shape (d, d); about zero where no mean is given."""

    def term(block):
        X = block[0] if mean is None else block[0] - as_like(mean, block[0])
        return to_numpy(X.T @ X)

    total = np.zeros((rows.n_features, rows.n_features))
    for part in over_blocks(term, rows, n_cached=_N_CACHED):
        total += part
    return total / rows.n_rows


def _centre_and_scale(y: np.ndarray) -> tuple[float, float] | tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of labels of any size, one of each for each output.

    Where a few labels far outside make up all of that, the deviation that 95 % of the labels stay within.
    """
    largest = np.max(np.abs(y), axis=0, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    centre = np.mean(y / largest, axis=0) * largest
    scale = np.sqrt(np.mean(((y - centre) / largest) ** 2, axis=0)) * largest
    # One label far outside must not make the others look alike.
    usual = np.quantile(np.abs(y - np.median(y, axis=0)) / largest, _USUAL, axis=0) * largest
    scale = np.where((usual > 0) & (scale > _FAR * usual), usual, scale)
    # Of constant labels only the affine part will be fitted.
    scale = np.where(scale > 1e-13 * largest, scale, largest)
    return (centre, scale) if y.ndim == 2 else (float(centre), float(scale))


def _rounding(y: np.ndarray, scale: float | np.ndarray) -> float:
    """Return what single precision leaves of labels that all fit into it; for others, nothing is lost yet."""
    with np.errstate(over="ignore"):
        if not np.array_equal(y, y.astype(np.float32)):
            return 0.0
    size = np.sqrt(np.mean((y / scale) ** 2, axis=0))
    return _ROUNDINGS * np.finfo(np.float32).eps / 2 * float(np.max(size))


def _departure(
    rows: Source, mean: np.ndarray, W: np.ndarray | ColumnWhitening | None, rng: np.random.Generator
) -> float:
    """Return the largest |skewness| or |excess kurtosis| of whitened rows over projections, in standard errors."""
    r = len(mean) if W is None else W.shape[1]
    directions = rng.standard_normal((r, _N_PROJECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    # Columns themselves too: a discrete or bounded input hides in random mixtures.
    if W is not None:
        directions = W @ np.hstack([directions, np.eye(r, min(r, _N_PROJECTIONS))])
    n = rows.n_rows
    if n < 20 or not np.any(directions):
        return 0.0
    shift = mean @ directions

    def term(block):
        projected = to_numpy(block[0] @ as_like(directions, block[0])) - shift
        return projected if W is not None else np.hstack([projected, to_numpy(block[0][:, :_N_PROJECTIONS])])

    s = np.vstack(list(over_blocks(term, rows, directions.shape[1])))
    s -= s.mean(axis=0)
    s /= np.maximum(s.std(axis=0), 1e-300)
    square = s * s  # powers above the second are slow, and these are many numbers
    skewness = np.einsum("np,np->p", square, s) / n
    kurtosis = np.einsum("np,np->p", square, square) / n - 3.0
    return float(max(np.max(np.abs(skewness)) / np.sqrt(6 / n), np.max(np.abs(kurtosis)) / np.sqrt(24 / n)))
