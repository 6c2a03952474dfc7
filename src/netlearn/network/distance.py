"""Exact moments and distances in L2(gamma), gamma = N(0, I): no sampling, biases and all outputs included."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netlearn.network import nearby
from netlearn.network.ramps import Ramps

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

Array = NDArray[np.float64]

# At this ratio of the result to what was added up, rounding costs the plain form 1e-16 / 1e-10 = 1e-6 of it;
# below, `nearby`, whose error shrinks with the ratio, is the better one.
_CANCELLED = 1e-10


def mean(network: ShallowNetwork) -> Array:
    """Return E f = c + sum_i lambda_i E|z + b_i| per output."""
    return Ramps.of(network).mean()[0]


def variance(network: ShallowNetwork) -> Array:
    """Return Var f per output: the second moment of f - E f."""
    f = Ramps.of(network)
    return _second_moment(replace(f, intercept=f.intercept - f.mean()[0]))


def norm(network: ShallowNetwork) -> float:
    """Return the root of E |f|^2, summed over outputs."""
    return _root(Ramps.of(network))


def distance(network: ShallowNetwork, other: ShallowNetwork) -> float:
    """Return the root of E |f - g|^2, summed over outputs."""
    return _root(Ramps.of_difference(network, other))


def _root(f: Ramps) -> float:
    """Return the root of E |f|^2; the function is scaled first, so that its squares stay in range."""
    parts = (f.linear, f.coefficients, f.coefficients.T * f.biases, f.intercept)
    largest = max(np.abs(part).max(initial=0.0) for part in parts)
    # A power of two, because any other factor would round the differences that `nearby` lives on.
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    g = replace(
        f, linear=f.linear / scale, coefficients=f.coefficients / scale, intercept=f.intercept / scale
    )
    return float(scale * np.sqrt(_second_moment(g).sum()))


def _second_moment(f: Ramps) -> Array:
    """Return E f^2 per output by the form that keeps its digits.

    The plain form is mean^2 + variance, quadratic in the coefficients. Where it cancels to less than 1e-10 of
    what was added up, `nearby.second_moment` takes its place.
    """
    average, average_size = f.mean()
    spread, spread_size = f.variance_given(slice(None))
    value, size = average**2 + spread, average_size**2 + spread_size
    cancelled = value < _CANCELLED * size
    if cancelled.any():
        value[cancelled] = nearby.second_moment(f)[cancelled]
    # A second moment at the rounding level of the parameters may come out below zero.
    return np.maximum(value, 0.0)
