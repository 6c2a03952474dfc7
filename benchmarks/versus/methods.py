"""Which methods are compared, and what each needs; the fits themselves are in `rivals/`, one idea per file."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, util

import numpy as np

from benchmarks.versus.objective import Family, Predictor, Problem, Watch
from netlearn import ShallowNetwork


class TooLargeError(Exception):
    """A problem that a method does not fit: recorded as its failure, with the sentence."""


@dataclass(frozen=True)
class Found:
    """What a method gives back: a network or a predictor, or the basis of a subspace, or a network with its subspace.

    Attributes
    ----------
    network : ShallowNetwork, callable or None
    subspace : array of shape (d, r), or None
    note : str
        What a reader of the line should know.
    """

    network: ShallowNetwork | Predictor | None = None
    subspace: np.ndarray | None = None
    note: str = ""


def _any(family: Family) -> bool:
    return True


@dataclass(frozen=True)
class Method:
    """One line of the table.

    Attributes
    ----------
    name : str
    module, function : str
        Where the fit is: a function of (problem, watch) that returns a `Found`. A dot leads to `rivals`.
    packages : tuple of str
        What must be importable, by the names they are imported with.
    expected : float
        Rough seconds of a fit, to begin with the longest.
    fits : callable
        Whether a family is of a size the method is for.
    limit : float
        Most seconds of one fit, where that is less than the family's.
    finds : {"network", "subspace"}
    """

    name: str
    module: str
    function: str = "fit"
    packages: tuple[str, ...] = ()
    expected: float = 10.0
    fits: Callable[[Family], bool] = _any
    limit: float = 60.0
    finds: str = "network"

    def load(self) -> Callable[[Problem, Watch], Found]:
        """Import the fit and what it needs."""
        for package in self.packages:
            import_module(package)
        return getattr(import_module(self.module, "benchmarks.versus.rivals"), self.function)

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages that are not installed."""
        return tuple(
            package for package in self.packages if util.find_spec(package.partition(".")[0]) is None
        )


def _small(family: Family) -> bool:
    return family.k <= 2 and family.d <= 6


def _noisy(family: Family) -> bool:
    return family.noise > 0


METHODS = {
    method.name: method
    for method in (
        Method("learn", ".ours", "practical", expected=2),
        Method("paper.netlearn", ".ours", "algorithm_1", fits=_small),
        Method("paper.multi_stage", ".ours", "predecessor", fits=_small),
        Method("Adam, width k", ".adam", "narrow", ("torch",), expected=20),
        Method("Adam, width 4k", ".adam", "wide", ("torch",), expected=30),
        Method("Adam, then L-BFGS", ".adam", "finished", ("torch",), expected=25),
        Method("variable projection", ".variable_projection", expected=15),
        Method("least_squares", ".scipy_least_squares", limit=15, expected=12),
        Method("MLPRegressor", ".mlp_regressor", packages=("sklearn.neural_network",), limit=15, expected=20),
        Method("pyscnn", ".convex", packages=("scnn", "lab", "torch"), limit=15, expected=20),
        Method("xrfm", ".feature_machine", packages=("xrfm", "torch"), limit=15, expected=20),
        Method("least squares from the truth", ".ours", "from_the_truth", fits=_noisy, expected=2),
        Method("SIR", ".reduction", "sir", ("statsmodels.regression.dimred",), expected=1, finds="subspace"),
        Method(
            "SAVE", ".reduction", "save", ("statsmodels.regression.dimred",), expected=1, finds="subspace"
        ),
        Method("PHD", ".reduction", "phd", ("statsmodels.regression.dimred",), expected=1, finds="subspace"),
    )
}
