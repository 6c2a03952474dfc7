r"""A network, or the difference of two, as an affine map plus ramps; its plain Gaussian moments.

With every unit turned so that b_i >= 0, and R_i = relu(-<v_i, x> - b_i),

    f(x) = c' + <w', x> + 2 sum_i lambda_i R_i(x),  w' = w + sum_i lambda_i v_i,  c' = c + sum_i lambda_i b_i.

All arrays carry an output axis: (m, d), (k, m), (m,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from netlearn.network.gaussian import ramp_mean, ramp_product

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ramps:
    """Parameters of f with units turned so that no bias is negative.

    Attributes
    ----------
    linear : array of shape (m, d)
        w, not w': `nearby` folds the units in by another choice of signs.
    coefficients : array of shape (k, m)
    units : array of shape (k, d)
    biases : array of shape (k,)
    intercept : array of shape (m,)
        c, not c'.
    """

    linear: Array
    coefficients: Array
    units: Array
    biases: Array
    intercept: Array

    @classmethod
    def of(cls, network: ShallowNetwork) -> Ramps:
        """Turn the units of `network`."""
        side = np.where(network.biases < 0, -1.0, 1.0)
        m = network.n_outputs
        return cls(
            network.linear.reshape(m, -1),
            network.coefficients.reshape(-1, m),
            side[:, None] * network.units,
            side * network.biases,
            np.reshape(network.intercept, m),
        )

    @classmethod
    def of_difference(cls, network: ShallowNetwork, other: ShallowNetwork) -> Ramps:
        """Stack the units of both, unmerged: what cancels is left to the integrals."""
        f, g = cls.of(network), cls.of(other)
        return cls(
            f.linear - g.linear,
            np.concatenate([f.coefficients, -g.coefficients]),
            np.concatenate([f.units, g.units]),
            np.concatenate([f.biases, g.biases]),
            f.intercept - g.intercept,
        )

    @property
    def folded_linear(self) -> Array:
        """The slope w' = w + sum_i lambda_i v_i."""
        return self.linear + self.coefficients.T @ self.units

    def mean(self) -> tuple[Array, Array]:
        """Return E f per output, and the sum of the magnitudes that were added up."""
        share = self.biases + 2 * ramp_mean(self.biases)
        size = np.abs(self.intercept) + np.abs(self.coefficients).T @ share
        return self.intercept + self.coefficients.T @ share, size

    def variance_given(self, kept: slice | NDArray[np.bool_]) -> tuple[Array, Array]:
        r"""Variance of E[f | the kept coordinates of x], and the sum of the magnitudes added up.

        Two copies of x that share the kept coordinates and nothing else turn the variance into a covariance,

            |w'_S|^2 - 4 sum_i lambda_i Phi(-b_i) <w'_S, v_i> + 4 sum_ij lambda_i lambda_j K_ij

        with K_ij the covariance of R_i and R_j at correlation r_ij = <v_i, v_j>_S. All coordinates kept
        give Var f. Cost: O(k^2) pair integrals.

        Parameters
        ----------
        kept : slice or boolean array of shape (d,)

        Returns
        -------
        variance, size : arrays of shape (m,)
        """
        w, v, lam = self.folded_linear[:, kept], self.units[:, kept], self.coefficients
        r = v @ v.T
        if isinstance(kept, slice):
            # A unit is parallel to itself; a correlation of 1 - eps would blur that.
            np.fill_diagonal(r, 1.0)
        mean = ramp_mean(self.biases)
        covariance = ramp_product(r, self.biases[:, None], self.biases[None, :]) - np.outer(mean, mean)
        cross = lam.T * (w @ v.T) * ndtr(-self.biases)
        square = np.einsum("md,md->m", w, w)
        value = square - 4 * cross.sum(axis=1) + 4 * np.sum(lam * (covariance @ lam), axis=0)
        size = np.sum(np.abs(lam) * (np.abs(covariance) @ np.abs(lam)), axis=0)
        return value, square + 4 * np.abs(cross).sum(axis=1) + 4 * size
