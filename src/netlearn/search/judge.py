"""Which of two networks is better, on rows that the fits have not seen and on those they have."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netlearn.backend import to_numpy
from netlearn.fit import NEAR, Fit, Params, Problem
from netlearn.fit.problem import ROUNDING
from netlearn.search import budget
from netlearn.source import ArraySource, Source
from netlearn.source.blocks import over_blocks

# Standard errors by which judging rows must prefer a network: it was chosen for its error on them among several.
_BEYOND_DOUBT = 4.0
# With much noise both tests of a larger network may be short of certainty and both in its favour. Then it is taken
# where judging rows lean to it by so many standard errors, and N log(loss / loss) on the fitted rows is so many times
# the number of its further unknowns. Noise alone brings that to 1, and to 2 or 3 where a unit may choose its place (the
# best of twelve starts, in thirty draws). Twenty units under as much noise as signal bring it to 4.4 to 4.9, and a
# thousand judging rows see 0.8 to 2.2 standard errors of them.
_AGREEING, _GAIN_AGREEING = 0.5, 4.0
# Two attempts whose held-out errors agree this closely have found the same thing: what is left is noise.
_AGREEMENT = 0.02
# A wider fit must lower the held-out error by this share to be followed by a still wider one.
_WORTHWHILE = 0.05
# A unit is kept where its gain exceeds by so much what its free numbers gain from noise: the price that is best for
# prediction is about two.
WORTH = 2.5


class Verdict(enum.Enum):
    """What a comparison of two networks says of the first."""

    BETTER = enum.auto()
    SAME = enum.auto()
    WORSE = enum.auto()


@dataclass(frozen=True)
class Judge:
    """Rows that compare networks.

    Attributes
    ----------
    problem : Problem
        Rows that the networks were fitted to, and the mean square that counts as none.
    rows : ArraySource
        Others, of the same kind.
    """

    problem: Problem
    rows: ArraySource

    def judged(self, fit: Fit) -> Fit:
        """Return the fit with its mean square on the judging rows."""
        return replace(fit, score=float(np.mean(self._squares(fit.params))))

    def _squares(self, params: Params) -> np.ndarray:
        """Return the squared errors on the judging rows, with several outputs each a mean over these."""
        squares = to_numpy(params.residual(self.rows.X, self.rows.y)) ** 2
        return squares if squares.ndim == 1 else np.mean(squares, axis=1)

    def is_exact(self, fit: Fit) -> bool:
        """Whether rows that were not fitted are met to rounding."""
        return fit.score < self.problem.zero_loss

    def is_fitted(self, fit: Fit) -> bool:
        """Whether the rows that were fitted are met to rounding, and are so many that this means something."""
        shape = self.problem.shape(fit.params.n_hidden)
        return budget.has(self.problem.rows, shape, budget.DETERMINED) and fit.loss < self.problem.zero_loss

    def is_settled(self, fit: Fit) -> bool:
        """Whether nothing is left to look for."""
        return self.is_exact(fit) or self.is_fitted(fit)

    def is_ample(self, n_hidden: int) -> bool:
        """Whether the fitted rows are so many that their own mean square ranks fits of one width."""
        return budget.has(self.problem.rows, self.problem.shape(n_hidden), budget.AMPLE)

    def best_of(self, found: Sequence[Fit]) -> Fit:
        """Return the best of some fits of one width: by judging rows, or by all rows where these are ample.

        With noise a thousand judging rows tell two fits of one width apart only when they differ by several per
        cent; the rows that were fitted see far less, and favour none of them when the number of unknowns is the same.
        """
        widest = max(fit.params.n_hidden for fit in found)
        if self.is_ample(widest) and not any(self.is_exact(fit) for fit in found):
            return min((fit for fit in found if fit.params.n_hidden == widest), key=lambda fit: fit.loss)
        return min(found, key=lambda fit: fit.score)

    def smallest_unbeaten(self, found: Sequence[Fit]) -> Fit:
        """Return the smallest of some fits that no larger one clearly beats."""
        best, *others = sorted(found, key=lambda fit: fit.params.n_hidden)
        for fit in others:
            n_more = self._n_unknowns(fit) - self._n_unknowns(best)
            if self.compare(fit, best, n_more) is Verdict.BETTER:
                best = fit
        return best

    def gains(self, wider: Fit, than: Fit) -> bool:
        """Whether a wider fit meets its rows, or judging rows gain so much that a still wider one is worth a try."""
        return wider.loss < NEAR**2 or wider.score <= (1 - _WORTHWHILE) * than.score

    def predicts_better(self, one: Fit, other: Fit) -> bool:
        """Whether a fit is better: by its mean square and a price of its unknowns; if rows are few, by its score."""
        if not self.is_ample(max(one.params.n_hidden, other.params.n_hidden)):
            return one.score < other.score
        n = self.problem.rows.n_rows
        first, second = (fit.loss * (1.0 + WORTH * self._n_unknowns(fit) / n) for fit in (one, other))
        return first < (1.0 - 1e-3 / math.sqrt(n)) * second

    def _n_unknowns(self, fit: Fit) -> int:
        return self.problem.shape(fit.params.n_hidden).n_unknowns

    def compare(self, one: Fit, other: Fit, n_more: int) -> Verdict:
        """Compare a fit with one that has `n_more` unknowns less, or is as large.

        A fit that meets judging rows to rounding, or the rows it was fitted to, is better than one that does not. Else
        judging rows decide by a paired test at four standard errors. Where they are few they see little, so the rows
        that were fitted are asked too, by Schwarz's criterion: N log(loss / loss) must exceed n_more log N. Where both
        tests are just short of preferring the fit, but both lean to it, it is taken all the same.
        """
        if self.is_settled(one) or self.is_settled(other):
            one_is, other_is = ((self.is_exact(fit), self.is_fitted(fit)) for fit in (one, other))
            if one_is == other_is:
                return Verdict.SAME
            return Verdict.BETTER if one_is[0] > other_is[0] or one_is[1] > other_is[1] else Verdict.WORSE
        gain, error = paired_gain(self._squares(one.params), self._squares(other.params))
        if abs(gain) > _BEYOND_DOUBT * error:
            return Verdict.BETTER if gain > 0 else Verdict.WORSE
        n, log_ratio = self._fitted_gain(one, other)
        price = min(math.log(n), _GAIN_AGREEING) if gain > _AGREEING * error else math.log(n)
        return Verdict.BETTER if n * log_ratio > price * n_more else Verdict.SAME

    def _fitted_gain(self, one: Fit, other: Fit) -> tuple[int, float]:
        """Return the number of fitted labels, and the logarithm of how much lower the loss of one fit is on them."""
        shape = self.problem.shape(max(one.params.n_hidden, other.params.n_hidden))
        rows = budget.ranking(self.problem.rows, shape)
        tiny = np.finfo(float).tiny  # what interpolates may leave nothing at all
        losses = [max(sum_of_squares(rows, fit.params), tiny) for fit in (other, one)]
        return rows.n_rows * one.params.n_outputs, math.log(losses[0] / losses[1])

    def agree(self, found: Sequence[Fit]) -> bool:
        """Whether the two best of some independent fits of one width came to one error, which then is noise."""
        if len(found) < 2:
            return False
        k = found[0].params.n_hidden
        if self.is_ample(k):
            # Fits in one basin differ by much less than the share P / N of the noise that P unknowns absorb.
            shape = self.problem.shape(k)
            share = shape.n_unknowns / budget.ranking(self.problem.rows, shape).n_rows
            first, second = sorted(fit.loss for fit in found)[:2]
            return second <= (1 + share / 4) * first
        first, second = sorted(fit.score for fit in found)[:2]
        return second <= (1 + _AGREEMENT) * first


def paired_gain(
    squares: np.ndarray, others: np.ndarray, weight: np.ndarray | None = None
) -> tuple[float, float]:
    """Return by how much one fit's mean square error is below another's on the same rows, with its standard error."""
    share = np.full(len(squares), 1.0) if weight is None else weight
    share = share / share.sum()
    gain = others - squares
    mean = float(share @ gain)
    return mean, float(np.linalg.norm(share * (gain - mean)))


def sum_of_squares(rows: Source, params: Params) -> float:
    """Return the sum of the squared residuals over all rows and outputs."""

    def term(block):
        return float((params.residual(*block) ** 2).sum())

    return sum(over_blocks(term, rows, params.n_hidden))


def loses_nothing(smaller: Fit, larger: Fit, n_rows: int, n_fewer: int) -> bool:
    """Whether an exact fit stays one with fewer unknowns: its loss rises by no more than Schwarz's criterion grants."""
    return smaller.loss <= max(ROUNDING, larger.loss * n_rows ** (n_fewer / n_rows))
