import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from netlearn.certify import (
    STEEPNESS,
    Basis,
    certify,
    certify_rows,
    envelope_bound,
    lipschitz_constant,
    moved_by,
    root_mean_square_bound,
    share_beyond,
)
from netlearn.certify.law import BOX, NORMAL, STANDARD, slope_in_normal
from netlearn.certify.slope import parts
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource
from tests import statistics
from tests.certify.test_law import spread_of


@pytest.fixture
def pair():
    target = ShallowNetwork(np.array([0.5, 0.0, 0.0]), np.array([1.0, -0.5]), np.eye(3)[:2])
    estimate = ShallowNetwork(np.array([0.4, 0.0, 0.0]), np.array([0.9, -0.5]), np.eye(3)[:2])
    return target, estimate


def rows(target, n, seed):
    X = np.random.default_rng(seed).standard_normal((n, target.n_features))
    return X, target(X)


def test_without_a_basis_there_is_the_share_alone(pair):
    target, estimate = pair
    X, y = rows(target, 400, 1)
    certificate = certify(estimate, X, y, failure_prob=0.05)
    errors = np.abs(y - estimate(X))
    assert certificate.tolerance == errors.max()
    assert certificate.share == share_beyond(400, 0.05) == pytest.approx(1 - 0.05 ** (1 / 400))
    assert certificate.empirical_error == pytest.approx(math.sqrt(np.mean(errors**2)))
    assert (certificate.n_val, certificate.n_bound, certificate.confidence) == (400, 0, 0.95)
    assert math.isinf(certificate.error_bound)
    assert "not known to be Gaussian" in certificate.why_no_bound
    assert len(certificate.assumptions) == 1


@pytest.mark.parametrize("given", [None, 2.0])
def test_the_bound_is_the_envelope_of_the_difference(pair, given):
    target, estimate = pair
    X, y = rows(target, 2000, 1)
    certificate = certify(estimate, X, y, failure_prob=0.05, basis=Basis(STANDARD, given))
    own = lipschitz_constant(estimate)
    slope = own + (STEEPNESS * own if given is None else given)
    errors = np.abs(y - estimate(X))
    assert certificate.error_bound == pytest.approx(envelope_bound(errors, slope, 0.05), rel=1e-12)
    assert target.distance(estimate) <= certificate.error_bound
    assert certificate.n_bound == 2000
    said = "; ".join(certificate.assumptions)
    assert ("no steeper than 2" if given else "at most 2 times as steep as the network") in said
    assert "N(0, I)" in said
    assert "noise" not in said


def test_the_mean_form(pair):
    target, estimate = pair
    X, y = rows(target, 500, 2)
    certificate = certify(estimate, X, y, failure_prob=0.05, basis=Basis(STANDARD, 2.0, method="mean"))
    slope = lipschitz_constant(estimate) + 2.0
    expected = root_mean_square_bound(certificate.empirical_error, 500, slope, 0.05)
    assert certificate.error_bound == pytest.approx(expected, rel=1e-12)


def test_noise_makes_the_error_steeper_and_costs_a_part_of_the_failure_probability(pair):
    target, estimate = pair
    X, y = rows(target, 300, 3)
    y = y + 0.2 * np.random.default_rng(4).standard_normal(300)
    certificate = certify(estimate, X, y, failure_prob=0.04, basis=Basis(STANDARD, 2.0, noisy=True))
    errors = np.abs(y - estimate(X))
    limit = math.sqrt(np.sum(errors**2) / chi2.ppf(0.05 * 0.04, 300))
    slope = math.hypot(lipschitz_constant(estimate) + 2.0, limit)
    assert certificate.error_bound == pytest.approx(envelope_bound(errors, slope, 0.95 * 0.04), rel=1e-12)
    assert "noise" in "; ".join(certificate.assumptions)


