"""Parts of a prediction: they add up to it, and are the integral of the gradient."""

import numpy as np
import pytest

from netlearn import ShallowNetwork
from netlearn.report.contributions import contributions
from netlearn.report.in_spreads import gradients
from tests.report.results import CASES

WITH_NETWORK = [name for name in CASES if name != "no network"]


@pytest.mark.parametrize("name", WITH_NETWORK)
def test_features_and_units_add_up_to_the_prediction(name):
    network = CASES[name]().network
    rng = np.random.default_rng(3)
    X, start = rng.standard_normal((40, network.n_features)), rng.standard_normal(network.n_features)
    parts, expected = contributions(network, X, start), network(X).reshape(40, -1)
    np.testing.assert_allclose(parts.start, network(start[None]).reshape(-1), atol=1e-12)
    np.testing.assert_allclose(parts.start + parts.features.sum(axis=2), expected, atol=1e-11)
    np.testing.assert_allclose(parts.start + parts.linear + parts.units.sum(axis=2), expected, atol=1e-11)


def test_features_have_the_integral_of_the_gradient():
    rng = np.random.default_rng(0)
    network = ShallowNetwork.from_relu(
        rng.standard_normal((5, 3)), rng.standard_normal(5), rng.standard_normal(5)
    )
    x, start = rng.standard_normal(3), rng.standard_normal(3)
    n = 20_000
    way = start + (np.arange(n)[:, None] + 0.5) / n * (x - start)
    integral = gradients(network, way).mean(axis=0) * (x - start)
    # Each of the five units switches once at most: the sum is off by one step of its jump there.
    jumps = 2 * np.abs(network.coefficients) @ np.abs(network.units * (x - start))
    np.testing.assert_array_less(
        np.abs(contributions(network, x[None], start).features[0, 0] - integral), jumps / n
    )


def test_a_row_at_the_start_or_with_a_gap_is_no_trouble():
    network = ShallowNetwork.from_relu(np.eye(2), [1.0, 1.0], [1.0, -1.0])
    parts = contributions(network, np.array([[0.0, 0.0], [np.nan, 0.0]]), np.zeros(2))
    assert not parts.features[0].any()
    assert not parts.units[0].any()
    assert np.isnan(parts.units[1, 0, 0])
