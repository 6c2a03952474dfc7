"""Block Krylov iteration: the outer eigenvalues of a symmetric matrix that is known by its products alone."""

from __future__ import annotations

import numpy as np


class Krylov:
    """The space that a start and its products with a symmetric matrix span, grown by one block at a time.

    Multiply `fresh` by the matrix and hand the image to `grow`, a few times; then ask for `ritz`. Ritz values lie
    within the spectrum, whatever the start, and those outside its bulk converge in a few products.
    Cost: 16 bytes times d times all vectors, and 8 d b m operations for b new vectors beside m old ones.

    Parameters
    ----------
    start : array of shape (d, b)

    Attributes
    ----------
    fresh : array of shape (d, b)
        Orthonormal columns, to be multiplied next.
    """

    def __init__(self, start: np.ndarray):
        self.fresh = np.linalg.qr(start)[0]
        self._basis = np.zeros((len(start), 0))
        self._images = np.zeros((len(start), 0))

    def grow(self, image: np.ndarray) -> None:
        """Take in the product of the matrix and `fresh`."""
        self._basis = np.hstack([self._basis, self.fresh])
        self._images = np.hstack([self._images, image])
        # The next block is what is new in the products; twice is enough to be orthogonal to rounding.
        for _ in range(2):
            image = image - self._basis @ (self._basis.T @ image)
        self.fresh = np.linalg.qr(image)[0]

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrix' eigenvalues on the space by decreasing magnitude, and their vectors as columns."""
        T = self._basis.T @ self._images
        rho, S = np.linalg.eigh((T + T.T) / 2)
        order = np.argsort(-np.abs(rho), kind="stable")
        return rho[order], self._basis @ S[:, order]
