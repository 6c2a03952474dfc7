"""Standardised rows with noise, and searches on them, as a run would begin them."""

import numpy as np

from netlearn.fit import Problem
from netlearn.search.search import Search
from netlearn.source import ArraySource
from tests.fit.twins import standardised

N_JUDGE = 300


def noisy(network, n, seed, noise=0.0):
    """Rows with labels of unit variance and noise of that standard deviation, and the network of those labels."""
    rows, target = standardised(network, n, seed)
    return ArraySource(rows.X, rows.y + noise * np.random.default_rng(1000 + seed).standard_normal(n)), target


def search_on(network, n, biases, *, noise=0.0, seed=0, **options):
    """A search on n such rows, with others that judge, and that network."""
    rows, target = noisy(network, n + N_JUDGE, seed, noise)
    judging = ArraySource(rows.X[n:], rows.y[n:])
    problem = Problem(rows.head(n), biases, **options)
    return Search.on(problem, problem.rows, judging, np.random.default_rng(seed), lambda _: None), target
