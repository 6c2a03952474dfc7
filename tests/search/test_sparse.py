"""Sparse regression on the net finds the units that are in it, and little else."""

import numpy as np
import pytest

from netlearn.search.sparse import net_of_planes, sparse_atoms


def nearest(planes, wanted):
    """The distance of each wanted plane to the nearest one found, up to sign."""
    distances = [np.linalg.norm(planes - sign * wanted[:, None], axis=2) for sign in (1, -1)]
    return np.min(distances, axis=(0, 2))


@pytest.mark.parametrize(("r", "n"), [(1, 1), (2, 180), (3, 600)])
def test_the_net_has_unit_directions_and_covers(r, n):
    rng = np.random.default_rng(0)
    planes = net_of_planes(r, rng, biases=False)
    assert planes.shape == (n, r + 1)
    np.testing.assert_allclose(np.linalg.norm(planes[:, :-1], axis=1), 1.0)
    assert not planes[:, -1].any()
    wanted = rng.standard_normal((200, r))
    wanted = np.column_stack([wanted / np.linalg.norm(wanted, axis=1, keepdims=True), np.zeros(200)])
    # In a plane half a step; in 3 dimensions 600 points cover a half sphere of area 2 pi with caps of radius 0.1
    # on average, and the emptiest place of 200 is within a few of these.
    assert nearest(planes, wanted).max() < {1: 1e-12, 2: np.pi / 360 + 1e-12, 3: 0.4}[r]
    assert len(net_of_planes(r, rng, biases=True)) == 3 * n


def test_units_of_the_net_are_found_from_exact_labels():
    rng = np.random.default_rng(1)
    planes = net_of_planes(2, rng, biases=False)
    wanted, weights = planes[[10, 60, 130]], np.array([1.0, -2.0, 0.5])
    Z = rng.standard_normal((2000, 2))
    y = np.abs(Z @ wanted[:, :-1].T) @ weights + Z @ [0.3, -1.0] + 4.0
    found, found_weights = sparse_atoms(Z, y, 3, rng, biases=False)
    # The end of the path is least squares: exact labels of atoms in the net have no other answer.
    for unit, weight in zip(wanted, weights, strict=True):
        here = np.flatnonzero(nearest(unit[None], found) < 1e-12)
        assert len(here) == 1
        assert found_weights[here[0]] == pytest.approx(weight, abs=1e-6)
    assert np.abs(found_weights).sum() == pytest.approx(np.abs(weights).sum(), abs=1e-5)


def test_affine_labels_need_no_atom_of_any_size():
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((500, 3))
    _, weights = sparse_atoms(Z, Z @ [1.0, 2.0, 3.0] - 1.0, 4, rng, biases=True)
    assert np.abs(weights).sum() < 1e-10


def test_inputs_are_not_modified():
    Z = np.random.default_rng(3).standard_normal((100, 2))
    y = np.abs(Z[:, 0])
    for array in (Z, y):
        array.setflags(write=False)
    sparse_atoms(Z, y, 1, np.random.default_rng(0), biases=True)
