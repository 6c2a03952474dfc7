"""The error, the rows and the watch, against computations that share no code with them."""

import numpy as np
import pytest
from scipy.integrate import dblquad

from benchmarks.versus.objective import FAMILIES, REACHED, Family, Watch
from netlearn import ShallowNetwork


def relu(z):
    return np.maximum(z, 0.0)


def test_the_error_of_a_network_is_the_integral_over_the_plane():
    problem = Family("random", 2, 2, 10).problem(0)
    found = ShallowNetwork.from_relu([[1.0, 0.5]], [0.7], None, 0.2)
    weights, outer, _, intercept = problem.truth.to_relu()

    def true(x):
        return relu(weights @ x) @ outer + intercept

    def integral(f):
        density = lambda x: np.exp(-x @ x / 2) / (2 * np.pi)  # noqa: E731
        value, _ = dblquad(
            lambda b, a: f(np.array([a, b])) ** 2 * density(np.array([a, b])), -7, 7, -7, 7, epsabs=1e-4
        )
        return value

    distance = integral(lambda x: 0.7 * relu(x[0] + 0.5 * x[1]) + 0.2 - true(x))
    assert problem.error(found) == pytest.approx(np.sqrt(distance / integral(true)), rel=1e-2)


@pytest.mark.statistical
def test_the_error_of_a_predictor_is_that_of_the_network_it_is():
    # The ratio of two means over 100,000 rows: the squares have relative deviations of at most 3, so that each mean is
    # off by less than 5 * 3 / sqrt(1e5) = 5 % but with a probability below 1e-6, and the root by half of the sum.
    problem = Family("random", 3, 4, 10).problem(1)
    found = 0.5 * problem.truth
    assert problem.error(found) == pytest.approx(0.5, rel=1e-12)
    other = Family("random", 2, 4, 10).problem(2).truth
    assert problem.error(lambda X: other(X)) == pytest.approx(problem.error(other), rel=0.05)


def test_the_angle_is_that_of_the_bases():
    problem = Family("hard_plane", 4, 6, 10).problem(0)
    plane = np.linalg.qr(problem.truth.units.T)[0][:, :2]
    aside = np.linalg.qr(np.column_stack([plane, np.eye(6)]))[0][:, 2]
    tilted = np.column_stack([plane[:, 0] + plane[:, 1], np.cos(0.3) * plane[:, 1] + np.sin(0.3) * aside])
    assert problem.rank() == 2
    assert problem.sine(plane) < 1e-12
    # span{p, q cos t + r sin t} has the angle t to span{p, q}; a basis {p + q, q cos t + r sin t} spans another plane,
    # whose angle has the sine |r-part| of the unit vector orthogonal to p + q within it.
    u = tilted[:, 1] - tilted[:, 0] * (tilted[:, 0] @ tilted[:, 1]) / 2
    assert problem.sine(tilted) == pytest.approx(abs(u @ aside) / np.linalg.norm(u), rel=1e-9)
    assert problem.sine(plane[:, :1]) == 1.0


@pytest.mark.statistical
def test_noise_has_the_share_that_the_family_says():
    # 20,000 draws: the standard deviation is off by 2.5 % (5 standard errors) with a probability below 1e-6.
    problem = Family("random", 2, 3, 20_000, noise=0.1).problem(0)
    clean = problem.truth(problem.X)
    assert np.std(problem.y - clean) == pytest.approx(0.1 * np.std(clean), rel=0.025)


def test_a_seed_gives_the_same_rows_whatever_else_was_drawn():
    first, second = (Family("random", 3, 4, 50).problem(3) for _ in range(2))
    first.draw(7)
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.X, Family("random", 3, 4, 50).problem(4).X)


def test_held_out_rows_are_further_rows():
    problem = Family("random", 3, 4, 50).problem(0)
    X, y = problem.held_out
    np.testing.assert_allclose(y, problem.truth(X))
    assert not np.isin(X[:, 0], problem.X[:, 0]).any()


def test_the_watch_notes_the_first_time_within_reach_and_not_the_time_of_looking(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("benchmarks.versus.objective.time.process_time", lambda: now[0])
    problem = Family("random", 2, 3, 20).problem(0)
    watch = Watch(problem, limit=10.0)

    def off_by(share):
        def predict(X):
            now[0] += 1_000.0  # judging takes long, and is not charged
            return (1 + share) * problem.truth(X)

        return predict

    now[0] += 2.0
    watch.look(off_by(1.01 * REACHED))
    assert watch.reached is None
    now[0] += 3.0
    watch.look(off_by(0.99 * REACHED))
    now[0] += 4.0
    watch.look(off_by(0.0))
    assert (watch.reached, watch.seconds, watch.is_over) == (5.0, 9.0, False)
    now[0] += 1.5
    assert watch.is_over


def test_every_family_can_be_drawn_and_has_its_own_name():
    assert len(FAMILIES) == 15
    for name, family in FAMILIES.items():
        assert (family.name, family.limit <= 60) == (name, True)
        small = Family(family.kind, family.k, family.d, 5, family.noise)
        assert small.problem(0).X.shape == (5, family.d)
