import numpy as np
import pytest

from netlearn import teachers
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork


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


def test_outputs_are_summed():
    f = ShallowNetwork([[1.0, 0.0], [0.0, 2.0]], np.zeros((0, 2)), np.zeros((0, 2)))
    np.testing.assert_allclose(f.sobol().first_order, [0.2, 0.8], atol=1e-15)


def test_a_constant_has_no_indices():
    with pytest.raises(InputError, match="constant"):
        ShallowNetwork([0.0], [], np.zeros((0, 1)), None, 3.0).sobol()
