"""Learning from an oracle: how many points to ask for, and how far out.

Points come from N(0, I) first. A unit that switches far from where these lie is not seen there, so a network that
reproduces the oracle is compared with it further out: at points of a wider Gaussian, and far out along random lines,
where every missing unit shows on one of the two sides. Where they differ, the distance at which they begin to is
measured along some of the lines, and points come from a Gaussian that reaches as far; so they do where nothing was
recovered. The certificate always rests on points of N(0, I).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from netlearn.backend import Array
from netlearn.certify import certify
from netlearn.certify.law import STANDARD
from netlearn.fit import Shape
from netlearn.inputs.labels import centre_and_scale, effective_rank
from netlearn.result import LearnResult, Status
from netlearn.run import Clock, Options
from netlearn.search import budget
from netlearn.source import Oracle
from netlearn.source.blocks import HOST
from netlearn.source.samples import Samples, checked_rows
from netlearn.words import share_sentence

# Points that an oracle without a budget is asked for at most.
_MOST_UNASKED = 200_000
# Units that are expected where their number is not given.
_EXPECTED_UNITS = 8
# Points of the first round besides an ample number; and by how much a round has more than the one before.
_BESIDES, _GROWTH = 100, 4
# Points for the certificate, and the share of a round that they may be at most where there is a budget.
_FRESH, _FRESH_SHARE = 2_000, 0.2
# Points asked twice, to see whether the oracle answers the same.
_N_REPEATED = 8
# Standard deviation of points that show units which switch on hardly any row of N(0, I); and of those that tell
# whether there are any.
_WIDE, _FAR = 3.0, 4.0
_N_FAR = 100
# Random lines, and how far out they are followed, in units of the length of a typical point.
_N_LINES, _FARTHEST = 50, 1e4
# Lines along which the distance of a difference is measured, and halvings of the interval that holds it.
_N_MEASURED, _HALVINGS = 5, 20
# Attempts of a round that wider points may make needless.
_FEW_ATTEMPTS = 3
# How far off a recovered network may be further out, in units of its error on N(0, I) and of the labels there.
_ALIKE, _ROUNDING = 1e3, 1e-9

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
        like: Array = HOST,
    ):
        self.oracle, self.options, self.clock, self.like = oracle, options, clock, like
        self._learn_samples = learn_samples
        self._rng_points, self._rng_learn = rng.spawn(2)
        self._points = _Points(1.0)
        self._wider = _Points(_WIDE)
        self._fresh = _Points(1.0)
        self._n_compared = 0
        self._repeats = False

    def run(self) -> LearnResult:
        """Ask until the network is recovered, or more points would not help or may not be had."""
        result = self._asked()
        seen = result.diagnostics
        rows = seen.rows | ({"compare": self._n_compared} if self._n_compared else {})
        notes = (f"{self.oracle.n_queries:,} points asked of the oracle", *seen.notes)
        return replace(result, diagnostics=replace(seen, rows=rows, notes=notes))

    def _asked(self) -> LearnResult:
        wanted, best = self._first_round(), None
        while True:
            result = self._round(self._points, wanted, first=best is None)
            distance = self._differs_at(result) if _reproduces(result) else None
            if _reproduces(result) and distance is None:
                return result
            if distance is not None:
                result = _with_note(result, _beyond(distance))
                self._reach(distance)
            lacks_units = distance is not None
            if not self._is_over(wanted):
                near, result = result, self._better(self._round(self._wider, wanted), result, distance)
                lacks_units = lacks_units and result is near and self._may_have_more(result)
                if result.success and not lacks_units:
                    return result
            worth_more = (
                best is None
                or distance is not None
                or result.certificate.empirical_error < 0.5 * best.certificate.empirical_error
            )
            best = result if best is None else self._better(result, best, None)
            # Without a budget, more points must halve the error to be worth asking for.
            unasked = self.oracle.budget is None and (_GROWTH * wanted > _MOST_UNASKED or not worth_more)
            if unasked or self._is_over(wanted):
                # A round cut short by the clock may be worse than the one before it.
                out = result.status is Status.OUT_OF_TIME and not best.success
                return replace(best, status=result.status, message=result.message) if out else best
            wanted *= _GROWTH

    def _first_round(self) -> int:
        """Return how many points to begin with: an ample number of equations, of which each output gives one."""
        k = _EXPECTED_UNITS if self.options.n_hidden == "auto" else self.options.n_hidden
        d = self.oracle.n_features
        wanted = budget.AMPLE * Shape(k, d).n_unknowns
        self.clock.enter("samples")
        self._buy_fresh(int(wanted) + _BESIDES)
        y = self._fresh.arrays[1]
        if y.ndim == 2 and len(y) > 1:
            centre, scale = centre_and_scale(y)
            e = (y - centre) / scale
            per_row = effective_rank(e.T @ e)
            wanted = min(wanted, budget.AMPLE * Shape(k, d, y.shape[1]).n_unknowns / per_row)
        return int(wanted) + _BESIDES

    def _may_have_more(self, result: LearnResult) -> bool:
        """Whether the network may have more units than it has."""
        asked = self.options.n_hidden
        return isinstance(asked, str) or result.network.n_hidden < asked

    def _is_over(self, wanted: int) -> bool:
        return self.oracle.left < wanted // 10 + 8 or self.clock.out_of_time()

    def _round(self, points: _Points, wanted: int, *, first: bool = False) -> LearnResult:
        """Learn from `wanted` points, those of earlier rounds among them."""
        self.clock.enter("samples")
        more = int(max(min(wanted - len(points), self.oracle.left), 0))
        radius = points.radius
        self.clock.tell(f"asking the oracle for {more:,} points" + (f" of spread {radius:g}" * (radius > 1)))
        points.buy(more, self.oracle, self._rng_points, antithetic=True)
        checked_rows(*points.arrays)
        samples = Samples.from_parts(
            *points.arrays, *self._fresh.arrays, self._rng_learn, law=STANDARD, repeats=self._repeats
        )
        attempts = {"attempts": _FEW_ATTEMPTS} if first and not self._is_over(wanted) else {}
        result = self._learn_samples(
            samples.on(self.like), self.options, self._rng_learn, self.clock, **attempts
        )
        return result if radius == 1.0 else self._with_second_certificate(result, radius)

    def _buy_fresh(self, wanted: int) -> None:
        """Ask for the certificate's points, independent ones, and for some of them twice."""
        left = self.oracle.left
        n = _FRESH if self.options.holdout is None else round(self.options.holdout * min(wanted, left))
        if self.oracle.budget is not None:
            most = _FRESH_SHARE * left if self.options.holdout is None else left - 3
            n = int(min(n, most))
        n = int(max(1, min(n, left - 3)))
        self._fresh.buy(n, self.oracle, self._rng_points, antithetic=False)
        X, y = self._fresh.arrays
        again = int(min(_N_REPEATED, n, max(self.oracle.left - _BESIDES, 0)))
        if again:
            self._n_compared += again
            self._repeats = bool(np.array_equal(self.oracle.ask(X[:again]), y[:again]))

    def _differs_at(self, result: LearnResult) -> float | None:
        """Return how far out the oracle and a network that reproduces it begin to differ; None where they do not."""
        d = self.oracle.n_features
        n_lines = int(min(_N_LINES, max(self.oracle.left - _N_FAR, 0) // 4))
        v = self._rng_points.standard_normal((n_lines, d))
        lines = np.concatenate([v, -v]) if n_lines else v
        n = int(min(_N_FAR, self.oracle.left))
        near = _FAR * self._rng_points.standard_normal((n, d))
        if np.any(self._off(result, near)):
            return _FAR
        differ = lines[self._off(result, _FARTHEST * lines)]
        if not len(differ):
            return None
        distances = [self._begin(result, line) for line in differ[:_N_MEASURED]]
        return float(np.median(distances))

    def _begin(self, result: LearnResult, line: np.ndarray) -> float:
        """Return where along a line the oracle and the network begin to differ, by halving on a logarithmic scale."""
        low, high = 1.0, _FARTHEST
        for _ in range(_HALVINGS):
            if self.oracle.left < _BESIDES:
                break
            middle = np.sqrt(low * high)
            if self._off(result, middle * line[None, :])[0]:
                high = middle
            else:
                low = middle
            if high < 1.2 * low:
                break
        return float(high)

    def _off(self, result: LearnResult, X: np.ndarray) -> np.ndarray:
        """Return for each point whether the oracle and the network differ there by more than rounding."""
        if len(X) == 0:
            return np.zeros(0, dtype=bool)
        y = self.oracle.ask(X)
        self._n_compared += len(X)
        left = np.abs(y - result.network(X)).reshape(len(X), -1)
        # Labels of a row are rounded by their own size, and by that of the terms that cancel in them; and what rounded
        # labels leave open in the network's slopes grows with the distance.
        length = np.linalg.norm(X, axis=1)[:, None]
        size = length * np.max(np.abs(result.network.linear), initial=0.0) + np.abs(y).reshape(len(X), -1)
        off_near = result.certificate.empirical_error * np.maximum(length / np.sqrt(X.shape[1]), 1.0)
        allowed = np.maximum(_ALIKE * off_near, _ROUNDING * size)
        return np.any(left > allowed, axis=1)

    def _reach(self, distance: float) -> None:
        """Let wide points reach as far as the oracle and the network begin to differ."""
        radius = max(_WIDE, distance)
        if radius > 1.5 * self._wider.radius:
            self._wider = _Points(radius)

    def _better(self, new: LearnResult, old: LearnResult, distance: float | None) -> LearnResult:
        """Return the result that succeeded, or the one with the smaller error.

        Where the older one lacks units further out, a new one that is as good on N(0, I) and has more is taken.
        """
        if distance is not None:
            found = _reproduces(new) and self._differs_at(new) is None
            return new if found else old
        if new.success != old.success:
            return new if new.success else old
        return min(new, old, key=lambda result: result.certificate.empirical_error)

    def _with_second_certificate(self, result: LearnResult, radius: float) -> LearnResult:
        """Say what the error is where the points came from, beside the certificate on N(0, I)."""
        n = int(min(len(self._fresh), self.oracle.left))
        if n < 2:
            return result
        X, y = self.oracle.draw(n, self._rng_points, antithetic=False, radius=radius)
        there = certify(result.network, X, y, failure_prob=self.options.failure_prob)
        return _with_note(
            result,
            f"queries were drawn {radius:.3g} times wider than N(0, I), to reveal units that rarely switch there; of "
            f"such queries, {share_sentence(there)}",
        )


def _reproduces(result: LearnResult) -> bool:
    return result.status in (Status.RECOVERED, Status.REPRODUCED)


def _beyond(distance: float) -> str:
    return (
        f"the oracle and the network differ at points about {distance:.3g} times as far out as those of N(0, I): the "
        "oracle has units there that hardly any point of N(0, I) reaches"
    )


def _with_note(result: LearnResult, note: str) -> LearnResult:
    seen = result.diagnostics
    return replace(result, diagnostics=replace(seen, notes=(*seen.notes, note)))
