import numpy as np
import pytest

from netlearn import teachers
from netlearn.certify import lipschitz_constant
from netlearn.errors import BudgetError, InputError
from netlearn.network import ShallowNetwork
from netlearn.paper import Schedule, find_subspace, netlearn
from netlearn.paper.schedule import NOISE_CUT
from netlearn.result import Status
from netlearn.subspace import sine
from tests.paper.planted import rows_of

d, epsilon, R = 6, 0.25, 2.0


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("teacher", [teachers.random, teachers.clustered, teachers.hard_plane])
def test_it_learns_to_epsilon_and_certifies_it(teacher, k):
    rng = np.random.default_rng(100)
    target = teacher(k, d, rng, radius=R)
    result = netlearn(rows_of(target, rng), d, k, epsilon, R, rng=rng)
    assert result.status is Status.CERTIFIED
    assert target.distance(result.network) <= result.certificate.error_bound <= epsilon
    assert result.network.n_hidden <= k
    assert result.subspace.shape[1] <= k
    assert result.schedule.origin == "practical"
    assert lipschitz_constant(target) <= 2 * R
    assert result.certificate.confidence == pytest.approx(1 - 0.01 / 14)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("teacher", "k", "n_features", "epsilon", "R"),
    [
        *(
            (teacher, k, 6, 0.25, 2.0)
            for teacher in (teachers.random, teachers.hard_plane)
            for k in (1, 2, 3)
        ),
        (teachers.random, 3, 6, 0.25, 1.0),
        (teachers.clustered, 3, 6, 0.25, 2.0),
        (teachers.hard_plane, 4, 6, 0.085, 2.0),
    ],
)
def test_nineteen_of_twenty_seeds_succeed_and_no_claim_is_wrong(teacher, k, n_features, epsilon, R):
    distances = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        target = teacher(k, n_features, rng, radius=R)
        result = netlearn(rows_of(target, rng, n_features), n_features, k, epsilon, R, rng=rng)
        distances.append(target.distance(result.network) if result.success else np.inf)
    assert sum(distance <= epsilon for distance in distances) >= 19
    assert not [distance for distance in distances if epsilon < distance < np.inf]


def test_correlational_acceptance_learns_too():
    rng = np.random.default_rng(10)
    target = teachers.hard_plane(2, d, rng, radius=R)
    result = netlearn(rows_of(target, rng), d, 2, epsilon, R, correlational=True, rng=rng)
    assert result.success
    assert target.distance(result.network) <= epsilon
    assert result.diagnostics.n_tried == result.diagnostics.n_candidates


@pytest.mark.parametrize(
    "f",
    [lambda X: np.sin(5.0 * X[:, 0]), lambda X: np.cos(3.0 * X[:, 1]), lambda X: np.abs(X).sum(axis=1) / 3.0],
    ids=["odd", "even", "too many neurons"],
)
@pytest.mark.parametrize("correlational", [False, True])
def test_a_target_outside_the_class_fails(f, correlational):
    rng = np.random.default_rng(11)
    result = netlearn(rows_of(f, rng), d, 2, epsilon, R, correlational=correlational, rng=rng)
    assert result.status is Status.FAILED
    assert not result.success
    (note,) = result.diagnostics.notes[-1:]
    if correlational:
        assert "proves nothing" in note
    else:
        assert result.network is None
        assert result.diagnostics.n_tried == result.diagnostics.n_candidates >= 1
        assert "every set of at most 2 directions" in note
        assert f"probability of {2 * 0.01 / 7:.2g}" in note


def test_a_fail_on_few_validation_rows_says_that_it_proves_nothing():
    # The target is too near for the coarse nets to exclude it, and 500 rows do not decide about the finest one.
    rng = np.random.default_rng(17)
    schedule = Schedule.practical(d, 1, epsilon, R, n_val=500)
    assert not schedule.fail_is_a_proof
    assert Schedule.practical(d, 1, epsilon, R).fail_is_a_proof
    assert Schedule.from_theory(d, 1, epsilon, R).fail_is_a_proof
    target = ShallowNetwork(np.zeros(d), np.array([1.0, 0.45]), np.eye(d)[:2])
    result = netlearn(rows_of(target, rng), d, 1, epsilon, R, schedule=schedule, rng=rng)
    assert result.status is Status.FAILED
    assert "proves nothing" in result.diagnostics.notes[-1]


