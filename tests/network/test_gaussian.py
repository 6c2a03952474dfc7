from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr

from netlearn.network.gaussian import abs_mean, abs_product, pair, ramp_mean, ramp_product
from tests.network import twins

# Quadrature is asked for 1e-13 on up to eight pieces; the closed form adds a few rounding units of b b'.
TOLERANCE = 1e-12

correlation = st.floats(-1, 1)
bias = st.floats(-6, 6)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(correlation, bias, bias)
@example(1.0, 0.5, 0.5)
@example(1.0, 0.5, -0.5)
@example(-1.0, 0.5, 0.5)
@example(1.0, 0.0, 0.0)
@example(-1.0, 0.0, 0.0)
@example(1 - 1e-15, 0.7, 0.7)
@example(1 - 1e-12, 0.7, 0.7 + 1e-9)
@example(-1 + 1e-10, 2.0, -2.0)
@example(0.3, 0.0, 1.0)
@example(0.3, -0.0, -1.0)
@example(0.0, 1e-300, -1e-300)
def test_pair_of_atoms_agrees_with_quadrature(r, b, b_prime):
    expected = twins.abs_product(r, b, b_prime)
    assert abs_product(r, b, b_prime) == pytest.approx(expected, abs=TOLERANCE, rel=TOLERANCE)


def test_without_biases_it_is_the_arcsine_formula():
    r = np.linspace(-1, 1, 201)
    expected = 2 / np.pi * (np.sqrt(1 - r**2) + r * np.arcsin(r))
    np.testing.assert_allclose(abs_product(r, 0.0, 0.0), expected, rtol=0, atol=4e-16)


@pytest.mark.parametrize("b", [0.0, 0.3, -1.7, 5.0, -30.0, 1e8, 1e200])
def test_mean_of_an_atom(b):
    if abs(b) < 13:
        nodes = sorted([-13.0, -b, 13.0])
        expected = sum(
            quad(lambda z: twins.normal_density(z) * abs(z + b), low, high, epsabs=1e-14)[0]
            for low, high in pairwise(nodes)
        )
    else:
        expected = abs(b)
    assert abs_mean(b) == pytest.approx(expected, abs=1e-13, rel=1e-15)


def test_far_units_keep_their_digits():
    """|z + b| = z + b to within Phi(-b): the product is r + b b' exactly, and nothing overflows."""
    assert abs_product(0.3, 1e8, 1e8) == 1e16
    assert abs_product(0.3, 12.0, -13.0) == pytest.approx(156 - 0.3, rel=1e-15)
    assert ramp_product(0.3, 1e200, 1e200) == 0.0
    assert ramp_mean(9.0) == pytest.approx(9.0**-2 * np.exp(-40.5) / np.sqrt(2 * np.pi), rel=0.05)


def test_half_spaces_of_a_unit_with_itself():
    """The limit r = 1: P = Phi(-b), both faces phi(b) / 2, no ridge."""
    b = np.array([0.0, 0.4, 3.0])
    both, face, other_face, ridge, sine, offset = pair(1.0, b, b)
    np.testing.assert_allclose(both, ndtr(-b), rtol=4e-16)
    np.testing.assert_allclose(face + other_face, twins.normal_density(b), rtol=4e-16)
    assert not ridge.any()
    assert not sine.any()
    assert not offset.any()


def test_independent_half_spaces():
    b, c = np.array([0.0, 0.5, 2.0]), np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(pair(0.0, b, c).both, ndtr(-b) * ndtr(-c), rtol=0, atol=2e-16)
