r"""The leading part of a probe's spectrum without its d x d matrix.

M = E[t (x x^T - I)] times a few vectors is one pass over the rows, 4 N d b operations for b of them. Block Krylov
iteration multiplies a random start again and again and reads the spectrum off what the products span: the
eigenvalues outside the noise converge in a few passes, by a factor rho + sqrt(rho^2 - 1) in each for an eigenvalue
rho times the edge of the noise. The noise floor is the same for (M_first - M_second) / 2, the difference of two halves
of the rows, so that one pass serves both: each half's product with both blocks of vectors.
Cost: 8 bytes times d times the vectors of all passes, about 260 d numbers.
"""

from __future__ import annotations

import numpy as np

from netlearn.source import Source
from netlearn.source.arrays import over_blocks

_N_PASSES = 4
# Vectors per pass for the matrix, and for the noise, of which the largest eigenvalue alone is wanted.
_N_SIGNAL, _N_NOISE = 22, 10


def leading_spectrum(
    rows: Source, residual, probe, rng: np.random.Generator
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
    """
    d = rows.n_features
    bases = [np.zeros((d, 0)), np.zeros((d, 0))]
    images = [np.zeros((d, 0)), np.zeros((d, 0))]
    fresh = [np.linalg.qr(rng.standard_normal((d, b)))[0] for b in (_N_SIGNAL, _N_NOISE)]
    labels = list(over_blocks(lambda block: probe.labels(block[0], residual(*block)), rows))
    for _ in range(_N_PASSES):
        halves = _products(rows, labels, np.hstack(fresh))
        signal, noise = (halves[0] + halves[1]) / 2, (halves[0] - halves[1]) / 2
        new = signal[:, : fresh[0].shape[1]], noise[:, fresh[0].shape[1] :]
        for i in (0, 1):
            bases[i] = np.hstack([bases[i], fresh[i]])
            images[i] = np.hstack([images[i], new[i]])
            # The next block is what is new in the products; twice is enough to be orthogonal to rounding.
            rest = new[i]
            for _ in range(2):
                rest = rest - bases[i] @ (bases[i].T @ rest)
            fresh[i] = np.linalg.qr(rest)[0]
    values, vectors = _ritz(*(part[0] for part in (bases, images)))
    noise_values, _ = _ritz(*(part[1] for part in (bases, images)))
    return values, vectors, float(np.max(np.abs(noise_values)))


def _products(rows: Source, labels: list[np.ndarray], Q: np.ndarray) -> np.ndarray:
    """Return both halves' E[t (x x^T - I)] Q, shape (2, d, b); of each block a half belongs to either."""
    totals, weights, counts = np.zeros((2, *Q.shape)), np.zeros(2), np.zeros(2)
    Q_single = Q.astype(np.float32)

    def term(block, t):
        # Single precision within a block: its rounding is far below the noise of the mean.
        X = block[0].astype(np.float32, copy=False)
        weighted = t.astype(np.float32)[:, None] * (X @ Q_single)
        middle = len(t) // 2
        parts = slice(0, middle), slice(middle, None)
        return [((weighted[part].T @ X[part]).T, t[part].sum(), len(t[part])) for part in parts]

    for halves in over_blocks(term, rows, beside=labels):
        for h, (total, weight, count) in enumerate(halves):
            totals[h] += total
            weights[h] += weight
            counts[h] += count
    return (totals - weights[:, None, None] * Q) / counts[:, None, None]


def _ritz(basis: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues by decreasing magnitude and vectors of the symmetric matrix that maps basis to image."""
    T = basis.T @ image
    rho, S = np.linalg.eigh((T + T.T) / 2)
    order = np.argsort(-np.abs(rho), kind="stable")
    return rho[order], basis @ S[:, order]
