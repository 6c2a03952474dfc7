"""What is to be fitted, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from netlearn.fit.equations import NormalEquations
from netlearn.fit.params import Params
from netlearn.fit.shape import Shape
from netlearn.source import Source

# Labels have unit variance. Below this mean square almost all signs are right and plain steps are quadratic.
NEAR = 1e-4
# Mean square that is no noise anyone would add.
ALMOST_EXACT = 1e-4
# Mean square below which labels are fitted exactly.
EXACT = 1e-18
# Mean square that double precision leaves of them.
ROUNDING = 1e-26

Deadline = Callable[[], bool]


def never() -> bool:
    """Return False: the deadline of a run without one."""
    return False


@dataclass(frozen=True)
class Problem:
    """Rows to be fitted, and the limits that all steps of a fit share.

    Attributes
    ----------
    rows : Source
        Whitened, with labels of variance about one.
    biases : bool
        Whether units may have biases; if not, those of a start are kept.
    zero_loss : float
        Mean square that counts as none: what the precision of the labels leaves of them.
    deadline : callable
        Asked before each round; True ends the fit.
    n_outputs : int
        Labels of each row.
    per_row : float
        Equations that these are worth: labels that follow from others count as one.
    """

    rows: Source
    biases: bool
    zero_loss: float = EXACT
    deadline: Deadline = never
    n_outputs: int = 1
    per_row: float = 1.0

    def on(self, rows: Source) -> Problem:
        """Return the problem on other rows."""
        return replace(self, rows=rows)

    def shape(self, n_hidden: int) -> Shape:
        """Return the shape of a network of this width."""
        return Shape(n_hidden, self.rows.n_features, self.n_outputs, self.biases, self.per_row)

    def equations(self, params: Params) -> NormalEquations:
        """Return the least-squares problem of a step."""
        return params.equations(self.rows, self.biases)


@dataclass(frozen=True)
class Fit:
    """Where a fit ended.

    Attributes
    ----------
    params : Params
        The best network met.
    loss : float
        Its mean square residual; with several outputs a mean over these, too.
    trace : tuple of float
        The loss after each round.
    n_products : int
        Products with the normal matrix that were spent, and sweeps, which cost as much.
    score : float
        Mean square residual on rows that judge it; infinite where it was not judged.
    route : str
        How it was found.
    left_out : tuple of int
        Rows that it was fitted without, as the others contradict them.
    freedom : float, optional
        Unknowns that a ridge leaves free, where the fit has one.
    """

    params: Params
    loss: float
    trace: tuple[float, ...] = ()
    n_products: int = 0
    score: float = math.inf
    route: str = ""
    left_out: tuple[int, ...] = ()
    freedom: float | None = None

    def after(self, *earlier: Fit) -> Fit:
        """Return the fit with the rounds of earlier ones before its own."""
        trace = sum((fit.trace for fit in earlier), ())
        return replace(self, trace=trace + self.trace)
