"""The scale of labels: their centre and spread, and what their precision leaves of them."""

from __future__ import annotations

import numpy as np

# A value computed in single precision is off by a few roundings, not by one.
_ROUNDINGS = 8
# Share of the labels that is usual, and by how much the spread of all may exceed theirs.
_USUAL, _FAR = 0.95, 10.0


def centre_and_scale(y: np.ndarray) -> tuple[float, float] | tuple[np.ndarray, np.ndarray]:
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


def rounding(y: np.ndarray, scale: float | np.ndarray) -> float:
    """Return what single precision leaves of labels that all fit into it; for others, nothing is lost yet."""
    with np.errstate(over="ignore"):
        if not np.array_equal(y, y.astype(np.float32)):
            return 0.0
    size = np.sqrt(np.mean((y / scale) ** 2, axis=0))
    return float(_ROUNDINGS * np.finfo(np.float32).eps / 2 * float(np.max(size)))


def effective_rank(covariance: np.ndarray) -> float:
    """Return how many independent outputs some are worth: exp of the entropy of their principal variances."""
    variances = np.maximum(np.linalg.eigvalsh(covariance), np.finfo(float).tiny)
    shares = variances / np.sum(variances)
    return float(np.exp(-np.sum(shares * np.log(shares))))
