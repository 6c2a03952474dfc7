"""Probes: their matrices against the population and an explicit contraction, and what stands out of noise."""

import numpy as np
import pytest
from scipy import stats

from netlearn import teachers
from netlearn.moments import abs_hermite_coefficient
from netlearn.source import ArraySource
from netlearn.subspace import sine
from netlearn.subspace.look import look
from netlearn.subspace.probes import LabelProbe, QuarticProbe, RankProbe, TailProbe, measure, span
from tests import statistics
from tests.grains import cut
from tests.reference.tensors import hermite_tensor_sum


def labels_as_they_are(X, y):
    return y


def planted(network, n, seed):
    """Rows with the even part of the network's labels, centred and scaled by their exact moments."""
    X = np.random.default_rng(seed).standard_normal((n, network.n_features))
    y = network(X) - X @ network.linear
    spread = np.sqrt(network.variance() - network.linear @ network.linear)
    return ArraySource(X, (y - network.mean()) / spread), network.coefficients / spread


def symmetric(d, seed):
    B = np.random.default_rng(seed).standard_normal((d, d))
    return (B + B.T) / np.linalg.norm(B + B.T)


@pytest.mark.statistical
def test_the_label_probe_estimates_the_second_moment():
    # E[r (x x^T - I)] = c_2 sum_i lambda_i u_i u_i^T, and the sum divides by c_2. A mean
    # over 200,000 rows is normal; every entry is one statement, in standard errors measured on the rows.
    d, n = 4, 200_000
    network = teachers.random(3, d, 0)
    rows, lam = planted(network, n, seed=1)
    M = (network.units.T * lam) @ network.units
    (spectrum,) = measure(rows, labels_as_they_are, [LabelProbe()])
    draws = rows.y[:, None, None] * (rows.X[:, :, None] * rows.X[:, None, :] - np.eye(d))
    c_2 = abs_hermite_coefficient(2)
    np.testing.assert_allclose(spectrum.matrix, draws.mean(axis=0) / c_2, atol=1e-12)
    width = statistics.student_width(d * (d + 1) // 2, n - 1) * draws.std(axis=0) / np.sqrt(n) / c_2
    assert np.all(np.abs(spectrum.matrix - M) <= width)
    # Negative control: without the factor c_2, or with a unit's sign wrong, it is far outside.
    assert np.any(np.abs(c_2 * spectrum.matrix - M) > width)
    wrong = (network.units.T * (lam * np.array([1, 1, -1]))) @ network.units
    assert np.any(np.abs(spectrum.matrix - wrong) > width)


@pytest.mark.parametrize("seed", range(3))
def test_the_quartic_probe_is_the_contracted_hermite_tensor(seed):
    # H_4(x)(B) = (x^T B x - tr B)(x x^T - I) - 2 (B S + S B) - 2 B with S = x x^T - I: on the very same rows the
    # probe's matrix is the tensor's contraction but for 2 mean(r) B, which vanishes for centred labels.
    d, n = 3, 500
    rng = np.random.default_rng(seed)
    X, r = rng.standard_normal((n, d)), rng.standard_normal(n)
    B = symmetric(d, seed)
    rows = ArraySource(X, r)
    (second,) = measure(rows, labels_as_they_are, [LabelProbe()])
    (quartic,) = measure(rows, labels_as_they_are, [QuarticProbe(B, second.matrix)])
    contracted = np.einsum("ij,ijkl->kl", B, hermite_tensor_sum(X, r, 4)) / n
    expected = (contracted + 2 * r.mean() * B) / abs_hermite_coefficient(2)
    # 1000 eps times the largest term of the mean, max|r| max|x|^4.
    atol = 1000 * np.finfo(float).eps * np.max(np.abs(r)) * np.max(np.linalg.norm(X, axis=1)) ** 4
    np.testing.assert_allclose(quartic.matrix, expected, atol=atol)
    # Negative control: half of the correction is not enough.
    (half,) = measure(rows, labels_as_they_are, [QuarticProbe(B, second.matrix / 2)])
    assert np.max(np.abs(half.matrix - expected)) > 1e6 * atol


@pytest.mark.statistical
def test_the_quartic_probe_estimates_the_fourth_moment():
    # c_4 = -c_2: the population value is -sum_i lambda_i <u_i, B u_i> u_i u_i^T.
    d, n, groups = 4, 200_000, 50
    network = teachers.random(3, d, 0)
    rows, lam = planted(network, n, seed=2)
    B = symmetric(d, 3)
    weights = -lam * np.einsum("ka,ab,kb->k", network.units, B, network.units)
    M = (network.units.T * weights) @ network.units
    estimates = []
    for part in range(groups):
        some = ArraySource(rows.X[part::groups], rows.y[part::groups])
        (second,) = measure(some, labels_as_they_are, [LabelProbe()])
        estimates.append(measure(some, labels_as_they_are, [QuarticProbe(B, second.matrix)])[0].matrix)
    error = np.std(estimates, axis=0, ddof=1) / np.sqrt(groups)
    width = statistics.student_width(d * (d + 1) // 2, groups - 1)
    assert np.max(np.abs(np.mean(estimates, axis=0) - M) / error) <= width
    # Negative control: the sign of c_4 dropped.
    assert np.max(np.abs(np.mean(estimates, axis=0) + M) / error) > width


def every_probe(r):
    return [LabelProbe(), RankProbe.from_residuals(r), TailProbe.from_residuals(r)]


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(5))
def test_what_the_probes_see_lies_in_the_span_of_the_units(seed):
    # The matrix of *every* filter has its range in the span U. An eigenvector with eigenvalue rho is outside U
    # by at most |noise| / |rho| (Lemma 4.3); the floor is one draw of |noise|, and twice it covers another.
    d, k = 15, 3
    network = teachers.positive(k, d, seed)
    rows, _ = planted(network, 20_000, seed + 100)
    U = np.linalg.qr(network.units.T)[0]
    spectra = measure(rows, labels_as_they_are, every_probe(rows.y))
    for spectrum in spectra:
        assert 1 <= spectrum.basis.shape[1] <= k
        kept = np.abs(spectrum.eigenvalues[: spectrum.basis.shape[1]])
        outside = np.linalg.norm(spectrum.basis - U @ (U.T @ spectrum.basis), axis=0)
        assert np.all(outside <= 2 * spectrum.noise_floor / kept)
    V = span(spectra)
    assert V.shape == (d, k)
    assert sine(V, U) < 0.25
    # Negative control: a subspace drawn at random makes a sine near one with U.
    other = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, k)))[0]
    assert sine(other, U) > 0.8


