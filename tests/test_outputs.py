"""`learn` with several outputs, from end to end."""

import numpy as np
import pytest
import torch
from scipy import stats

from netlearn import LearnResult, Oracle, ShallowNetwork, Status, learn, pipeline
from netlearn.fit import Params, Problem, finish
from netlearn.source import ArraySource
from tests.fit.several import network, planted


def rows(f, n, seed=0, noise=0.0):
    source = planted(f, n, 1000 + seed, noise)
    return source.X, source.y


def some_outputs_use_some_units():
    # Output 0 has the first two units, output 1 the last three, output 2 none at all: it is affine.
    f = network(5, 6, 3, 1)
    coefficients = f.coefficients.copy()
    coefficients[2:, 0] = coefficients[:2, 1] = coefficients[:, 2] = 0.0
    return ShallowNetwork(f.linear, coefficients, f.units, f.biases, f.intercept)


def duplicate_and_constant():
    f = network(4, 6, 3, 2)
    linear, coefficients, intercept = f.linear.copy(), f.coefficients.copy(), f.intercept.copy()
    linear[1], coefficients[:, 1], intercept[1] = linear[0], coefficients[:, 0], intercept[0]
    linear[2], coefficients[:, 2], intercept[2] = 0.0, 0.0, 3.0
    return ShallowNetwork(linear, coefficients, f.units, f.biases, intercept)


EXACT = {
    "k 8, d 10, m 3": (network(8, 10, 3, 0), 1000, 8),
    "k 20, d 15, m 10": (network(20, 15, 10, 0), 3360, 20),
    "auto": (network(6, 8, 4, 1), 1500, "auto"),
    "auto, no biases": (network(4, 6, 2, 3, biases=0.0), 1000, "auto"),
    "some units": (some_outputs_use_some_units(), 1500, "auto"),
    "duplicate and constant": (duplicate_and_constant(), 1500, "auto"),
    "affine": (network(0, 5, 3, 4), 300, "auto"),
}


