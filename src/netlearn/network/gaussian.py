r"""Closed forms of one and two hidden units under x ~ N(0, I).

Notation: z = <v, x> and z' = <v', x> are standard normal with correlation r, phi and Phi the normal density
and distribution function. With b >= 0 (flip the unit otherwise) the absolute value is affine plus a ramp,

    |z + b| = (z + b) + 2 R,     R = relu(-z - b),     H = 1[z < -b] = -dR/dz,

and both the half-space H and the ramp R fade as b grows. Writing integrals in R and H instead of |z + b|
therefore keeps the digits of units that almost never bend, where b^2 would drown them.

Integrals of pairs follow from Stein's identity, E[z F] = E[dF/dz] + r E[dF/dz'], applied until only

    P = E[H H'],    A = E[delta(z + b) H'],    A' = E[H delta(z' + b')],    D = E[delta(z + b) delta(z' + b')]

are left, delta the Dirac mass; for instance E[R R'] = (r + b b') P - b' A - b A' + (1 - r^2) D.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

Array = NDArray[np.float64]

# phi(40) underflows to zero: further out nothing changes, and b^2 stays finite.
_FAR = 40.0


def density(b: Array) -> Array:
    """Return the standard normal density phi(b)."""
    b = np.clip(b, -_FAR, _FAR)
    return np.exp(-0.5 * b * b) / np.sqrt(2 * np.pi)


def ramp_mean(b: Array) -> Array:
    """Return E[relu(-z - b)] = phi(b) - b Phi(-b), for b >= 0."""
    b = np.minimum(b, _FAR)
    return density(b) - b * ndtr(-b)


def abs_mean(b: Array) -> Array:
    """Return E|z + b| = 2 phi(b) + b (2 Phi(b) - 1), for any b."""
    return np.abs(b) + 2 * ramp_mean(np.abs(b))


class Pair(NamedTuple):
    """Integrals of two half-spaces z < -b and z' < -b'; names and letters as in the module's head.

    Attributes
    ----------
    both : array
        P, the probability of both.
    face, other_face : array
        A and A', the mass of one boundary inside the other half-space.
    ridge : array
        (1 - r^2) D, finite where the boundaries become parallel and D is not.
    sine : array
        sqrt(1 - r^2).
    offset : array
        t = (b' - r b) / sine: on the boundary z = -b the other half-space is {g < -t}, g standard normal.
    """

    both: Array
    face: Array
    other_face: Array
    ridge: Array
    sine: Array
    offset: Array


def pair(r: Array, b: Array, b_prime: Array) -> Pair:
    """Integrate over two half-spaces, entry by entry of arrays that broadcast.

    P = (Phi(-b) + Phi(-b')) / 2 - T(b, t / b) - T(b', t' / b') with Owen's function T; the face is
    A = phi(b) Phi(-t), the ridge sqrt(1 - r^2) exp(-(b^2 + t^2) / 2) / (2 pi).
    Absolute error of each a few rounding units; r = 1 and r = -1 are limits and included.
    Cost: two Owen functions per pair.

    Parameters
    ----------
    r : array
        Correlations; clipped to [-1, 1], which they may leave by rounding.
    b, b_prime : array
        Offsets, >= 0.

    Returns
    -------
    Pair
    """
    r = np.clip(r, -1.0, 1.0)
    b, b_prime = np.minimum(b, _FAR) + 0.0, np.minimum(b_prime, _FAR) + 0.0
    sine = np.sqrt((1 - r) * (1 + r))
    t, t_prime = _offset(r, b, b_prime, sine), _offset(r, b_prime, b, sine)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Both boundaries through the origin: t / b = 0 / 0 has the limit tan(angle / 2) along b = b'.
        centre = np.sqrt((1 - r) / (1 + r))
        origin = (b == 0) & (b_prime == 0)
        slope, slope_prime = np.where(origin, centre, t / b), np.where(origin, centre, t_prime / b_prime)
    both = 0.5 * (ndtr(-b) + ndtr(-b_prime)) - owens_t(b, slope) - owens_t(b_prime, slope_prime)
    return Pair(
        both,
        density(b) * ndtr(-t),
        density(b_prime) * ndtr(-t_prime),
        sine * density(b) * density(t),
        sine,
        t,
    )


def _offset(r: Array, b: Array, b_prime: Array, sine: Array) -> Array:
    """Return (b' - r b) / sqrt(1 - r^2) without cancellation for b near b' and r near 1."""
    gap = np.where(r > 0, (b_prime - b) + b * (1 - r), b_prime - r * b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(gap == 0, 0.0, gap / sine), -_FAR, _FAR)


def ramp_product(r: Array, b: Array, b_prime: Array) -> Array:
    """Return E[R R'] = (r + b b') P - b' A - b A' + (1 - r^2) D, for b, b' >= 0."""
    b, b_prime = np.minimum(b, _FAR), np.minimum(b_prime, _FAR)
    both, face, other_face, ridge, _, _ = pair(r, b, b_prime)
    return (r + b * b_prime) * both - b_prime * face - b * other_face + ridge


def abs_product(r: Array, b: Array, b_prime: Array) -> Array:
    """Return E|z + b||z' + b'|, for any biases; (2 / pi) (sqrt(1 - r^2) + r asin r) without them.

    With b, b' >= 0 it is E of (z + b + 2 R)(z' + b' + 2 R'), and E[(z + b) R'] = b E[R'] - r Phi(-b').

    Parameters
    ----------
    r, b, b_prime : array
        Correlations and biases; they broadcast.

    Returns
    -------
    array
    """
    side, side_prime = np.where(np.signbit(b), -1.0, 1.0), np.where(np.signbit(b_prime), -1.0, 1.0)
    r, b, b_prime = side * side_prime * r, np.abs(b), np.abs(b_prime)
    cross = b * ramp_mean(b_prime) + b_prime * ramp_mean(b) - r * (ndtr(-b) + ndtr(-b_prime))
    return r + b * b_prime + 2 * cross + 4 * ramp_product(r, b, b_prime)