@pytest.mark.parametrize("law", [NORMAL, BOX])
def test_limits_of_the_spread_cost_a_part_of_the_failure_probability(pair, law):
    target, estimate = pair
    X = np.random.default_rng(5).uniform(-1, 1, (300, 3)) if law == BOX else rows(target, 300, 5)[0]
    y = target(X)
    certificate = certify(estimate, X, y, failure_prob=0.04, basis=Basis(law))
    own, _ = slope_in_normal(law, spread_of(X, estimate), parts(estimate), 0.05 * 0.04)
    expected = envelope_bound(np.abs(y - estimate(X)), (1 + STEEPNESS) * own, 0.95 * 0.04)
    assert certificate.error_bound == pytest.approx(expected, rel=1e-9)


def test_a_given_slope_is_taken_to_normal_coordinates(pair):
    target, estimate = pair
    X = rows(target, 300, 6)[0] * [1.0, 2.0, 3.0] + 10.0
    centred = X - X.mean(axis=0)
    largest = np.linalg.norm(centred, 2) / math.sqrt(299)
    own, in_normal = slope_in_normal(NORMAL, spread_of(X, estimate, largest), parts(estimate), 0.05 * 0.04)
    certificate = certify(estimate, X, target(X), failure_prob=0.04, basis=Basis(NORMAL, 2.0))
    expected = envelope_bound(np.abs(target(X) - estimate(X)), own + in_normal(2.0), 0.95 * 0.04)
    assert certificate.error_bound == pytest.approx(expected, rel=1e-9)


def test_rounding_of_labels_is_added_to_every_error(pair):
    target, estimate = pair
    X, y = rows(target, 300, 7)
    basis = Basis(STANDARD, 2.0)
    plain = certify(estimate, X, y, failure_prob=0.05, basis=replace(basis, rounding=0.0))
    rounded = certify(estimate, X, y, failure_prob=0.05, basis=replace(basis, rounding=0.03))
    errors = np.abs(y - estimate(X))
    slope = lipschitz_constant(estimate) + 2.0
    assert rounded.error_bound == pytest.approx(envelope_bound(errors + 0.03, slope, 0.05))
    assert rounded.error_bound > plain.error_bound
    assert rounded.tolerance == plain.tolerance


def test_wrong_labels_are_left_out_of_the_tolerance_and_leave_no_bound(pair):
    target, estimate = pair
    X, y = rows(target, 200, 8)
    y[:4] += 100.0
    certificate = certify(estimate, X, y, failure_prob=0.05, basis=Basis(STANDARD, wrong_share=0.02))
    assert certificate.tolerance == np.sort(np.abs(y - estimate(X)))[195] < 1.0
    assert certificate.share == share_beyond(200, 0.05, 4)
    assert math.isinf(certificate.error_bound)
    assert "wrong" in certificate.why_no_bound


def test_sources_in_parts_say_the_same(pair):
    target, estimate = pair
    X, y = rows(target, 300, 9)
    basis = Basis(NORMAL, 2.0, noisy=True)
    parts = ArraySource(X[:100], y[:100]), ArraySource(X[100:], y[100:])
    whole = certify(estimate, X, y, failure_prob=0.05, basis=basis)
    together = certify_rows(estimate, *parts, failure_prob=0.05, basis=basis)
    assert together.error_bound == pytest.approx(whole.error_bound, rel=1e-9)
    assert (together.share, together.tolerance, together.n_val) == (whole.share, whole.tolerance, whole.n_val)


def test_a_network_that_was_moved_may_err_by_as_much_more(pair):
    certificate = certify(pair[1], *rows(pair[0], 300, 9), failure_prob=0.05, basis=Basis(STANDARD))
    moved = moved_by(certificate, 0.25)
    assert moved.error_bound == certificate.error_bound + 0.25
    assert moved.moved == 0.25


