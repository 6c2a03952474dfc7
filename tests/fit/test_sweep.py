"""Steps after every few rows, against least squares and against fits without them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from netlearn import Status, learn, teachers
from netlearn.backend.threads import block_threads
from netlearn.fit import ROUNDING, Params, Problem, finish, never
from netlearn.fit import descend as descend_module
from netlearn.fit import sweep as sweep_module
from netlearn.fit.solve import conjugate_gradients, direct
from netlearn.fit.sweep import pays, swept
from netlearn.source import ArraySource
from netlearn.source.arrays import SelectedRows
from tests.fit.twins import dense, from_vectors, planted

K, D = 5, 40
P = (K + 1) * (D + 1)
TARGET = teachers.random(K, D, 0, biases=0.3)
# A sixth of the mean square is left by a sweep of many unknowns; of a few hundred, a quarter.
LEFT = 0.25


@pytest.fixture
def everywhere(monkeypatch):
    """Sweeps for every X, however small; the list has their number for each call."""
    monkeypatch.setattr(sweep_module, "_LEAST_ENTRIES", 0)
    counts = []

    def counted(*arguments, **options):
        final, n_sweeps = swept(*arguments, **options)
        counts.append(n_sweeps)
        return final, n_sweeps

    monkeypatch.setattr(descend_module, "swept", counted)
    return counts


def near(distance, target=TARGET, biases=True):
    """The target, with every free entry of every vector off by about `distance`."""
    exact = Params.from_network(target)
    off = distance * np.random.default_rng(1).standard_normal(exact.a.shape)
    return from_vectors(exact.a + off * exact.shape(biases).free(), exact.C)


def rows_of(target=TARGET, n_rows=3 * P, noise=0.0):
    rows = planted(target, n_rows, seed=2)
    return ArraySource(rows.X, rows.y + noise * np.random.default_rng(3).standard_normal(n_rows))


def run(rows, start, until=0.0, biases=True):
    system = start.equations(rows, biases)
    return system, *swept(system, start, 0.0, until=until, deadline=never)


def mean_square(rows, params):
    return np.mean((rows.y - params.linearise(rows.X)[0]) ** 2)


@pytest.mark.parametrize("biases", [True, False])
def test_corrections_come_to_the_least_squares_solution(biases):
    target = TARGET if biases else teachers.random(K, D, 0)
    start = near(1e-9, target, biases)
    system, final, _ = run(rows_of(target), start, biases=biases)
    step = direct(system, 0.0)
    # Products in single precision: a millionth of the step.
    np.testing.assert_allclose(final.a - start.a, step, atol=1e-5 * np.max(np.abs(step)))
    assert np.array_equal(final.C, start.C)


def test_signs_follow_the_steps():
    rows, start = rows_of(), near(0.02)
    system, final, _ = run(rows.single(), start)
    signs = [np.sign(rows.X @ a[1:, :-1].T + a[1:, -1]) for a in (start.a, Params.from_network(TARGET).a)]
    assert np.mean(signs[0] != signs[1]) > 0.01
    # One least-squares solution leaves what these signs leave; sweeps leave what single precision does.
    assert mean_square(rows, start.moved(direct(system, 0.0))) > 1e-8
    assert mean_square(rows, final) < 1e-11
    assert final.n_hidden == K


def test_a_sweep_leaves_a_quarter_where_a_product_leaves_a_third():
    start = near(1e-9)
    system, final, n_sweeps = run(rows_of(), start, until=(loss := mean_square(rows_of(), start)) * 1e-8)
    assert n_sweeps <= np.ceil(np.log(1e-8) / np.log(LEFT)) + 1
    assert mean_square(rows_of(), final) < 1e-8 * loss
    _, n_products = conjugate_gradients(system, 0.0, tolerance=1e-4, max_steps=100)
    assert n_products > 1.3 * n_sweeps


def test_sums_at_a_step_are_those_of_the_dense_matrix():
    rows, start = rows_of(n_rows=100), near(0.1)
    F, e = dense(rows.X, rows.y, start.linearise)
    step = np.zeros((8, D + 1))
    step[: K + 1] = np.random.default_rng(4).standard_normal((K + 1, D + 1))
    squares, gradient = start.equations(rows, True).left_by()(step, slice(20, 70))
    left = e[20:70] - F[20:70] @ step[: K + 1].ravel()
    assert squares == pytest.approx(left @ left, rel=1e-5)
    np.testing.assert_allclose(gradient[: K + 1].ravel(), F[20:70].T @ left, rtol=1e-3, atol=1e-3)
    assert not np.any(gradient[K + 1 :])


def test_a_fit_ends_with_sweeps_where_it_ends_without(everywhere):
    rows, start = rows_of(), near(0.02)
    with_sweeps = finish(Problem(rows, True), start)
    assert everywhere
    assert with_sweeps.loss < ROUNDING
    assert with_sweeps.params.to_network().distance(TARGET) < 1e-12 * TARGET.norm()


def test_noise_ends_sweeps_and_not_the_fit(everywhere, monkeypatch):
    rows, start = rows_of(n_rows=8 * P, noise=1e-3), near(1e-3)
    found = finish(Problem(rows, True), start)
    assert 1 <= sum(everywhere) <= 6
    monkeypatch.setattr(descend_module, "pays", lambda system: False)
    assert found.loss == pytest.approx(finish(Problem(rows, True), start).loss, rel=1e-6)


def with_a_twin():
    """A network, one of whose units has another beside it, of the other sign."""
    exact = Params.from_network(teachers.random(3, 20, 5))
    turned = exact.planes[0] + 3e-3 * np.linalg.norm(exact.planes[0]) * np.eye(21)[0]
    return Params(
        exact.affine, np.vstack([exact.planes, turned]), np.vstack([exact.C, -exact.C[:1]])
    ).to_network()


def test_units_too_close_for_sweeps_are_told_apart(everywhere):
    rows = rows_of(with_a_twin(), 20_000)
    final = finish(Problem(rows, False), near(1e-5, with_a_twin(), biases=False))
    assert sum(everywhere) <= 3
    assert final.loss < ROUNDING


def test_steps_that_go_astray_do_not_go_far():
    rows = rows_of(with_a_twin(), 20_000)
    system, final, n_sweeps = run(rows, near(1e-5, with_a_twin(), biases=False), biases=False)
    assert n_sweeps == 1
    # The batch that showed it had ten times the mean square; further ones would have multiplied it each time.
    assert mean_square(rows, final) < 1000 * system.loss


def test_rows_gathered_from_single_precision_are_corrected_in_double():
    given = rows_of()
    X = given.X.astype(np.float32)
    rows = ArraySource(X.astype(float), TARGET(X.astype(float)))
    start = near(1e-9)
    finals = [run(source, start)[1] for source in (rows, SelectedRows(X, rows.y, np.arange(len(X))))]
    np.testing.assert_allclose(finals[1].a - start.a, finals[0].a - start.a, atol=1e-14)


def test_a_deadline_ends_sweeps():
    start = near(1e-3)
    system = start.equations(rows_of().single(), True)
    assert swept(system, start, 0.0, until=0.0, deadline=lambda: True)[1] == 1


@pytest.mark.parametrize(
    ("n_hidden", "n_features", "is_worth_it"),
    [(10, 1000, True), (10, 300, False), (1, 1000, False), (0, 1000, False)],
)
@pytest.mark.parametrize("n_threads", [1, 2, 16])
def test_sweeps_are_for_large_systems_with_units(n_hidden, n_features, is_worth_it, n_threads):
    rows = ArraySource(np.ones((1000, n_features)), np.ones(1000))
    start = from_vectors(np.ones((n_hidden + 1, n_features + 1)), np.ones((n_hidden, 1)))
    with threadpool_limits(n_threads, user_api="blas"), block_threads():
        assert pays(start.equations(rows, True)) == is_worth_it


@pytest.mark.parametrize("single", [True, False])
def test_any_number_of_threads_comes_to_one_network(single):
    start, finals = near(1e-4), []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="blas"), block_threads():
            rows = rows_of().single() if single else rows_of()
            finals.append(run(rows, start)[1])
    # Sums in single precision, of other parts: a millionth of the whole, or of the correction.
    size = 1.0 if single else np.max(np.abs(finals[0].a - start.a))
    for final in finals[1:]:
        np.testing.assert_allclose(final.a, finals[0].a, atol=1e-5 * size)


@pytest.mark.parametrize("single", [True, False])
def test_tensors_are_swept_as_arrays_are(single):
    torch = pytest.importorskip("torch")
    start, here = near(1e-3), rows_of()
    there = ArraySource(torch.from_numpy(here.X), torch.from_numpy(here.y))
    finals = [run(rows.single() if single else rows, start)[1] for rows in (here, there)]
    np.testing.assert_allclose(finals[0].a, finals[1].a, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_network_is_learned_by_sweeps(monkeypatch, dtype):
    monkeypatch.setattr(sweep_module, "_LEAST_ENTRIES", 300_000)
    target = teachers.random(6, 700, 6)
    X = np.random.default_rng(7).standard_normal((20_000, 700)).astype(dtype)
    losses = []

    def noted(system, *arguments, **options):
        losses.append(system.loss)
        return swept(system, *arguments, **options)

    monkeypatch.setattr(descend_module, "swept", noted)
    result = learn(X, target(X.astype(float)), n_hidden=6, rng=0)
    assert result.status == Status.RECOVERED
    assert result.network.distance(target) < 1e-12 * target.norm()
    # The fit inside the subspace comes near, and sweeps go on from there, in single precision and then in double.
    assert losses[0] > 1e-9
    assert min(losses) < 1e-11
