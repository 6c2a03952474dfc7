import numpy as np
import pytest

from netlearn import teachers
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.network.sensitivity import sobol
from tests.fit.several import network


def test_a_linear_network_shares_by_squares():
    indices = ShallowNetwork([3.0, 4.0, 0.0], [], np.zeros((0, 3))).sobol()
    np.testing.assert_allclose(indices.first_order, [9 / 25, 16 / 25, 0], atol=1e-15)
    np.testing.assert_allclose(indices.total, indices.first_order, atol=1e-15)


def test_sums_of_functions_of_one_input_have_no_interactions():
    f = ShallowNetwork([1.0, 0.0, 2.0], [1.0, -2.0], [[1.0, 0, 0], [0, 1.0, 0]], [0.5, -1.0])
    indices = f.sobol()
    np.testing.assert_allclose(indices.first_order, indices.total, atol=1e-14)
    assert indices.first_order.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.statistical
def test_indices_agree_with_two_copies_that_share_inputs():
    """Cov(f(x), f(x')) with x, x' sharing some inputs; six standard errors, false-alarm rate 2e-9 each."""
    rng = np.random.default_rng(0)
    f = teachers.random(5, 3, 4, biases=1.0)
    indices, n = f.sobol(), 400_000
    X, Z = rng.standard_normal((2, n, 3))
    for j in range(3):
        for kept, expected in (
            (np.arange(3) == j, indices.first_order[j]),
            (np.arange(3) != j, 1 - indices.total[j]),
        ):
            products = (f(X) - f.mean()) * (f(np.where(kept, X, Z)) - f.mean()) / f.variance()
            assert abs(products.mean() - expected) < 6 * products.std() / np.sqrt(n)


def test_outputs_are_summed_and_given_apart():
    f = ShallowNetwork([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], np.zeros((0, 3)), np.zeros((0, 2)))
    np.testing.assert_allclose(f.sobol().first_order, [0.2, 0.8], atol=1e-15)
    each = [own.total for own in f.sobol().per_output]  # the last one is constant
    np.testing.assert_allclose(each, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], atol=1e-15)


def test_each_output_has_the_indices_of_its_own_network():
    f = network(4, 3, 2, 0)
    indices = f.sobol()
    for output, own in enumerate(indices.per_output):
        alone = ShallowNetwork(
            f.linear[output], f.coefficients[:, output], f.units, f.biases, f.intercept[output]
        ).sobol()
        assert alone.per_output == ()
        np.testing.assert_allclose(own.first_order, alone.first_order, atol=1e-13)
        np.testing.assert_allclose(own.total, alone.total, atol=1e-13)
    weights = f.variance() / f.variance().sum()
    mixed = weights @ [own.total for own in indices.per_output]
    np.testing.assert_allclose(indices.total, mixed, atol=1e-13)
    some = sobol(f, [2, 0])
    np.testing.assert_array_equal(some.total, indices.total[[2, 0]])
    np.testing.assert_array_equal(some.per_output[1].first_order, indices.per_output[1].first_order[[2, 0]])


def test_a_constant_has_no_indices():
    with pytest.raises(InputError, match="constant"):
        ShallowNetwork([0.0], [], np.zeros((0, 1)), None, 3.0).sobol()
