"""Slow and obvious counterparts of the closed forms: quadrature in one variable at a time."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.special import erf

LONG = np.longdouble


def normal_density(z):
    return np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)


def abs_product(r, b, b_prime):
    """E|z + b||z' + b'| as an integral over z, the average over z' given z being one-dimensional."""
    sine = np.sqrt((1 - r) * (1 + r))

    def integrand(z):
        centre = r * z + b_prime
        if sine == 0:
            inner = abs(centre)
        else:
            q = centre / sine
            inner = sine * (2 * normal_density(q) + q * erf(q / np.sqrt(2)))
        return normal_density(z) * abs(z + b) * inner

    kinks = [-b]
    if abs(r) > 1e-3:
        kinks += [-b_prime / r + shift * sine for shift in (-6, -1, 0, 1, 6)]
    nodes = [-12.0, *sorted(kink for kink in kinks if -12 < kink < 12), 12.0]
    return sum(
        quad(integrand, low, high, epsabs=1e-13, epsrel=1e-13, limit=200)[0] for low, high in pairwise(nodes)
    )


def _long_difference(networks, X):
    """f(x) - g(x) in extended precision, for one output."""
    total = np.zeros(len(X), LONG)
    for sign, f in zip((1, -1), networks, strict=True):
        total += sign * (LONG(f.intercept) + X @ f.linear.astype(LONG))
        Z = X @ f.units.astype(LONG).T + f.biases.astype(LONG)
        total += sign * (np.abs(Z) @ f.coefficients.astype(LONG))
    return total


def _gauss_legendre(integrand, nodes):
    """Integral over consecutive intervals, 20 points each: the integrand is analytic between the nodes."""
    points, weights = np.polynomial.legendre.leggauss(20)
    total = LONG(0)
    for low, high in pairwise(nodes):
        half = (high - low) / 2
        total += half * np.sum(weights * integrand(low + half * (1 + points.astype(LONG))))
    return total


def distance_in_the_plane(f, g):
    """Distance of two networks of two features, no biases: E|x|^2 = 2 times an integral over the circle."""
    units = np.concatenate([f.units, g.units]).astype(LONG)
    kinks = np.arctan2(units[:, 0], -units[:, 1])
    turn = 2 * LONG(np.pi)
    arcs = np.concatenate([kinks % turn, (kinks + turn / 2) % turn, turn * np.arange(9) / 8])

    def integrand(angle):
        return _long_difference((f, g), np.stack([np.cos(angle), np.sin(angle)], axis=1)) ** 2

    return float(np.sqrt(2 * _gauss_legendre(integrand, np.sort(arcs)) / turn))


def distance_on_the_line(f, g):
    """Distance of two networks of one feature, biases included."""
    kinks = np.concatenate([-h.biases.astype(LONG) * h.units[:, 0] for h in (f, g)])
    nodes = np.sort(np.concatenate([kinks[np.abs(kinks) < 13], np.arange(-13, 14, dtype=LONG)]))

    def integrand(x):
        return normal_density(x) * _long_difference((f, g), x[:, None]) ** 2

    return float(np.sqrt(_gauss_legendre(integrand, nodes)))
