"""Hyperplanes that fits start from."""

import numpy as np
import pytest

from netlearn.search.starts import spread_planes


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_starts_are_unit_directions_and_homogeneous_without_biases(n_features):
    rng = np.random.default_rng(0)
    planes = spread_planes(50, n_features, rng, biases=True)
    np.testing.assert_allclose(np.linalg.norm(planes[:, :-1], axis=1), 1.0)
    assert np.count_nonzero(planes[:, -1]) == (25 if n_features == 2 else 50)
    assert not spread_planes(50, n_features, rng, biases=False)[:, -1].any()
    if n_features == 2:
        # Equispaced over the half circle: no direction is further than half a step from one of them.
        angles = np.sort(np.arctan2(planes[:, 1], planes[:, 0]) % np.pi)
        np.testing.assert_allclose(np.diff(angles), np.pi / 50)