def test_labels_that_are_zero_give_the_zero_network():
    rng = np.random.default_rng(12)
    result = netlearn(rows_of(lambda X: np.zeros(len(X)), rng), d, 1, epsilon, R, rng=rng)
    assert result.success
    assert result.network.n_hidden == 0
    assert result.subspace.shape == (d, 0)


def test_a_linear_target_needs_no_neuron():
    rng = np.random.default_rng(13)
    target = ShallowNetwork(np.full(d, 0.5), np.zeros(0), np.zeros((0, d)))
    result = netlearn(rows_of(target, rng), d, 1, epsilon, R, rng=rng)
    assert result.success
    assert target.distance(result.network) <= epsilon
    assert result.network.n_hidden == 0


@pytest.mark.parametrize("seed", range(2))
def test_hard_plane_hides_below_order_k_and_shows_at_order_k(seed):
    k, n_features = 4, 8
    rng = np.random.default_rng(seed)
    target = teachers.hard_plane(k, n_features, rng, radius=R)
    schedule = Schedule.practical(n_features, k, epsilon, R, n_rows=2_000_000)
    found = find_subspace(rows_of(target, rng, n_features), schedule, rng=rng)
    plane = np.linalg.svd(target.units)[2][:2].T
    assert found.V.shape == (n_features, 2)
    assert sine(plane, found.V) <= 0.1
    below = [spectrum for spectrum in found.spectra if spectrum.order < k]
    at_k = [spectrum for spectrum in found.spectra if spectrum.order == k]
    assert below
    assert all(abs(spectrum.eigenvalues[0]) < NOISE_CUT * spectrum.noise_floor for spectrum in below)
    # Negative control: at order k the same cut is passed, by two eigenvalues.
    assert any(abs(spectrum.eigenvalues[1]) > NOISE_CUT * spectrum.noise_floor for spectrum in at_k)


def test_same_rows_and_generator_give_the_same_network():
    def once():
        rng = np.random.default_rng(14)
        target = teachers.random(1, d, rng, radius=R)
        schedule = Schedule.practical(d, 1, epsilon, R, n_rows=50_000)
        return netlearn(rows_of(target, rng), d, 1, epsilon, R, schedule=schedule, rng=rng)

    first, second = once(), once()
    np.testing.assert_array_equal(first.network.units, second.network.units)
    assert first.certificate == second.certificate


def test_a_theory_schedule_is_refused_for_its_rows():
    rng = np.random.default_rng(15)
    schedule = Schedule.from_theory(d, 2, epsilon, R)
    with pytest.raises(BudgetError, match=r"asks for \S+e\+\d+ rows"):
        netlearn(rows_of(np.sum, rng), d, 2, epsilon, R, schedule=schedule, rng=rng)


def test_a_search_beyond_its_budget_is_refused():
    rng = np.random.default_rng(16)
    with pytest.raises(
        BudgetError, match="29 sets, less than a second on one core, and the budget is 10 sets"
    ):
        netlearn(rows_of(lambda X: X[:, 0] * X[:, 1], rng), d, 2, epsilon, R, budget=10, rng=rng)


def test_a_schedule_for_another_problem_is_refused():
    with pytest.raises(InputError, match='"schedule" must be made for'):
        netlearn(None, d, 2, epsilon, R, schedule=Schedule.practical(d, 2, 0.1, R))


def test_a_sample_of_the_wrong_shape_is_refused():
    with pytest.raises(InputError, match='"sample" must return arrays of shape'):
        netlearn(lambda n: (np.zeros((n, d + 1)), np.zeros(n)), d, 1, epsilon, R)


def test_labels_that_are_not_numbers_are_refused():
    with pytest.raises(InputError, match="finite"):
        netlearn(lambda n: (np.zeros((n, d)), np.full(n, np.nan)), d, 1, epsilon, R)
