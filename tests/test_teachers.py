import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn import teachers
from netlearn.errors import InputError

EPS = np.finfo(float).eps
makers = [getattr(teachers, name) for name in teachers.__all__]


@pytest.mark.parametrize("make", makers)
def test_shape_seed_and_radius(make):
    f = make(6, 8, 3)
    assert (f.n_hidden, f.n_features, f.n_outputs) == (6, 8, 1)
    assert make(6, 8, 3) == f
    assert make(6, 8, np.random.default_rng(3)) == f
    assert make(6, 8, 4) != f
    assert np.abs(make(6, 8, 3, radius=2.5).coefficients).sum() == pytest.approx(2.5, rel=1e-14)


@pytest.mark.parametrize("make", [teachers.random, teachers.positive])
def test_relu_teachers_are_k_relus(make):
    f = make(6, 8, 0, biases=0.7)
    weights, output_weights, biases, intercept = f.to_relu()
    assert len(weights) == 6
    assert np.any(biases)
    assert abs(intercept) < 100 * EPS
    size = np.abs(output_weights)
    assert ((size > 0.5) & (size < 1.5)).all()
    if make is teachers.positive:
        assert (output_weights > 0).all()


def test_both_signs_occur():
    assert {*np.sign(teachers.random(40, 50, 0).coefficients)} == {-1.0, 1.0}


def test_spread_and_dimension():
    f = teachers.random(9, 20, 0, spread=100.0, dimension=3)
    sizes = np.abs(f.coefficients)
    np.testing.assert_allclose(sizes[:-1] / sizes[1:], 100 ** (1 / 8), rtol=1e-12)
    values = np.linalg.svd(f.units, compute_uv=False)
    assert values[2] > 0.1
    assert values[3] < 100 * EPS
    np.testing.assert_allclose(np.linalg.norm(f.units, axis=1), 1, rtol=8 * EPS)


def test_orthonormal():
    f = teachers.orthonormal(5, 7, 0)
    np.testing.assert_allclose(f.units @ f.units.T, np.eye(5), atol=20 * EPS)
    np.testing.assert_allclose(f.to_relu().output_weights, 1, rtol=20 * EPS)


@pytest.mark.parametrize(("make", "sign"), [(teachers.clustered, 1), (teachers.cancelling, -1)])
def test_pairs(make, sign):
    f = make(7, 9, 2, angle=0.05)
    cosines = np.abs(f.units @ f.units.T) - 2 * np.eye(7)
    partner = np.argmax(cosines, axis=1)
    paired = np.flatnonzero(cosines.max(axis=1) >= np.cos(0.1) - EPS)
    assert len(paired) == 6
    weights = f.to_relu().output_weights
    np.testing.assert_allclose(np.abs(weights[paired]), np.abs(weights[partner[paired]]), rtol=1e-12)
    # In ReLU form each row points as drawn, so near rows have positive cosine and the signs can be compared.
    rows, mu = f.to_relu()[:2]
    for i in paired:
        j = np.argmax(rows @ rows[i] - 2 * (np.arange(7) == i))
        assert np.sign(mu[i] * mu[j]) == sign


def test_groups_of_three():
    f = teachers.clustered(6, 9, 2, angle=0.01, size=3)
    near = np.abs(f.units @ f.units.T) > np.cos(0.03)
    assert (near.sum(axis=1) == 3).all()


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([2, 4, 6, 8, 12]), st.sampled_from([1, 2]))
def test_hard_plane_has_no_moments_below_its_order(seed, per_plane, planes):
    """M_ell = sum_i lambda_i <u_i, g>^(ell - 2) u_i u_i^T vanishes for even ell < k and not at ell = k."""
    rng = np.random.default_rng(seed)
    f = teachers.hard_plane(planes * per_plane, 6, rng, planes=planes)
    assert not f.linear.any()
    assert np.linalg.matrix_rank(f.units) == 2 * planes
    g = rng.normal(size=6)
    g /= np.linalg.norm(g)

    def moment(order):
        return (f.units.T * (f.coefficients * (f.units @ g) ** (order - 2))) @ f.units

    for order in range(2, per_plane, 2):
        assert np.abs(moment(order)).max() < 20 * EPS
    # The norm at ell = k is at least |projection of g|^(k - 2) / 2^(k - 1) times the radius of one plane.
    inside = np.linalg.norm(f.units @ g) ** 2 / per_plane
    assert np.linalg.norm(moment(per_plane)) > 0.1 * inside ** (per_plane / 2) / 2.0**per_plane / planes


def test_hard_planes_are_orthogonal():
    f = teachers.hard_plane(8, 9, 0, planes=2)
    gram = np.abs(f.units @ f.units.T)
    assert ((gram < 20 * EPS).sum(axis=1) >= 4).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: teachers.random(0, 3), '"n_hidden" must be an integer >= 1, got 0'),
        (lambda: teachers.random(2, 2.5), '"n_features" must be an integer >= 1, got 2.5'),
        (lambda: teachers.random(2, 3, biases=-1.0), '"biases" must be a standard deviation'),
        (
            lambda: teachers.random(2, 3, dimension=4),
            '"dimension" must lie between 1 and n_features = 3, got 4',
        ),
        (lambda: teachers.positive(2, 3, spread=0.5), '"spread" must be a ratio >= 1, got 0.5'),
        (lambda: teachers.random(2, 3, radius=0.0), '"radius" must be a positive number, got 0.0'),
        (lambda: teachers.orthonormal(4, 3), "at most n_features = 3, got 4"),
        (lambda: teachers.clustered(4, 3, angle=2.0), '"angle" must lie between 0 and pi / 2, got 2.0'),
        (lambda: teachers.clustered(4, 3, size=0), '"size" of clustered must be at least 1, got 0'),
        (lambda: teachers.cancelling(4, 1), '"n_features" must be at least 2'),
        (lambda: teachers.hard_plane(5, 6, planes=2), "must divide n_hidden = 5"),
        (lambda: teachers.hard_plane(4, 3, planes=2), "at most n_features / 2 = 1.5, got 2"),
    ],
)
def test_bad_arguments_get_one_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
