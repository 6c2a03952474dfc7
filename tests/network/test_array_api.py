"""A network computes with arrays that allow nothing beyond the array API standard."""

import array_api_strict as strict
import numpy as np
import pytest

from netlearn import ShallowNetwork, teachers
from netlearn.network import model

D = 4


def network(outputs):
    rng = np.random.default_rng(0)
    shape = (outputs,) if outputs else ()
    return ShallowNetwork(
        rng.standard_normal((*shape, D)),
        rng.standard_normal((3, *shape)),
        rng.standard_normal((3, D)),
        rng.standard_normal(3),
        rng.standard_normal(shape),
    )


@pytest.mark.parametrize("outputs", [0, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_values_are_those_of_numpy(outputs, dtype, n, monkeypatch):
    monkeypatch.setattr(model, "_BLOCK_ENTRIES", 3 * 7)  # blocks of seven rows
    f = network(outputs)
    X = np.round(4 * np.random.default_rng(1).standard_normal((n, D))).astype(dtype)
    found = f(strict.asarray(X))
    assert isinstance(found, type(strict.asarray(X)))
    expected = f(X)
    assert found.shape == expected.shape
    assert str(expected.dtype) in str(found.dtype)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("outputs", [0, 2])
def test_a_single_vector_has_no_axis_of_rows(outputs):
    f, x = network(outputs), np.arange(D, dtype=float)
    found = f(strict.asarray(x))
    assert found.shape == ((2,) if outputs else ())
    np.testing.assert_allclose(np.asarray(found), f(x), rtol=1e-13)


def test_a_network_without_units_computes_too():
    f = ShallowNetwork(np.ones(D), np.zeros(0), np.zeros((0, D)))
    X = teachers.random(2, D, 0).units
    np.testing.assert_allclose(np.asarray(f(strict.asarray(X))), X.sum(axis=1), rtol=1e-13)
