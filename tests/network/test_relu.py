import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn import teachers
from netlearn.network import ShallowNetwork

laws = settings(derandomize=True, deadline=None, max_examples=40)
seeds = st.integers(0, 10**6)


def relus(seed, k, d, m=None):
    rng = np.random.default_rng(seed)
    outputs = () if m is None else (m,)
    return ShallowNetwork.from_relu(
        rng.normal(size=(k, d)), rng.normal(size=(k, *outputs)), rng.normal(size=k), rng.normal(size=outputs)
    )


def with_linear(f, linear):
    return ShallowNetwork(linear, f.coefficients, f.units, f.biases, f.intercept)


def check_function(f, relative=1e-14):
    """The ReLU form is the same function; its size is returned. 1e-14: some fifty roundings of eps."""
    form = f.to_relu()
    weights, output_weights, biases, _ = form
    assert len(weights) == len(output_weights) == len(biases)
    scale = np.abs(f.linear).sum() + np.abs(f.coefficients).sum()
    assert ShallowNetwork.from_relu(*form).distance(f) <= relative * max(scale, 1.0)
    X = np.random.default_rng(0).normal(size=(5, f.n_features))
    values = np.maximum(X @ weights.T + biases, 0) @ output_weights + form.intercept
    np.testing.assert_allclose(values, f(X), rtol=0, atol=100 * relative * max(scale, 1.0))
    return len(weights)


@laws
@given(seeds, st.integers(1, 8), st.sampled_from([None, 1, 3]))
def test_k_relus_come_back_as_k(seed, k, m):
    assert check_function(relus(seed, k, 8, m)) == k


@laws
@given(seeds, st.integers(1, 3))
def test_k_relus_come_back_as_k_when_the_rows_are_dependent(seed, d):
    assert check_function(relus(seed, 9, d)) == 9


@laws
@given(seeds)
def test_noise_of_1e_13_does_not_add_relus(seed):
    f = relus(seed, 6, 8)
    rng = np.random.default_rng([seed, 1])
    noisy = ShallowNetwork(*(part + 1e-13 * rng.normal(size=np.shape(part)) for part in f._parameters))
    assert check_function(noisy, relative=1e-11) == 6


@laws
@given(seeds, st.sampled_from([3, 8, 12]))
def test_a_small_linear_part_is_kept(seed, k):
    f = relus(seed, k, 8)
    rng = np.random.default_rng([seed, 1])
    assert check_function(with_linear(f, f.linear + 1e-6 * rng.normal(size=8))) == k + 2


@laws
@given(seeds, st.sampled_from([(4, 6), (6, 6), (9, 4)]), st.integers(0, 3))
def test_one_unit_off_costs_one_more(seed, shape, unit):
    f = relus(seed, *shape)
    assert check_function(with_linear(f, f.linear + 0.3 * f.units[unit])) == shape[0] + 1


@laws
@given(seeds, st.integers(0, 40), st.integers(1, 4), st.sampled_from([None, 2, 5]))
def test_never_more_than_two_per_rank(seed, k, d, m):
    rng = np.random.default_rng([seed, 1])
    f = relus(seed, k, d, m)
    f = with_linear(f, rng.normal(size=f.linear.shape))
    assert check_function(f, relative=1e-13) <= k + 2 * min(f.n_outputs, d)


def test_the_smallest_cases():
    empty = np.zeros((0, 2))
    assert check_function(ShallowNetwork([0.0, 0.0], [], empty, None, 3.0)) == 0
    assert check_function(ShallowNetwork([1.0, 0.0], [], empty)) == 2
    assert check_function(ShallowNetwork([0.0, 0.0], [1.0], [[1.0, 1.0]], [0.3])) == 2
    assert check_function(ShallowNetwork(np.zeros((3, 2)), np.zeros((0, 3)), empty)) == 0


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_near_duplicates_keep_their_count(angle):
    assert check_function(teachers.clustered(6, 8, 0, angle=angle)) == 6
    assert check_function(teachers.cancelling(6, 8, 0, angle=angle)) == 6


def test_too_many_dependent_rows_fall_back_to_two_more():
    assert check_function(relus(0, 60, 5)) == 62