@pytest.mark.parametrize("case", EXACT)
def test_exact_labels_are_recovered(case):
    f, n, n_hidden = EXACT[case]
    result = learn(*rows(f, n), n_hidden=n_hidden, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == f.n_hidden
    assert result.network.coefficients.shape == f.coefficients.shape
    assert result.network.distance(f) <= 1e-10 * f.norm()
    assert result.network.biases.any() == f.biases.any()
    assert result.diagnostics.noise_level is None
    assert sum(result.diagnostics.rows.values()) == n
    assert len(result.certificate.per_output) == f.n_outputs


@pytest.mark.parametrize("n_hidden", [6, "auto"])
def test_units_of_one_output_alone_are_found(n_hidden):
    # A mixture of the outputs shows them too, if little; all outputs together miss none.
    f = network(6, 8, 3, 1)
    coefficients = f.coefficients.copy()
    coefficients[:3, 1:] = 0.0
    f = ShallowNetwork(f.linear, coefficients, f.units, f.biases, f.intercept)
    result = learn(*rows(f, 2000), n_hidden=n_hidden, rng=3)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 6
    assert result.network.distance(f) <= 1e-10 * f.norm()


@pytest.mark.parametrize("seed", range(3))
def test_fewer_rows_than_parameters_do_where_each_has_several_labels(seed):
    # 1,210 unknowns, 4,500 equations from 450 rows.
    f = network(16, 40, 10, seed)
    result = learn(*rows(f, 450, seed), n_hidden=16, rng=seed)
    assert result.status is Status.REPRODUCED  # twenty fresh rows are too few to call it recovered
    assert result.network.n_hidden == 16
    assert result.network.distance(f) <= 1e-10 * f.norm()


def test_outputs_that_repeat_each_other_are_not_counted_twice():
    # Ten copies of one output say as much as one: rows are then taken as for one.
    f = network(5, 10, 1, 0)
    X, y = rows(f, 1500)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 10)
    result = learn(X, y * signs, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 5


def least_squares_from_the_truth(X, y, f):
    """What joint least squares come to when they start at the network itself, every output scaled alike."""
    scale = y.std(axis=0)
    source = ArraySource(X, y / scale)
    start = Params.fitted(np.hstack([f.units, f.biases[:, None]]), source)
    g = finish(Problem(source, True), start).params.to_network()
    return ShallowNetwork(
        scale[:, None] * g.linear, scale * g.coefficients, g.units, g.biases, scale * g.intercept
    )


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_hidden", [4, "auto"])
def test_noise_costs_what_least_squares_cost(seed, n_hidden):
    sigma, n, (k, d, m) = 0.3, 3000, (4, 6, 3)
    f = network(k, d, m, seed)
    X, y = rows(f, n, seed, noise=sigma)
    result = learn(X, y, n_hidden=n_hidden, rng=seed)
    assert result.status is Status.NOISE_LIMITED
    assert result.network.n_hidden == k
    error = result.network.distance(f)
    assert error <= 1.2 * least_squares_from_the_truth(X, y, f).distance(f)
    # The squared error of least squares with P unknowns is sigma^2 chi^2_P / N, summed over outputs.
    P, fitted = m * (d + 1) + k * (d + 1) + k * (m - 1), n - result.certificate.n_val
    assert error <= sigma * np.sqrt(stats.chi2.isf(1e-6, P) / fitted)
    assert result.diagnostics.excess_error == pytest.approx(sigma * np.sqrt(P / fitted), rel=0.06)
    # Of N m residuals with P unknowns taken off, the mean square is sigma^2 chi^2 / (N m - P).
    width = stats.norm.isf(1e-6) / np.sqrt(2 * (fitted * m - P))
    assert abs(result.diagnostics.noise_level / (sigma * np.sqrt(m)) - 1) <= width < 0.05


@pytest.mark.statistical
def test_certificates_cover_each_output_and_all_together():
    # Over the runs the true errors exceed their bounds in at most a binomial number of them: of the joint ones, and of
    # runs in which any of the outputs does.
    runs, failure_prob, sigma, m = 40, 0.1, np.array([0.1, 0.5]), 2
    joint = each = empirical = 0
    for seed in range(runs):
        f = network(1, 3, m, seed)
        X, y = rows(f, 250, seed)
        y = y + sigma * np.random.default_rng(seed).standard_normal(y.shape)
        result = learn(X, y, n_hidden=1, failure_prob=failure_prob, rng=seed)
        own = result.certificate
        difference = result.network - f
        squares = difference.mean() ** 2 + difference.variance() + sigma**2
        joint += own.error_bound < np.sqrt(squares.sum())
        empirical += own.empirical_error < np.sqrt(squares.sum())
        each += any(
            part.error_bound < np.sqrt(true) for part, true in zip(own.per_output, squares, strict=True)
        )
        assert own.confidence == pytest.approx(0.9)
        assert [part.confidence for part in own.per_output] == pytest.approx([0.95, 0.95])
    allowed = stats.binom.isf(1e-3, runs, failure_prob)
    assert joint <= allowed
    assert each <= allowed
    assert empirical > allowed  # negative control


def test_outputs_of_very_different_size_are_all_met():
    f = network(4, 6, 3, 5)
    scale = np.array([1e-8, 1.0, 1e8])
    X, y = rows(f, 1500)
    result = learn(X, y * scale, n_hidden=4, rng=0)
    assert result.status is Status.RECOVERED
    np.testing.assert_allclose(result.network(X) / scale, y, atol=1e-10)


def test_inputs_of_any_mean_and_covariance():
    f = network(4, 6, 3, 6)
    Z, y = rows(f, 2000)
    A = np.random.default_rng(0).standard_normal((6, 6))
    X = Z @ A.T + 3.0
    result = learn(X, y, n_hidden=4, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.precompose(A, np.full(6, 3.0)).distance(f) <= 1e-10 * f.norm()


def test_single_precision_labels_are_met_to_their_rounding():
    f = network(4, 6, 3, 5)
    X, y = rows(f, 1500)
    result = learn(X, y.astype(np.float32), n_hidden=4, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(f) <= 1e-7 * f.norm()
    # One output in double precision, and agreement to single is not taken for exact.
    mixed = learn(X, np.where([True, True, False], y.astype(np.float32), y), n_hidden=4, rng=0)
    assert mixed.status is Status.NOISE_LIMITED


@pytest.mark.parametrize(
    "convert",
    [
        lambda X, y: (np.asfortranarray(X), np.asfortranarray(y)),
        lambda X, y: (X.tolist(), y.tolist()),
        lambda X, y: (torch.asarray(X), torch.asarray(y)),
    ],
    ids=["Fortran", "lists", "torch on the CPU"],
)
def test_the_container_does_not_matter(convert):
    f = network(3, 5, 2, 0)
    X, y = rows(f, 800)
    result = learn(*convert(X, y), n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(f) <= 1e-10 * f.norm()


def test_rows_that_stay_where_they_are_learn_the_same(monkeypatch):
    f = network(3, 5, 2, 0)
    X, y = rows(f, 800, noise=0.1)
    held = learn(X, y, n_hidden=3, rng=0)
    monkeypatch.setattr(pipeline, "_is_large", lambda rows: True)
    left = learn(X, y, n_hidden=3, rng=0)
    assert left.network.distance(held.network) <= 1e-8 * f.norm()


def test_one_column_is_one_output():
    f = network(3, 5, 1, 0)
    X, y = rows(f, 800)
    result = learn(X, y, n_hidden=3, rng=0)
    assert result.network == learn(X, y[:, 0], n_hidden=3, rng=0).network
    assert result.network.coefficients.ndim == 1
    assert result.certificate.per_output == ()


def test_weights_count_rows():
    # Rows of another network, given no weight, do not matter; rows of weight 2 count twice.
    f, other = network(3, 5, 2, 0), network(3, 5, 2, 1)
    X, y = rows(f, 1000)
    y[:200] = other(X[:200])
    result = learn(X, y, sample_weight=np.where(np.arange(1000) < 200, 0.0, 2.0), n_hidden=3, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(f) <= 1e-10 * f.norm()


def test_an_oracle_may_have_several_outputs():
    f = network(3, 5, 4, 0)
    oracle = Oracle(f, n_features=5, batch=300)
    result = learn(oracle, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(f) <= 1e-10 * f.norm()
    assert oracle.bought[1].shape == (oracle.n_queries, 4)
    assert sum(result.diagnostics.rows.values()) == oracle.n_queries


def test_the_same_rng_gives_the_same_network_and_a_checkpoint_goes_on_to_it(tmp_path):
    f = network(3, 5, 2, 0)
    X, y = rows(f, 800, noise=0.1)
    first = learn(X, y, n_hidden=3, rng=3, checkpoint=tmp_path / "run")
    assert learn(X, y, n_hidden=3, rng=3).network == first.network
    assert learn(X, y, n_hidden=3, rng=3, checkpoint=tmp_path / "run").network == first.network
    assert learn(X, y, n_hidden=3, rng=4).network != first.network


def test_a_result_with_every_certificate_is_saved_and_said(tmp_path):
    f = network(3, 5, 2, 0)
    result = learn(*rows(f, 800, noise=0.1), n_hidden=3, rng=0)
    result.save(tmp_path / "r")
    loaded = LearnResult.load(tmp_path / "r")
    assert loaded.certificate == result.certificate
    assert len(loaded.certificate.per_output) == 2
    assert loaded.network == result.network
    assert loaded.held_out.y.shape == (result.certificate.n_val, 2)
    card = loaded.summary()
    assert card == result.summary()
    tolerances = [own.tolerance for own in result.certificate.per_output]
    worst = f"y{1 + int(np.argmax(tolerances))}"
    for words in (
        "3 neurons in 5 dimensions, 2 outputs",
        f"each output  tolerance {min(tolerances):.4g} to {max(tolerances):.4g}, all with confidence 0.99; {worst} has",
        "of new rows have an error (all outputs together) above",
    ):
        assert words in card
    assert loaded.score == result.score
    assert len(loaded.score.r2_each) == 2


def test_what_is_no_small_network_is_never_certified():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 2))
    y = np.stack([np.sin(5.0 * X[:, 0]), X[:, 0] * X[:, 1]], axis=1)
    result = learn(X, y, n_hidden=2, epsilon=0.05, rng=0, time_limit=20.0)
    assert not result.success
    assert result.certificate.error_bound > 0.05


def test_out_of_time_returns_the_best_so_far():
    f = network(6, 20, 3, 0)
    result = learn(*rows(f, 3000, noise=0.1), n_hidden=6, rng=0, time_limit=1e-3)
    assert result.status is Status.OUT_OF_TIME
    assert result.network.coefficients.shape[1] == 3


def test_no_units_is_the_affine_fit():
    X, y = rows(network(2, 4, 2, 0), 500)
    result = learn(X, y, n_hidden=0, rng=0)
    assert result.network.n_hidden == 0
    assert not result.success
