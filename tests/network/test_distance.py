import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn import teachers
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork, nearby
from netlearn.network.ramps import Ramps
from tests.network import twins

LONG_EPS = float(np.finfo(np.longdouble).eps)
EPS = np.finfo(float).eps
PROMISED = 1e-4  # relative accuracy of distances that cancel
seeds = st.integers(0, 10**6)
laws = settings(derandomize=True, deadline=None, max_examples=30)


def draw(rng, k=4, d=3, m=None, biases=1.0):
    """A network with all parts generic."""
    outputs = () if m is None else (m,)
    return ShallowNetwork(
        rng.normal(size=(*outputs, d)),
        rng.normal(size=(k, *outputs)),
        rng.normal(size=(k, d)),
        biases * rng.normal(size=k),
        rng.normal(size=outputs),
    )


def moved(f, size, rng):
    """The same network, every parameter moved by about `size`."""
    return ShallowNetwork(*(part + size * rng.normal(size=np.shape(part)) for part in f._parameters))


def split(f, size, rng):
    """The first unit replaced by two of half its coefficient, tilted and shifted by +-size / 2."""
    tilt = rng.normal(size=f.n_features)
    shift = rng.normal() if np.any(f.biases) else 0.0
    step, ends = size / 2, np.array([1.0, -1.0])
    return ShallowNetwork(
        f.linear,
        np.concatenate([[f.coefficients[0] / 2] * 2, f.coefficients[1:]]),
        np.concatenate([f.units[0] + step * ends[:, None] * tilt, f.units[1:]]),
        np.concatenate([f.biases[0] + step * ends * shift, f.biases[1:]]),
        f.intercept,
    )


def split_and_shifted(f, size, rng):
    """A split unit, and an affine part moved by as much: the wedges and the rest then weigh the same."""
    g, step = split(f, size, rng), size**1.5
    return ShallowNetwork(g.linear + step, g.coefficients, g.units, g.biases, g.intercept + step)


@laws
@given(seeds, st.sampled_from([None, 1, 3]))
def test_distance_is_a_metric(seed, m):
    rng = np.random.default_rng(seed)
    f, g, h = (draw(rng, k, m=m) for k in (4, 2, 5))
    assert f.distance(f) == 0.0
    assert f.distance(g) > 0
    assert f.distance(g) == pytest.approx(g.distance(f), rel=1e-12)
    assert f.distance(h) <= (f.distance(g) + g.distance(h)) * (1 + 1e-12)
    assert f.distance(g) == pytest.approx((f - g).norm(), rel=1e-10)


@laws
@given(seeds, st.sampled_from([None, 2]))
def test_norm_mean_and_variance_fit_together(seed, m):
    rng = np.random.default_rng(seed)
    f = draw(rng, m=m)
    assert f.norm() ** 2 == pytest.approx(np.sum(np.square(f.mean()) + f.variance()), rel=1e-12)
    assert (-3.0 * f).norm() == pytest.approx(3 * f.norm(), rel=1e-14)
    assert np.shape(f.mean()) == np.shape(f.variance()) == (() if m is None else (m,))


