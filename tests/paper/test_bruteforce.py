import math
from itertools import product

import numpy as np
import pytest

from netlearn.errors import BudgetError
from netlearn.network import ShallowNetwork
from netlearn.paper.bruteforce import (
    ValidationSum,
    brute_force,
    candidates,
    count_candidates,
    log10_count_candidates,
)
from netlearn.search import interval_net, sphere_net


@pytest.fixture(scope="module")
def problem():
    """A planted network of two neurons in a plane, small nets, and validation rows."""
    rng = np.random.default_rng(3)
    V = np.linalg.qr(rng.standard_normal((4, 2)))[0]
    units = np.array([[1.0, 0.2], [-0.3, 1.0]]) @ V.T
    target = ShallowNetwork(rng.standard_normal(4), np.array([0.8, -0.5]), units)
    net_u, net_lam = sphere_net(V, 0.2), interval_net(1.5, 0.2)
    X = rng.standard_normal((500, 4))
    y = target(X)
    loss = ValidationSum(target.linear, net_u).add(X, y).finalize()
    return target, net_u, net_lam, X, y, loss


def reference(loss, net_lam, k):
    """Losses of all candidates, one by one in the order of the loop."""
    return [
        (chosen, lam, loss.of(chosen, np.array([lam])).item())
        for chosen, lam in candidates(len(loss.correlations), net_lam, k)
    ]


def test_the_quadratic_form_is_the_loss_of_the_network(problem):
    target, net_u, _, X, y, loss = problem
    for chosen, lam in (((), ()), ((2,), (0.7,)), ((0, 5), (0.3, -1.1))):
        network = ShallowNetwork(target.linear, np.array(lam), net_u[list(chosen)])
        expected = np.mean((y - network(X)) ** 2)
        assert loss.of(chosen, np.array([lam]))[0] == pytest.approx(expected, rel=1e-10)


def test_blocks_do_not_matter(problem):
    target, net_u, _, X, y, loss = problem
    total = ValidationSum(target.linear, net_u).add(X[:17], y[:17])
    whole = total.add(X[17:300], y[17:300]).add(X[300:], y[300:]).finalize()
    assert whole.n_rows == len(y)
    assert whole.residual == pytest.approx(loss.residual, rel=1e-12)
    np.testing.assert_allclose(whole.correlations, loss.correlations, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(whole.gram, loss.gram, rtol=1e-12)


def test_count_is_the_length_of_the_loop(problem):
    *_, net_lam, _, _, loss = problem
    for k in range(3):
        n = sum(1 for _ in candidates(len(loss.correlations), net_lam, k))
        assert n == count_candidates(len(loss.correlations), len(net_lam), k)


def test_every_function_of_the_printed_loop_is_tried_once():
    # As a function, a candidate is its total weight on each direction; the printed loop has ordered tuples.
    n_directions, R = 3, 1.0
    net_lam = interval_net(R, 0.3)
    step = net_lam[1] - net_lam[0]

    def as_function(chosen, lam):
        total = [0] * n_directions
        for j, weight in zip(chosen, lam, strict=True):
            total[j] += round(weight / step)
        return tuple(total)

    printed = {
        as_function(chosen, lam)
        for m in range(3)
        for chosen in product(range(n_directions), repeat=m)
        for lam in product(net_lam, repeat=m)
    }
    tried = [as_function(chosen, lam) for chosen, lam in candidates(n_directions, net_lam, 2)]
    assert len(set(tried)) == len(tried)
    # What is missing has a single weight beyond R, which no network of the class has.
    assert all(max(map(abs, total)) * step > R for total in printed - set(tried))


@pytest.mark.parametrize("quantile", [0.0, 1e-3, 0.01, 0.2])
def test_first_accepted_candidate_and_its_position_are_those_of_the_plain_loop(problem, quantile):
    *_, net_lam, _, _, loss = problem
    table = reference(loss, net_lam, 2)
    threshold = float(np.quantile([value for *_, value in table], quantile))
    place = next(i for i, (*_, value) in enumerate(table) if value <= threshold * (1 + 1e-12))
    chosen, lam, value = table[place]
    outcome = brute_force(loss, net_lam, 2, threshold=threshold * (1 + 1e-12))
    assert outcome.chosen == chosen
    np.testing.assert_array_equal(outcome.weights, lam)
    assert outcome.mean_square == pytest.approx(value, rel=1e-10)
    assert outcome.n_tried == place + 1


def test_most_candidates_are_excluded_without_being_scored(problem):
    *_, net_lam, _, _, loss = problem
    least = brute_force(loss, net_lam, 2, threshold=None).mean_square
    outcome = brute_force(loss, net_lam, 2, threshold=1.01 * least)
    assert outcome.chosen is not None
    assert outcome.n_scored < outcome.n_tried / 3


def test_correlational_form_maximises_its_query(problem):
    target, net_u, net_lam, X, y, loss = problem
    queries = []
    for chosen, lam in candidates(len(net_u), net_lam, 2):
        f_hat = X @ target.linear + np.abs(X @ net_u[list(chosen)].T) @ np.array(lam)
        queries.append(np.mean(2.0 * y * f_hat - f_hat**2))
    outcome = brute_force(loss, net_lam, 2, threshold=None)
    assert np.mean(y**2) - outcome.mean_square == pytest.approx(max(queries), rel=1e-10)
    assert outcome.n_tried == len(queries)


def test_an_unreachable_threshold_fails_after_the_whole_loop(problem):
    *_, net_lam, _, _, loss = problem
    outcome = brute_force(loss, net_lam, 2, threshold=1e-9)
    assert outcome.chosen is None
    assert outcome.weights is None
    assert outcome.mean_square == math.inf
    assert outcome.n_tried == count_candidates(len(loss.correlations), len(net_lam), 2)


def test_a_loop_beyond_its_budget_is_refused_with_its_length(problem):
    *_, net_lam, _, _, loss = problem
    with pytest.raises(
        BudgetError, match=r"10\^3\.\d candidates .* budget of 10\^2\.0: take a larger epsilon"
    ):
        brute_force(loss, net_lam, 2, threshold=0.1, budget=100)


def test_printed_length_in_logarithms():
    exact = sum((50 * 7) ** m for m in range(4))
    assert log10_count_candidates(math.log10(50), math.log10(7), 3) == pytest.approx(math.log10(exact))
    assert log10_count_candidates(-math.inf, 1.0, 3) == 0.0
