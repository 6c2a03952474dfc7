r"""Gauss-Newton on activation patterns: one loop, and the rules by which it takes its steps.

With the signs of all <q_i, (x,1)> fixed, the network is linear in its vectors, and the best ones are a least-squares
problem. Solving it, reading the new signs off, and repeating converges quadratically once most signs are right: the
error of a round is the square of the share of rows whose sign changes.

Far from the solution plain steps creep: neighbouring units trade rows back and forth. The rule `Explore` takes
over-relaxed steps (1.5 to 1.8 times the least-squares step), which cross these plateaus in a quarter of the products,
and lets the loss rise on the way; `Finish` takes plain steps and never lets it rise. The rule for rows that are read
from files is in `stream.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from netlearn.fit.equations import NormalEquations
from netlearn.fit.params import Params
from netlearn.fit.problem import NEAR, ROUNDING, Fit, Problem
from netlearn.fit.solve import conjugate_gradients, solved

# Steps while exploring, in units of the least-squares step. Measured on positive, orthonormal and random teachers: 1.5
# needs a quarter of the products of 1.0, 0.7 twice as many, and 1.9 diverges on some.
_USUAL = 1.5
# Fits with fewer rows for each unknown than this that come to a plateau go on with longer steps, which keep all units
# moving, and are shortened bit by bit, as metal is cooled, down to the usual ones. 512 units in 128 dimensions with 3.2
# rows for each unknown stay on a plateau of 0.012 to 0.02 for a thousand rounds of 1.5 to 1.7, and are found in 260 to
# 440 of 1.8 or 1.85; or in more where steps are shortened by 0.05, and not by 0.1.
_LONGEST, _SHORTER, _FEW_ROWS = 1.85, 0.05, 7.0
# A loss in units of the best one that shows long steps to be too long: they go on from the best, and are shorter.
_ASTRAY = 10.0
# A rise of the loss by which steps come half as near to plain ones, with more rows: over-relaxed ones let noise grow
# from round to round. With as much noise as signal 20 units in 50 dimensions leave 0.42 to 0.46 so, and 0.65 to 0.72
# without. With few rows the rise is what leads off a plateau: two rows for each unknown find 4 of 4, and 1 of 4 so.
_RISE = 1.1
# Part of the patience after which the first plateau is left.
_PLATEAU = 4
# Single rounds of long steps scatter by a third. They are shortened where the mean loss of the last rounds, this part
# of the patience, is no longer below this share of what it was as many rounds and a half before.
_MEAN, _COOL = 4, 0.97
# Products of a round at most: far from the solution, and near it or at the minimum that noise leaves.
_FEW_PRODUCTS = 40
_MANY_PRODUCTS = 150
# How exactly the least squares of a round are solved while exploring. With few rows that finds more than their solution
# does, as it leaves alone what rows hardly determine: of 40 starts for 8 units in 20 dimensions on 1.5 rows for each
# unknown, solutions find 8, this one 15, 0.1 finds 22, 0.15 finds 5; of 10 for 40 units in 40 dimensions on 2 rows this
# one finds 6, 0.04 finds 2.
_AMPLE = 0.02
# The same at the end: at least, with much data and with little; at a minimum that noise leaves; and at most in single
# precision.
_LOOSE = 0.1
_TIGHT = 1e-2
_LAST_TOLERANCE = 1e-3
_SINGLE_TOLERANCE = 1e-6
# Levenberg damping of every step, relative to whitened inputs; `Finish` lets it fade with the loss.
_DAMPING = 1e-5
# While exploring it is this times (P / N)^4, and never more than the second number. Measured: with 1.6 rows for each
# unknown a damping of 0.01 finds networks that 0.1 misses; with 2.6 rows 0.02 needs half the rounds of 0.002; and with
# 100 rows, inside a plane of units that nearly cancel, 1e-8 finds what 0.01 misses.
_EXPLORING = 2.0
_MOST_EXPLORING = 0.02
# Mean square below which the damping falls with it: what is explained by then needs no help.
_FAR = 1e-2
# Share of the best loss down to which it must come for exploring to be called progress, far from the solution and where
# little is left to be explained; and the loss below which patience is short, too: there an exact solution is a few
# rounds away, and what creeps is no network.
_PROGRESS, _PROGRESS_BELOW = 0.95, 0.8
_PAST_PLATEAUS = 1e-3
SHORT_PATIENCE = 10
# Mean square below which all units are found. An exact solution then halves it every few rounds; what keeps it from
# that are surplus units, which exchange rows with others for ever, and a penalty removes them (`search.hold`).
_FOUND, _HALVED, _ROUNDS_TO_HALVE = 1e-6, 0.5, 3
# A candidate is not worth fitting further when three rounds gain less than this share of its loss.
CANDIDATE_GAIN = 0.05
# A step that lowers the mean square by less than this share of what P unknowns absorb of the noise, P / N, moves the
# network by three per cent of its statistical error, or less.
NEGLIGIBLE = 1e-3
# Rounds in a row that gain too little, after which a fit is at its minimum; and how often a step is halved.
_MOST_IDLE = 3
_MOST_HALVINGS = 5


@dataclass(frozen=True)
class Point:
    """A network with its loss."""

    params: Params
    loss: float


@dataclass(frozen=True)
class Linearised(Point):
    """A network with its loss and the equations of a step from there."""

    equations: NormalEquations

    @classmethod
    def at(cls, problem: Problem, params: Params) -> Linearised:
        """Evaluate a network on the rows of a problem."""
        equations = problem.equations(params)
        return cls(params, equations.loss, equations)


AnyPoint = TypeVar("AnyPoint", bound=Point)


class Rule(Protocol[AnyPoint]):
    """How a fit takes its steps, and when it ends; an instance serves one fit."""

    max_rounds: int

    def begin(self, problem: Problem, start: Params) -> AnyPoint:
        """Evaluate the start."""
        ...

    def ended(self, point: AnyPoint, best: AnyPoint) -> bool:
        """Say whether no further round is wanted."""
        ...

    def step(self, problem: Problem, point: AnyPoint, best: AnyPoint) -> tuple[AnyPoint | None, int]:
        """Return the next point, and the products spent; the same point to try otherwise, None where nothing helps."""
        ...


def descend(problem: Problem, start: Params, rule: Rule[AnyPoint]) -> Fit:
    """Take steps by a rule until it ends or time is out, and return the best point met."""
    point = best = rule.begin(problem, start)
    trace, n_products = [point.loss], 0
    for _ in range(rule.max_rounds):
        if rule.ended(point, best) or problem.deadline():
            break
        new, spent = rule.step(problem, point, best)
        n_products += spent
        if new is None:
            break
        if new is not point:
            trace.append(new.loss)
            best = new if new.loss < best.loss else best
        point = new
    return Fit(best.params, best.loss, tuple(trace), n_products)


def explore(
    problem: Problem,
    start: Params,
    *,
    max_rounds: int = 2000,
    patience: int = 40,
    patience_near: int = SHORT_PATIENCE,
) -> Fit:
    """Search for the basin of the solution with over-relaxed steps, and stop inside it or when stalled."""
    return descend(problem, start, Explore(max_rounds, patience, patience_near))


def finish(
    problem: Problem,
    start: Params,
    *,
    max_rounds: int = 60,
    least_gain: float = 1e-8,
    until: float = ROUNDING,
) -> Fit:
    """Descend to the bottom of the basin with steps that never let the loss rise."""
    return descend(problem, start, Finish(max_rounds, least_gain, until))


class Explore:
    """Over-relaxed steps, each damped: networks wider than needed are singular at the solution.

    Parameters
    ----------
    max_rounds : int
    patience : int
        Rounds in which the loss must fall by 5 %, or by 20 % where it is below 1 %; up to ten are too few for long
        steps.
    patience_near : int
        The same for a loss that is small already.
    """

    def __init__(self, max_rounds: int, patience: int, patience_near: int):
        self.max_rounds, self._patience, self._patience_near = max_rounds, patience, patience_near
        self._reference, self._idle, self._last = np.inf, 0, np.inf
        self._relaxation, self._few_rows, self._may_lengthen = _USUAL, False, False
        self._losses: list[float] = []  # with steps of this length

    def begin(self, problem: Problem, start: Params) -> Linearised:
        """Evaluate the start."""
        self._few_rows = _crowding(problem, start) > 1 / _FEW_ROWS
        self._may_lengthen = self._few_rows and self._patience > SHORT_PATIENCE
        return Linearised.at(problem, start)

    def ended(self, point: Linearised, best: Linearised) -> bool:
        """Say whether the loss is that of a solution, or no longer falls; on a plateau go on with other steps."""
        self._losses.append(point.loss)
        found = best.loss < _FOUND
        self._idle += 1
        progress = _HALVED if found else _PROGRESS_BELOW if best.loss < _FAR else _PROGRESS
        if best.loss < progress * self._reference:
            self._reference, self._idle = best.loss, 0
        if best.loss < NEAR**2:
            return True
        if found:
            return self._idle >= _ROUNDS_TO_HALVE
        if best.loss < _PAST_PLATEAUS:
            return self._idle >= min(self._patience, self._patience_near)
        if self._relaxation > _USUAL:
            if self._no_longer_falls():
                self._take_steps(max(_USUAL, self._relaxation - _SHORTER))
            return False
        if self._may_lengthen and self._idle >= self._patience // _PLATEAU:
            self._may_lengthen = False
            self._take_steps(_LONGEST)
        return self._idle >= self._patience

    def _no_longer_falls(self) -> bool:
        """Whether the mean of the last losses is hardly lower than it was; the rise that long steps begin with goes."""
        n = self._patience // _MEAN
        apart = 3 * n // 2
        if len(self._losses) < 2 * apart:
            return False
        return sum(self._losses[-n:]) > _COOL * sum(self._losses[-n - apart : -apart])

    def _take_steps(self, relaxation: float) -> None:
        self._relaxation, self._reference, self._idle, self._losses = relaxation, np.inf, 0, []

    def step(self, problem: Problem, point: Linearised, best: Linearised) -> tuple[Linearised, int]:
        """Go beyond the solution of the least squares; just to it from a start, whose units are 0, and near the end."""
        if self._relaxation > _USUAL and point.loss > _ASTRAY * best.loss:
            point = best
            self._take_steps(max(_USUAL, self._relaxation - _SHORTER))
        equations = point.equations
        damping = min(_EXPLORING * _crowding(problem, point.params) ** 4, _MOST_EXPLORING)
        damping *= min(1.0, point.loss / _FAR)
        solve = conjugate_gradients if self._few_rows else solved
        step, spent = solve(
            equations,
            damping,
            tolerance=_AMPLE,
            max_products=_FEW_PRODUCTS,
            single=equations.can_be_single,
        )
        if not self._few_rows and point.loss > _RISE * self._last:
            self._relaxation = 0.5 * (self._relaxation + 1.0)
        plain, self._last = math.isinf(self._last) or best.loss < NEAR, point.loss
        return Linearised.at(problem, point.params.moved(step if plain else self._relaxation * step)), spent


class Finish:
    """Plain steps, halved while the loss would rise.

    Parameters
    ----------
    max_rounds : int
    least_gain : float
        Share of the loss: three rounds in a row that gain less end the fit. With noisy labels the mean square then
        sits at its minimum.
    until : float
        Loss that is small enough; by default what rounding leaves.
    """

    def __init__(self, max_rounds: int, least_gain: float, until: float):
        self.max_rounds, self._least_gain, self._until = max_rounds, least_gain, until
        self._idle, self._single = 0, True

    def begin(self, problem: Problem, start: Params) -> Linearised:
        """Evaluate the start."""
        return Linearised.at(problem, start)

    def ended(self, point: Linearised, best: Linearised) -> bool:
        """Say whether the loss is small enough, or no longer falls."""
        return point.loss <= self._until or self._idle == _MOST_IDLE

    def step(self, problem: Problem, point: Linearised, best: Linearised) -> tuple[Linearised | None, int]:
        """Solve the least squares, and go as far as the loss falls."""
        # Levenberg's damping fades with the loss: near-duplicate units have tiny eigenvalues, which a fixed
        # ridge would hide.
        damping = _DAMPING * min(1.0, point.loss)
        # With noise the loss stays, and only steps that are solved well come to its minimum.
        to_the_end = point.loss > NEAR and self._least_gain < 1e-4
        step, spent = solved(
            point.equations,
            damping,
            tolerance=_LAST_TOLERANCE if to_the_end else _tolerance(point.equations, self._until),
            max_products=_MANY_PRODUCTS if to_the_end or point.loss < NEAR else _FEW_PRODUCTS,
            single=self._single,
        )
        new = first_lower(problem, point, step)
        if new is None and self._single and point.equations.can_be_single:
            self._single = False  # the step may have failed for want of digits alone
            return point, spent
        if new is not None:
            self._idle = self._idle + 1 if 1.0 - new.loss / point.loss < self._least_gain else 0
        return new, spent


def _crowding(problem: Problem, params: Params) -> float:
    """Return how many unknowns there are for each equation."""
    shape = problem.shape(params.n_hidden)
    return shape.n_unknowns / shape.per_row / problem.rows.n_rows


def first_lower(problem: Problem, point: Linearised, step: np.ndarray) -> Linearised | None:
    """Return the first of the step, its half, its quarter and so on that lowers the loss."""
    for halvings in range(_MOST_HALVINGS):
        trial = Linearised.at(problem, point.params.moved(step / 2**halvings))
        if trial.loss < point.loss:
            return trial
    return None


def _tolerance(equations: NormalEquations, until: float) -> float:
    """Return how exactly to solve a round: no better than the signs it changes, or what is wanted, make it worth.

    Solved to a tolerance, a round leaves its square of the loss; the signs that change leave about loss**1.5. Where a
    product costs little, better steps are worth more than fewer products.
    """
    loss = equations.loss
    worth = max(0.3 * loss**0.25, 0.3 * (until / loss) ** 0.5, _SINGLE_TOLERANCE)
    return min(worth, _LOOSE if equations.can_be_single else _TIGHT)


def well_solved(equations: NormalEquations, *, tolerance: float) -> np.ndarray:
    """Return one well-solved step, damped as `Finish` would."""
    damping = _DAMPING * min(1.0, equations.loss)
    return solved(equations, damping, tolerance=tolerance, max_products=_MANY_PRODUCTS)[0]
