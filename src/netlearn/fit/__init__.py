"""Fit: improves given units by Gauss-Newton on activation patterns."""

from netlearn.fit.descend import explore, finish
from netlearn.fit.equations import NormalEquations
from netlearn.fit.params import Params
from netlearn.fit.problem import EXACT, NEAR, ROUNDING, Deadline, Fit, Problem, never
from netlearn.fit.shape import Shape

__all__ = [
    "EXACT",
    "NEAR",
    "ROUNDING",
    "Deadline",
    "Fit",
    "NormalEquations",
    "Params",
    "Problem",
    "Shape",
    "explore",
    "finish",
    "never",
]
