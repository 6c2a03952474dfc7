import array_api_compat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.errors import InputError
from netlearn.network import ShallowNetwork, model

EPS = np.finfo(float).eps
laws = settings(derandomize=True, deadline=None, max_examples=50)
seeds = st.integers(0, 10**6)
shapes = st.tuples(st.integers(0, 6), st.integers(1, 5), st.sampled_from([None, 1, 3]))


def parameters(seed, shape):
    rng = np.random.default_rng(seed)
    k, d, m = shape
    outputs = () if m is None else (m,)
    return [
        rng.normal(size=(*outputs, d)),
        rng.normal(size=(k, *outputs)),
        rng.normal(size=(k, d)) * np.exp(2 * rng.normal(size=(k, 1))),
        rng.normal(size=k),
        rng.normal(size=outputs),
    ]


def evaluate(linear, coefficients, units, biases, intercept, X):
    """The definition, unit by unit."""
    values = X @ linear.T + intercept
    for lam, u, b in zip(coefficients, units, biases, strict=True):
        values = values + np.multiply.outer(np.abs(X @ u + b), lam)
    return values


def size(parts, X):
    """A bound on the sum of magnitudes that an evaluation adds up, for tolerances."""
    linear, coefficients, units, biases, intercept = map(np.abs, parts)
    return np.max(evaluate(linear, coefficients, units, biases, intercept, np.abs(X)))


@laws
@given(seeds, shapes)
def test_canonical_form_is_the_same_function(seed, shape):
    parts = parameters(seed, shape)
    X = np.random.default_rng(seed).normal(size=(7, shape[1]))
    f = ShallowNetwork(*parts)
    tolerance = 100 * EPS * size(parts, X)
    np.testing.assert_allclose(f(X), evaluate(*parts, X), rtol=0, atol=tolerance)
    np.testing.assert_allclose(f(X[0]), f(X)[0], rtol=0, atol=tolerance)
    assert f(X[:0]).shape == (0, *f.linear.shape[:-1])


@laws
@given(seeds, shapes)
def test_canonical_form_is_canonical(seed, shape):
    f = ShallowNetwork(*parameters(seed, shape))
    np.testing.assert_allclose(np.linalg.norm(f.units, axis=1), 1, atol=8 * EPS)
    leading = np.argmax(np.abs(f.units), axis=1)
    assert (f.units[np.arange(f.n_hidden), leading] > 0).all()
    norms = np.linalg.norm(f.coefficients.reshape(f.n_hidden, f.n_outputs), axis=1)
    assert (np.diff(norms) <= 1e-11 * norms[:-1]).all()
    assert ShallowNetwork(*f._parameters) == f
    assert (f.n_hidden, f.n_features, f.n_outputs) == (*shape[:2], shape[2] or 1)


@laws
@given(seeds, shapes)
def test_order_sign_and_length_of_the_rows_do_not_matter(seed, shape):
    linear, coefficients, units, biases, intercept = parameters(seed, shape)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(units))
    # Powers of two scale without rounding, so the canonical parameters must agree bit by bit.
    scale = rng.choice([-4.0, -1.0, 0.5, 2.0], len(units))[order]
    rescaled = (coefficients[order].T / np.abs(scale)).T
    again = ShallowNetwork(linear, rescaled, scale[:, None] * units[order], scale * biases[order], intercept)
    assert again == ShallowNetwork(linear, coefficients, units, biases, intercept)


def test_equal_units_merge_and_zero_coefficients_go():
    u = np.array([1.0, -2.0, 2.0]) / 3
    f = ShallowNetwork(np.zeros(3), [1.0, 2.0, 5.0, 0.0], [u, -u, 0.1 * u, np.ones(3)], [0.3, -0.3, 0.03, 1])
    assert f.n_hidden == 1
    assert f.coefficients[0] == pytest.approx(3.5)
    assert f.biases[0] == pytest.approx(-0.3)
    assert (f - f).n_hidden == 0
    assert ((f + f) - f).n_hidden == 1


def test_ties_between_entries_do_not_depend_on_the_last_bit():
    a = np.sqrt(0.5)
    f = ShallowNetwork(np.zeros(2), [1.0, 1.0], [[a, -a * (1 - EPS)], [-a * (1 - EPS), a]])
    assert f.n_hidden == 1


def test_a_zero_row_is_a_constant():
    f = ShallowNetwork([1.0, 0.0], [2.0, 3.0], [[0.0, 0.0], [0.0, 1.0]], [-5.0, 1.0], 0.5)
    assert (f.n_hidden, f.intercept) == (1, 10.5)


def test_a_row_too_short_to_bend_is_affine():
    f = ShallowNetwork([0.0], [1e308], [[1e-310]], [-1.0])
    assert f.n_hidden == 0
    assert f.intercept == 1e308
    assert f.linear[0] == pytest.approx(-1e-2)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_rows_whose_squares_leave_the_range(scale):
    f = ShallowNetwork([0.0, 0.0], [1 / scale], [[3 * scale, 4 * scale]], [5 * scale])
    np.testing.assert_allclose(f.units, [[0.6, 0.8]], rtol=1e-15)
    np.testing.assert_allclose([f.coefficients[0], f.biases[0]], [5.0, 1.0], rtol=1e-15)


@laws
@given(seeds, shapes)
def test_from_relu(seed, shape):
    _, mu, V, b, c = parameters(seed, shape)
    X = np.random.default_rng(seed).normal(size=(6, shape[1]))
    f = ShallowNetwork.from_relu(V, mu, b, c)
    expected = np.maximum(X @ V.T + b, 0) @ mu + c
    tolerance = 100 * EPS * (1 + np.max((np.abs(X) @ np.abs(V).T + np.abs(b)) @ np.abs(mu), initial=0))
    np.testing.assert_allclose(f(X), expected, rtol=0, atol=tolerance)