@pytest.mark.statistical
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("law", [STANDARD, NORMAL, BOX])
def test_coverage_where_the_assumptions_hold(law, noise):
    """A unit that few rows show is missing, as steep as assumed: nothing is to spare."""
    nothing = ShallowNetwork(np.zeros(3), [], np.zeros((0, 3)))
    missing = ShallowNetwork.from_relu([[1.0, 0.0, 0.0]], [1.0], [-1.6])
    rng, n, rate, n_draws = np.random.default_rng(10), 40, 0.2, 300
    scale = np.array([1.0, 1.5, 0.5])

    def drawn(n):
        if law == BOX:
            return rng.uniform(-2, 2, (n, 3))
        return rng.standard_normal((n, 3)) * (scale if law == NORMAL else 1.0)

    truth = math.hypot(math.sqrt(np.mean(missing(drawn(400_000)) ** 2)), noise)
    broken = flatter = 0
    for _ in range(n_draws):
        X = drawn(n)
        y = missing(X) + noise * rng.standard_normal(n)
        basis = Basis(law, 1.0, noisy=noise > 0)
        broken += truth > certify(nothing, X, y, failure_prob=rate, basis=basis).error_bound
        less = certify(nothing, X, y, failure_prob=rate, basis=replace(basis, target_lipschitz=0.2))
        flatter += truth > less.error_bound
    most = binom.isf(statistics.FALSE_ALARM_RATE, n_draws, rate)
    assert broken <= most
    if not noise and law != BOX:
        assert flatter > most  # a fifth of the slope is not enough


def test_recheck_repeats_the_statement_on_other_rows(pair):
    target, estimate = pair
    certificate = certify(estimate, *rows(target, 5000, 2), failure_prob=0.05, basis=Basis(STANDARD, 2.0))
    again = certificate.recheck(estimate, *rows(target, 5000, 2))
    assert again == replace(
        certificate, confidence=again.confidence, share=again.share, error_bound=again.error_bound
    )
    assert again.error_bound == pytest.approx(certificate.error_bound, rel=1e-12)
    more = certificate.recheck(estimate, *rows(target, 50_000, 3))
    assert more.confidence == pytest.approx(certificate.confidence)
    assert more.error_bound < certificate.error_bound
    # Negative control: rows of another function do not confirm the estimate.
    X, _ = rows(target, 5000, 4)
    assert certificate.recheck(estimate, X, np.sin(5.0 * X[:, 0])).error_bound > 2 * certificate.error_bound


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 3)), np.zeros(4), "shapes"),
        (np.zeros((0, 3)), np.zeros(0), "n >= 1"),
        (np.full((3, 3), np.nan), np.zeros(3), "finite"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(pair, X, y, message):
    with pytest.raises(InputError, match=message):
        certify(pair[1], X, y, failure_prob=0.05)


@pytest.mark.parametrize("failure_prob", [0.0, 1.0, -1.0, math.nan])
def test_impossible_confidences_are_refused(pair, failure_prob):
    with pytest.raises(InputError, match='"failure_prob"'):
        certify(pair[1], np.zeros((3, 3)), np.zeros(3), failure_prob=failure_prob)


def test_an_unknown_method_is_refused(pair):
    with pytest.raises(InputError, match='"method"'):
        certify(pair[1], np.zeros((3, 3)), np.zeros(3), failure_prob=0.05, basis=Basis(method="hope"))


@pytest.mark.parametrize(("step", "bounded"), [(0.0, True), (0.3, False)])
def test_errors_that_no_target_of_the_assumed_slope_could_make_leave_no_bound(step, bounded):
    # A constant network says that the target is constant, and one row of 90 says that it is not.
    rng = np.random.default_rng(0)
    network = ShallowNetwork(np.zeros(3), np.zeros(0), np.zeros((0, 3)), None, -1.0)
    y = np.full(90, -1.0)
    y[7] += step
    found = certify(network, rng.standard_normal((90, 3)), y, failure_prob=0.01, basis=Basis(STANDARD))
    assert math.isfinite(found.error_bound) == bounded
    assert ("vary more" in found.why_no_bound) != bounded


@pytest.mark.statistical
def test_errors_of_a_target_as_steep_as_assumed_contradict_nothing():
    # g = L x_1 is as steep as it may be, and its range is as large as that of any such function.
    network = ShallowNetwork(np.r_[1.0, np.zeros(4)], np.zeros(0), np.zeros((0, 5)), None, 0.0)
    for seed in range(50):
        X = np.random.default_rng(seed).standard_normal((2000, 5))
        found = certify(network, X, -2.0 * X[:, 0], failure_prob=0.01, basis=Basis(STANDARD))
        assert math.isfinite(found.error_bound)
