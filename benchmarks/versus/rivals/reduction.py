"""The subspace alone: sliced inverse regression, sliced average variances and principal Hessian directions.

statsmodels gives directions in order; as many are taken as the planted units span, which `learn` is not told.
"""

import numpy as np
from statsmodels.regression.dimred import PHD, SAVE, SIR

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch

SLICES = 10
"""Fewer, fuller slices than statsmodels' own: a covariance matrix of 50 rows says nothing in 50 dimensions."""


def sir(problem: Problem, watch: Watch) -> Found:
    """Take the span of the slice means: it sees what is not symmetric."""
    return _leading(problem, SIR(problem.y, problem.X).fit(slice_n=len(problem.y) // SLICES))


def save(problem: Problem, watch: Watch) -> Found:
    """Take the slice covariances' departure from the identity."""
    return _leading(problem, SAVE(problem.y, problem.X).fit(slice_n=len(problem.y) // SLICES))


def phd(problem: Problem, watch: Watch) -> Found:
    """Take the second moments weighted by what a linear fit leaves of the labels."""
    return _leading(problem, PHD(problem.y, problem.X).fit(resid=True))


def _leading(problem: Problem, result) -> Found:
    # The matrix of PHD is not symmetric, so that rounding can make its eigenvectors complex.
    return Found(subspace=np.real(result.params[:, : problem.rank()]))
