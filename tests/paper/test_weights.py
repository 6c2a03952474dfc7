"""Best weights within the class: conditions of optimality, which a convex problem has no other solutions of."""

import numpy as np
import pytest

from netlearn.paper.bruteforce import ValidationLoss
from netlearn.paper.screening import abs_gram
from netlearn.paper.weights import best_weights


def problem(seed, n=8, r=3):
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((n, r))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    # Correlations of labels with a network of all directions, and something beside it.
    G = abs_gram(U, U)
    lam = rng.standard_normal(n)
    return ValidationLoss(float(lam @ G @ lam) + 0.5, G @ lam, G, 1), rng


def projected(v, R):
    """Nearest point of {|lambda|_1 <= R}: soft thresholding at the level that makes the sum R."""
    if np.abs(v).sum() <= R:
        return v
    u = np.sort(np.abs(v))[::-1]
    levels = (np.cumsum(u) - R) / np.arange(1, len(u) + 1)
    level = levels[np.flatnonzero(u > levels)[-1]]
    return np.sign(v) * np.maximum(np.abs(v) - level, 0.0)


def reference(loss, S, R):
    """Projected gradient descent, many small steps."""
    b, G = loss.correlations[S], loss.gram[np.ix_(S, S)]
    lam, step = np.zeros(len(S)), 1.0 / np.linalg.norm(G, 2)
    for _ in range(4_000):
        lam = projected(lam - step * (G @ lam - b), R)
    return lam, loss.residual - 2.0 * b @ lam + lam @ G @ lam


@pytest.mark.parametrize("R", [0.3, 1.0, 3.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_those_of_descent_or_belong_to_a_smaller_set(seed, R):
    loss, rng = problem(seed)
    S = np.sort(rng.choice(8, 3, replace=False))
    (weights,), (value,) = best_weights(loss, S[None], R)
    expected, least = reference(loss, S, R)
    if np.all(np.abs(expected) > 1e-6):
        assert np.abs(weights).sum() <= R * (1 + 1e-9)
        assert value == pytest.approx(least, abs=1e-6)
        np.testing.assert_allclose(weights, expected, atol=1e-3)
        assert value == pytest.approx(loss.of(tuple(S), weights[None])[0], abs=1e-9)
    else:
        assert value >= least - 1e-9


def test_both_kinds_of_answer_occur_and_smaller_sets_hold_the_rest():
    # Over a set and its subsets the least value is the constrained optimum, whatever entries of it are 0.
    kinds = set()
    for seed in range(12):
        loss, _ = problem(seed, n=3)
        subsets = [np.array(s, dtype=int) for s in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))]
        values = [best_weights(loss, s[None], 1.0)[1][0] for s in subsets]
        _, least = reference(loss, np.arange(3), 1.0)
        assert min(values) == pytest.approx(least, abs=1e-6)
        kinds.add(np.isclose(values[-1], least, atol=1e-6))
    assert kinds == {True, False}


def test_many_sets_at_once_are_as_one_by_one():
    loss, _ = problem(3, n=30)
    sets = np.array([(i, j) for i in range(30) for j in range(i)] * 3)
    weights, values = best_weights(loss, sets, 0.8)
    for place in (0, 17, 1100, len(sets) - 1):
        (own,), (value,) = best_weights(loss, sets[place : place + 1], 0.8)
        np.testing.assert_allclose(weights[place], own)
        assert values[place] == pytest.approx(value)
