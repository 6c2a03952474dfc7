"""Mean, covariance and spread: the affine maps that bring rows to N(0, I) and labels to unit variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import device

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.inputs.labels import centre_and_scale, rounding
from netlearn.inputs.normality import covariance, departure, is_standard, n_looked_at, outer_spectrum, slack
from netlearn.inputs.whitening import ColumnWhitening, Whitening, constant, covariance_whitening, inverse
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource, Source
from netlearn.source.blocks import block_slices, over_blocks

# Up to this dimension the covariance is formed to whiten by it, which at 20 d rows takes half a minute there.
_MOST_WHITENED = 4000
# Entries of X up to which a copy in single precision is held, for products with it.
_HELD_ENTRIES = 2**25


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
    W: Whitening
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
    d, n = rows.n_features, n_looked_at(rows)
    y, mean, variance, held = _columns(rows.head(n))
    W: Whitening
    if is_standard(held, mean, variance, rng):
        mean, W = np.zeros(d), None
    elif not variance.any():
        W = constant(d)
    elif d > _MOST_WHITENED:
        W = _column_whitening(rows.head(n), mean, inverse(np.sqrt(variance)), rng)
    elif n > d:
        W = covariance_whitening(covariance(rows, mean))
    else:
        W = np.diag(inverse(np.sqrt(variance)))[:, variance > 0]
    centre, scale = centre_and_scale(y)
    looked_at = held if W is None else rows.head(n)
    return Standardiser(mean, W, centre, scale, rounding(y, scale), departure(looked_at, mean, W, rng))


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
                single[place, :] = xp.astype(X, xp.float32, copy=False)
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


def _column_whitening(
    rows: Source, mean: np.ndarray, factor: np.ndarray, rng: np.random.Generator
) -> ColumnWhitening:
    """Return the map that scales columns, and of what correlates them the directions that no N(0, I) would show."""
    values, vectors = outer_spectrum(rows, rng, lambda X: (X - as_like(mean, X)) * as_like(factor, X))
    beyond = values > (1 + slack(rows.n_rows, rows.n_features)) ** 2
    return ColumnWhitening(factor, vectors[:, beyond], values[beyond] ** -0.5 - 1)
