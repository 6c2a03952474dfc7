r"""Whether rows look like N(0, I), and by how much they depart from any normal law.

Rows of N(0, I), n of them in d columns, pass three tests, each but for a third of the false-alarm rate:

* n |mean|^2 is below the quantile of chi^2_d;
* the variance of every column lies between quantiles of chi^2_{n-1} / n, the rate divided over both sides of each;
* all singular values of X / sqrt(n) lie within sqrt(d/n) + sqrt(2 log(2 / rate) / n) of 1 (Davidson and Szarek).

The third needs the extreme eigenvalues of X^T X / n alone. In many dimensions a few products with it find them, if not
quite: what Krylov iteration finds lies within the spectrum, so it raises no false alarm, but it may miss an eigenvalue
close to the edge. No test of n rows sees a direction whose variance differs from 1 by less than about sqrt(d/n): of a
pair of columns, a correlation below that. Left as it is, such a direction costs the refinement a few products and
nothing else, as the filters of the moment matrices have mean zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.backend.krylov import Krylov
from netlearn.inputs.whitening import Whitening
from netlearn.source import Source
from netlearn.source.blocks import over_blocks

# Chance that rows from N(0, I) are taken for something else and whitened needlessly (which does no harm).
_FALSE_ALARM = 1e-6
# Rows that are looked at: more see weaker correlations, in proportion to their root. Whitening takes all rows given.
ROWS_PER_FEATURE, FEWEST_ROWS = 10, 10_000
# Up to this dimension the second moments are formed to be looked at; beyond, a few products with them cost less.
MANY_FEATURES = 400
# Vectors and products of the Krylov iteration.
N_VECTORS, N_PRODUCTS = 8, 6
# Blocks whose Gram matrix one thread takes at a time: it is larger than they are.
_N_CACHED = 2
# Projections on which the departure from normality is measured.
_N_PROJECTIONS = 64


def n_looked_at(rows: Source) -> int:
    """Return how many of the rows are looked at to tell whether they are N(0, I)."""
    return min(rows.n_rows, max(ROWS_PER_FEATURE * rows.n_features, FEWEST_ROWS))


def is_standard(rows: Source, mean: np.ndarray, variance: np.ndarray, rng: np.random.Generator) -> bool:
    """Whether rows with these means and variances of their columns are what N(0, I) gives."""
    n, d = rows.n_rows, rows.n_features
    return n > d and _standard_columns(n, mean, variance) and _standard_spectrum(n, d, *_edges(rows, rng))


def _standard_columns(n: int, mean: np.ndarray, variance: np.ndarray) -> bool:
    """Whether the columns' means and variances are those of n rows of N(0, I)."""
    d, rate = len(mean), _FALSE_ALARM / 3
    least, most = chi2.ppf(rate / (2 * d), n - 1), chi2.isf(rate / (2 * d), n - 1)
    centred = n * float(mean @ mean) < chi2.isf(rate, d)
    return bool(centred and np.all((least < n * variance) & (n * variance < most)))


def slack(n: int, d: int) -> float:
    """Return how far from 1 singular values of X / sqrt(n) can be expected for rows of N(0, I)."""
    return float(np.sqrt(d / n) + np.sqrt(2 * np.log(2 / (_FALSE_ALARM / 3)) / n))


def _standard_spectrum(n: int, d: int, least: float, largest: float) -> bool:
    """Whether the extreme eigenvalues of X^T X / n are those of n rows of N(0, I)."""
    spread = np.sqrt(np.maximum([least, largest], 0.0))
    return bool(np.all(np.abs(spread - 1) < slack(n, d)))


def _edges(rows: Source, rng: np.random.Generator) -> tuple[float, float]:
    """Return the extreme eigenvalues of X^T X / n, or what a few products show of them."""
    if rows.n_features <= MANY_FEATURES:
        values = np.linalg.eigvalsh(covariance(rows))
    else:
        values, _ = outer_spectrum(rows, rng)
    return float(np.min(values)), float(np.max(values))


def outer_spectrum(
    rows: Source, rng: np.random.Generator, change: Callable | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outer eigenvalues of X^T X / n, largest first, and their vectors; of changed rows, if wanted."""
    space = Krylov(rng.standard_normal((rows.n_features, N_VECTORS)))

    def term(block):
        X = block[0] if change is None else change(block[0])
        xp = namespace(X)
        X = xp.astype(X, xp.float32, copy=False)  # its rounding is far below what n rows show by chance
        return to_numpy((X @ as_like(space.fresh, X)).T @ X)

    for _ in range(N_PRODUCTS):
        image = np.zeros((N_VECTORS, rows.n_features))
        for part in over_blocks(term, rows, N_VECTORS):
            image += part
        space.grow(image.T / rows.n_rows)
    return space.ritz()


def covariance(rows: Source, mean: np.ndarray | None = None) -> np.ndarray:
    """Return E[(x - mean)(x - mean)^T] over the rows, shape (d, d); about zero where no mean is given."""

    def term(block):
        X = block[0] if mean is None else block[0] - as_like(mean, block[0])
        return to_numpy(X.T @ X)

    total = np.zeros((rows.n_features, rows.n_features))
    for part in over_blocks(term, rows, n_cached=_N_CACHED):
        total += part
    return total / rows.n_rows


def departure(rows: Source, mean: np.ndarray, W: Whitening, rng: np.random.Generator) -> float:
    """Return the largest |skewness| or |excess kurtosis| of whitened rows over projections, in standard errors.

    Cost: one reading of at most 10,000 rows.
    """
    rows = rows.head(min(rows.n_rows, FEWEST_ROWS))
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
        X = block[0]
        projected = to_numpy(X @ as_like(directions, X)) - shift
        if W is not None:
            return projected
        return np.hstack([projected, to_numpy(X[:, : min(_N_PROJECTIONS, X.shape[1])])])

    s = np.vstack(list(over_blocks(term, rows, directions.shape[1])))
    s -= s.mean(axis=0)
    s /= np.maximum(s.std(axis=0), 1e-300)
    square = s * s  # powers above the second are slow, and these are many numbers
    skewness = np.einsum("np,np->p", square, s) / n
    kurtosis = np.einsum("np,np->p", square, square) / n - 3.0
    return float(max(np.max(np.abs(skewness)) / np.sqrt(6 / n), np.max(np.abs(kurtosis)) / np.sqrt(24 / n)))
