"""The coordinates of a fit are another way to write the same network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from netlearn.fit import Params, Problem, finish
from netlearn.fit.several import Complements
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource
from tests.fit import several
from tests.fit.twins import dense, from_vectors

# Arrays are built from the seed, so a slow first draw (imports, caches) is no finding: no deadline.
laws = settings(max_examples=40, deadline=None, derandomize=True)
shapes = {"k": st.integers(0, 6), "d": st.integers(1, 5), "seed": st.integers(0, 2**32 - 1)}
ATOL = 1000 * np.finfo(float).eps * 30  # sums of up to 7 terms of size 5


def draw(k, d, seed):
    """A network with both signs and biases, and rows."""
    rng = np.random.default_rng(seed)
    network = ShallowNetwork(
        rng.standard_normal(d),
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        rng.standard_normal(k),
        rng.standard_normal(),
    )
    return network, rng.standard_normal((20, d)), rng


def values(params, X):
    return params.linearise(X)[0]


@laws
@given(**shapes)
def test_from_network_and_back_is_the_same_function(k, d, seed):
    network, X, _ = draw(k, d, seed)
    params = Params.from_network(network)
    assert params.n_hidden == network.n_hidden
    np.testing.assert_allclose(values(params, X), network(X), atol=ATOL)
    back = params.to_network()
    assert back.n_hidden == network.n_hidden
    assert back.distance(network) <= 1e-13 * (1 + network.norm())


@laws
@given(**shapes)
def test_values_are_modulators_times_linear_functions(k, d, seed):
    network, X, _ = draw(k, d, seed)
    params = Params.from_network(network)
    f, m = params.linearise(X)
    assert m.shape == (20, network.n_hidden + 1)
    assert set(np.unique(m)) <= {-1.0, 0.0, 1.0}
    for x, value, signs in zip(X, f, m, strict=True):
        by_hand = sum(s * (a[:-1] @ x + a[-1]) for s, a in zip(signs, params.a, strict=True))
        assert value == pytest.approx(by_hand, abs=ATOL)


@laws
@given(**shapes)
def test_sums_are_those_of_the_dense_matrix(k, d, seed):
    network, X, rng = draw(k, d, seed)
    params, y = Params.from_network(network), rng.standard_normal(20)
    F, e = dense(X, y, params.linearise)
    squares, gradient = params.sums(X, y)
    assert squares == pytest.approx(np.sum(e**2), rel=1e-12)
    assert gradient.shape == params.shape(True).free().shape
    np.testing.assert_allclose(gradient.ravel(), F.T @ e, atol=ATOL * np.abs(F).sum() * np.abs(e).max())


@laws
@given(**shapes)
def test_joined_is_the_sum_and_keep_a_part_of_it(k, d, seed):
    network, X, rng = draw(k, d, seed)
    other, _, _ = draw(3, d, seed + 1)
    first, second = Params.from_network(network), Params.from_network(other)
    both = first.joined(second)
    np.testing.assert_allclose(values(both, X), network(X) + other(X), atol=2 * ATOL)
    mask = rng.random(both.n_hidden) < 0.5
    kept, rest = both.keep(mask), both.keep(np.flatnonzero(~mask))
    assert kept.n_hidden == mask.sum()
    affine = values(both.keep(np.zeros(both.n_hidden, dtype=bool)), X)
    np.testing.assert_allclose(values(kept, X) + values(rest, X) - affine, values(both, X), atol=4 * ATOL)


@laws
@given(**shapes, scale=st.sampled_from([-3.0, -1.0, 0.5, 2.0]))
def test_a_move_that_keeps_the_pattern_follows_the_linearisation(k, d, seed, scale):
    # Units scaled by any factor, negative ones included, keep their hyperplanes: f is linear on the way.
    network, X, rng = draw(k, d, seed)
    params = Params.from_network(network)
    step = (scale - 1.0) * params.a
    step[0] = rng.standard_normal(d + 1)
    _, m = params.linearise(X)
    predicted = np.einsum("nj,nj->n", m, X @ (params.a + step)[:, :-1].T + (params.a + step)[:, -1])
    np.testing.assert_allclose(values(params.moved(step), X), predicted, atol=4 * ATOL)
    # Negative control: without the change of sign the units would come out reflected.
    if scale < 0 and network.n_hidden:
        wrong = from_vectors(params.a + step, params.C)
        assert np.max(np.abs(values(wrong, X) - predicted)) > 1e-6


@laws
@given(**shapes)
def test_a_start_from_planes_has_their_kinks_and_no_size(k, d, seed):
    _, X, rng = draw(k, d, seed)
    planes = rng.standard_normal((k + 1, d + 1))
    start = Params.from_planes(planes)
    f, m = start.linearise(X)
    np.testing.assert_array_equal(m[:, 1:], np.sign(X @ planes[:, :-1].T + planes[:, -1]))
    assert np.max(np.abs(f)) < 1e-7


@laws
@given(**shapes)
def test_other_forms_of_a_network_are_what_they_say(k, d, seed):
    network, X, rng = draw(k, d, seed)
    params = Params.from_network(network)
    np.testing.assert_allclose(values(params.scaled(2.5), X), 2.5 * network(X), atol=4 * ATOL)
    np.testing.assert_allclose(params.residual(X, network(X)), 0.0, atol=ATOL)
    V = rng.standard_normal((d + 2, d))
    Z = rng.standard_normal((20, d + 2))
    np.testing.assert_allclose(values(params.in_coordinates(V), Z), network(Z @ V), atol=30 * ATOL)
    filled = params.filled(params.n_hidden + 2)
    assert filled.n_hidden == params.n_hidden + 2
    np.testing.assert_allclose(values(filled, X), network(X), atol=ATOL)
    homogeneous = params.without_biases()
    assert not homogeneous.has_biases
    assert params.has_biases == (params.n_hidden > 0)
    np.testing.assert_array_equal(homogeneous.planes[:, :-1], params.planes[:, :-1])
    np.testing.assert_array_equal(homogeneous.affine, params.affine)
    np.testing.assert_array_equal(
        np.abs(np.sum(params.signs(X) * np.sign(X @ params.planes[:, :-1].T + params.planes[:, -1]), axis=0)),
        np.full(params.n_hidden, len(X)),
    )


# Several outputs.

N, D, K, M = 61, 4, 3, 3


def several_outputs():
    """Rows of one network and another network, whose residuals are of order one."""
    rows = several.planted(several.network(K, D, M, 0), N, 1)
    return rows, Params.from_network(several.network(K, D, M, 2))


def test_weights_of_planes_are_those_of_least_squares():
    rows, at = several_outputs()
    found = Params.fitted(7.0 * at.planes, rows)
    F = np.hstack([rows.X, np.ones((N, 1)), np.abs(rows.X @ at.planes[:, :-1].T + at.planes[:, -1])])
    best = np.linalg.lstsq(F, rows.y, rcond=None)[0]
    np.testing.assert_allclose(found.linearise(rows.X)[0], F @ best, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(found.C, axis=1), 1.0)
    cosines = np.sum(found.planes * at.planes, axis=1)
    np.testing.assert_allclose(
        cosines, np.linalg.norm(found.planes, axis=1) * np.linalg.norm(at.planes, axis=1)
    )


def test_planes_that_coincide_or_vanish_do_no_harm():
    rows, at = several_outputs()
    planes = np.vstack([at.planes, -2.0 * at.planes[:1], np.zeros((1, D + 1))])
    found, expected = (Params.fitted(part, rows).linearise(rows.X)[0] for part in (planes, at.planes))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    fit = finish(Problem(rows, True), Params.fitted(planes, rows), max_rounds=8)
    assert np.all(np.diff(fit.trace) < 0)
    assert np.all(np.isfinite(fit.params.planes))


def test_a_unit_that_no_output_uses_keeps_its_plane():
    rows = several.planted(several.network(1, D, M, 0), N, 1)
    exact = ArraySource(rows.X, np.zeros((N, M)))
    plane = np.arange(1.0, D + 2)
    found = Params.fitted(plane[None], exact)
    assert 0 < np.linalg.norm(found.planes) < 1e-6
    np.testing.assert_allclose(found.planes[0] / np.linalg.norm(found.planes), plane / np.linalg.norm(plane))
    np.testing.assert_allclose(found.linearise(rows.X)[0], 0.0, atol=1e-6)


@pytest.mark.parametrize("length", [1e-150, 1e-9, 1.0, 1e9])
def test_no_unit_grows_by_more_than_its_step(length):
    # The new unit is the nearest matrix of rank one, so it is no longer than what the step made of the old one.
    _, at = several_outputs()
    at = Params(at.affine, length * at.planes, at.C)
    rng = np.random.default_rng(6)
    for size in (1e-3, 1.0, 1e3):
        step = size * rng.standard_normal((M + K, D + M))
        moved = at.moved(step)
        E = Complements(at.C).vectors(step[M:, D + 1 :])
        unit = at.planes / np.linalg.norm(at.planes, axis=1, keepdims=True)
        for i in range(K):
            wanted = np.outer(at.C[i], at.planes[i] + step[M + i, : D + 1]) + np.outer(E[i], unit[i])
            U, s, V = np.linalg.svd(wanted)
            new = np.outer(moved.C[i], moved.planes[i])
            np.testing.assert_allclose(new, s[0] * np.outer(U[:, 0], V[0]), atol=1e-12 * s[0])
            assert moved.planes[i] @ at.planes[i] >= 0


def test_the_same_function_in_every_form():
    f = several.network(K, D, M, 0)
    at, v = Params.from_network(f), np.array([0.3, -2.0, 1.0])
    X = np.random.default_rng(1).standard_normal((50, D))
    np.testing.assert_allclose(at.linearise(X)[0], f(X), atol=1e-13)
    np.testing.assert_allclose(at.mixed(v).linearise(X)[0], f(X) @ v, atol=1e-13)
    assert at.to_network().distance(f) < 1e-14 * f.norm()
    assert at.keep(np.array([2, 0])).n_hidden == 2
    np.testing.assert_allclose(
        at.keep(np.array([1])).linearise(X)[0] - at.keep(np.zeros(K, bool)).linearise(X)[0],
        np.outer(np.abs(X @ f.units[1] + f.biases[1]), f.coefficients[1]),
        atol=1e-13,
    )


# What a unit adds that no affine function could


def unit(length, b, d=4):
    """One unit length |<u, x> + b| with u along a random direction."""
    u = np.random.default_rng(0).standard_normal(d)
    u /= np.linalg.norm(u)
    return Params(np.zeros((1, d + 1)), length * np.append(u, b)[None], np.ones((1, 1)))


def outside_affine(b):
    """Root of the least mean square of |z + b| - alpha - beta z over alpha and beta, by quadrature."""

    def mean(f):
        return sum(
            quad(lambda z: f(z) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), *ends, epsabs=1e-14)[0]
            for ends in ((-12.0, -b), (-b, 12.0))
        )

    alpha, beta = mean(lambda z: abs(z + b)), mean(lambda z: z * abs(z + b))
    return np.sqrt(mean(lambda z: (abs(z + b) - alpha - beta * z) ** 2))


@pytest.mark.parametrize("b", [0.0, 0.3, -1.0, 2.5, -4.0])
@pytest.mark.parametrize("length", [1.0, 1e-3, 7.0])
def test_strength_is_what_no_affine_function_can_do(length, b):
    assert unit(length, b).kink_strengths()[0] == pytest.approx(length * outside_affine(b), rel=1e-6)


def test_strength_far_out_is_zero_and_never_nan():
    # The formula subtracts numbers of size 1 + b^2: its square is known to 1000 eps (1 + b^2).
    for b in (9.0, 1e2, 1e5, 1e300):
        strength = unit(1.0, b).kink_strengths()[0]
        assert 0.0 <= strength <= np.sqrt(1000 * np.finfo(float).eps) * (1 + min(b, 1e3))
    assert unit(0.0, 0.0).kink_strengths()[0] == 0.0
    assert len(Params.affine_only(np.ones((1, 5))).kink_strengths()) == 0
