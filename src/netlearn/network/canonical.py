"""The canonical form of a network: one list of parameters for one function, up to rounding.

Every rewriting here leaves the function as it is:

- lambda |<v, x> + b| = lambda |v| |<u, x> + b / |v||, with u = v / |v|;
- |y| = |-y|, so the sign of (u, b) is free and one of the two is chosen;
- equal atoms add their coefficients, and an atom with coefficient zero is no atom.
"""

import numpy as np
from numpy.typing import NDArray

from netlearn.errors import InputError

Array = NDArray[np.float64]

_EPS = np.finfo(np.float64).eps
# A normalised row has length 1 up to the rounding of its entries and of the sum that measures it.
_UNIT_SLACK = 16 * _EPS
# Two roundings of the same unit (normalised from different lengths, or sign-flipped) differ by this much.
_SAME_UNIT = 8 * _EPS
# Teachers and hard instances hold coefficients that are equal by construction; rounding must not order them.
_TIE_DIGITS = 12


def canonical(
    linear: Array, coefficients: Array, units: Array, biases: Array, intercept: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Rewrite a network in canonical form; applying it twice changes nothing.

    Cost: O(k (d + m)) and two sorts of k numbers.

    Parameters
    ----------
    linear : array of shape (m, d)
    coefficients : array of shape (k, m)
    units : array of shape (k, d)
        Rows of any length.
    biases : array of shape (k,)
    intercept : array of shape (m,)

    Returns
    -------
    tuple of arrays
        The same five, with at most k units: rows of length 1, signs fixed, equal units merged, zero
        coefficients dropped, sorted by decreasing coefficient norm.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        linear, coefficients, units, biases, intercept = _normalise(
            linear, coefficients, units, biases, intercept
        )
        flip = _signs(units)
        coefficients, units, biases = _merge(coefficients, flip[:, None] * units, flip * biases)
        order = _order(coefficients, units, biases)
    # Adding zero turns -0.0 into 0.0, so that equal networks are equal byte by byte.
    parts = (
        linear + 0.0,
        coefficients[order] + 0.0,
        units[order] + 0.0,
        biases[order] + 0.0,
        intercept + 0.0,
    )
    if not all(np.isfinite(part).all() for part in parts):
        raise InputError(
            "The parameters of ShallowNetwork must keep finite products (coefficient times length of its "
            "row), but these overflow float64."
        )
    return parts


def _normalise(linear, coefficients, units, biases, intercept):
    """Move the length of each row into its coefficient and bias."""
    # Dividing by the largest entry first keeps the squares of 1e200 and of 1e-200 in range.
    largest = np.abs(units).max(axis=1, initial=0.0)
    scaled = units / np.where(largest > 0, largest, 1.0)[:, None]
    root = np.linalg.norm(scaled, axis=1)
    length = largest * root
    already = np.abs(length - 1.0) <= _UNIT_SLACK
    length[already] = 1.0
    with np.errstate(divide="ignore"):
        distance = np.where(biases == 0, 0.0, biases / length)
    # A row that is zero, or so short that its hyperplane lies beyond the largest float, has one sign
    # wherever it can be evaluated: lambda |<v, x> + b| = lambda sign(b) (<v, x> + b) is affine.
    bends = (length > 0) & np.isfinite(distance)
    constant = coefficients[~bends] * np.where(biases[~bends] < 0, -1.0, 1.0)[:, None]
    linear = linear + constant.T @ units[~bends]
    intercept = intercept + constant.T @ biases[~bends]
    rows = np.where(already[:, None], units, scaled / np.where(root > 0, root, 1.0)[:, None])
    return linear, (coefficients * length[:, None])[bends], rows[bends], distance[bends], intercept


def _signs(units):
    """+1 or -1 per row: the sign of its entry of largest magnitude, the first on ties."""
    size = np.abs(units)
    # Ties are judged up to rounding, or the sign of (a, -a) would depend on the last bit of a.
    leading = np.argmax(size >= (1 - _SAME_UNIT) * size.max(axis=1, initial=0.0, keepdims=True), axis=1)
    return np.sign(units[np.arange(len(units)), leading])


def _merge(coefficients, units, biases):
    """Add the coefficients of equal units, then drop the units whose coefficient is zero."""
    k, d = units.shape
    if k == 0:
        return coefficients, units, biases
    # Equal units are neighbours once sorted along one direction. cos(1), cos(2), ... are linearly
    # independent over the algebraic numbers, so distinct structured units do not share a key.
    key = units @ np.cos(np.arange(1, d + 1)) + np.cos(d + 1) * biases
    order = np.argsort(key, kind="stable")
    coefficients, units, biases = coefficients[order], units[order], biases[order]
    same = np.abs(np.diff(units, axis=0)).max(axis=1, initial=0.0) <= _SAME_UNIT
    same &= np.abs(np.diff(biases)) <= _SAME_UNIT * np.maximum(1.0, np.abs(biases[1:]))
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    total = np.add.reduceat(coefficients, first, axis=0)
    size = np.add.reduceat(np.abs(coefficients), first, axis=0)
    # What is left of coefficients that cancel is the rounding of their sum.
    total[np.abs(total) < _SAME_UNIT * size] = 0.0
    kept = np.any(total != 0, axis=1)
    return total[kept], units[first][kept], biases[first][kept]


def _order(coefficients, units, biases):
    """Decreasing coefficient norm; among equals (to 12 digits) lexicographic in the unit, then the bias."""
    largest = np.abs(coefficients).max(axis=1, initial=0.0)
    scaled = coefficients / np.where(largest > 0, largest, 1.0)[:, None]
    mantissa, exponent = np.frexp(largest * np.linalg.norm(scaled, axis=1))
    size = np.ldexp(np.round(mantissa, _TIE_DIGITS), exponent)
    columns = np.round(units, _TIE_DIGITS).T
    return np.lexsort([np.round(biases, _TIE_DIGITS), *columns[::-1], -size])
