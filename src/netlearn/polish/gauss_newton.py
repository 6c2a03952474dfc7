r"""Gauss-Newton on activation patterns.

With the signs of all <a_i, (x,1)> fixed, the network is linear in a, and the best a is a least-squares
problem. Solving it, reading the new signs off, and repeating converges quadratically once most signs are
right: the error of a round is the square of the share of rows whose sign changes.

Far from the solution plain steps creep: neighbouring units trade rows back and forth. `explore` takes
over-relaxed steps (1.5 times the least-squares step), which cross these plateaus in a quarter of the products,
and lets the loss rise on the way; `finish` takes plain steps and never lets it rise. Where X is large, and as long as
labels look exact, sweeps of `sweep.py` take the place of its rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlearn.polish.iterate import Iterate
from netlearn.polish.solve import conjugate_gradients, direct
from netlearn.polish.sweep import is_single, pays, swept
from netlearn.polish.system import ModulatedSystem
from netlearn.source import Source

if TYPE_CHECKING:
    from netlearn.polish.shared import SharedIterate

# Measured on positive, orthonormal and random teachers: 1.5 needs a quarter of the products of 1.0,
# 0.7 twice as many, and 1.9 diverges on some.
_RELAXATION = 1.5
# Labels have unit variance. Below this mean square almost all signs are right and plain steps are quadratic.
NEAR = 1e-4
# Mean square that double precision leaves of unit-variance labels.
ROUNDING = 1e-26
# The normal matrix costs N P^2 operations, a product 4 N P: with at most M products to replace, it pays up to
# P = 4 M unknowns. With many more units than dimensions the preconditioner of the conjugate gradients is blind
# (the units span everything) and all M products are spent to little effect: there it pays for longer.
_UNKNOWNS_PER_PRODUCT, _WHEN_CROWDED = 4, 5
# How exactly the least squares of a round are solved: at least, with much data and with little; at a minimum that noise
# leaves; and at most in single precision.
_LOOSE, _TIGHT, _LAST_TOLERANCE, _SINGLE_TOLERANCE = 0.1, 1e-2, 1e-3, 1e-6
# Levenberg damping of every step, relative to whitened inputs; `finish` lets it fade with the loss.
_DAMPING = 1e-5
# Sweeps that leave more than this share of the loss are the last ones: labels are not exact, or units too close.
_WORTH_SWEEPING = 0.5

Deadline = Callable[[], bool]


def never() -> bool:
    """Return False: the deadline of a run without one."""
    return False


@dataclass(frozen=True)
class Polished:
    """Where a run ended.

    Attributes
    ----------
    iterate : Iterate or SharedIterate
        The best one met, of the kind of the start.
    loss : float
        Its mean square residual.
    trace : tuple of float
        The loss after each round.
    n_products : int
        Products with the normal matrix that were spent, and sweeps, which cost as much.
    """

    iterate: Iterate | SharedIterate
    loss: float
    trace: tuple[float, ...]
    n_products: int


def _tolerance(system: ModulatedSystem, until: float) -> float:
    """Return how exactly to solve a round: no better than the signs it changes, or what is wanted, make it worth.

    Solved to a tolerance, a round leaves its square of the loss; the signs that change leave about loss**1.5. Where a
    product costs little, better steps are worth more than fewer products.
    """
    loss = system.loss
    worth = max(0.3 * loss**0.25, 0.3 * (until / loss) ** 0.5, _SINGLE_TOLERANCE)
    return min(worth, _LOOSE if system.is_large else _TIGHT)


def _step(
    system: ModulatedSystem,
    current: Iterate | SharedIterate,
    damping: float,
    *,
    tolerance: float,
    max_products: int,
    single: bool = True,
) -> tuple[np.ndarray, int]:
    q, width = system.free.shape
    worth = _UNKNOWNS_PER_PRODUCT * max_products * (_WHEN_CROWDED if q > 4 * width else 1)
    if system.free.sum() <= worth:
        return direct(system, damping), 0
    return conjugate_gradients(
        system,
        damping,
        tolerance=tolerance,
        max_steps=max_products,
        span=current.span() if q <= width else None,
        single=single and system.is_large,
    )


def gauss_newton_step(system: ModulatedSystem, current: Iterate, *, tolerance: float) -> np.ndarray:
    """Return one well-solved step, damped as `finish` would."""
    damping = _DAMPING * min(1.0, system.loss)
    return _step(system, current, damping, tolerance=tolerance, max_products=150)[0]


def explore(
    rows: Source,
    start: Iterate,
    *,
    biases: bool,
    max_rounds: int = 400,
    patience: int = 40,
    deadline: Deadline = never,
) -> Polished:
    """Search for the basin of the solution with over-relaxed steps, and stop inside it or when stalled.

    Labels are expected with variance about one, inputs about whitened. Over-wide networks are singular at
    the solution, so every step is damped.

    Parameters
    ----------
    rows : Source
    start : Iterate
    biases : bool
        Whether units may have biases; if not, those of `start` are kept.
    max_rounds : int
    patience : int
        Rounds in which the best loss must fall by 5 %.
    deadline : callable
        Asked before each round; True ends the run.
    """
    current = best = start
    best_loss = reference = np.inf
    trace: list[float] = []
    n_products = last_progress = 0
    for round_ in range(max_rounds + 1):
        system = current.system(rows, biases)
        trace.append(system.loss)
        if system.loss < best_loss:
            best, best_loss = current, system.loss
        if best_loss < 0.95 * reference:
            reference, last_progress = best_loss, round_
        stalled = round_ - last_progress >= patience
        if best_loss < NEAR**2 or stalled or round_ == max_rounds or deadline():
            break
        step, spent = _step(system, current, _DAMPING, tolerance=1e-2, max_products=40)
        n_products += spent
        near = best_loss < NEAR or round_ == 0
        current = current.moved(step if near else _RELAXATION * step)
    return Polished(best, best_loss, tuple(trace), n_products)


def finish(
    rows: Source,
    start: Iterate | SharedIterate,
    *,
    biases: bool,
    max_rounds: int = 60,
    least_gain: float = 1e-8,
    until: float = ROUNDING,
    deadline: Deadline = never,
) -> Polished:
    """Descend to the bottom of the basin: plain steps, halved while the loss would rise.

    Ends when the loss is down to `until`, by default rounding level, or when three rounds in a row gain less than
    the share `least_gain` (with noisy labels the mean square then sits at its minimum), or when no fraction of the
    step helps. Other parameters as in `explore`.
    """
    current = start
    system = current.system(rows, biases)
    trace = [system.loss]
    n_products = idle = 0
    single = True
    sweeping = isinstance(start, Iterate) and pays(system)
    for _ in range(max_rounds):
        if system.loss <= until or idle == 3 or deadline():
            break
        # Levenberg's damping fades with the loss: near-duplicate units have tiny eigenvalues, which a fixed
        # ridge would hide.
        damping = _DAMPING * min(1.0, system.loss)
        if sweeping and (system.loss < NEAR or is_single(rows)):
            trial, spent = swept(system, current, damping, until=until, deadline=deadline)
            n_products += spent
            trial_system = trial.system(rows, biases)
            sweeping = trial_system.loss < _WORTH_SWEEPING * system.loss
            if trial_system.loss < system.loss:
                current, system = trial, trial_system
                trace.append(system.loss)
            continue
        # With noise the loss stays, and only steps that are solved well come to its minimum.
        to_the_end = system.loss > NEAR and least_gain < 1e-4
        step, spent = _step(
            system,
            current,
            damping,
            tolerance=_LAST_TOLERANCE if to_the_end else _tolerance(system, until),
            max_products=150 if to_the_end or system.loss < NEAR else 40,
            single=single,
        )
        n_products += spent
        for halvings in range(5):
            trial = current.moved(step / 2**halvings)
            trial_system = trial.system(rows, biases)
            if trial_system.loss < system.loss:
                break
        else:
            if not (single and system.is_large):
                break
            single = False  # the step may have failed for want of digits alone
            continue
        gain = 1.0 - trial_system.loss / system.loss
        idle = idle + 1 if gain < least_gain else 0
        current, system = trial, trial_system
        trace.append(system.loss)
    return Polished(current, system.loss, tuple(trace), n_products)
