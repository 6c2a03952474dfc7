"""Polish: Gauss-Newton on activation patterns, merging and pruning."""

from netlearn.polish.gauss_newton import ROUNDING, Deadline, Polished, explore, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import drop_weakest, kink_strengths, merge
from netlearn.polish.system import ModulatedSystem

__all__ = [
    "ROUNDING",
    "Deadline",
    "Iterate",
    "ModulatedSystem",
    "Polished",
    "drop_weakest",
    "explore",
    "finish",
    "kink_strengths",
    "merge",
    "never",
]
