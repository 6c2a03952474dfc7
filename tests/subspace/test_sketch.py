"""The leading spectrum without the matrix, against the matrix."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.source import ArraySource
from netlearn.subspace import sine
from netlearn.subspace.look import look
from netlearn.subspace.probes import LabelProbe, RankProbe, measure, measure_leading


def planted(k, d, n, seed):
    network = teachers.positive(k, d, seed)
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
        # What 4 passes leave of the error, for an eigenvalue rho >= 1.18 times the edge of the noise, the cut here:
        # the square of (rho + sqrt(rho^2 - 1))^(-4), 1 %, in an eigenvalue, and its root in a direction.
        np.testing.assert_allclose(sketch.eigenvalues[:n_seen], dense.eigenvalues[:n_seen], rtol=0.01)
        if n_seen:
            assert sine(sketch.basis, dense.basis[:, :n_seen]) < 0.1
        # The halves are other halves, and Krylov's estimate of a norm is from below.
        assert 0.75 * dense.noise_floor < sketch.noise_floor < 1.1 * dense.noise_floor
    assert measure_leading(rows, as_they_are, LabelProbe(), np.random.default_rng(9)).basis.shape[1] == 3


def test_pure_noise_shows_nothing():
    # The margin of a tenth is several times the fluctuation of the spectrum's edge, d^(-2/3) = 1 % here.
    rng = np.random.default_rng(0)
    rows = ArraySource(rng.standard_normal((20_000, 1000)), rng.standard_normal(20_000))
    assert measure_leading(rows, as_they_are, LabelProbe(), rng).basis.shape[1] == 0


def test_many_features_are_looked_at_through_sketches_one_probe_at_a_time():
    rows, network = planted(3, 450, 40_000, 0)
    for wanted, n_probes in ((3, 1), (4, 2)):
        V, spectra = look(rows, as_they_are, np.random.default_rng(0), wanted=wanted)
        assert len(spectra) == n_probes
        assert all(spectrum.matrix is None for spectrum in spectra)
        assert V.shape[1] == 3
        assert sine(np.linalg.qr(network.units.T)[0], V) < 0.5