@pytest.mark.statistical
def test_moments_agree_with_monte_carlo():
    """Six standard errors of each mean: the false-alarm rate is 2e-9 per comparison."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 3))
    for _ in range(4):
        f, g = draw(rng), draw(rng, 6)
        values, squares = f(X), (f(X) - g(X)) ** 2
        assert abs(values.mean() - f.mean()) < 6 * values.std() / np.sqrt(len(X))
        assert abs(squares.mean() - f.distance(g) ** 2) < 6 * squares.std() / np.sqrt(len(X))
        spread = (values - values.mean()) ** 2
        assert abs(spread.mean() - f.variance()) < 6 * spread.std() / np.sqrt(len(X))


@pytest.mark.parametrize(
    ("change", "size"),
    # A split unit moves the function by size^1.5 only: below 1e-8 the twin itself runs out of digits.
    [(change, 10.0**-n) for change in (split, split_and_shifted) for n in (1, 2, 3, 4, 5, 6, 8)]
    + [(moved, 10.0**-n) for n in (1, 2, 4, 6, 8, 10, 12)],
)
def test_near_networks_in_the_plane(change, size):
    rng = np.random.default_rng(7)
    f = draw(rng, 4, 2, biases=0.0)
    f = ShallowNetwork(f.linear, f.coefficients, f.units)
    g = change(f, size, rng)
    g = ShallowNetwork(g.linear, g.coefficients, g.units)
    expected = twins.distance_in_the_plane(f, g)
    # The twin cancels too, only later: its own error is the extended rounding of f - g.
    assert f.distance(g) == pytest.approx(expected, rel=PROMISED + 10 * LONG_EPS * f.norm() / expected)


@pytest.mark.parametrize("change", [moved, split, split_and_shifted])
@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-4, 1e-6, 1e-8])
def test_near_networks_on_the_line(change, size):
    rng = np.random.default_rng(3)
    f = draw(rng, 5, 1)
    g = change(f, size, rng)
    expected = twins.distance_on_the_line(f, g)
    assert f.distance(g) == pytest.approx(expected, rel=PROMISED + 10 * LONG_EPS * f.norm() / expected)


@laws
@given(seeds)
def test_a_difference_of_1e_12_is_seen_as_such(seed):
    """The slope of the distance along a direction, measured at 1e-5, still holds at 1e-12."""
    rng = np.random.default_rng(seed)
    f = draw(rng, 5, 6)
    # Powers of two, so that adding the step to the linear part and the intercept rounds as little as can be.
    directions = [rng.normal(size=np.shape(part)) for part in f._parameters]
    near, far = (
        ShallowNetwork(*(p + size * v for p, v in zip(f._parameters, directions, strict=True)))
        for size in (2.0**-40, 2.0**-16)
    )
    ratio = f.distance(far) / f.distance(near)
    # Rounding the parameters moves each of some 50 by eps / 2, the curvature costs the far step itself.
    assert ratio == pytest.approx(2.0**24, rel=100 * EPS * 2.0**40 + 20 * 2.0**-16)


@pytest.mark.parametrize("biases", [0.0, 1.0])
@pytest.mark.parametrize(("change", "size"), [(moved, 1e-4), (split, 1e-3), (split_and_shifted, 1e-3)])
def test_both_forms_agree_at_the_switch(monkeypatch, biases, change, size):
    """Where d^2 is near 1e-9, plain has 1e-6 and the expansion, forced, the size of the step."""
    monkeypatch.setattr(nearby, "CLUSTER_DISTANCE", 10 * size)
    rng = np.random.default_rng(5)
    for _ in range(5):
        f = draw(rng, 5, 4, biases=biases)
        g = change(f, size, rng)
        plain = f.distance(g)
        expansion = np.sqrt(nearby.second_moment(Ramps.of_difference(f, g)).sum())
        assert expansion == pytest.approx(plain, rel=size + 1e-4)


@pytest.mark.parametrize("moved_part", ["intercept", "unit"])
def test_the_wedge_terms_matter(monkeypatch, moved_part):
    """A unit split by delta and another part moved by delta^1.5 / 4: no term of the expansion is negligible.

    At delta = 1e-3 the plain form still has five digits to compare with. Leaving out a wedge term must show.
    """
    delta = 1e-3
    step = delta**1.5 / 4
    units = np.array([[1.0, 0.0], [0.6, 0.8]])
    f = ShallowNetwork([0.0, 0.0], [1.0, 0.5], units, [0.2, 0.3])
    g = ShallowNetwork(
        [0.0, 0.0],
        [0.5, 0.5, 0.5 + step * (moved_part == "unit")],
        [[1.0, delta / 2], [1.0, -delta / 2], units[1]],
        [0.2, 0.2, 0.3],
        step * (moved_part == "intercept"),
    )
    difference = Ramps.of_difference(f, g)
    plain = difference.mean()[0][0] ** 2 + difference.variance_given(slice(None))[0][0]
    assert nearby.second_moment(difference)[0] == pytest.approx(plain, rel=delta)
    for owner, name in ((nearby, "_wedges"), (nearby._Pieces, "wedge_cross")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda *_: 0.0)
            assert nearby.second_moment(difference)[0] != pytest.approx(plain, rel=3 * delta)


def test_order_number_and_sign_of_units_do_not_matter():
    rng = np.random.default_rng(1)
    f = draw(rng, 5)
    order = rng.permutation(5)
    again = ShallowNetwork(
        f.linear, f.coefficients[order] / 2, -2 * f.units[order], -2 * f.biases[order], f.intercept
    )
    assert f.distance(again) <= 8 * EPS * f.norm()
    g = moved(again, 1e-9, rng)
    assert 1e-10 < f.distance(g) < 1e-7
    wider = g + ShallowNetwork(np.zeros(3), [1e-10], rng.normal(size=(1, 3)))
    assert 0 < abs(f.distance(wider) - f.distance(g)) < 1e-8


def test_a_unit_that_never_bends_is_its_affine_part():
    u = np.array([0.6, 0.8])
    bent = ShallowNetwork(np.zeros(2), [1.0], [u], [20.0])
    straight = ShallowNetwork(u, [], np.zeros((0, 2)), None, 20.0)
    assert bent.distance(straight) < 1e-30
    assert ShallowNetwork(np.zeros(2), [1.0], [u], [1e8]).variance() == pytest.approx(1.0, rel=1e-12)


def test_sizes_whose_squares_overflow():
    f = ShallowNetwork([1.0, 2.0], [3.0], [[0.0, 1.0]])
    assert (1e200 * f).norm() == pytest.approx(1e200 * f.norm(), rel=1e-15)
    assert (1e-200 * f).norm() == pytest.approx(1e-200 * f.norm(), rel=1e-15)
    far = ShallowNetwork([1.0, 2.0], [3.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], [1e200, 1e-200])
    assert far.norm() == pytest.approx(3e200)
    assert far.distance(far) == 0.0


def test_parallel_hyperplanes_and_networks_without_units():
    empty = ShallowNetwork([3.0, 4.0], [], np.zeros((0, 2)), None, 12.0)
    assert empty.norm() == pytest.approx(13.0)
    assert (empty.mean(), empty.variance()) == (12.0, 25.0)
    rng = np.random.default_rng(2)
    f = ShallowNetwork([1.0], [1.0, -1.0, 1.0], np.ones((3, 1)), [0.0, 0.5, 1.0])
    g = moved(f, 1e-9, rng)
    assert f.distance(g) == pytest.approx(twins.distance_on_the_line(f, g), rel=1e-6)


def test_networks_of_different_shape_are_refused():
    with pytest.raises(InputError, match=r"linear part of shape \(3,\), got one of shape \(2,\)"):
        teachers.random(2, 3, 0).distance(teachers.random(2, 2, 0))


def test_two_hundred_units_take_well_under_a_second():
    rng = np.random.default_rng(0)
    f = draw(rng, 100, 100)
    g = moved(f, 1e-12, rng)
    start = time.process_time()
    f.distance(g)
    assert time.process_time() - start < 1.0
