"""The size of a network: unknowns counted by formula and by mask."""

import numpy as np
import pytest

from netlearn.fit import Shape


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2, 5])
@pytest.mark.parametrize(("n_hidden", "n_features"), [(0, 1), (0, 7), (1, 1), (3, 5), (8, 2)])
def test_unknowns_are_the_free_entries_of_a_step(n_hidden, n_features, n_outputs, biases):
    shape = Shape(n_hidden, n_features, n_outputs, biases)
    free = shape.free()
    assert free.shape == (n_outputs + n_hidden, n_features + n_outputs)
    assert set(np.unique(free)) <= {0.0, 1.0}
    assert shape.n_unknowns == free.sum()
    wider = shape.wider(n_hidden + 3)
    assert wider.n_unknowns - shape.n_unknowns == 3 * shape.per_unit
    assert (wider.n_features, wider.n_outputs, wider.biases) == (n_features, n_outputs, biases)


def test_unknowns_of_some_networks():
    # Three units of five weights, and of a bias each; an affine part of five weights and an intercept.
    assert Shape(3, 5).n_unknowns == 24
    assert Shape(3, 5, biases=False).n_unknowns == 21
    # With two outputs another affine part, and one more weight for each unit.
    assert Shape(3, 5, 2).n_unknowns == 24 + 6 + 3


def test_what_is_not_free():
    # The intercept is an unknown even where biases are none, and no affine part has weights to turn.
    np.testing.assert_array_equal(
        Shape(1, 2, 2, biases=False).free(), [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 1]]
    )
