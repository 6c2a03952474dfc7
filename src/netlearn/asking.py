"""Learning from an oracle: how many points to ask for, and how far out.

Points come from N(0, I) first. A unit that bends far from where these lie is not seen there, so a network that was
recovered is compared with the oracle further out; where they differ, and where nothing was recovered, points come
from a wider Gaussian. The certificate always rests on points of N(0, I).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from netlearn.certify import certify
from netlearn.polish.wide import n_unknowns
from netlearn.result import LearnResult, Status
from netlearn.run import Clock, Options
from netlearn.source import Oracle
from netlearn.source.arrays import HOST
from netlearn.source.samples import Samples, checked_rows

# Points that an oracle without a budget is asked for at most.
_MOST_UNASKED = 200_000
# Points per unknown and besides, of the first round; and by how much a round has more than the one before.
_PER_UNKNOWN, _BESIDES, _GROWTH = 10, 100, 4
# Standard deviation of points that show units which sleep on N(0, I), and of those that tell whether there are any.
_WIDE, _FAR = 3.0, 4.0
_N_FAR = 100
# Attempts of a round that wider points may make needless.
_FEW_ATTEMPTS = 3
# How far off a recovered network may be further out, in units of its error on N(0, I) and of the labels there.
_ALIKE, _ROUNDING = 1e3, 1e-9

_ASLEEP = (
    f"the oracle and the network differ at points of N(0, {_FAR:g}^2 I): units bend there which no point asked "
    "for has bent"
)

Learner = Callable[..., LearnResult]


@dataclass
class _Points:
    """Points of N(0, radius^2 I) with their labels, bought bit by bit."""

    radius: float
    parts: list = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(X) for X, _ in self.parts)

    def buy(self, n: int, oracle: Oracle, rng: np.random.Generator, *, antithetic: bool) -> None:
        self.parts.append(oracle.draw(n, rng, antithetic=antithetic, radius=self.radius))

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        X, y = map(np.concatenate, zip(*self.parts, strict=True))
        return X, y


class Asking:
    """One run with an oracle.

    Parameters
    ----------
    oracle : Oracle
    options : Options
    rng : numpy.random.Generator
    clock : Clock
    learn_samples : callable
        Learns from `Samples`, given options, rng, clock and a number of attempts.
    like : array
        Where to compute.
    """

    def __init__(
        self,
        oracle: Oracle,
        options: Options,
        rng: np.random.Generator,
        clock: Clock,
        learn_samples: Learner,
        like=HOST,
    ):
        self.oracle, self.options, self.clock, self.like = oracle, options, clock, like
        self._learn_samples = learn_samples
        self._rng_points, self._rng_learn = rng.spawn(2)
        self._points = {radius: _Points(radius) for radius in (1.0, _WIDE)}
        self._for_certificate = _Points(1.0)
        self._n_compared = 0
        k = 8 if options.n_hidden == "auto" else options.n_hidden
        self._first = _PER_UNKNOWN * n_unknowns(k, oracle.n_features, True) + _BESIDES

    def run(self) -> LearnResult:
        """Ask until the network is recovered, or more points would not help or may not be had."""
        result = self._asked()
        seen = result.diagnostics
        rows = seen.rows | ({"compare": self._n_compared} if self._n_compared else {})
        notes = (f"{self.oracle.n_queries:,} points asked of the oracle", *seen.notes)
        return replace(result, diagnostics=replace(seen, rows=rows, notes=notes))

    def _asked(self) -> LearnResult:
        wanted, best = self._first, None
        while True:
            result = self._round(1.0, wanted, first=best is None)
            asleep = result.status is Status.RECOVERED and self._differs_further_out(result)
            if result.status is Status.RECOVERED and not asleep:
                return result
            if asleep:
                result = _with_note(replace(result, status=Status.TOO_FEW_ROWS), _ASLEEP)
            if not self._is_over(wanted):
                result = _better(self._round(_WIDE, wanted), result)
            worth_more = (
                best is None
                or asleep
                or result.certificate.empirical_error < 0.5 * best.certificate.empirical_error
            )
            best = result if best is None else _better(result, best)
            # Without a budget, more points must halve the error to be worth asking for.
            unasked = self.oracle.budget is None and (_GROWTH * wanted > _MOST_UNASKED or not worth_more)
            if best.success or unasked or self._is_over(wanted):
                # A round cut short by the clock may be worse than the one before it.
                return best if best is result else replace(best, status=result.status)
            wanted *= _GROWTH

    def _is_over(self, wanted: int) -> bool:
        return self.oracle.left < wanted // 10 + 8 or self.clock.out_of_time()

    def _round(self, radius: float, wanted: int, *, first: bool = False) -> LearnResult:
        """Learn from `wanted` points of N(0, radius^2 I), those of earlier rounds among them."""
        self.clock.enter("samples")
        points = self._points[radius]
        more = int(min(wanted - len(points) - len(self._for_certificate), self.oracle.left))
        more = max(more, 0)
        # A tenth of the points is for the certificate: independent ones, not antithetic pairs.
        for_certificate = max(min(more // 10, 20_000), min(more, 2)) if radius == 1.0 else 0
        self.clock.tell(f"asking the oracle for {more:,} points" + (f" of spread {radius:g}" * (radius > 1)))
        points.buy(more - for_certificate, self.oracle, self._rng_points, antithetic=True)
        self._for_certificate.buy(for_certificate, self.oracle, self._rng_points, antithetic=False)
        checked_rows(*points.arrays)
        samples = Samples.from_parts(*points.arrays, *self._for_certificate.arrays, self._rng_learn)
        attempts = {"attempts": _FEW_ATTEMPTS} if first and not self._is_over(wanted) else {}
        result = self._learn_samples(
            samples.on(self.like), self.options, self._rng_learn, self.clock, **attempts
        )
        return result if radius == 1.0 else self._with_second_certificate(result, radius)

    def _differs_further_out(self, result: LearnResult) -> bool:
        """Whether the oracle has units that a network recovered on N(0, I) lacks."""
        n = int(min(_N_FAR, self.oracle.left))
        X, y = self.oracle.draw(n, self._rng_points, antithetic=False, radius=_FAR)
        self._n_compared += n
        off = np.max(np.abs(y - result.network(X)), initial=0.0)
        allowed = max(_ALIKE * result.certificate.empirical_error, _ROUNDING * np.max(np.abs(y), initial=0.0))
        return bool(off > allowed)

    def _with_second_certificate(self, result: LearnResult, radius: float) -> LearnResult:
        """Say what the error is where the points came from, beside the certificate on N(0, I)."""
        n = int(min(len(self._for_certificate), self.oracle.left))
        if n < 2:
            return result
        X, y = self.oracle.draw(n, self._rng_points, antithetic=False, radius=radius)
        there = certify(result.network, X, y, failure_prob=self.options.failure_prob, method="bernstein")
        return _with_note(
            result,
            f"points were asked of N(0, {radius:g}^2 I), which shows units that rarely bend on N(0, I); the error "
            f"there is at most {there.error_bound:.3g}, with confidence {there.confidence:g}",
        )


def _with_note(result: LearnResult, note: str) -> LearnResult:
    seen = result.diagnostics
    return replace(result, diagnostics=replace(seen, notes=(*seen.notes, note)))


def _better(first: LearnResult, second: LearnResult) -> LearnResult:
    """Return the result that succeeded, or the one with the smaller error."""
    if first.success != second.success:
        return first if first.success else second
    return min(first, second, key=lambda result: result.certificate.empirical_error)
