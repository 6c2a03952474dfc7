"""scikit-learn's MLPRegressor: out, back, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from netlearn import ShallowNetwork
from netlearn.errors import InputError
from tests.network.exported import NETWORKS, rows, values

each_network = pytest.mark.parametrize("f", NETWORKS.values(), ids=NETWORKS)


def fitted(**options):
    """A few steps of training: far from good, but every weight is set."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = options.pop("y", np.abs(X[:, 0]) + X[:, 1])
    options = {
        "hidden_layer_sizes": (4,),
        "solver": "lbfgs",
        "max_iter": 300,
        "alpha": 1e-2,
        "tol": 1e-1,
    } | options
    return MLPRegressor(random_state=0, **options).fit(X, y)


@each_network
def test_predict_is_the_network(f):
    X = rows(f)
    expected = values(f, X)
    answer = f.to_sklearn().predict(X)
    assert answer.shape == ((len(X),) if f.n_outputs == 1 else expected.shape)
    np.testing.assert_allclose(answer.reshape(expected.shape), expected, rtol=0, atol=1e-12)


@each_network
def test_there_and_back_is_exact(f):
    assert ShallowNetwork.from_sklearn(f.to_sklearn()) == ShallowNetwork.from_relu(*f.to_relu())


@pytest.mark.parametrize("m", [1, 3])
def test_a_fitted_regressor_is_read(m):
    y = np.random.default_rng(1).normal(size=(60, m))
    model = fitted(y=y[:, 0] if m == 1 else y)
    f = ShallowNetwork.from_sklearn(model)
    X = rows(f)
    np.testing.assert_allclose(f(X), model.predict(X), rtol=0, atol=1e-12)


def test_it_has_what_a_fit_leaves():
    model = NETWORKS["three outputs"].to_sklearn()
    reference = fitted(solver="adam", max_iter=1000)
    left = {name for name in vars(reference) if name.endswith("_") and not name.startswith("_")}
    assert left <= vars(model).keys()
    assert (model.n_layers_, model.n_outputs_, model.n_features_in_) == (3, 3, 4)
    assert [W.shape for W in model.coefs_] == [(4, 6), (6, 3)]
    with pytest.raises(ValueError, match="X has 2 features, but MLPRegressor is expecting 4"):
        model.predict(np.zeros((1, 2)))


def test_it_can_be_cloned_piped_and_trained_further():
    f = NETWORKS["wide"]
    model = f.to_sklearn()
    X = rows(f)
    copied = clone(model)
    assert copied.hidden_layer_sizes == (len(f.to_relu().weights),)
    with pytest.raises(NotFittedError):
        copied.predict(X)
    pipe = make_pipeline(FunctionTransformer(), model)
    np.testing.assert_allclose(pipe.predict(X), f(X), rtol=0, atol=1e-12)
    model.partial_fit(X, f(X))
    assert model.n_iter_ == 1
    assert np.abs(model.predict(X) - f(X)).max() < 0.05 * np.std(
        f(X)
    )  # one step from the answer, not from chance


def test_a_constant_is_a_regressor_that_scikit_learn_can_train():
    f = NETWORKS["constant"]
    X = rows(f)
    model = f.to_sklearn().partial_fit(X, f(X))
    np.testing.assert_allclose(model.predict(X), 3.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fitted(hidden_layer_sizes=(4, 4)), "must have one hidden layer, .* got 3 dense layers"),
        (lambda: fitted(hidden_layer_sizes=()), "must have one hidden layer, .* got 1 dense layer"),
        (lambda: fitted(activation="tanh"), 'must have the activation "relu", got "tanh"'),
        (
            lambda: fitted(loss="poisson", y=np.arange(60.0)),
            'must have the output activation "identity", got "exp"',
        ),
        (lambda: MLPRegressor(), "must be a fitted MLPRegressor, got one without weights"),
        (lambda: MLPClassifier(), "must be an MLPRegressor, got a MLPClassifier"),
        (lambda: LinearRegression(), "must be an MLPRegressor, got a LinearRegression"),
    ],
)
def test_other_models_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        ShallowNetwork.from_sklearn(make())
