r"""Why a row is predicted as it is: what its features and the units add to the prediction at a row to start from.

On the way from a start s to x, in a straight line, the unit mu relu(<v, x> + b) is active on a part

    a = (relu(z_x) - relu(z_s)) / (z_x - z_s),    z = <v, .> + b,

and changes the prediction by mu a <v, x - s>, of which feature j has mu a v_j (x_j - s_j). With the linear part these
add up to f(x) - f(s): they are the integrated gradients of f, in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netlearn.network import ShallowNetwork
from netlearn.report.terms import Terms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contributions:
    """The parts of the predictions for n rows, of d features and m outputs.

    ``start + features.sum(axis=2)`` and ``start + linear + units.sum(axis=2)`` are both the predictions.

    Attributes
    ----------
    start : array of shape (m,)
        The prediction at the row to start from.
    features : array of shape (n, m, d)
    linear : array of shape (n, m)
        Of the linear part.
    units : array of shape (n, m, k)
        Of the ReLUs, in the order of `Terms`.
    """

    start: Array
    features: Array
    linear: Array
    units: Array


def contributions(network: ShallowNetwork, X: Array, start: Array) -> Contributions:
    """Divide the predictions for the rows of X; a row that lacks a value has NaN throughout."""
    terms, steps = Terms.of(network), X - start
    before = terms.weights @ start + terms.biases
    ahead = steps @ terms.weights.T
    change = np.maximum(before + ahead, 0.0) - np.maximum(before, 0.0)
    still = np.where(np.isnan(ahead), np.nan, np.broadcast_to(before > 0, ahead.shape))
    part = np.divide(change, ahead, out=still, where=ahead != 0)
    slopes = terms.linear + np.einsum("nk,km,kd->nmd", part, terms.outputs, terms.weights, optimize=True)
    return Contributions(
        terms(start[None, :])[0],
        slopes * steps[:, None, :],
        steps @ terms.linear.T,
        change[:, None, :] * terms.outputs.T,
    )
