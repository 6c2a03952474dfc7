"""The leading spectrum without the matrix, against the matrix."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.source import ArraySource
from netlearn.subspace import sine
from netlearn.subspace.look import look
from netlearn.subspace.probes import FullSpectrum, LabelProbe, RankProbe, measure, measure_leading
from netlearn.subspace.sketch import n_passes_for


def planted(k, d, n, seed, teacher=teachers.positive):
    network = teacher(k, d, seed)
    X = np.random.default_rng(seed + 1).standard_normal((n, d))
    y = network(X) - X @ network.linear - network.mean()
    return ArraySource(X, y / y.std()), network


def as_they_are(X, y):
    return y


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_leading_part_of_the_dense_spectrum(seed):
    rows, _ = planted(3, 150, 12_000, seed)
    for probe in (LabelProbe(), RankProbe.from_residuals(rows.y)):
        (dense,) = measure(rows, as_they_are, [probe])
        sketch = measure_leading(rows, as_they_are, probe, np.random.default_rng(seed))
        n_seen = sketch.basis.shape[1]
        # All passes leave a share d / b / cosh((p - 1) arccosh rho)^2 of a vector, 1 % for the least rho that is kept
        # here, 1.18, in 6 of them from 24 vectors; so much of an eigenvalue, and the root of it in a direction.
        np.testing.assert_allclose(sketch.eigenvalues[:n_seen], dense.eigenvalues[:n_seen], rtol=0.01)
        if n_seen:
            assert sine(sketch.basis, dense.basis[:, :n_seen]) < 0.1
        # The halves are other halves, and Krylov's estimate of a norm is from below.
        assert 0.75 * dense.noise_floor < sketch.noise_floor < 1.1 * dense.noise_floor
    assert measure_leading(rows, as_they_are, LabelProbe(), np.random.default_rng(9)).basis.shape[1] == 3


def test_pure_noise_shows_nothing():
    # The margin of a twentieth is several times the fluctuation of the spectrum's edge, d^(-2/3) = 1 % here.
    rng = np.random.default_rng(0)
    rows = ArraySource(rng.standard_normal((20_000, 1000)), rng.standard_normal(20_000))
    assert measure_leading(rows, as_they_are, LabelProbe(), rng).basis.shape[1] == 0


def test_many_features_are_looked_at_through_sketches_one_probe_at_a_time():
    rows, network = planted(3, 450, 40_000, 0)
    for wanted, n_probes in ((3, 1), (4, 2)):
        V, spectra = look(rows, as_they_are, np.random.default_rng(0), wanted=wanted)
        assert len(spectra) == n_probes
        assert not any(isinstance(spectrum, FullSpectrum) for spectrum in spectra)  # none formed its matrix
        assert V.shape[1] == 3
        assert sine(np.linalg.qr(network.units.T)[0], V) < 0.5


def test_vectors_that_hardly_stand_out_converge_too():
    # With 12 rows per dimension these units' eigenvalues are 1.1 to 1.25 times the noise. A start of 24 random vectors
    # in 1,000 dimensions holds 2 % of each: four passes find a third of what the matrix shows, the others the rest.
    rows, _ = planted(5, 1000, 12_000, 0, teachers.orthonormal)
    M = np.einsum("n,ni,nj->ij", rows.y, rows.X, rows.X, optimize=True) / rows.n_rows
    values, vectors = np.linalg.eigh(M)
    dense = vectors[:, np.argsort(-np.abs(values))[:5]]
    sketch = measure_leading(rows, as_they_are, LabelProbe(), np.random.default_rng(0), wanted=5)
    assert sketch.basis.shape[1] == 5
    assert sine(dense, sketch.basis) < 0.35  # the root of a tenth is what passes aim at


@pytest.mark.parametrize(
    ("d", "rho", "b", "n_passes"),
    [(1000, 1.2, 24, 7), (1000, 1.2, 16, 8), (20_000, 1.2, 24, 10), (1000, 3.0, 24, 4), (20_000, 1.5, 24, 7)],
)
def test_passes_multiply_the_share_of_a_start_until_little_else_is_left(d, rho, b, n_passes):
    assert n_passes_for(d, rho, b) == n_passes
    left = [d / b / np.cosh((p - 1) * np.arccosh(rho)) ** 2 for p in (n_passes - 1, n_passes)]
    assert left[1] <= 0.1
    assert left[0] > 0.1 or n_passes == 4
    assert n_passes_for(d, 0.5, b) == n_passes_for(d, 1.2, b)
