import math
from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.report.directions import leading_directions
from netlearn.report.importance import sensitivity
from netlearn.report.measures import (
    baselines,
    feature_names,
    fit_quality,
    has_signal,
    held_out_error,
    matrix_name,
    nearest_angles,
    noise_limit,
    output_qualities,
    worst_outputs,
)
from netlearn.result import HeldOut, MomentSpectrum, Status
from tests.report.results import CASES, affine, in_dimension, made


def test_fit_quality_is_what_the_rows_say():
    network = ShallowNetwork([1.0], [], np.zeros((0, 1)))
    held_out = HeldOut(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 2.0, 2.0]))
    quality = fit_quality(replace(made(network), held_out=held_out))  # errors 1, 0, 0, -1
    assert quality.n_rows == 4
    assert quality.rms == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert quality.largest == 1.0
    assert quality.spread == pytest.approx(0.5, rel=1e-15)
    assert quality.r_squared == pytest.approx(-1.0, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_fit_quality_knows_no_units_of_measurement(scale):
    result = in_dimension(2)
    larger = replace(
        result,
        network=scale * result.network,
        held_out=HeldOut(result.held_out.X, scale * result.held_out.y),
    )
    assert fit_quality(larger).rms == pytest.approx(scale * fit_quality(result).rms, rel=1e-9)
    assert fit_quality(larger).r_squared == pytest.approx(fit_quality(result).r_squared, rel=1e-9)


def test_the_held_out_error_is_the_certificates_where_there_is_one():
    result = in_dimension(2)
    other = replace(result.certificate, empirical_error=0.25, n_val=12345)
    error = held_out_error(replace(result, certificate=other))
    assert (error.rms, error.n_rows) == (0.25, 12345)
    assert error.relative == pytest.approx(0.25 / np.std(result.held_out.y), rel=1e-12)
    bare = held_out_error(replace(result, certificate=None))
    assert bare.rms == pytest.approx(result.certificate.empirical_error, rel=1e-12)
    assert held_out_error(replace(result, certificate=None, held_out=None)) is None
    assert held_out_error(CASES["equal labels"]()).relative is None


def test_outputs_are_measured_one_by_one_and_together():
    network = ShallowNetwork([[1.0], [0.0]], np.zeros((0, 2)), np.zeros((0, 1)))
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.column_stack([[1.0, 1.0, 2.0, 2.0], [3.0, -3.0, 3.0, -3.0]])
    result = replace(made(network), held_out=HeldOut(X, y))
    first, second = output_qualities(result)
    assert (first.rms, first.spread) == pytest.approx((math.sqrt(0.5), 0.5))  # errors 1, 0, 0, -1
    assert (second.rms, second.largest, second.spread, second.r_squared) == pytest.approx(
        (3.0, 3.0, 3.0, 0.0)
    )
    joint = fit_quality(result)
    assert (joint.n_rows, joint.largest) == (4, 3.0)
    assert joint.rms == pytest.approx(math.sqrt(9.5))
    assert joint.spread == pytest.approx(math.sqrt(9.25))
    assert joint.r_squared == pytest.approx(1 - 9.5 / 9.25)
    assert worst_outputs(result) == [0, 1]  # sqrt(2) of its spread, and 1
    assert held_out_error(replace(result, certificate=None)).relative == pytest.approx(math.sqrt(9.5 / 9.25))


def test_the_worst_outputs_come_first_and_constants_count_by_their_error():
    result = CASES["one output constant"]()  # which is met exactly
    assert worst_outputs(result)[-1] == 2
    X, y = result.held_out.X, result.held_out.y.copy()
    y[:, 2] += 1e-9
    assert worst_outputs(replace(result, held_out=HeldOut(X, y)))[0] == 2
    assert worst_outputs(CASES["no held-out rows"]()) == []


def test_baselines_are_those_of_the_score_and_the_noise_limit_is_the_noises_share():
    result = in_dimension(2)  # noise of 0.1
    score = result.score
    found = {one.key: one.r2 for one in baselines(result)}
    assert (found["r2"], found["r2-linear"], found["r2-mean"]) == (score.r2, score.r2_linear, score.r2_mean)
    variance = np.var(result.held_out.y)
    assert found["r2-limit"] == pytest.approx(max(1 - 0.01 / variance, score.r2), rel=1e-9)
    assert noise_limit(replace(result, status=Status.NOT_A_SMALL_NETWORK)) is None  # what is left is no noise
    assert noise_limit(CASES["several outputs"]()) is None
    assert baselines(replace(result, score=None)) == []
    low = replace(result, diagnostics=replace(result.diagnostics, noise_level=10.0))
    assert noise_limit(low) == score.r2  # which the network has reached


def test_only_what_predicts_better_than_the_mean_has_a_signal():
    result = in_dimension(2)
    assert has_signal(result)
    assert not has_signal(replace(result, status=Status.NO_SIGNAL))
    assert not has_signal(replace(result, score=replace(result.score, beats_mean=False)))
    assert has_signal(replace(result, score=None))  # nobody has looked
    assert not has_signal(CASES["no network"]())


def test_outputs_of_very_different_size_have_the_same_directions():
    result = CASES["several outputs"]()
    f, scale = result.network, np.array([1e-8, 1e8])
    scaled = ShallowNetwork(
        scale[:, None] * f.linear, scale * f.coefficients, f.units, f.biases, scale * f.intercept
    )
    other = replace(result, network=scaled, held_out=HeldOut(result.held_out.X, scale * result.held_out.y))
    found, again = leading_directions(result), leading_directions(other)
    np.testing.assert_allclose(again.shares, found.shares, rtol=1e-9)
    np.testing.assert_allclose(again.axes, found.axes, rtol=1e-6, atol=1e-9)
    S = found.coordinates(result.held_out.X)
    np.testing.assert_allclose(again.expected(S), scale * found.expected(S), rtol=1e-6, atol=1e-9)
    one, two = sensitivity(result), sensitivity(other)
    assert one.features == two.features
    np.testing.assert_allclose(two.indices.per_output[1].total, one.indices.per_output[1].total, atol=1e-12)


def test_sobol_indices_are_those_of_the_features_that_matter():
    rng = np.random.default_rng(0)
    scales = np.geomspace(1e-3, 1e3, 30)
    weights = np.where(np.arange(30) % 6 == 0, 1.0, 1e-6) / scales
    units = rng.standard_normal((2, 30)) * weights
    network = ShallowNetwork(np.zeros(30), [1.0, -0.5], units, rng.standard_normal(2))
    X = 5.0 + rng.standard_normal((500, 30)) * scales
    result = replace(made(network), held_out=HeldOut(X, network(X)))
    found = sensitivity(result, count=5)
    assert set(found.features) == {0, 6, 12, 18, 24}
    expected = network.precompose(np.diag(X.std(axis=0)), X.mean(axis=0)).sobol()
    np.testing.assert_allclose(found.indices.total, expected.total[found.features], atol=1e-9)
    np.testing.assert_allclose(found.indices.first_order, expected.first_order[found.features], atol=1e-9)
    assert list(found.indices.total) == sorted(found.indices.total, reverse=True)
    assert sensitivity(CASES["a constant"]()) is None
    # A feature that does not vary in the rows explains nothing, whatever its weight.
    X[:, 0] = 1.0
    still = sensitivity(replace(result, held_out=HeldOut(X, network(X))), count=30)
    assert still.indices.total[still.features.index(0)] == 0.0


def test_angles_are_between_lines_and_exact_when_small():
    tiny = 1e-9
    units = [[1.0, 0.0, 0.0], [math.cos(tiny), math.sin(tiny), 0.0], [0.0, -math.sqrt(0.5), math.sqrt(0.5)]]
    network = ShallowNetwork(np.zeros(3), [3.0, 2.0, 1.0], units, [0.0, 1.0, 0.0])
    angles = nearest_angles(network)
    assert angles[:2] == pytest.approx(math.degrees(tiny), rel=1e-6)
    assert angles[2] == pytest.approx(90.0, abs=1e-6)
    # Canonical units whose lines are 2 degrees apart, while the units themselves are almost opposite.
    a, b = math.radians(-44), math.radians(134)
    pair = ShallowNetwork(np.zeros(2), [2.0, 1.0], [[math.cos(a), math.sin(a)], [math.cos(b), math.sin(b)]])
    assert nearest_angles(pair) == pytest.approx(2.0, rel=1e-9)
    hard = nearest_angles(teachers.hard_plane(8, 20, 0))
    assert hard == pytest.approx(22.5, rel=1e-9)
    assert np.isnan(nearest_angles(teachers.random(1, 4, 0)))
    assert len(nearest_angles(affine().network)) == 0


def test_names_are_the_users_or_numbered():
    assert feature_names(affine(2)) == ("x1", "x2")
    assert feature_names(replace(affine(2), names=("height", "weight"))) == ("height", "weight")


def test_moment_matrices_are_named_by_filter_or_symbol():
    eigenvalues = np.ones(2)
    assert matrix_name(MomentSpectrum(2, 0, eigenvalues, 1.0)) == "M_2"
    assert matrix_name(MomentSpectrum(4, 1, eigenvalues, 1.0)) == "M_4, g_2"
    assert matrix_name(MomentSpectrum(4, None, eigenvalues, 1.0, "degree 4")) == "degree 4"


ROTATED = np.linalg.qr(np.random.default_rng(5).standard_normal((6, 6)))[0]


def stretched(result, seed=3):
    """The same function on inputs of other scale and place."""
    rng = np.random.default_rng(seed)
    d = result.network.n_features
    A, shift = np.diag(np.geomspace(0.1, 10, d)) @ rng.standard_normal((d, d)), rng.standard_normal(d)
    inverse = np.linalg.inv(A)
    return replace(
        result,
        network=result.network.precompose(inverse, -inverse @ shift),
        held_out=HeldOut(result.held_out.X @ A.T + shift, result.held_out.y),
    )


@pytest.mark.parametrize("name", ["dim V 1", "dim V 2", "dim V 5", "k = 0", "d = 1", "several outputs"])
@pytest.mark.parametrize("change", [lambda result: result, stretched], ids=["standard", "stretched"])
def test_the_network_is_a_function_of_the_coordinates(name, change):
    result = change(CASES[name]())
    found = leading_directions(result)
    S = found.coordinates(result.held_out.X)
    np.testing.assert_allclose(found.network(S), result.network(result.held_out.X), atol=1e-9)
    np.testing.assert_allclose(found.expected(S), found.network(S), atol=1e-9)
    np.testing.assert_allclose(S.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.cov(S, rowvar=False), np.eye(S.shape[1]).squeeze(), atol=1e-8)


def test_expectation_and_shares_agree_with_sampling():
    found = leading_directions(in_dimension(5))
    rng = np.random.default_rng(0)
    point, n = np.array([[0.7, -0.4]]), 200_000
    S = np.column_stack([np.broadcast_to(point, (n, 2)), rng.standard_normal((n, found.axes.shape[1] - 2))])
    values = found.network(S)
    error = values.std() / math.sqrt(n)
    assert abs(found.expected(point)[0] - values.mean()) < 6 * error
    S = rng.standard_normal((n, found.axes.shape[1]))
    total = found.network(S).var()
    for index, share in enumerate(found.shares):
        # E[f | s_j] as a function of s_j, by the formula that was just checked, for each axis in turn.
        turned = np.roll(np.arange(S.shape[1]), -index)
        alone = replace(found, network=found.network.precompose(np.eye(S.shape[1])[:, turned]))
        assert alone.expected(S[:, [index]]).var() / total == pytest.approx(share, abs=0.02)
    assert found.expected(S[:, :2]).var() / total == pytest.approx(found.joint_share, abs=0.02)
    assert list(found.shares) == sorted(found.shares, reverse=True)


def test_the_direction_that_matters_comes_first():
    units = ROTATED[:2]
    network = ShallowNetwork(np.zeros(6), [1.0, 0.1], units)
    found = leading_directions(made(network, n_rows=1000))
    first = found.axes[:, 0] / np.linalg.norm(found.axes[:, 0])
    # Both units explain what they add; the larger has 100/101 of the variance.
    assert abs(first @ units[0]) > 0.99
    assert found.shares[0] == pytest.approx(100 / 101, abs=0.01)


def test_the_direction_that_matters_is_found_among_many():
    network = ShallowNetwork(np.zeros(12), [1.0, *[0.01] * 11], np.eye(12))
    found = leading_directions(made(network, n_rows=1000))
    assert len(found.shares) == 8
    assert found.shares[0] > 0.98
    assert np.argmax(np.abs(found.axes[:, 0])) == 0


def test_directions_are_sorted_by_what_they_explain_not_by_slope():
    # In the plane the function is steep but goes up and down; along the third axis it only rises, gently.
    plane = teachers.hard_plane(8, 2, 0)
    units = np.column_stack([plane.units, np.zeros(8)])
    network = ShallowNetwork([0.0, 0.0, 0.05], plane.coefficients, units)
    slopes = (
        np.sign(np.random.default_rng(0).standard_normal((1000, 2)) @ plane.units.T) * plane.coefficients
    ) @ plane.units
    assert np.mean(slopes**2) > 2 * 0.05**2
    found = leading_directions(made(network, n_rows=1000))
    assert np.argmax(np.abs(found.axes[:, 0])) == 2
    assert found.shares[0] > 10 * found.shares[1]


def test_one_direction_is_enough_where_it_explains_almost_all():
    assert leading_directions(affine()).n_shown == 1
    nearly = ShallowNetwork(1e-4 * ROTATED[1], [1.0], ROTATED[:1])
    found = leading_directions(made(nearly))
    assert (found.axes.shape[1], found.n_shown) == (2, 1)
    assert leading_directions(in_dimension(2)).n_shown == 2


def test_a_linear_part_at_rounding_level_is_no_direction():
    network = teachers.hard_plane(4, 20, 0)
    noisy = ShallowNetwork(1e-16 * np.ones(20), network.coefficients, network.units)
    assert leading_directions(made(noisy)).axes.shape == (20, 2)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_directions_know_no_units_of_measurement(scale):
    result = in_dimension(3)
    larger = replace(result, network=scale * result.network)
    found, again = leading_directions(result), leading_directions(larger)
    np.testing.assert_allclose(again.shares, found.shares, rtol=1e-9)
    np.testing.assert_allclose(again.axes, found.axes, rtol=1e-6)
    S = found.coordinates(result.held_out.X)
    np.testing.assert_allclose(again.expected(S[:, :2]), scale * found.expected(S[:, :2]), rtol=1e-6)


def test_features_of_very_different_scale_are_all_seen():
    # In the coordinates of X the two units are parallel to 1e-12; in those of the rows they are orthogonal.
    scales = np.array([1e-6, 1e6])
    result = made(ShallowNetwork(np.zeros(2), [1.0, 0.5], np.eye(2)))
    far = replace(
        result,
        network=result.network.precompose(np.array([[1.0, 1.0], [1.0, -1.0]]) / math.sqrt(2) / scales),
        held_out=HeldOut(result.held_out.X * scales, result.held_out.y),
    )
    found = leading_directions(far)
    assert found.axes.shape == (2, 2)
    S = found.coordinates(far.held_out.X)
    np.testing.assert_allclose(found.network(S), far.network(far.held_out.X), rtol=1e-6)
    np.testing.assert_allclose(np.cov(S, rowvar=False), np.eye(2), atol=1e-8)


@pytest.mark.parametrize("name", ["a constant", "no held-out rows", "no network"])
def test_without_rows_or_variance_there_are_no_directions(name):
    assert leading_directions(CASES[name]()) is None
