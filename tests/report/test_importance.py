from dataclasses import replace

import numpy as np
import pytest

from netlearn import learn
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.report.importance import effect
from netlearn.result import HeldOut, Status
from tests.report.results import CASES, in_dimension, made


def test_sensitivities_have_names_and_are_those_of_the_network_in_the_rows_spread():
    result = replace(in_dimension(3), names=tuple("abcdefgh"))
    found, X = result.sensitivity(), result.held_out.X
    expected = result.network.precompose(np.diag(X.std(axis=0)), X.mean(axis=0)).sobol().total
    assert set(found) == set("abcdefgh")
    assert list(found.values()) == sorted(found.values(), reverse=True)
    np.testing.assert_allclose([found[name] for name in "abcdefgh"], expected, atol=1e-9)
    assert isinstance(found, dict)
    assert repr(found).splitlines()[0].split() == [next(iter(found)), f"{100 * max(expected):.1f}", "%"]


def test_one_line_from_rows_to_named_sensitivity():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    found = learn(X, np.maximum(X[:, 1], 0.0), rng=0).sensitivity()
    assert next(iter(found)) == "x2"
    assert found["x2"] == pytest.approx(1.0, abs=1e-9)


def test_several_outputs_have_sensitivities_of_their_own_and_a_mean():
    network = ShallowNetwork([[1.0, 0.0], [0.0, 1e6]], np.zeros((0, 2)), np.zeros((0, 2)))
    result = made(network, names=("a", "b"), target=("first", "second"), noise=[0.1, 0.1])
    assert result.sensitivity("first") == {"a": 1.0, "b": 0.0}
    assert result.sensitivity(1) == {"b": 1.0, "a": 0.0}
    assert result.sensitivity() == {"a": 0.5, "b": 0.5}  # whatever the units of the outputs
    with pytest.raises(InputError, match=r'"output" of sensitivity must be one of .* got \'third\''):
        result.sensitivity("third")


@pytest.mark.parametrize("name", ["a constant", "no held-out rows", "no network", "nothing found but noise"])
def test_where_nothing_was_found_no_feature_matters(name):
    assert CASES[name]().sensitivity() == {}


def test_nothing_matters_by_chance():
    assert replace(in_dimension(2), status=Status.NO_SIGNAL).sensitivity() == {}


@pytest.mark.parametrize("name", ["dim V 2", "k = 0", "several outputs"])
def test_effects_are_means_over_rows_with_the_feature_set(name):
    result = CASES[name]()
    output = result.network.n_outputs - 1
    X = result.held_out.X.copy()
    found = effect(result.network, result.held_out.X, 1, output)
    for place in (0, 40, 80):
        X[:, 1] = found.values[place]
        expected = result.network(X).reshape(len(X), -1)[:, output].mean()
        assert found.means[place] == pytest.approx(expected, abs=1e-12)
    assert found.values[0] == pytest.approx(np.quantile(result.held_out.X[:, 1], 0.01))


def test_an_effect_of_raw_units_is_in_raw_units():
    result = in_dimension(2)
    far = replace(
        result,
        network=result.network.precompose(np.eye(8) / 1e4, -np.full(8, 5.0)),
        held_out=HeldOut(1e4 * (result.held_out.X + 5.0), result.held_out.y),
    )
    there, here = (effect(own.network, own.held_out.X, 0) for own in (far, result))
    np.testing.assert_allclose(there.means, here.means, atol=1e-9)
    np.testing.assert_allclose(there.values, 1e4 * (here.values + 5.0))
