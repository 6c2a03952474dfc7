"""Several outputs: units are found in one mixture of them, and fitted to all.

The outputs share their units, and a mixture of them is a network with one output and the same units. What finds
networks with one output finds the units there; then all outputs polish them together. A unit that weighs little in the
mixture may have been missed. It is left in the residuals, and another mixture of these shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netlearn.backend import as_like, to_numpy
from netlearn.polish.attempts import Candidate, Search
from netlearn.polish.gauss_newton import Polished, finish
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import kink_strengths
from netlearn.polish.shared import SharedIterate
from netlearn.polish.wide import CANDIDATE_GAIN, enough_rows, settle, wide_fit
from netlearn.source import ArraySource, Source
from netlearn.source.arrays import over_blocks

# Attempts at the mixture: what they miss, all outputs together find sooner.
ATTEMPTS_AT_MIXTURE = 3
# Rows that measure how far a mixture spreads.
_PILOT = 20_000
# Units looked for in the residuals at a time: one for so many that there are. And how often in vain.
_PER_NEW_UNIT, _MOST_IN_VAIN = 4, 2


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

    def fitted(self, found: Candidate, search: Search, at_most: int | None) -> Candidate:
        """Fit the units of a mixture to all outputs, and look for those that are missing.

        Parameters
        ----------
        found : Candidate
            The network that `search` found for the mixture.
        search : Search
            On rows with the mixture as their label.
        at_most : int or None
            The number of units that was asked for; None for as many as it takes.
        """
        biases = search.biases and (found.iterate.has_biases or found.iterate.n_hidden == 0)
        joint = _JointFit(self, search, biases)
        best = joint.of_planes(found.iterate.a[1:], found.trace)
        in_vain = 0
        while in_vain < _MOST_IN_VAIN and at_most != 0:
            if best.settled or search.deadline():
                break
            search.tell(f"{best.iterate.n_hidden} units in all outputs, and what they leave")
            more = joint.with_more(best, at_most)
            if joint.prefers(more, best):
                best, in_vain = more, 0
            else:
                in_vain += 1
        return best if best.exact else joint.on_all_rows(best)


@dataclass(frozen=True)
class _JointFit:
    outputs: Outputs
    search: Search
    biases: bool

    def of_planes(self, planes: np.ndarray, trace: tuple[float, ...]) -> Candidate:
        """Fit all outputs with units that start at these hyperplanes."""
        some = enough_rows(self.outputs.train, len(planes), self.biases)
        return self._settled(SharedIterate.from_planes(planes, some), trace)

    def _settled(self, start: SharedIterate, trace: tuple[float, ...]) -> Candidate:
        train, search = self.outputs.train, self.search
        fit = settle(train, start, biases=self.biases, exact=search.rounding, deadline=search.deadline)
        return self._judged(fit, trace)

    def on_all_rows(self, best: Candidate) -> Candidate:
        """Polish on all rows that learn, as what it will be compared with has been."""
        limits = {"least_gain": CANDIDATE_GAIN, "deadline": self.search.deadline}
        return self._judged(
            finish(self.outputs.train, best.iterate, biases=self.biases, **limits), best.trace
        )

    def _judged(self, fit: Polished, trace: tuple[float, ...]) -> Candidate:
        train, search = self.outputs.train, self.search
        score = float(np.mean(self._squares(fit.iterate)))
        enough = train.n_rows >= 1.25 * search.n_unknowns(fit.iterate.n_hidden)
        return Candidate(
            fit.iterate,
            fit.loss,
            score,
            enough and fit.loss < search.rounding,
            score < search.rounding,
            trace + fit.trace,
            "outputs",
        )

    def _squares(self, iterate: SharedIterate) -> np.ndarray:
        """Return the squared errors on the judging rows, each a mean over outputs."""
        judge = self.outputs.judge
        return np.mean(to_numpy(judge.y - iterate.linearise(judge.X)[0]) ** 2, axis=1)

    def with_more(self, best: Candidate, at_most: int | None) -> Candidate:
        """Join units that a mixture of the residuals shows, and go back to the number of units that are needed."""
        found, train = best.iterate, self.outputs.train
        v = random_mixture(found.n_outputs, self.outputs.rng)
        residuals = train.relabelled(lambda X, y: y - found.linearise(X)[0])
        spread = _spread(_mixed(residuals, v))
        fit = wide_fit(
            _mixed(residuals, v / spread),
            math.ceil(max(found.n_hidden, 1) / _PER_NEW_UNIT),
            self.outputs.rng,
            biases=self.biases,
            exact=self.search.rounding / spread**2,
            deadline=self.search.deadline,
        )
        wider = self.of_planes(np.vstack([found.planes, fit.iterate.a[1:]]), best.trace)
        if at_most is not None:
            return self._strongest(wider, at_most) if wider.iterate.n_hidden > at_most else wider
        while wider.iterate.n_hidden > 0:
            smaller = self._strongest(wider, wider.iterate.n_hidden - 1)
            if self.prefers(wider, smaller):
                break
            wider = smaller
        return wider

    def _strongest(self, wide: Candidate, n_hidden: int) -> Candidate:
        """Keep some units, by what they add to all outputs together, and fit these again."""
        planes = wide.iterate.planes
        strengths = kink_strengths(Iterate(np.vstack([planes[:1], planes]), np.ones(len(planes))))
        order = np.argsort(-strengths, kind="stable")
        return self._settled(wide.iterate.keep(np.sort(order[:n_hidden])), wide.trace)

    def prefers(self, larger: Candidate, smaller: Candidate) -> bool:
        """Whether rows show that the larger network, or another of one width, is better by a unit's worth or more.

        Judging rows must gain, and the rows that learned say so by Schwarz's criterion.
        """
        if larger.exact or smaller.exact:
            return larger.exact and not smaller.exact
        if np.mean(self._squares(larger.iterate)) >= np.mean(self._squares(smaller.iterate)):
            return False
        m = larger.iterate.n_outputs
        n, n_more = self.outputs.train.n_rows * m, larger.iterate.n_hidden - smaller.iterate.n_hidden
        unknowns = max(n_more, 1) * (self.outputs.train.n_features + self.biases + m - 1)
        gain = n * math.log(self._sum_of_squares(smaller) / self._sum_of_squares(larger))
        return gain > unknowns * math.log(n)

    def _sum_of_squares(self, candidate: Candidate) -> float:
        def term(block):
            return float((candidate.residual(*block) ** 2).sum())

        return sum(over_blocks(term, self.outputs.train, candidate.iterate.n_hidden))


def _mixed(rows: Source, v: np.ndarray) -> Source:
    return rows.relabelled(lambda X, y: y @ as_like(v, y))


def _spread(rows: Source) -> float:
    """Return the root mean square of labels of mean about zero; 1 where there is none."""
    y = to_numpy(rows.head(min(rows.n_rows, _PILOT)).in_memory().y)
    return float(np.sqrt(np.mean(y**2))) or 1.0
