"""Sobol indices of a network in independent standard normal inputs, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
        Var E[f | x_j] / Var f: what input j explains alone. With several outputs variances are summed over them.
    total : array of shape (d,)
        1 - Var E[f | all but x_j] / Var f: what is lost without input j.
    per_output : tuple of SobolIndices
        With several outputs, those of each; zeros for one that is constant.
    """

    first_order: NDArray[np.float64]
    total: NDArray[np.float64]
    per_output: tuple[SobolIndices, ...] = ()


def sobol(network: ShallowNetwork, inputs: Sequence[int] | None = None) -> SobolIndices:
    """Return the first-order and total Sobol indices of some inputs, by default of all.

    Both are the pair integral of the variance with the correlation <u_i, u_j> restricted to some coordinates.
    Absolute error at rounding level. Cost: O(k^2) pair integrals for each input.
    """
    f = Ramps.of(network)
    whole = f.variance_given(slice(None))[0]
    if whole.sum() <= 0:
        raise InputError("Sobol indices share out the variance of a network, but this network is constant.")
    wanted = np.eye(network.n_features, dtype=bool)[slice(None) if inputs is None else list(inputs)]
    alone = np.array([f.variance_given(one)[0] for one in wanted])
    lost = whole - np.array([f.variance_given(~one)[0] for one in wanted])
    joint = _shares(alone.sum(axis=1), lost.sum(axis=1), whole.sum())
    if network.n_outputs == 1:
        return joint
    return replace(joint, per_output=tuple(map(_shares, alone.T, lost.T, whole)))


def _shares(alone: NDArray[np.float64], lost: NDArray[np.float64], whole: float) -> SobolIndices:
    if whole <= 0:
        return SobolIndices(np.zeros_like(alone), np.zeros_like(lost))
    # The exact values lie in [0, 1]; rounding may step over by its own size.
    return SobolIndices(np.clip(alone / whole, 0.0, 1.0), np.clip(lost / whole, 0.0, 1.0))
