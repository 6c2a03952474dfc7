r"""The leading part of a probe's spectrum without its d x d matrix.

M = E[t (x x^T - I)] times a few vectors is one pass over the rows, 4 N d b operations for b of them. Block Krylov
iteration multiplies a random start again and again and reads the spectrum off what the products span. The noise floor
is the same for (M_first - M_second) / 2, the difference of two halves of the rows, so that one pass serves both: each
half's product with both blocks of vectors.

Of an eigenvector whose eigenvalue is rho times the edge of the noise, b random vectors hold a share b / d, and p passes
multiply that, against the noise, by cosh((p - 1) arccosh rho)^2. Passes go on until this is large for all that is
wanted, or for every rho that could be told from the noise: up to 8 passes in 1,000 dimensions, 10 in 20,000.
Cost: 16 bytes times d times the vectors of all passes, about 600 d numbers.
"""

from __future__ import annotations

import math

import numpy as np

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.backend.grain import grain
from netlearn.backend.krylov import Krylov
from netlearn.source import Source
from netlearn.source.blocks import over_blocks

# The least eigenvalue, in units of the noise, that passes are made for; and the ratio at which a vector has converged:
# it is then off by the root of a tenth.
_LEAST_RHO, _CONVERGED = 1.2, 10.0
_FEWEST_PASSES = 4
# Vectors per pass for the matrix, at most and beyond those that are wanted; and for the noise, of which the largest
# eigenvalue alone is. Those that fill vector instructions cost no more.
_N_SIGNAL, _N_SPARE, _N_NOISE, _LANES = 24, 4, 16, 8
# Numbers in a block: longer ones than stay in a cache, as products with few vectors read all of X from memory anyway.
_BLOCK = 2**22


def leading_spectrum(
    rows: Source,
    residual,
    probe,
    rng: np.random.Generator,
    wanted: int | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return leading eigenvalues of a probe's matrix by decreasing magnitude, their vectors, and the noise floor.

    Parameters
    ----------
    rows : Source
        Whitened.
    residual : callable
        Takes (X, y), returns the labels of mean zero without linear part.
    probe : Probe
    rng : numpy.random.Generator
    wanted : int, optional
        Number of vectors that are to converge. Default: all that stand out.
    """
    b = _N_SIGNAL if wanted is None else min(_N_SIGNAL, -(-(wanted + _N_SPARE) // _LANES) * _LANES)
    signal, noise = (Krylov(rng.standard_normal((rows.n_features, width))) for width in (b, _N_NOISE))
    # Rows in double precision are rounded block by block: these must be short, or the rounded ones take much memory.
    rounded = rows.like.dtype == namespace(rows.like).float32
    n_cached = max(1, _BLOCK // (grain(rows.like).least_rows * rows.n_features)) if rounded else 1
    labels = list(
        over_blocks(lambda block: probe.labels(block[0], residual(*block)), rows, n_cached=n_cached)
    )
    n_passes, needed = 0, _FEWEST_PASSES
    while n_passes < needed:
        first, second = _products(rows, labels, np.hstack([signal.fresh, noise.fresh]), n_cached)
        signal.grow((first + second)[:, :b] / 2)
        noise.grow((first - second)[:, b:] / 2)
        n_passes += 1
        if n_passes >= _FEWEST_PASSES:
            values, vectors = signal.ritz()
            floor = float(np.max(np.abs(noise.ritz()[0])))
            weakest = abs(values[wanted - 1]) if wanted is not None and wanted <= len(values) else 0.0
            needed = n_passes_for(rows.n_features, weakest / floor, b)
    return values, vectors, floor


def n_passes_for(d: int, rho: float, b: int) -> int:
    """Return the passes, from b vectors, after which one has converged with rho times the edge of the noise."""
    growth = math.acosh(math.sqrt(max(_CONVERGED * d / b, 1.0)))
    return max(_FEWEST_PASSES, 1 + math.ceil(growth / math.acosh(max(rho, _LEAST_RHO))))


def _products(rows: Source, labels: list, Q: np.ndarray, n_cached: int) -> np.ndarray:
    """Return both halves' E[t (x x^T - I)] Q, shape (2, d, b); of each block a half belongs to either."""
    totals, weights, counts = np.zeros((2, *Q.shape)), np.zeros(2), np.zeros(2)

    def term(block, t):
        xp = namespace(block[0])
        X = xp.astype(block[0], xp.float32, copy=False)
        weighted = as_like(t, X)[:, None] * (X @ as_like(Q, X))
        middle = len(t) // 2
        parts = slice(0, middle), slice(middle, None)
        return [
            (to_numpy(weighted[part].T @ X[part]).T, float(t[part].sum()), len(t[part])) for part in parts
        ]

    for halves in over_blocks(term, rows, n_cached=n_cached, beside=labels):
        for h, (total, weight, count) in enumerate(halves):
            totals[h] += total
            weights[h] += weight
            counts[h] += count
    return (totals - weights[:, None, None] * Q) / counts[:, None, None]
