"""The size of a network, and which of its numbers are unknowns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Shape:
    """Units, features and outputs of a network, whether its units have biases, and how many equations a row gives.

    With several outputs a row gives as many equations, fewer where outputs follow from others.
    """

    n_hidden: int
    n_features: int
    n_outputs: int = 1
    biases: bool = True
    per_row: float = 1.0

    @property
    def per_unit(self) -> int:
        """Unknowns that one unit adds: its hyperplane, whose length is its weight, and the turn of its weights."""
        return self.n_features + int(self.biases) + self.n_outputs - 1

    @property
    def n_unknowns(self) -> int:
        """Unknowns in all: those of the units, and an affine function for each output."""
        return self.n_outputs * (self.n_features + 1) + self.n_hidden * self.per_unit

    def free(self) -> np.ndarray:
        """Return the mask of unknowns in a step of `Params`, shape (m + K, d + m)."""
        m, d = self.n_outputs, self.n_features
        free = np.ones((m + self.n_hidden, d + m))
        free[:m, d + 1 :] = 0.0
        free[m:, d] = float(self.biases)
        return free

    def wider(self, n_hidden: int) -> Shape:
        """Return the shape with another number of units."""
        return replace(self, n_hidden=n_hidden)
