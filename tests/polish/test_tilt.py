"""The tilt of V: quadratic near the planted plane, and far enough reaching to be of use."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.polish import Iterate
from netlearn.polish.tilt import fit_in_subspace, inside, lift, tilted
from netlearn.source import ArraySource
from netlearn.subspace import sine
from tests.polish.twins import planted

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
    fit = Iterate.from_network(network.precompose(P))
    for s in (0.1, 0.03, 0.01, 0.003):
        V = tilted(rows, at_sine(P, W, s), fit)
        np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
        assert sine(V, P) <= 10 * s**2


def test_a_tilt_with_the_wrong_fit_goes_astray():
    # Negative control: the same step with the fit's coefficients negated moves V away from the plane.
    network, rows, P, W = problem(0)
    fit = Iterate.from_network(network.precompose(P))
    V = tilted(rows, at_sine(P, W, 0.1), Iterate(fit.a, -fit.sigma))
    assert sine(V, P) > 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("s", [0.3, 0.6])
def test_the_plane_of_a_hard_instance_is_found(seed, s):
    # A fit of loss L inside V leaves an angle of order sqrt(L): the labels have unit variance, so that a
    # rotation by s costs a loss of order s^2.
    _, rows, P, W = problem(seed)
    fit, V = fit_in_subspace(
        rows, at_sine(P, W, s), 2 * K + 2, np.random.default_rng(seed), biases=False, max_tilts=11
    )
    assert fit.loss < 1e-6
    assert sine(V, P) < 3 * np.sqrt(1e-6)


def test_nothing_is_found_from_the_orthogonal_plane():
    # Negative control: what V does not see at all, no tilt can find; the fit says so by its loss.
    _, rows, P, W = problem(0)
    fit, V = fit_in_subspace(rows, W, 2 * K + 2, np.random.default_rng(0), biases=False, max_tilts=11)
    assert fit.loss > 0.9
    assert sine(V, P) > 0.9


def test_inside_and_lift_are_one_function():
    rng = np.random.default_rng(3)
    V = np.linalg.qr(rng.standard_normal((D, 3)))[0]
    X, y = rng.standard_normal((50, D)), rng.standard_normal(50)
    some = inside(ArraySource(X, y), V, 20)
    assert (some.n_rows, some.n_features) == (20, 3)
    iterate = Iterate.from_network(teachers.random(5, 3, rng, biases=1.0))
    np.testing.assert_allclose(
        lift(iterate, V).linearise(X[:20])[0], iterate.linearise(some.X)[0], atol=1e-13
    )
    np.testing.assert_array_equal(some.y, y[:20])
    assert inside(ArraySource(X, y), V, 1000).n_rows == 50
