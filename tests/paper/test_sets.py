"""The search over sets gives exactly the sets within the limit, as the loop over all of them does."""

import math
from itertools import combinations

import numpy as np
import pytest

from netlearn.errors import BudgetError
from netlearn.paper import sets as module
from netlearn.paper.bruteforce import ValidationLoss
from netlearn.paper.screening import abs_gram
from netlearn.paper.sets import (
    SetSearch,
    check_set_budget,
    count_sets,
    log10_count_sets,
    log10_search_seconds,
    time_in_words,
)


def problem(seed, n, r=3):
    """The exact loss of a planted network of four units over n random directions."""
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((n + 4, r))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    lam, G = rng.standard_normal(4), abs_gram(U, U)
    return ValidationLoss(float(lam @ G[n:, n:] @ lam), G[:n, n:] @ lam, G[:n, :n], 1)


def least_losses(loss, k):
    """r0 - b^T G^-1 b of every set of at most k directions, one by one."""
    values = {(): loss.residual}
    for m in range(1, k + 1):
        for S in combinations(range(len(loss.correlations)), m):
            b = loss.correlations[list(S)]
            values[S] = loss.residual - b @ np.linalg.solve(loss.gram[np.ix_(S, S)], b)
    return values


def survivors(search):
    return [tuple(row.tolist()) for block in search.survivors() for row in block]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("quantile", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("slab", [40, 1 << 16])
def test_survivors_are_the_sets_within_the_limit(monkeypatch, k, quantile, slab):
    # A slab of 40 entries makes every block a partial one.
    monkeypatch.setattr(module, "_SLAB", slab)
    loss = problem(k, 11)
    values = least_losses(loss, k)
    limit = float(np.quantile(list(values.values()), quantile)) * (1 + 1e-9)
    search = SetSearch(loss, k, limit, R=100.0, slack=1e-9)
    found = survivors(search)
    assert len(set(found)) == len(found)
    # Weights here are below 100, so the ridge lets at most 2e-9 pass beyond the limit.
    assert {S for S, value in values.items() if value <= limit} <= set(found)
    assert max(values[S] for S in found) <= limit + 1e-6
    assert [len(S) for S in found] == sorted(len(S) for S in found)
    assert search.n_passed == count_sets(11, k) == len(values)


def test_no_set_of_the_class_is_lost_to_the_ridge():
    # The limit is what some weights with |lambda|_1 <= R reach; a large ridge must still let their set pass.
    loss, R = problem(7, 9), 1.0
    rng = np.random.default_rng(0)
    for _ in range(50):
        S = tuple(sorted(rng.choice(9, 3, replace=False).tolist()))
        lam = rng.dirichlet(np.ones(3)) * rng.choice([-1.0, 1.0], 3) * R
        limit = float(loss.of(S, lam[None])[0])
        assert S in survivors(SetSearch(loss, 3, limit, R=R, slack=0.3))


def test_directions_that_coincide_are_no_obstacle():
    loss = problem(3, 6)
    twice = np.r_[0:6, 0:6]
    doubled = ValidationLoss(loss.residual, loss.correlations[twice], loss.gram[np.ix_(twice, twice)], 1)
    best = min(least_losses(loss, 3).values())
    found = survivors(SetSearch(doubled, 3, best * 1.001, R=10.0, slack=1e-4))
    distinct = {tuple(sorted({j % 6 for j in S})) for S in found}
    assert {S for S, value in least_losses(loss, 3).items() if value <= best * 1.001} <= distinct
    assert max(least_losses(loss, 3)[S] for S in distinct) <= best * 1.001 + 2e-4


def test_the_limit_may_be_lowered_on_the_way():
    loss = problem(5, 12)
    values = least_losses(loss, 3)
    search, best = SetSearch(loss, 3, loss.residual, R=100.0, slack=1e-10), math.inf
    for block in search.survivors():
        best = min(best, *(values[tuple(row.tolist())] for row in block))
        search.limit = min(search.limit, best)
    assert best == pytest.approx(min(values.values()), abs=1e-12)


def test_fewer_directions_than_neurons():
    loss = problem(1, 2)
    search = SetSearch(loss, 5, loss.residual, R=10.0, slack=1e-9)
    assert set(survivors(search)) == {(), (0,), (1,), (0, 1)}


def test_counts():
    assert count_sets(738, 3) == 1 + 738 + math.comb(738, 2) + math.comb(738, 3)
    assert log10_count_sets(math.log10(738), 3) == pytest.approx(math.log10(count_sets(738, 3)), abs=0.01)
    assert log10_count_sets(math.log10(738), 3) >= math.log10(count_sets(738, 3))
    assert log10_count_sets(-math.inf, 3) == 0.0


def test_budget_is_in_sets_and_says_the_time_in_words():
    assert check_set_budget(100, 2, 10**4) == 5051
    with pytest.raises(
        BudgetError, match=r"7\.2e\+12 sets, about 13 hours on one core, and the budget is 1e\+10 sets"
    ):
        check_set_budget(3623, 4, 10**10)


@pytest.mark.parametrize(
    ("log10_seconds", "words"),
    [
        (-5.0, "less than a second"),
        (0.3, "about 2 seconds"),
        (2.3, "about 3 minutes"),
        (4.2, "about 4 hours"),
        (6.2, "about 18 days"),
        (9.2, "about 50 years"),
        (22.2, "about 10^14.7 years"),
    ],
)
def test_time_in_words(log10_seconds, words):
    assert time_in_words(log10_seconds) == words


@pytest.mark.slow
def test_searches_take_times_in_the_proportions_that_are_said():
    import time

    beyond = []
    for n, k in ((500, 3), (120, 4), (60, 5)):
        loss, seconds = problem(0, n), []
        for _ in range(3):  # the fastest of three: other work on the machine slows some down
            start = time.process_time()
            assert survivors(SetSearch(loss, k, -1.0, R=1.0, slack=1e-9)) == []
            seconds.append(time.process_time() - start)
        beyond.append(math.log10(min(seconds)) - log10_search_seconds(math.log10(n), k))
    # How fast the machine is shifts all of them alike; the promise is an order of magnitude.
    assert max(beyond) - min(beyond) < 1.0


def test_seconds_count_sets_and_prefixes():
    assert 10 ** log10_search_seconds(math.log10(3544), 3) == pytest.approx(3544**3 / 6 / 1.5e8, rel=0.01)
    assert 10 ** log10_search_seconds(math.log10(63), 6) == pytest.approx(63**3 / 6 * 2e-4, rel=0.2)
