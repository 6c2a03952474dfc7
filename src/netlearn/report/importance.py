"""Which features move the network, by how much, and along which curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.network.sensitivity import SobolIndices, sobol
from netlearn.report.in_spreads import gradients, in_own_units, standardised
from netlearn.report.measures import feature_names, feature_spreads, has_signal

if TYPE_CHECKING:
    from netlearn.result import LearnResult

Array = NDArray[np.float64]

# Rows that an effect is averaged over, points at which it is computed, and the part of the rows at either end of a
# feature that is left out: there a curve would show the network where hardly any row has been.
_EFFECT_ROWS, _EFFECT_POINTS, _LEFT_OUT = 300, 81, 0.01


@dataclass(frozen=True)
class Sensitivity:
    """The features that move the network most, with their Sobol indices.

    Attributes
    ----------
    features : list of int
        Columns of X, by decreasing total index.
    indices : SobolIndices
        Of these features, for independent normal ones with the means and spreads of the held-out rows.
    """

    features: list[int]
    indices: SobolIndices

    @property
    def totals(self) -> Array:
        """Total indices, a mean over the outputs that are not constant: in whichever units these are."""
        return _totals(self.indices)


def sensitivity(result: LearnResult, count: int = 12) -> Sensitivity | None:
    r"""Return the Sobol indices of the features that matter; None without rows, or for a constant network.

    These are the ones of the largest mean of (d_j f)^2, which bounds the variance that is lost without feature j
    (Poincare's inequality), over the variance of f. Cost: O(k^2) pair integrals for each.
    """
    if not result.has_network or result.held_out is None:
        return None
    X, spreads = result.held_out.X, feature_spreads(result)
    f, _ = in_own_units(standardised(result.network, spreads, X.mean(axis=0)))
    variance = np.reshape(f.variance(), -1)
    if not np.any(variance > 0):
        return None
    slopes = gradients(f, (X - X.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0))
    squares = np.mean(slopes.reshape(len(X), f.n_outputs, -1) ** 2, axis=0)
    bounds = np.max(squares / np.where(variance > 0, variance, np.inf)[:, None], axis=0)
    leading = np.argsort(-bounds, kind="stable")[:count]
    found = sobol(f, leading.tolist())
    order = np.argsort(-_totals(found), kind="stable")
    return Sensitivity(leading[order].tolist(), _taken(found, order))


def _totals(indices: SobolIndices) -> Array:
    varying = [own.total for own in indices.per_output if np.any(own.total)]
    return np.mean(varying, axis=0) if varying else indices.total


def _taken(indices: SobolIndices, order: NDArray[np.intp]) -> SobolIndices:
    each = tuple(_taken(own, order) for own in indices.per_output)
    return SobolIndices(indices.first_order[order], indices.total[order], each)


class Shares(dict[str, float]):
    """Names of features and the share of the variance that is lost without each, largest first; prints as a table."""

    def __repr__(self) -> str:
        longest = max(map(len, self), default=0)
        return "\n".join(f"{name:<{longest}}  {100 * share:5.1f} %" for name, share in self.items()) or "{}"


def shares(result: LearnResult, output: str | int | None = None) -> Shares:
    """Return the total Sobol index of every feature by its name; empty where nothing was found.

    Parameters
    ----------
    result : LearnResult
    output : str or int, optional
        One of several outputs, by name or place; left out, a mean over all of them.
    """
    found = sensitivity(result, count=result.network.n_features) if has_signal(result) else None
    if found is None:
        return Shares()
    totals = found.totals
    if output is not None:
        place = _place(result, output)
        totals = found.indices.per_output[place].total if found.indices.per_output else totals
    names = feature_names(result)
    order = np.argsort(-totals, kind="stable")
    return Shares((names[found.features[place]], float(totals[place])) for place in order)


def _place(result: LearnResult, output: str | int) -> int:
    names = result.output_names
    if output in names:
        return names.index(output)
    if isinstance(output, int) and 0 <= output < len(names):
        return output
    raise InputError(f'"output" of sensitivity must be one of {list(names)} or its place, got {output!r}.')


@dataclass(frozen=True)
class Effect:
    """The network's mean over held-out rows as a function of one feature, the others as they are in the rows.

    Attributes
    ----------
    feature : int
    values : array of shape (n_points,)
        Of the feature.
    means : array of shape (n_points,)
        Of the network's output there.
    rows : array of shape (n_rows,)
        Values of the feature in the rows.
    """

    feature: int
    values: Array
    means: Array
    rows: Array


def effect(f: ShallowNetwork, held_out: Array, feature: int, output: int = 0) -> Effect:
    """Return the effect of one feature on one output (its partial dependence) over held-out rows.

    Cost: O(k) for each row and point.
    """
    X = held_out[:_EFFECT_ROWS]
    own = X[:, feature]
    low, high = np.quantile(held_out[:, feature], [_LEFT_OUT, 1 - _LEFT_OUT])
    values = np.linspace(low, high, _EFFECT_POINTS)
    lam = f.coefficients.reshape(f.n_hidden, f.n_outputs)[:, output]
    w, c = f.linear.reshape(-1, f.n_features)[output], np.ravel(f.intercept)[output]
    before, u = X @ f.units.T + f.biases, f.units[:, feature]
    rest = float(np.mean(X @ w)) + c
    means = [
        rest + w[feature] * (t - own.mean()) + float(np.mean(np.abs(before + np.outer(t - own, u)) @ lam))
        for t in values
    ]
    return Effect(feature, values, np.array(means), own)
