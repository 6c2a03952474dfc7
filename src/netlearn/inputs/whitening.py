"""Linear maps that bring centred rows to covariance I: the whole covariance, or columns and a few directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from netlearn.backend import as_like

# Directions in which rows vary less than this share of their largest spread carry no information.
_NULL_SHARE = 1e-13


Whitening: TypeAlias = "np.ndarray | ColumnWhitening | None"
"""What stands for the d x r matrix W; None for the identity."""


def covariance_whitening(Sigma: np.ndarray) -> np.ndarray:
    """Return W, shape (d, r), with W^T Sigma W = I on the directions that vary at all."""
    # Columns of very different units are brought to one scale first, else the small ones look like rounding.
    column = np.sqrt(np.maximum(np.diag(Sigma), 0.0))
    if not column.any():
        return constant(len(Sigma))
    unit = np.where(column > 0, column, 1.0)
    correlation = Sigma / unit
    correlation /= unit[:, None]
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _NULL_SHARE * values[-1]
    W = vectors[:, kept]
    W *= inverse(column)[:, None]
    W /= np.sqrt(values[kept])
    return W


def constant(n_features: int) -> np.ndarray:
    """Return the map of rows that do not vary: one coordinate that is always 0, as a network needs at least one."""
    return np.zeros((n_features, 1))


def inverse(spread: np.ndarray) -> np.ndarray:
    """Return 1 / spread, and 0 for columns that do not vary."""
    return np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)


@dataclass(frozen=True)
class ColumnWhitening:
    """The d x d map diag(factor) (I + Q diag(stretch) Q^T), of which nothing d x d is formed.

    Columns are scaled one by one, and then a few directions in which they go together. Stands where the matrix W would:
    ``rows @ W`` and ``W @ vectors`` cost 4 d r operations for each row or vector.

    Attributes
    ----------
    factor : array of shape (d,)
    Q : array of shape (d, r)
        Orthonormal columns.
    stretch : array of shape (r,)
    """

    factor: np.ndarray
    Q: np.ndarray
    stretch: np.ndarray

    # NumPy arrays then leave `rows @ W` to __rmatmul__.
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, int]:
        """That of the matrix it stands for."""
        return len(self.factor), len(self.factor)

    def __rmatmul__(self, rows):
        """Return rows @ W."""
        factor, Q, stretch = (as_like(part, rows) for part in (self.factor, self.Q, self.stretch))
        scaled = rows * factor
        return scaled + ((scaled @ Q) * stretch) @ Q.T

    def __matmul__(self, vectors):
        """Return W @ vectors, shape (d,) or (d, m)."""
        turned = vectors + self.Q @ (self.stretch * (self.Q.T @ vectors).T).T
        return (self.factor * turned.T).T
