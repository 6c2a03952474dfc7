"""The split-half noise floor has the law of the noise it stands for."""

import numpy as np
import pytest
from scipy import stats

from netlearn.errors import InputError
from netlearn.moments import MomentSum
from netlearn.subspace import eigenprojector, noise_floor, sine
from tests import statistics

D = 5
U = np.eye(D)[:, :2]
ORDERS = (2, 4)


def run(rng, n):
    """Noise floors and operator errors, per order, of a sample of y = |x_1| + |x_2| / 2, g between both."""
    g = (U[:, 0] + U[:, 1]) / np.sqrt(2)
    X = rng.standard_normal((n, D))
    total = MomentSum(g[None, :], ORDERS)
    total.add(X, np.abs(X[:, 0]) + np.abs(X[:, 1]) / 2)
    moments = total.finalize()
    M = np.stack([np.diag([1.0, 0.5, 0, 0, 0]) * 0.5 ** ((ell - 2) / 2) for ell in ORDERS])
    return noise_floor(*moments.halves)[0], np.linalg.norm(moments.matrices[0] - M, 2, axis=(-2, -1))


@pytest.mark.statistical
def test_floor_and_error_have_one_law():
    # Two-sample Kolmogorov-Smirnov over independent runs, floors from one set and errors from another; one
    # statement per order. Its distance must stay below the width; a floor without the 1/2, twice as large,
    # does not.
    runs, n = 400, 2000
    rng = np.random.default_rng(0)
    floors = np.array([run(rng, n)[0] for _ in range(runs)])
    errors = np.array([run(rng, n)[1] for _ in range(runs)])
    for floor, error in zip(floors.T, errors.T, strict=True):
        assert stats.ks_2samp(floor, error).pvalue >= statistics.FALSE_ALARM_RATE / len(ORDERS)
        assert stats.ks_2samp(2 * floor, error).pvalue < statistics.FALSE_ALARM_RATE / len(ORDERS)


def test_floor_is_the_operator_norm_of_half_the_difference():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, 3, 4, 4))
    A, B = A + np.swapaxes(A, -1, -2), B + np.swapaxes(B, -1, -2)
    np.testing.assert_allclose(noise_floor(A, B), np.linalg.norm((A - B) / 2, 2, axis=(-2, -1)), rtol=1e-12)


def test_a_cut_from_the_floor_finds_the_units():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50_000, D))
    total = MomentSum(U[:, :1].T, ORDERS)
    total.add(X, np.abs(X[:, 0]) + np.abs(X[:, 1]))
    moments = total.finalize()
    eta_hat = float(noise_floor(*moments.halves)[0, 0])
    V = eigenprojector(moments.matrices[0, 0], 3 * eta_hat)
    assert V.shape[1] == 2
    assert sine(V, U) <= 3 * eta_hat / (1 - 3 * eta_hat)  # Davis-Kahan, with 3 eta_hat for the unknown error


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"got shapes \(2, 2\) and \(3, 3\)"):
        noise_floor(np.eye(2), np.eye(3))
