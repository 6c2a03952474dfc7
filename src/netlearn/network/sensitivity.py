"""Sobol indices of a network in independent standard normal inputs, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netlearn.errors import InputError
from netlearn.network.ramps import Ramps

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork


@dataclass(frozen=True)
class SobolIndices:
    """Shares of the variance of f, one per input.

    Attributes
    ----------
    first_order : array of shape (d,)
        Var E[f | x_j] / Var f: what input j explains alone.
    total : array of shape (d,)
        1 - Var E[f | all but x_j] / Var f: what is lost without input j.
    """

    first_order: NDArray[np.float64]
    total: NDArray[np.float64]


def sobol(network: ShallowNetwork) -> SobolIndices:
    """Return the first-order and total Sobol indices of each input; variances are summed over outputs.

    Both are the pair integral of the variance with the correlation <u_i, u_j> restricted to some coordinates.
    Absolute error at rounding level. Cost: O(d k^2) pair integrals.
    """
    f = Ramps.of(network)
    whole = f.variance_given(slice(None))[0].sum()
    if whole <= 0:
        raise InputError("Sobol indices share out the variance of a network, but this network is constant.")
    inputs = np.eye(network.n_features, dtype=bool)
    alone = np.array([f.variance_given(one)[0].sum() for one in inputs])
    without = np.array([f.variance_given(~one)[0].sum() for one in inputs])
    # The exact values lie in [0, 1]; rounding may step over by its own size.
    return SobolIndices(np.clip(alone / whole, 0.0, 1.0), np.clip(1 - without / whole, 0.0, 1.0))