@laws
@given(seeds, shapes)
def test_sums_multiples_and_changes_of_coordinates(seed, shape):
    rng = np.random.default_rng(seed)
    f, g = ShallowNetwork(*parameters(seed, shape)), ShallowNetwork(*parameters(seed + 1, shape))
    X, A, t = rng.normal(size=(5, shape[1])), rng.normal(size=(shape[1], 2)), rng.normal(size=shape[1])
    tolerance = 1000 * EPS * (size(f._parameters, X) + size(g._parameters, X))
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), rtol=0, atol=tolerance)
    np.testing.assert_allclose((f - 2.0 * g)(X), f(X) - 2 * g(X), rtol=0, atol=2 * tolerance)
    Y = rng.normal(size=(5, 2))
    mapped = Y @ A.T + t
    tolerance = 1000 * EPS * size(f._parameters, np.abs(Y) @ np.abs(A).T + np.abs(t))
    np.testing.assert_allclose(f.precompose(A, t)(Y), f(mapped), rtol=0, atol=tolerance)


def test_blocks_do_not_show(monkeypatch):
    f = ShallowNetwork(*parameters(0, (5, 3, None)))
    X = np.random.default_rng(0).normal(size=(101, 3))
    whole = f(X)
    monkeypatch.setattr(model, "_BLOCK_ENTRIES", 40)
    np.testing.assert_allclose(f(X), whole, rtol=0, atol=100 * EPS * size(f._parameters, X))


@pytest.mark.parametrize("m", [None, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors(m, dtype):
    torch = pytest.importorskip("torch")
    f = ShallowNetwork(*parameters(1, (4, 3, m)))
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(dtype)
    answer = f(torch.from_numpy(X))
    assert array_api_compat.is_torch_array(answer)
    assert answer.dtype == getattr(torch, dtype)
    tolerance = 100 * np.finfo(dtype).eps * size(f._parameters, X)
    np.testing.assert_allclose(answer.numpy(), f(X.astype(float)), rtol=0, atol=tolerance)
    assert f(torch.from_numpy(X[0])).shape == f.linear.shape[:-1]


def test_integers_and_lists_are_float64():
    f = ShallowNetwork([0.5, 0.0], [1.0], [[0.0, 1.0]])
    assert f([[1, -2], [3, 4]]).tolist() == [2.5, 5.5]
    assert f(np.array([1, -2])) == 2.5


def test_the_parameters_are_read_only_copies():
    linear = np.ones(2)
    f = ShallowNetwork(linear, [1.0], [[1.0, 0.0]])
    linear[0] = 9
    assert f.linear[0] == 1
    for array in (f.linear, f.coefficients, f.units, f.biases):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_repr_says_the_sizes():
    assert (
        repr(ShallowNetwork(np.ones(3), [1.0], np.eye(3)[:1])) == "<ShallowNetwork: n_hidden=1, n_features=3>"
    )
    many = ShallowNetwork(np.ones((2, 3)), [[1.0, 2.0]], np.eye(3)[:1], [1.0])
    assert repr(many) == "<ShallowNetwork: n_hidden=1, n_features=3, n_outputs=2, biases>"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0, np.nan], [], np.zeros((0, 2))), '"linear" must hold finite numbers, got 1 of 2 not finite'),
        ((["a"], [], np.zeros((0, 1))), '"linear" must be an array of real numbers, got list'),
        ((np.zeros((1, 1, 1)), [], []), r'"linear" must have shape \(d,\) or \(m, d\)'),
        (([1.0, 2.0], [1.0], [[1.0, 2.0, 3.0]]), r'"units" must have shape \(1, 2\).* got \(1, 3\)'),
        (([1.0, 2.0], [1.0, 2.0], [[1.0, 2.0]]), r'"coefficients" must have shape \(1,\).* got \(2,\)'),
        (([[1.0, 2.0]], [1.0], [[1.0, 2.0]]), r'"coefficients" must have shape \(1, 1\).* got \(1,\)'),
        (([1.0], [1.0], [[1.0]], [1.0, 2.0]), r'"biases" must have shape \(1,\).* got \(2,\)'),
        (([1.0], [1.0], [[1.0]], None, [1.0]), r'"intercept" must have shape \(\).* got \(1,\)'),
        (([1.0], [1e300], [[1e300]]), "overflow float64"),
    ],
)
def test_bad_parameters_get_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        ShallowNetwork(*arguments)


def test_bad_calls_get_one_sentence():
    f = ShallowNetwork(*parameters(0, (2, 3, None)))
    with pytest.raises(InputError, match=r"network of 3 features, got \(4, 2\)"):
        f(np.zeros((4, 2)))
    with pytest.raises(InputError, match=r'"matrix" and "offset".* got \(2, 2\)'):
        f.precompose(np.eye(2))
    with pytest.raises(InputError, match=r"shapes \(k, d\) and \(k,\)"):
        ShallowNetwork.from_relu(np.eye(3), np.ones(2))
    with pytest.raises(InputError, match=r'"biases" must have shape \(3,\)'):
        ShallowNetwork.from_relu(np.eye(3), np.ones(3), np.ones(2))
    with pytest.raises(TypeError):
        f + 1.0
    with pytest.raises(TypeError):
        f * "2"


def test_numpy_scalars_scale_too():
    f = ShallowNetwork([1.0], [1.0], [[1.0]])
    assert np.float64(2.0) * f == f * 2 == f + f
