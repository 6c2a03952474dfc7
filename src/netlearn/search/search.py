"""What all steps of a search for units share: the rows, the judge, the subspace, the random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from netlearn.fit import NEAR, Fit, NormalEquations, Params, Problem, finish
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.fit.solve import conjugate_gradients
from netlearn.search import budget
from netlearn.search.judge import Judge
from netlearn.search.leap import is_large, settle
from netlearn.source import ArraySource, Source


@dataclass
class Search:
    """The problem, the judge and the subspace that all attempts share.

    Attributes
    ----------
    problem : Problem
        The rows that learn.
    pilot : Source
        The first of them, enough for their affine part.
    judge : Judge
    V : array of shape (d, r)
        What moments have shown; r = 0 and r = d mean that there is nothing to use.
    rng : numpy.random.Generator
    tell : callable
        Told in words what is being tried.
    most_starts : int
        Starts on few rows, at most.
    limited : bool
        Whether rows were too few for the widths that were left to try.
    """

    problem: Problem
    pilot: Source
    judge: Judge
    V: np.ndarray
    rng: np.random.Generator
    tell: Callable[[str], None] = field(default=lambda message: None)
    most_starts: int = 64
    limited: bool = False
    _affine: Fit | None = field(default=None, init=False, repr=False)

    @classmethod
    def on(
        cls, problem: Problem, pilot: Source, judging: ArraySource, rng: np.random.Generator, tell: Callable
    ) -> Search:
        """Begin with no subspace known."""
        nothing = np.zeros((problem.rows.n_features, 0))
        return cls(problem, pilot, Judge(problem, judging), nothing, rng, tell)

    def without_biases(self) -> Search:
        """Return the search for units without biases."""
        problem = replace(self.problem, biases=False)
        return replace(self, problem=problem, judge=replace(self.judge, problem=problem))

    @property
    def train(self) -> Source:
        """The rows that learn."""
        return self.problem.rows

    def judged(self, fit: Fit, route: str) -> Fit:
        """Return the fit with its score, finished on all rows first where it is near."""
        fit = replace(self.judge.judged(fit), route=route)
        if not self._is_near(fit) or fit.score <= self.problem.zero_loss:
            return fit
        # Some rows may leave a gap between two near units that all rows close; and losses can be compared.
        rows = budget.ranking(self.train, self.problem.shape(fit.params.n_hidden))
        final = finish(self.problem.on(rows), fit.params, least_gain=CANDIDATE_GAIN)
        return replace(self.judge.judged(final.after(fit)), route=route)

    def settled(self, fit: Fit, route: str) -> Fit:
        """Return a candidate fitted on as many rows as it can use, with its score."""
        shape = self.problem.shape(fit.params.n_hidden)
        some = budget.enough(self.train, shape)
        # Where that is most of the rows that losses are compared on, one fit on these does for both.
        in_steps = is_large(some) or 2 * some.n_rows < budget.ranking(self.train, shape).n_rows
        if in_steps or not self._is_near(fit):
            fit = settle(self.problem, fit.params).after(fit)
        return self.judged(fit, route)

    def _is_near(self, fit: Fit) -> bool:
        """Whether a fit is worth fitting to all rows."""
        return fit.loss < NEAR or self.judge.is_ample(fit.params.n_hidden)

    def affine(self) -> Fit:
        """Return the best network without units on the pilot's rows; what it leaves is what moments see."""
        if self._affine is None:
            start = Params.affine_only(np.zeros((1, self.train.n_features + 1)))
            equations = NormalEquations(self.pilot, start.linearise, np.ones(start.a.shape))
            # To the last digit: what a loose solution leaves is a linear trend in the residual, and moments see trends.
            step, _ = conjugate_gradients(
                equations, 0.0, tolerance=1e-6, max_steps=50, single=equations.is_large
            )
            # Labels that are affine themselves are fitted to rounding; else a thousandth of their spread is nothing.
            rounds = 60 if self.judge.judged(Fit(start.moved(step), 0.0)).score < NEAR else 0
            problem = Problem(self.pilot, biases=False)
            fit = finish(problem, start.moved(step), max_rounds=rounds)
            self._affine = replace(self.judge.judged(fit), route="affine")
        return self._affine
