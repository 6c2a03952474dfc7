"""Certificates of networks with several outputs: of all together, and of each."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from netlearn.certify import Basis, certify, envelope_bound, lipschitz_constant, share_beyond
from netlearn.certify.law import NORMAL, STANDARD, Spread, slope_in_normal
from netlearn.certify.slope import parts
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from tests.fit.several import network


@pytest.fixture
def pair():
    f, g = network(3, 4, 2, 0), network(3, 4, 2, 1)
    return f, f + 0.1 * g


def rows(f, n, seed):
    X = np.random.default_rng(seed).standard_normal((n, f.n_features))
    return X, f(X)


def test_the_lipschitz_constant_bounds_every_slope_and_is_met():
    f = network(5, 4, 3, 0)
    X, y = rows(f, 2000, 0)
    slopes = np.linalg.norm(np.diff(y, axis=0), axis=1) / np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert slopes.max() <= lipschitz_constant(f)
    # Met where unit and linear part pull the same way: f(x) = (3 x_1 + 4 |x_1|, 0) rises by 7 for x_1 > 0.
    aligned = ShallowNetwork([[3.0, 0.0], [0.0, 0.0]], [[4.0, 0.0]], np.eye(2)[:1])
    assert lipschitz_constant(aligned) == pytest.approx(7.0)
    # Singular value and length, not sums over outputs: 5 = |(3, 4)| twice.
    both = ShallowNetwork([[3.0, 0.0], [4.0, 0.0]], [[3.0, 4.0]], np.eye(2)[:1])
    assert lipschitz_constant(both) == pytest.approx(10.0)
    huge = ShallowNetwork(1e200 * np.array([[3.0, 0.0], [4.0, 0.0]]), [[3e200, 4e200]], np.eye(2)[:1])
    assert lipschitz_constant(huge) == pytest.approx(1e201)


def test_the_error_of_a_row_is_the_length_of_its_vector(pair):
    f, g = pair
    X, y = rows(f, 500, 1)
    certificate = certify(g, X, y, failure_prob=0.04)
    errors = y - g(X)
    lengths = np.array([math.sqrt(error @ error) for error in errors])
    assert certificate.tolerance == pytest.approx(lengths.max())
    assert certificate.share == share_beyond(500, 0.04)
    assert certificate.empirical_error == pytest.approx(math.sqrt(np.mean(lengths**2)))
    assert len(certificate.per_output) == 2
    for o, own in enumerate(certificate.per_output):
        assert own.tolerance == pytest.approx(np.abs(errors[:, o]).max())
        assert own.share == share_beyond(500, 0.02)
        assert own.empirical_error == pytest.approx(math.sqrt(np.mean(errors[:, o] ** 2)))
        assert own.confidence == pytest.approx(0.98)
        assert (own.n_val, own.per_output) == (500, ())
        assert any("one of 2 statements" in words and "confidence 0.96" in words for words in own.assumptions)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("law", [STANDARD, NORMAL])
def test_bounds_take_the_slopes_of_the_vectors(pair, law, noisy):
    f, g = pair
    X, y = rows(f, 500, 2)
    if noisy:
        y = y + 0.1 * np.random.default_rng(3).standard_normal(y.shape)
    errors = y - g(X)
    certificate = certify(g, X, y, failure_prob=0.04, basis=Basis(law, noisy=noisy))
    W, Lambda, U = parts(g)
    of_outputs = [(W[[o]], Lambda[:, [o]], U) for o in range(2)]
    for own, (w, lam, u), E, rate in [
        (certificate, (W, Lambda, U), errors, 0.04),
        *((certificate.per_output[o], of_outputs[o], errors[:, [o]], 0.02) for o in range(2)),
    ]:
        limits = 0.05 * rate
        spread = Spread(500, X @ np.vstack([w, u]).T, np.ptp(X, axis=0))
        slope = 3 * slope_in_normal(law, spread, (w, lam, u), limits)[0]
        if noisy:
            slope = math.hypot(slope, np.linalg.norm(E, 2) / math.sqrt(chi2.ppf(limits, 500)))
        rest = rate - limits * ((law != STANDARD) + noisy)
        expected = envelope_bound(np.linalg.norm(E, axis=1), slope, rest)
        assert own.error_bound == pytest.approx(expected, rel=1e-9)
    assert f.distance(g) <= certificate.error_bound


def test_recheck_repeats_all_of_it(pair):
    f, g = pair
    first = certify(g, *rows(f, 300, 3), failure_prob=0.04, basis=Basis(STANDARD))
    again = first.recheck(g, *rows(f, 300, 3))
    assert again.error_bound == pytest.approx(first.error_bound)
    assert [own.error_bound for own in again.per_output] == pytest.approx(
        [own.error_bound for own in first.per_output]
    )


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (4, 2)])
def test_labels_must_be_of_the_networks_shape(pair, shape):
    with pytest.raises(InputError, match=r"shapes \(n, d\) and \(n, m\) with n >= 1 and m = 2, got \(5, 4\)"):
        certify(pair[0], np.zeros((5, 4)), np.zeros(shape), failure_prob=0.04)


def test_labels_of_one_output_have_no_columns():
    one = ShallowNetwork(np.zeros(2), np.ones(1), np.eye(2)[:1])
    with pytest.raises(
        InputError, match=r"shapes \(n, d\) and \(n,\) with n >= 1, got \(5, 2\) and \(5, 1\)"
    ):
        certify(one, np.zeros((5, 2)), np.zeros((5, 1)), failure_prob=0.04)
