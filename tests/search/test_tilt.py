"""Fits inside V by ridge regression, and the tilt of V: quadratic near the planted plane, and far enough reaching."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Params, Problem
from netlearn.search.starts import spread_planes
from netlearn.search.tilt import _RIDGES, fit_in_subspace, fixed_fit, inside, tilted
from netlearn.source import ArraySource
from netlearn.subspace import sine
from tests.fit.twins import dense, planted
from tests.search.searches import noisy

D, K, N = 10, 4, 4000


def problem(seed):
    """A hard plane with labels of unit variance, its basis P, and an orthonormal W orthogonal to it."""
    rng = np.random.default_rng(seed)
    network = teachers.hard_plane(K, D, rng)
    network = network * float(1 / np.sqrt(network.variance()))
    P = np.linalg.svd(network.units)[2][:2].T
    W = rng.standard_normal((D, 2))
    W = np.linalg.qr(W - P @ (P.T @ W))[0]
    return network, planted(network, N, seed + 1), P, W


def at_sine(P, W, s):
    return np.sqrt(1 - s**2) * P + s * W


@pytest.mark.parametrize("seed", range(3))
def test_the_tilt_squares_the_sine(seed):
    # Rows within s of a kink, a share s of them, have their sign wrong by an amount s: to second order the
    # tilt is off by a constant times s^2. With 4000 rows and units of order one that constant is near 3; 10
    # leaves room for the seed. A tilt linear in s could not pass: from 0.1 to 0.003 it would have to gain 30.
    network, rows, P, W = problem(seed)
    fit = Params.from_network(network.precompose(P))
    for s in (0.1, 0.03, 0.01, 0.003):
        V = tilted(rows, at_sine(P, W, s), fit, fit.a)
        np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
        assert sine(V, P) <= 10 * s**2


def test_a_tilt_with_the_wrong_fit_goes_astray():
    # Negative control: the same step with the fit's coefficients negated moves V away from the plane.
    network, rows, P, W = problem(0)
    fit = Params.from_network(network.precompose(P))
    V = tilted(rows, at_sine(P, W, 0.1), fit, -fit.a)
    assert sine(V, P) > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_vectors_fitted_to_random_signs_tilt_as_well(seed):
    # The first tilts know no unit: the best vectors for the signs of 16 random ones describe the function well enough
    # to take off most of the angle. Those of two do not.
    _, rows, P, W = problem(seed)
    V = at_sine(P, W, 0.1)
    sines = []
    for width in (2, 16):
        gates = Params.from_planes(spread_planes(width, 2, np.random.default_rng(seed), biases=False))
        a, _ = fixed_fit(Problem(inside(rows, V, N), False), gates)
        sines.append(sine(tilted(rows, V, gates, a), P))
    assert sines[1] < 0.03
    assert sines[0] > 0.06


@pytest.mark.parametrize(("biases", "noise", "n"), [(False, 0.0, 400), (True, 0.3, 400), (True, 3.0, 60)])
def test_a_fixed_fit_is_ridge_regression_with_the_weight_of_least_cross_validated_error(biases, noise, n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    gates = Params.from_planes(spread_planes(8, 3, rng, biases=biases))
    F, _ = dense(X, np.zeros(n), gates.linearise)
    free = gates.shape(biases).free().astype(bool)
    F = F[:, free.ravel()]
    rows = ArraySource(X, F @ rng.standard_normal(F.shape[1]) / 3 + noise * rng.standard_normal(n))
    tried = []
    for ridge in _RIDGES:
        # By the augmented matrix: rows sqrt(n ridge) I with labels zero below those of F.
        root = np.sqrt(n * ridge) * np.eye(F.shape[1])
        solution = np.linalg.lstsq(np.vstack([F, root]), np.append(rows.y, np.zeros(len(root))), rcond=None)[
            0
        ]
        hat = F @ np.linalg.inv(F.T @ F + n * ridge * np.eye(F.shape[1])) @ F.T
        left = np.mean((rows.y - F @ solution) ** 2)
        tried.append((left / (1 - np.trace(hat) / n) ** 2, solution))
    expected, solution = min(tried, key=lambda pair: pair[0])
    a, error = fixed_fit(Problem(rows, biases), gates)
    assert error == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(a[free], solution, atol=1e-6)
    assert not a[~free].any()
    # The three kinds of labels ask for different weights: none, some, and much.
    best = int(np.argmin([pair[0] for pair in tried]))
    assert {0.0: best >= 8, 0.3: 2 <= best <= 7, 3.0: best <= 2}[noise]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("s", [0.3, 0.6])
def test_the_plane_of_a_hard_instance_is_found(seed, s):
    # A fit of loss L inside V leaves an angle of order sqrt(L): the labels have unit variance, so that a
    # rotation by s costs a loss of order s^2.
    _, rows, P, W = problem(seed)
    fit, V = fit_in_subspace(
        Problem(rows, False), at_sine(P, W, s), 2 * K + 2, np.random.default_rng(seed), max_tilts=11
    )
    assert fit.loss < 1e-6
    assert sine(V, P) < 3 * np.sqrt(1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_plane_of_cancelling_weights_is_found_from_a_rough_guess(seed):
    # Units in one plane whose weights add up to zero: moments of low order see next to nothing of it.
    network = teachers.hard_plane(6, 12, seed)
    assert abs(network.coefficients.sum()) < 1e-12
    rows, _ = noisy(network, 20_000, seed)
    P = np.linalg.svd(network.units)[2][:2].T
    rng = np.random.default_rng(100 + seed)
    V = np.linalg.qr(P + 0.08 * rng.standard_normal((12, 2)))[0]
    assert sine(V, P) > 0.25
    fit, V = fit_in_subspace(Problem(rows, False), V, 20, rng, max_tilts=11)
    assert fit.loss < 1e-4
    assert sine(V, P) < 0.01


def test_out_of_time_nothing_is_tilted():
    _, rows, P, W = problem(0)
    V = at_sine(P, W, 0.3)
    late = Problem(rows, False, deadline=lambda: True)
    fit, same = fit_in_subspace(late, V, 6, np.random.default_rng(0), max_tilts=11)
    np.testing.assert_array_equal(same, V)
    assert len(fit.trace) == 1


@pytest.mark.parametrize("s", [0.3, 1.0])
def test_without_tilts_the_plane_stays_and_explains_what_it_sees_of_the_labels(s):
    # Negative control: it is the tilts that find the plane. Of the orthogonal one the labels are independent.
    _, rows, P, W = problem(0)
    V = at_sine(P, W, s)
    fit, same = fit_in_subspace(Problem(rows, False), V, 2 * K + 2, np.random.default_rng(0), max_tilts=0)
    np.testing.assert_array_equal(same, V)
    assert fit.loss > (0.9 if s == 1.0 else 0.1)


def test_inside_and_back_is_one_function():
    rng = np.random.default_rng(3)
    V = np.linalg.qr(rng.standard_normal((D, 3)))[0]
    X, y = rng.standard_normal((50, D)), rng.standard_normal(50)
    some = inside(ArraySource(X, y), V, 20)
    assert (some.n_rows, some.n_features) == (20, 3)
    params = Params.from_network(teachers.random(5, 3, rng, biases=1.0))
    np.testing.assert_allclose(
        params.in_coordinates(V).linearise(X[:20])[0], params.linearise(some.X)[0], atol=1e-13
    )
    np.testing.assert_array_equal(some.y, y[:20])
    assert inside(ArraySource(X, y), V, 1000).n_rows == 50
