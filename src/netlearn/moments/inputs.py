"""Mean, covariance and spread: the affine maps that bring rows to N(0, I) and labels to unit variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from netlearn.network import ShallowNetwork
from netlearn.source import Source
from netlearn.source.arrays import over_blocks

# Chance that rows from N(0, I) are taken for something else and whitened needlessly (which does no harm).
_FALSE_ALARM = 1e-6
# Directions in which rows vary less than this share of their largest spread carry no information.
_NULL_SHARE = 1e-13
# Blocks whose Gram matrix one thread takes at a time: it is larger than they are.
_N_CACHED = 8
# A value computed in single precision is off by a few roundings, not by one.
_ROUNDINGS = 8
# Projections on which the departure from normality is measured.
_N_PROJECTIONS = 64


@dataclass(frozen=True)
class Standardiser:
    """Maps rows to z = (x - mean) W, about N(0, I), and labels to (y - centre) / scale.

    Attributes
    ----------
    mean : array of shape (d,)
    W : array of shape (d, r), or None
        None stands for the identity: rows that agree with N(0, I) are left as they are.
    centre, scale : float
        Of the labels.
    rounding : float
        Root mean square, in units of the labels' spread, that labels computed in their precision may be off.
    departure : float
        Largest of |skewness| and |excess kurtosis| over random projections, in units of what N(0, I) rows
        as many as these would show in one projection (their standard error).
    """

    mean: np.ndarray
    W: np.ndarray | None
    centre: float
    scale: float
    rounding: float
    departure: float

    @property
    def constant(self) -> bool:
        """Whether the rows do not vary at all, so that no unit can be seen."""
        return self.W is not None and not np.any(self.W)

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return the rows in whitened coordinates; the same array where there is nothing to do."""
        return X if self.W is None else (X - self.mean) @ self.W

    def labels(self, y: np.ndarray) -> np.ndarray:
        """Return the labels with mean zero and unit variance."""
        return (y - self.centre) / self.scale

    def network(self, network: ShallowNetwork) -> ShallowNetwork:
        """Take a network of whitened rows and scaled labels back to the user's coordinates."""
        if self.W is not None:
            network = network.precompose(self.W.T, -self.mean @ self.W)
        return ShallowNetwork(
            self.scale * network.linear,
            self.scale * network.coefficients,
            network.units,
            network.biases,
            self.scale * network.intercept + self.centre,
        )


def standardise(rows: Source, rng: np.random.Generator) -> Standardiser:
    r"""Measure rows and labels, in two passes.

    Rows count as N(0, I) when |mean|^2 is below the quantile of chi^2_d / n, and all singular values of
    X / sqrt(n) lie within sqrt(d/n) + sqrt(2 log(2 / false alarm) / n) of 1 (Davidson and Szarek).
    Cost: one Gram matrix of the rows given, n d**2 operations.
    """
    n, d = rows.n_rows, rows.n_features
    y = np.concatenate([y for _, y in rows.blocks()])
    largest = float(np.max(np.abs(y), initial=0.0)) or 1.0
    centre = float(np.mean(y / largest)) * largest
    scale = float(np.sqrt(np.mean(((y - centre) / largest) ** 2))) * largest
    if not scale > 1e-13 * largest:
        scale = largest  # constant labels: only the affine part will be fitted
    if n > d:
        mean, Sigma = _first_two_moments(rows)
        spread = np.sqrt(np.maximum(np.linalg.eigvalsh(Sigma), 0.0))
        slack = np.sqrt(d / n) + np.sqrt(2 * np.log(2 / _FALSE_ALARM) / n)
        standard = n * (mean @ mean) < chi2.isf(_FALSE_ALARM, d) and np.all(np.abs(spread - 1) < slack)
        Sigma -= np.outer(mean, mean)
    else:
        # Too few rows for a covariance: columns are scaled one by one.
        X = rows.in_memory().X
        standard, mean, Sigma = False, X.mean(axis=0), np.diag(X.var(axis=0))
    W = None if standard else _whitening(Sigma)
    if standard:
        mean = np.zeros(d)
    return Standardiser(mean, W, centre, scale, _rounding(y, scale), _departure(rows, mean, W, rng))


def _first_two_moments(rows: Source) -> tuple[np.ndarray, np.ndarray]:
    """Return E[x] and E[x x^T] over the rows."""
    total, Gram = np.zeros(rows.n_features), np.zeros((rows.n_features, rows.n_features))
    for part, product in over_blocks(
        lambda block: (block[0].sum(axis=0), block[0].T @ block[0]), rows, n_cached=_N_CACHED
    ):
        total += part
        Gram += product
    return total / rows.n_rows, Gram / rows.n_rows


def _rounding(y: np.ndarray, scale: float) -> float:
    """Return what single precision leaves of labels that all fit into it; for others, nothing is lost yet."""
    with np.errstate(over="ignore"):
        if not np.array_equal(y, y.astype(np.float32)):
            return 0.0
    return _ROUNDINGS * np.finfo(np.float32).eps / 2 * float(np.sqrt(np.mean((y / scale) ** 2)))


def _whitening(Sigma: np.ndarray) -> np.ndarray:
    """Return W with W^T Sigma W = I on the directions that vary at all."""
    # Columns of very different units are brought to one scale first, else the small ones look like rounding.
    column = np.sqrt(np.maximum(np.diag(Sigma), 0.0))
    alive = column > 0
    if not alive.any():
        return np.zeros((len(Sigma), 1))  # one coordinate that is always 0: a network needs at least one
    unit = np.where(alive, column, 1.0)
    values, vectors = np.linalg.eigh(Sigma / np.outer(unit, unit))
    kept = values > _NULL_SHARE * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])) * (alive / unit)[:, None]


def _departure(rows: Source, mean: np.ndarray, W: np.ndarray | None, rng: np.random.Generator) -> float:
    """Return the largest |skewness| or |excess kurtosis| of whitened rows over projections, in standard errors."""
    r = len(mean) if W is None else W.shape[1]
    directions = rng.standard_normal((r, _N_PROJECTIONS))
    # Columns themselves too: a discrete or bounded input hides in random mixtures.
    directions = np.hstack([directions / np.linalg.norm(directions, axis=0), np.eye(r)[:, :_N_PROJECTIONS]])
    if W is not None:
        directions = W @ directions
    n = rows.n_rows
    if n < 20 or not np.any(directions):
        return 0.0
    shift = mean @ directions
    projected = over_blocks(lambda block: block[0] @ directions - shift, rows, directions.shape[1])
    s = np.vstack(list(projected))
    s -= s.mean(axis=0)
    s /= np.maximum(s.std(axis=0), 1e-300)
    square = s * s  # powers above the second are slow, and these are many numbers
    skewness = np.einsum("np,np->p", square, s) / n
    kurtosis = np.einsum("np,np->p", square, square) / n - 3.0
    return float(max(np.max(np.abs(skewness)) / np.sqrt(6 / n), np.max(np.abs(kurtosis)) / np.sqrt(24 / n)))
