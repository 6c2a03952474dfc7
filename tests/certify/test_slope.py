import numpy as np
import pytest

from netlearn import teachers
from netlearn.certify import lipschitz_constant, slope
from netlearn.network import ShallowNetwork


def by_patterns(W, Lambda, U):
    """Slow twin: the largest slope over all patterns of signs, one by one."""
    k = len(U)
    signs = [[1 if (p >> i) & 1 else -1 for i in range(k)] for p in range(2**k)]
    return max(np.linalg.norm(W + (Lambda.T * np.array(s)) @ U, 2) for s in signs)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("k", [0, 1, 5])
def test_up_to_some_units_it_is_the_largest_slope_over_all_patterns(k, m):
    rng = np.random.default_rng(10 * k + m)
    W, Lambda, U = (rng.standard_normal(shape) for shape in ((m, 4), (k, m), (k, 4)))
    assert slope.steepest(W, Lambda, U) == pytest.approx(by_patterns(W, Lambda, U))


def test_the_smaller_of_the_constants_is_taken(monkeypatch):
    monkeypatch.setattr(slope, "_MOST_LISTED", 0)
    eye = np.eye(12)
    orthonormal = ShallowNetwork(np.zeros(12), np.ones(12), eye)
    assert lipschitz_constant(orthonormal) == pytest.approx(np.sqrt(12))  # the sum would be 12
    alone = ShallowNetwork(np.zeros(12), [1.0, 1e-3], [eye[0], eye[1]])
    assert lipschitz_constant(alone) == pytest.approx(1.001)  # the norm would be sqrt(2)


@pytest.mark.parametrize("listed", [0, 2**22])
@pytest.mark.parametrize("seed", range(4))
def test_no_two_points_show_a_larger_slope(seed, listed, monkeypatch):
    monkeypatch.setattr(slope, "_MOST_LISTED", listed)
    f = teachers.random(6, 3, seed, biases=1.0)
    X = np.random.default_rng(seed).standard_normal((2000, 3))
    near = X + 1e-3 * np.random.default_rng(seed + 9).standard_normal(X.shape)
    slopes = np.abs(f(near) - f(X)) / np.linalg.norm(near - X, axis=1)
    assert slopes.max() <= lipschitz_constant(f) * (1 + 1e-9)


def test_one_bound_holds_for_networks_too_wide_to_list():
    f = teachers.random(40, 10, 0)
    W, Lambda, U = slope.parts(f)
    s = np.sign(np.random.default_rng(1).standard_normal((4000, 40)))
    seen = np.linalg.norm(W + (s * Lambda[:, 0]) @ U, axis=1).max()
    assert seen <= lipschitz_constant(f) <= np.linalg.norm(W) + np.abs(Lambda).sum() + 1e-9


def test_so_many_units_that_no_float_counts_their_patterns():
    f = teachers.random(1100, 4, 0)
    assert 0 < lipschitz_constant(f) < np.inf
