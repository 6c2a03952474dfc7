"""The predecessor: its joint span, its stages, and how both differ from Algorithm 1."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.paper import Schedule, multi_stage, top_singular_span
from netlearn.result import Status
from netlearn.subspace import eigenprojector, joint_span, sine
from tests.paper.planted import rows_of

d, epsilon, R = 6, 0.25, 2.0


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("teacher", [teachers.random, teachers.hard_plane])
def test_it_learns_and_certifies(teacher, k):
    rng = np.random.default_rng(20)
    target = teacher(k, d, rng, radius=R)
    result = multi_stage(rows_of(target, rng), d, k, epsilon, R, rng=rng)
    assert result.status is Status.CERTIFIED
    assert target.distance(result.network) <= result.certificate.error_bound <= epsilon


def noisy_copies(rng, n_copies, noise):
    """Several matrices with range in one plane of R^6, each with symmetric noise of this operator norm."""
    plane = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    matrices = []
    for _ in range(n_copies):
        A, E = rng.standard_normal((2, 2)), rng.standard_normal((d, d))
        E = E + E.T
        matrices.append(plane @ (A + A.T + 3 * np.eye(2)) @ plane.T + noise * E / np.linalg.norm(E, 2))
    return plane, np.array(matrices)


def test_first_footnote():
    # The whole joint span of several noisy copies of one plane has more dimensions than the plane; Algorithm 1's V,
    # "a certain low-dimensional approximation to this subspace", has two, and is as near to the plane as each copy.
    rng = np.random.default_rng(0)
    plane, matrices = noisy_copies(rng, 3, 1e-3)
    U, kappa, n_kept = top_singular_span(matrices, np.full(3, 1e-3), 2)
    V, _ = joint_span([eigenprojector(M, 4e-3) for M in matrices], 0.5)
    assert n_kept == [2, 2, 2]
    assert U.shape == (d, 6)
    assert V.shape == (d, 2)
    assert sine(plane, V) <= 2e-3
    assert np.sum(kappa > 0.5) == 2


def test_top_singular_vectors_are_k_at_most_and_above_the_noise():
    matrices = np.array([np.diag([3.0, -2.0, 1.0, 0.1]), np.diag([0.0, 0.0, 0.0, 0.3])])
    U, _, n_kept = top_singular_span(matrices, np.array([0.05, 0.05]), 2)
    assert n_kept == [2, 1]
    np.testing.assert_allclose(U @ U.T, np.diag([1.0, 1.0, 0.0, 1.0]), atol=1e-12)
    assert top_singular_span(matrices, np.array([1.0, 1.0]), 2)[0].shape == (4, 0)


def test_a_later_stage_sees_what_the_first_one_could_not():
    # A neuron of a sixth of the weight is below the noise of the first stage's moments. Once the large one is
    # subtracted, so is its noise, and the next stage's threshold is lower.
    rng = np.random.default_rng(23)
    units = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    target = ShallowNetwork(np.zeros(d), np.array([1.7, 0.3]), units)
    schedule = Schedule.practical(d, 2, epsilon, R, n_rows=3_000)
    result = multi_stage(rows_of(target, rng), d, 2, epsilon, R, schedule=schedule, rng=rng)
    n_probes = len(schedule.orders)
    kept = [spectrum.n_kept for spectrum in result.diagnostics.spectra]
    assert max(kept[:n_probes]) == 1
    assert len(kept) > n_probes
    assert target.distance(result.network) < epsilon
    assert result.diagnostics.notes[0] == f"stages: {len(kept) // n_probes}"
    assert result.diagnostics.rows["moments"] == 3_000 * len(kept) // n_probes


def test_a_target_outside_the_class_fails_and_proves_nothing():
    rng = np.random.default_rng(22)
    schedule = Schedule.practical(d, 2, epsilon, R, n_rows=50_000, n_val=20_000)
    result = multi_stage(
        rows_of(lambda X: np.sin(5.0 * X[:, 0]), rng), d, 2, epsilon, R, schedule=schedule, rng=rng
    )
    assert result.status is Status.FAILED
    assert "proves nothing" in result.diagnostics.notes[0]
    assert result.diagnostics.rows["moments"] == 3 * 50_000
