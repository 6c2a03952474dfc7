"""What all steps of a search for units share: the rows, the judge, the subspace, the random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from netlearn.backend import as_like
from netlearn.fit import NEAR, Fit, Params, Problem, finish
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.fit.solve import conjugate_gradients
from netlearn.inputs.labels import effective_rank
from netlearn.search import budget
from netlearn.search.judge import Judge
from netlearn.search.leap import is_large, settle
from netlearn.search.starts import random_mixture
from netlearn.search.trimmed import residuals
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
    has_reserve : bool
        Whether more rows could learn, too. They help more than many starts on few rows.
    limited : bool
        Whether rows were too few for the widths that were left to try.
    mixture : array of shape (m,), optional
        Weights of several outputs in the one label in which a subspace is looked for.
    """

    problem: Problem
    pilot: Source
    judge: Judge
    V: np.ndarray
    rng: np.random.Generator
    tell: Callable[[str], None] = field(default=lambda message: None)
    has_reserve: bool = False
    limited: bool = False
    mixture: np.ndarray | None = None
    _affine: Fit | None = field(default=None, init=False, repr=False)

    @classmethod
    def on(
        cls, problem: Problem, pilot: Source, judging: ArraySource, rng: np.random.Generator, tell: Callable
    ) -> Search:
        """Begin with no subspace known."""
        nothing = np.zeros((problem.rows.n_features, 0))
        search = cls(problem, pilot, Judge(problem, judging), nothing, rng, tell)
        if problem.n_outputs > 1:
            e = residuals(pilot, search.affine().params)
            search.problem = replace(problem, per_row=effective_rank(e.T @ e))
            search.judge = replace(search.judge, problem=search.problem)
            search.mixture = random_mixture(problem.n_outputs, rng)
            search.mixture /= np.std(e @ search.mixture) or 1.0
        return search

    def single(self) -> Problem:
        """Return the problem with one label for each row: of several outputs a mixture, which has all their units."""
        if self.mixture is None:
            return self.problem
        v = self.mixture
        rows = self.train.relabelled(lambda X, y: y @ as_like(v, y))
        return replace(self.problem, rows=rows, n_outputs=1, per_row=1.0)

    def single_affine(self) -> Params:
        """Return the affine part of that label."""
        affine = self.affine().params
        return affine if self.mixture is None else affine.mixed(self.mixture)

    def of_all(self, params: Params) -> Params:
        """Return a network of the single label with the weights that fit all outputs best."""
        if self.mixture is None:
            return params
        return Params.fitted(params.planes, budget.enough(self.train, self.problem.shape(params.n_hidden)))

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
            start = Params.affine_only(np.zeros((self.problem.n_outputs, self.train.n_features + 1)))
            equations = start.equations(self.pilot, biases=False)
            # To the last digit: what a loose solution leaves is a linear trend in the residual, and moments see trends.
            step, _ = conjugate_gradients(
                equations, 0.0, tolerance=1e-6, max_products=50, single=equations.can_be_single
            )
            # Labels that are affine themselves are fitted to rounding; else a thousandth of their spread is nothing.
            rounds = 60 if self.judge.judged(Fit(start.moved(step), 0.0)).score < NEAR else 0
            problem = replace(self.problem, rows=self.pilot, biases=False)
            fit = finish(problem, start.moved(step), max_rounds=rounds)
            self._affine = replace(self.judge.judged(fit), route="affine")
        return self._affine
