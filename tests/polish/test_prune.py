"""Merging and dropping units."""

import numpy as np
import pytest
from scipy.integrate import quad

from netlearn import teachers
from netlearn.polish import Iterate, ModulatedSystem, drop_weakest, kink_strengths, merge
from netlearn.polish.iterate import free_entries
from netlearn.polish.prune import drop_least_missed
from netlearn.polish.solve import direct
from tests.polish.twins import planted

D = 4


def unit(length, b):
    """One unit length |<u, x> + b| with u along a random direction."""
    u = np.random.default_rng(0).standard_normal(D)
    u /= np.linalg.norm(u)
    return Iterate(np.vstack([np.zeros(D + 1), length * np.append(u, b)]), np.ones(1))


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
    assert kink_strengths(unit(length, b))[0] == pytest.approx(length * outside_affine(b), rel=1e-6)


def test_strength_far_out_is_zero_and_never_nan():
    # The formula subtracts numbers of size 1 + b^2: its square is known to 1000 eps (1 + b^2).
    for b in (9.0, 1e2, 1e5, 1e300):
        strength = kink_strengths(unit(1.0, b))[0]
        assert 0.0 <= strength <= np.sqrt(1000 * np.finfo(float).eps) * (1 + min(b, 1e3))
    assert kink_strengths(unit(0.0, 0.0))[0] == 0.0


def rows():
    return np.random.default_rng(1).standard_normal((200, D))


def split(iterate, shares, signs):
    """The same function with every unit i as several: shares of it, each written with either sign of a_i."""
    a, sigma = [iterate.a[0]], []
    for a_i, s in zip(iterate.a[1:], iterate.sigma, strict=True):
        for share, sign in zip(shares, signs, strict=True):
            a.append(sign * abs(share) * a_i)
            sigma.append(s * np.sign(share))
    return Iterate(np.array(a), np.array(sigma))


@pytest.mark.parametrize(
    ("shares", "signs"),
    [
        ((0.5, 0.5), (1, 1)),
        ((0.7, 0.3), (1, -1)),
        ((0.2, 0.3, 0.5), (-1, 1, -1)),
        ((1.5, -0.5), (1, 1)),
        ((2.0, -3.0, 2.0), (1, -1, 1)),
        ((-3.0, 4.0), (-1, -1)),
    ],
)
def test_exact_duplicates_merge_and_the_function_stays(shares, signs):
    network = teachers.random(3, D, 2, biases=0.5)
    many = split(Iterate.from_network(network), shares, signs)
    X = rows()
    np.testing.assert_allclose(many.linearise(X)[0], network(X), atol=1e-12)
    merged = merge(many, 1e-6)
    assert merged.n_hidden == 3
    np.testing.assert_allclose(merged.linearise(X)[0], network(X), atol=1e-12)


def test_duplicates_that_cancel_leave_nothing():
    network = teachers.random(2, D, 2, biases=0.5)
    nothing = merge(split(Iterate.from_network(network), (1.0, -1.0), (1, -1)), 1e-6)
    np.testing.assert_allclose(nothing.linearise(rows())[0], rows() @ network.linear + network.intercept)
    assert np.max(kink_strengths(nothing)) < 1e-15
    assert nothing.to_network().n_hidden == 0


@pytest.mark.parametrize("at_least", range(8))
def test_at_least_is_respected(at_least):
    network = teachers.random(3, D, 2)
    many = split(Iterate.from_network(network), (0.5, 0.3, 0.2), (1, 1, -1))
    merged = merge(many, 1e-6, at_least=at_least)
    assert merged.n_hidden == max(3, at_least)
    np.testing.assert_allclose(merged.linearise(rows())[0], network(rows()), atol=1e-12)


@pytest.mark.parametrize(("angle", "n_left"), [(0.01, 4), (0.3, 2)])
def test_only_planes_within_the_angle_merge(angle, n_left):
    # Groups of two units at 0.05 from their centre: up to 0.1 from each other.
    assert merge(Iterate.from_network(teachers.clustered(4, D, 3)), angle).n_hidden == n_left


def test_no_units_at_all():
    nothing = Iterate(np.ones((1, D + 1)), np.zeros(0))
    np.testing.assert_array_equal(merge(nothing, 0.1).a, nothing.a)
    assert drop_weakest(nothing, 0).n_hidden == 0
    assert len(kink_strengths(nothing)) == 0


def test_the_weakest_are_dropped_in_place():
    iterate = Iterate.from_network(teachers.random(6, D, 4, biases=1.5))
    iterate = iterate.keep(np.random.default_rng(5).permutation(6))
    strengths = kink_strengths(iterate)
    for n_hidden in range(8):
        kept = drop_weakest(iterate, n_hidden)
        expected = np.sort(np.argsort(-strengths)[:n_hidden])
        np.testing.assert_array_equal(kept.a[1:], iterate.a[1:][expected])
        np.testing.assert_array_equal(kept.sigma, iterate.sigma[expected])
        np.testing.assert_array_equal(kept.a[0], iterate.a[0])


@pytest.mark.parametrize("d", [3, 9])
def test_the_unit_dropped_is_the_one_whose_loss_all_refits_say_is_least(d):
    # Slow twin: leave each unit out in turn, solve the least squares of the others with their signs held, compare.
    rng = np.random.default_rng(d)
    wide = Iterate.from_network(teachers.random(5, d, 0))
    near = wide.a[1] + 0.05 * rng.standard_normal(d + 1)  # a strong unit that another one can replace
    near[-1] = 0.0
    wide = wide.joined(Iterate(np.vstack([np.zeros(d + 1), near]), wide.sigma[:1]))
    rows = planted(wide.to_network(), 4000, seed=1)
    losses = []
    for unit in range(wide.n_hidden):
        others = np.delete(np.arange(wide.n_hidden), unit)
        kept = wide.keep(others)
        free = free_entries(kept.n_hidden, d, False)
        system = ModulatedSystem(rows, kept.linearise, free)
        step = direct(system, 0.0)
        _, m = kept.linearise(rows.X)
        e = rows.y - kept.linearise(rows.X)[0]
        losses.append(np.mean((e - np.einsum("nj,nj->n", m, rows.X @ step[:, :-1].T + step[:, -1])) ** 2))
    best = int(np.argmin(losses))
    assert best in (0, 5)
    assert int(np.argmin(kink_strengths(wide))) not in (0, 5)  # dropping the weakest would be another choice
    smaller = drop_least_missed(rows, wide, biases=False)
    assert smaller.n_hidden == 5
    other = wide.a[1 + (5 if best == 0 else 0)]
    merged = wide.a[1] + near
    sums = np.linalg.norm(smaller.a[1:] - merged, axis=1)
    # What is left of the pair has taken over the dropped one's part.
    assert sums.min() < 0.2 * np.linalg.norm(other)
    loss = np.mean((rows.y - smaller.linearise(rows.X)[0]) ** 2)
    assert loss < 3 * losses[best] + 1e-6
