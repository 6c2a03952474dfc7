"""netlearn's learners, and the limit that noise sets to all."""

import numpy as np

from benchmarks.recovery import least_squares_from_truth
from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch
from netlearn import ShallowNetwork, learn, paper
from netlearn.result import LearnResult

EPSILON = 0.25
"""What Algorithm 1 is asked for, as a share of the norm of the planted network."""


def practical(problem: Problem, watch: Watch) -> Found:
    """Learn from the rows, with the width known as to everyone; its own division of them holds rows out.

    Its limit is one of the clock on the wall: on a machine with other work to do it has less time than the others.
    """
    result = learn(problem.X, problem.y, n_hidden=problem.k, rng=problem.seed, time_limit=watch.limit)
    watch.look(result.network)
    return Found(result.network, _leading(result.network, problem.rank()), result.status.name)


def algorithm_1(problem: Problem, watch: Watch) -> Found:
    """Run Algorithm 1 with a practical schedule; it draws as many rows as that asks for."""
    return _printed(paper.netlearn, problem)


def predecessor(problem: Problem, watch: Watch) -> Found:
    """Run the algorithm that it simplifies, likewise."""
    return _printed(paper.multi_stage, problem)


def from_the_truth(problem: Problem, watch: Watch) -> Found:
    """Give what least squares gives when it is started at the planted network: no method, but a limit to all."""
    scale = float(np.std(problem.y))
    return Found(least_squares_from_truth(problem.truth, problem.X, problem.y, scale))


def _leading(network: ShallowNetwork, rank: int) -> np.ndarray:
    """Return the main directions of the units by their weights, as many as methods for the subspace alone are told."""
    return np.linalg.svd(network.coefficients[:, None] * network.units, full_matrices=False)[2][:rank].T


def _printed(learner, problem: Problem) -> Found:
    rng = np.random.default_rng(problem.seed)
    radius = float(np.abs(problem.truth.coefficients).sum())
    epsilon = EPSILON * problem.truth.norm()
    result: LearnResult = learner(problem.draw, problem.X.shape[1], problem.k, epsilon, radius, rng=rng)
    rows = sum(result.diagnostics.rows.values())
    return Found(result.network, result.subspace, f"{result.status.name}, drew {rows:,} rows")
