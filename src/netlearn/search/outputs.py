"""Several outputs: units are found in one mixture of them, and fitted to all.

The outputs share their units, and a mixture of them is a network with one output and the same units. What finds
networks with one output finds the units there; then all outputs fit them together. A unit that weighs little in the
mixture may have been missed. It is left in the residuals, and another mixture of these shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from netlearn.backend import as_like, to_numpy
from netlearn.fit import Fit, Params, Problem, finish
from netlearn.search import budget
from netlearn.search.hold import narrowed
from netlearn.search.judge import Judge, Verdict
from netlearn.search.leap import CANDIDATE_GAIN, leap, settle
from netlearn.search.search import Search
from netlearn.source import ArraySource, Source

# Attempts at the mixture: what they miss, all outputs together find sooner.
ATTEMPTS_AT_MIXTURE = 3
# Rows that measure how far a mixture spreads.
_PILOT = 20_000
# Units looked for in the residuals at a time: one for so many that there are.
_PER_NEW_UNIT = 4
# How often they are looked for in vain.
_MOST_IN_VAIN = 2


def random_mixture(n_outputs: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random unit vector."""
    v = rng.standard_normal(n_outputs)
    return v / np.linalg.norm(v)


@dataclass(frozen=True)
class Outputs:
    """Rows with several labels each, and the mixture of these in which units are looked for.

    Attributes
    ----------
    train : Source
        Whitened rows with labels of shape (n, m), each output of unit variance.
    judge : ArraySource
        Others, of the same kind.
    mixture : array of shape (m,)
        Weights of the outputs, with which the mixture has unit variance too.
    rng : numpy.random.Generator
        Draws the mixtures of the residuals.
    """

    train: Source
    judge: ArraySource
    mixture: np.ndarray
    rng: np.random.Generator

    @classmethod
    def mixed_at_random(cls, train: Source, judge: ArraySource, rng: np.random.Generator) -> Outputs:
        """Draw the mixture."""
        v = random_mixture(judge.y.shape[1], rng)
        return cls(train, judge, v / _spread(_mixed(train, v)), rng)

    def mixed(self, rows: Source) -> Source:
        """Return the rows with the mixture as their label."""
        return _mixed(rows, self.mixture)

    def fitted(self, found: Fit, search: Search, at_most: int | None) -> Fit:
        """Fit the units of a mixture to all outputs, and look for those that are missing.

        Parameters
        ----------
        found : Fit
            The network that `search` found for the mixture.
        search : Search
            On rows with the mixture as their label.
        at_most : int or None
            The number of units that was asked for; None for as many as it takes.
        """
        biases = search.problem.biases and (found.params.has_biases or found.params.n_hidden == 0)
        problem = replace(search.problem, rows=self.train, biases=biases)
        joint = _JointFit(problem, Judge(problem, self.judge), self.rng)
        best = joint.of_planes(found.params.planes, found)
        in_vain = 0
        while in_vain < _MOST_IN_VAIN and at_most != 0:
            if joint.judge.is_settled(best) or problem.deadline():
                break
            search.tell(f"{best.params.n_hidden} units in all outputs, and what they leave")
            more = joint.with_more(best, at_most)
            if joint.prefers(more, best):
                best, in_vain = more, 0
            else:
                in_vain += 1
        return best if joint.judge.is_exact(best) else joint.on_all_rows(best)


@dataclass(frozen=True)
class _JointFit:
    problem: Problem
    judge: Judge
    rng: np.random.Generator

    def of_planes(self, planes: np.ndarray, earlier: Fit) -> Fit:
        """Fit all outputs with units that start at these hyperplanes."""
        some = budget.enough(self.problem.rows, self.problem.shape(len(planes)))
        return self._judged(settle(self.problem, Params.fitted(planes, some)).after(earlier))

    def on_all_rows(self, best: Fit) -> Fit:
        """Fit all rows that learn, as what it will be compared with has been."""
        return self._judged(finish(self.problem, best.params, least_gain=CANDIDATE_GAIN).after(best))

    def _judged(self, fit: Fit) -> Fit:
        return replace(self.judge.judged(fit), route="outputs")

    def with_more(self, best: Fit, at_most: int | None) -> Fit:
        """Join units that a mixture of the residuals shows, and go back to the number of units that are needed."""
        found, problem = best.params, self.problem
        v = random_mixture(found.n_outputs, self.rng)
        residuals = problem.rows.relabelled(found.residual)
        spread = _spread(_mixed(residuals, v))
        mixture = replace(
            problem, rows=_mixed(residuals, v / spread), zero_loss=problem.zero_loss / spread**2
        )
        n_new = math.ceil(max(found.n_hidden, 1) / _PER_NEW_UNIT)
        wide = leap(mixture, budget.affordable(n_new, mixture.rows.n_rows, mixture.shape(1), 1.25), self.rng)
        some = budget.enough(mixture.rows, mixture.shape(wide.params.n_hidden), budget.EXPLORE)
        fit = narrowed(mixture.on(some), wide, n_new)
        wider = self.of_planes(np.vstack([found.planes, fit.params.planes]), best)
        if at_most is not None:
            return self._strongest(wider, at_most) if wider.params.n_hidden > at_most else wider
        while wider.params.n_hidden > 0:
            smaller = self._strongest(wider, wider.params.n_hidden - 1)
            if self.prefers(wider, smaller):
                break
            wider = smaller
        return wider

    def _strongest(self, wide: Fit, n_hidden: int) -> Fit:
        """Keep some units, by what they add to all outputs together, and fit these again."""
        order = np.argsort(-wide.params.kink_strengths(), kind="stable")
        start = wide.params.keep(np.sort(order[:n_hidden]))
        return self._judged(settle(self.problem, start).after(wide))

    def prefers(self, larger: Fit, smaller: Fit) -> bool:
        """Whether rows show that the larger network, or another of one width, is better by a unit's worth or more."""
        n_more = max(larger.params.n_hidden - smaller.params.n_hidden, 1)
        unknowns = n_more * larger.params.shape(self.problem.biases).per_unit
        return self.judge.compare(larger, smaller, unknowns) is Verdict.BETTER


def _mixed(rows: Source, v: np.ndarray) -> Source:
    return rows.relabelled(lambda X, y: y @ as_like(v, y))


def _spread(rows: Source) -> float:
    """Return the root mean square of labels of mean about zero; 1 where there is none."""
    y = to_numpy(rows.head(min(rows.n_rows, _PILOT)).in_memory().y)
    return float(np.sqrt(np.mean(y**2))) or 1.0