@pytest.mark.statistical
@pytest.mark.parametrize("k", [4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_a_hard_plane_is_hidden_from_the_label_and_open_to_its_rank(k, seed):
    # The population M_2 is zero, so that its eigenvalues are noise: below the cut of 1.5 floors at d = 20. The
    # two eigenvalues of the rank probe stand at 4 floors or more: 2.5 floors of margin above the cut.
    network = teachers.hard_plane(k, 20, seed)
    rows, lam = planted(network, 10_000, seed + 50)
    assert np.max(np.abs((network.units.T * lam) @ network.units)) < 1e-12
    plane = np.linalg.svd(network.units)[2][:2].T
    label, rank, tail = measure(rows, labels_as_they_are, every_probe(rows.y))
    assert label.basis.shape[1] == 0
    assert rank.basis.shape[1] == tail.basis.shape[1] == 2
    assert abs(rank.eigenvalues[1]) > 4 * rank.noise_floor > 4 / 1.5 * abs(rank.eigenvalues[2])
    assert sine(rank.basis, plane) < 0.25
    V, spectra = look(rows, labels_as_they_are, np.random.default_rng(0), wanted=k)
    assert V.shape == (20, 2)
    assert sine(V, plane) < 0.25
    assert [spectrum.name for spectrum in spectra][:3] == ["label", "rank of |label|", "tail of |label|"]


@pytest.mark.statistical
@pytest.mark.parametrize("probe", range(3), ids=["label", "rank", "tail"])
def test_labels_that_do_not_depend_on_x_show_no_direction(probe):
    # An operator norm of noise exceeds 1.5 times an independent draw of itself rarely: at d = 20 in less than
    # one run in twenty, which is the share stated here; more runs than the binomial allows would deny it.
    runs, share = 100, 0.05
    false = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows = ArraySource(rng.standard_normal((800, 20)), rng.standard_normal(800))
        (spectrum,) = measure(rows, labels_as_they_are, [every_probe(rows.y)[probe]])
        false += spectrum.basis.shape[1] > 0
    allowed = stats.binom.isf(1e-3, runs, share)
    assert false <= allowed
    # Negative control: labels that do depend on x are seen in more runs than that.
    seen = 0
    for seed in range(20):
        rows, _ = planted(teachers.positive(2, 20, seed), 800, seed)
        seen += measure(rows, labels_as_they_are, [every_probe(rows.y)[probe]])[0].basis.shape[1] > 0
    assert seen > allowed * 20 / runs


def test_filters_are_centred_bounded_and_even():
    r = np.random.default_rng(0).standard_normal(5000)
    X = np.zeros((5000, 1))
    rank, tail = RankProbe.from_residuals(r), TailProbe.from_residuals(r, share=0.2)
    for probe in (rank, tail):
        t = probe.labels(X, r)
        np.testing.assert_array_equal(t, probe.labels(X, -r))
        assert np.max(np.abs(t)) <= 1
        assert abs(t.mean()) <= 1e-3
    np.testing.assert_allclose(np.sort(rank.labels(X, r)), np.arange(5000) / 5000 - 0.5, atol=1e-12)
    assert np.mean(tail.labels(X, r) > 0) == pytest.approx(0.2, abs=1e-3)
    np.testing.assert_array_equal(LabelProbe().labels(X, r), r)


def test_spectra_are_sorted_and_blocks_do_not_matter(monkeypatch):
    rows, _ = planted(teachers.random(3, 6, 0), 3000, 1)
    whole = measure(rows, labels_as_they_are, every_probe(rows.y))
    cut(monkeypatch, least_rows=97, block_entries=1)
    blocks = measure(rows, labels_as_they_are, every_probe(rows.y))
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(other.matrix, one.matrix, atol=1e-12)
        assert other.noise_floor == pytest.approx(one.noise_floor)
        assert np.all(np.diff(np.abs(one.eigenvalues)) <= 0)


@pytest.mark.parametrize("y", [np.zeros(500), np.full(500, 3.0)])
def test_labels_without_spread_show_nothing(y):
    X = np.random.default_rng(0).standard_normal((500, 4))
    V, spectra = look(ArraySource(X, y), lambda X, y: y - y.mean(), np.random.default_rng(0), wanted=2)
    assert V.shape == (4, 0)
    assert spectra == []


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
def test_degree_four_shows_units_that_cancel_in_degree_two(seed):
    # A hard plane of 4 units cancels in degree 2 and not in degree 4; one of 6 units cancels in both. B is
    # chosen traceless in the plane: for the projector itself <u_i, B u_i> = 1 and degree 4 falls back to 2.
    for k, n_seen in ((4, 2), (6, 0)):
        network = teachers.hard_plane(k, 20, seed)
        rows, _ = planted(network, 40_000, seed + 10)
        v, w = np.linalg.svd(network.units)[2][:2]
        B = (np.outer(v, v) - np.outer(w, w)) / np.sqrt(2)
        (label,) = measure(rows, labels_as_they_are, [LabelProbe()])
        (quartic,) = measure(rows, labels_as_they_are, [QuarticProbe(B, label.matrix)])
        assert label.basis.shape[1] == 0
        assert quartic.basis.shape[1] == n_seen
        if n_seen:
            assert sine(quartic.basis, np.stack([v, w], axis=1)) < 0.25


def test_degree_four_is_asked_only_when_units_are_missing():
    rows, _ = planted(teachers.positive(3, 12, 0), 10_000, 1)
    for wanted, asked in ((3, False), (4, True)):
        V, spectra = look(rows, labels_as_they_are, np.random.default_rng(0), wanted=wanted)
        assert V.shape[1] >= 3
        assert (spectra[-1].name == "degree 4") == asked
