import math

import numpy as np
import pytest
import torch
from scipy import integrate, special

from netlearn.errors import InputError
from netlearn.moments import abs_hermite_coefficient, hermite
from netlearn.moments.polynomials import noise_gain, normalised_hermite
from tests.reference.tensors import paper_C


@pytest.mark.parametrize("m", range(12))
def test_hermite_agrees_with_scipy(m):
    z = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(hermite(m, z), special.eval_hermitenorm(m, z), rtol=1e-12, atol=1e-9)


def test_hermite_of_an_integer_is_an_integer():
    assert [hermite(m, 2) for m in range(5)] == [1, 2, 3, 2, -5]


@pytest.mark.parametrize("xp", [np, torch])
def test_normalised_hermite_is_he_over_root_factorial(xp):
    z = xp.linspace(-4, 4, 17, dtype=xp.float64)
    table = normalised_hermite(9, z)
    for m in range(10):
        np.testing.assert_allclose(
            table[m], hermite(m, z) / math.sqrt(math.factorial(m)), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("degree", [0, 1])
def test_normalised_hermite_of_the_lowest_degrees(degree):
    assert normalised_hermite(degree, np.zeros(3)).shape == (degree + 1, 3)


@pytest.mark.parametrize("ell", [0, 2, 4, 6, 8, 10])
def test_coefficient_is_the_gaussian_integral(ell):
    def density(z):
        return z * special.eval_hermitenorm(ell, z) * math.exp(-z * z / 2) * math.sqrt(2 / math.pi)

    expected, _ = integrate.quad(density, 0, 14, epsabs=1e-12, epsrel=1e-12, limit=200)
    assert abs_hermite_coefficient(ell) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("ell", range(2, 17, 2))
def test_coefficient_in_terms_of_the_paper(ell):
    assert abs_hermite_coefficient(ell) == pytest.approx(
        2 * paper_C(ell) * math.sqrt(math.factorial(ell)), rel=1e-12
    )


@pytest.mark.parametrize("ell", range(2, 161, 2))
def test_noise_gain_is_root_factorial_over_coefficient(ell):
    expected = math.sqrt(math.factorial(ell - 2)) / abs_hermite_coefficient(ell)
    assert noise_gain(ell) == pytest.approx(expected, rel=1e-12)


def test_high_orders_stay_finite():
    # 302 is the last order c_ell has in float64; the ratio r_ell knows no such limit and grows like
    # ell^(1/4).
    assert math.isfinite(abs_hermite_coefficient(302))
    assert abs(noise_gain(10_002)) == pytest.approx(
        math.sqrt(math.pi / 2) * (5000 * math.pi) ** 0.25, rel=1e-4
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hermite(-1, 0.0), "m, .* >= 0; got -1"),
        (lambda: abs_hermite_coefficient(3), "even integer >= 0; got 3.*vanish"),
        (lambda: abs_hermite_coefficient(-2), "even integer >= 0; got -2"),
        (lambda: abs_hermite_coefficient(304), "at most 302; got 304"),
    ],
)
def test_bad_degrees_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
