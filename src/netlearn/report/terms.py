r"""A network as people write it: a linear part and ReLUs, f(x) = c + <w, x> + sum_i mu_i relu(<v_i, x> + b_i).

`ShallowNetwork.to_relu` writes what is left of the linear part with pairs of opposite ReLUs. Here a pair is folded,

    a relu(z) + b relu(-z) = (a + b) relu(z) - b z,

so that as many ReLUs as units are left, and the linear part stands for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netlearn.report.measures import feature_spreads

if TYPE_CHECKING:
    from netlearn.network import ShallowNetwork
    from netlearn.result import LearnResult

Array = NDArray[np.float64]

# Rounding a formula for reading may move predictions by this share of the labels' spread.
_MOVED = 1e-3
# A term below this share of it is left out.
_NO_TERM = 1e-6
# Digits that are tried, and those of a formula that no rows can be tried on.
_FEWEST_DIGITS, _MOST_DIGITS, _UNTRIED = 3, 15, 6


@dataclass(frozen=True)
class Terms:
    """The parameters, for m outputs.

    Attributes
    ----------
    intercept : array of shape (m,)
    linear : array of shape (m, d)
    weights : array of shape (k, d)
    biases : array of shape (k,)
    outputs : array of shape (k, m)
    """

    intercept: Array
    linear: Array
    weights: Array
    biases: Array
    outputs: Array

    @classmethod
    def of(cls, network: ShallowNetwork) -> Terms:
        """Write a network in this form."""
        weights, outputs, biases, intercept = network.to_relu()
        m, d = network.n_outputs, network.n_features
        outputs = outputs.reshape(len(weights), m).copy()
        planes = np.column_stack([weights, biases])
        places = {plane.tobytes(): place for place, plane in enumerate(planes)}
        linear, offset, kept = np.zeros((m, d)), np.reshape(intercept, m).astype(float), []
        for place, plane in enumerate(planes):
            opposite = places.get((-plane + 0.0).tobytes(), place)
            if opposite < place:
                continue  # folded into its partner
            if opposite > place:
                folded = outputs[opposite].copy()
                linear -= np.outer(folded, weights[place])
                offset = offset - folded * biases[place]
                outputs[place] += folded
            if np.any(outputs[place]):
                kept.append(place)
        return cls(offset, linear, weights[kept], biases[kept], outputs[kept])

    def __call__(self, X: Array) -> Array:
        """Return the values at the rows of X, shape (n, m)."""
        return (
            self.intercept
            + X @ self.linear.T
            + np.maximum(X @ self.weights.T + self.biases, 0.0) @ self.outputs
        )

    @property
    def n_hidden(self) -> int:
        """Number of ReLUs."""
        return len(self.weights)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.intercept)

    def absorbed(self) -> Terms:
        """Return the same function of one output with mu_i = 1 or -1, its size inside the ReLU."""
        size = np.abs(self.outputs[:, 0])
        return replace(
            self,
            weights=self.weights * size[:, None],
            biases=self.biases * size,
            outputs=np.sign(self.outputs),
        )

    def rounded(self, digits: int, small: Array | None = None) -> Terms:
        """Return it with so many digits, and without entries below `small`, given for a constant and each feature."""
        limit = np.zeros(1 + self.linear.shape[1]) if small is None else small

        def shown(part: Array, below: Array | float) -> Array:
            return np.where(np.abs(part) < below, 0.0, _rounded(part, digits))

        return Terms(
            shown(self.intercept, limit[0]),
            shown(self.linear, limit[1:]),
            shown(self.weights, limit[1:]),
            shown(self.biases, limit[0]),
            _rounded(self.outputs, digits),
        )


def _rounded(values: Array, digits: int) -> Array:
    return np.array([float(f"{value:.{digits}g}") for value in values.flat]).reshape(values.shape)


def readable(result: LearnResult) -> Terms:
    """Return the network with as few digits as keep its predictions, to a thousandth of the labels' spread.

    Of one output the sizes of the units are taken into them. Without rows to try it on, six digits.
    """
    terms = Terms.of(result.network)
    if terms.n_outputs == 1:
        terms = terms.absorbed()
    if result.held_out is None or len(result.held_out.y) < 2:
        return terms.rounded(_UNTRIED)
    X = result.held_out.X
    exact = terms(X)
    spread = np.std(exact, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    small = None
    if terms.n_outputs == 1:
        # A term that is this small in every row is no term at all.
        reach = np.max(np.abs(np.column_stack([np.ones(len(X)), X])), axis=0)
        small = _NO_TERM * spread[0] / np.where(reach > 0, reach, np.inf)
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        shown = terms.rounded(digits, small)
        if np.max(np.abs(shown(X) - exact) / spread) <= _MOVED:
            return shown
    return terms


@dataclass(frozen=True)
class Unit:
    """A ReLU in words' terms: features in standard deviations from their mean over the held-out rows.

    Attributes
    ----------
    weights : array of shape (d,)
        Of length one.
    threshold : float
        Value of <weights, z> at which the unit switches on.
    slopes : array of shape (m,)
        Change of each output for a step of one in <weights, z> beyond the threshold.
    active : float or None
        Share of the held-out rows on which it is switched on; None without rows.
    """

    weights: Array
    threshold: float
    slopes: Array
    active: float | None


def units(result: LearnResult) -> list[Unit]:
    """Return the ReLUs in units of the features' spread, those that move the outputs most first."""
    terms, spreads = Terms.of(result.network), feature_spreads(result)
    X = None if result.held_out is None else result.held_out.X
    centre = np.zeros(len(spreads)) if X is None else X.mean(axis=0)
    found = []
    for v, b, mu in zip(terms.weights, terms.biases, terms.outputs, strict=True):
        scaled = v * spreads
        # A unit of features that do not vary keeps its weights as they are.
        size = float(np.linalg.norm(scaled)) or 1.0
        active = None if X is None else float(np.mean(X @ v + b > 0))
        found.append(Unit(scaled / size, -float(b + v @ centre) / size, mu * size, active))
    return sorted(found, key=lambda unit: -float(np.linalg.norm(unit.slopes)))


def linear_slopes(result: LearnResult) -> Array:
    """Return the change of each output for one standard deviation of each feature outside the ReLUs, shape (m, d)."""
    return Terms.of(result.network).linear * feature_spreads(result)
