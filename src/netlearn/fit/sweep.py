r"""Steps after every few rows: how exact labels are fitted where X is large.

A network that explains all labels explains those of every batch of rows. A step for a batch b alone,

    a  <-  a + omega / P  H^{-1} F_b^T e_b,      omega = 1.25 / (1 + n_b / P),

with the preconditioner H of the conjugate gradients and P the number of unknowns, comes nearer to it and costs only the
batch's share of a product. That is Kaczmarz's method, a batch at a time. Of three Gaussian rows per unknown a sweep
through all batches leaves a sixth of the mean square, a product of the conjugate gradients a third; and as a step is
taken where the one before has led, the signs of all units may follow at once, where a least-squares problem waits for
its solution.

Labels with noise have no such network, and the steps do not come to rest: they leave about twice the noise. Nor do they
where two units are so close that a few rows alone tell them apart. Then the mean square no longer falls from one sweep
to the next, and conjugate gradients take over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np

from netlearn.backend import as_like, to_numpy
from netlearn.backend.grain import grain
from netlearn.backend.threads import n_threads
from netlearn.fit.equations import NormalEquations, is_single
from netlearn.fit.modulated import padded
from netlearn.fit.params import Params
from netlearn.source import Source
from netlearn.source.blocks import mapped

# Rows of a batch for each unknown; the threads among which they are divided, and the numbers that keep one of these
# busy between two steps. More threads wait for one another longer than they gain.
_BATCH, _MOST_THREADS, _LEAST_ENTRIES = 0.375, 4, 1_000_000
# Longer steps converge faster where all signs are right (1.1 leaves a quarter of the mean square, 1.25 and 1.4 a sixth)
# and slower where they are not.
_RELAXATION = 1.25
# A sweep that leaves more than this share has met what rounding, noise or wrong signs leave.
_STALLED, _MOST_SWEEPS = 0.5, 60
# A batch with so many times the mean square of the start shows steps that are too long for it.
_ASTRAY = 10.0
# What single precision leaves of the mean square that corrections began with; and how far below what is wanted sweeps
# go on where signs follow, so that none is left to change in the corrections.
_ROUNDING, _FURTHER = 1e-12, 1e-2

State = TypeVar("State")


def pays(system: NormalEquations) -> bool:
    """Whether X is in memory, and a batch of it work enough for the threads of a processor."""
    entries = _BATCH * system.free.sum() * system.rows.n_features
    return (
        system.can_be_single
        and grain(system.rows.like).cached
        and len(system.free) > 1
        and entries >= _LEAST_ENTRIES * _n_parts(system.rows)
    )


def _n_parts(rows: Source) -> int:
    """Return into how many parts a batch is divided, one for each thread."""
    return min(n_threads(), _MOST_THREADS) if grain(rows.like).side_by_side else 1


def swept(
    system: NormalEquations,
    start: Params,
    damping: float,
    *,
    until: float,
    deadline: Callable[[], bool],
) -> tuple[Params, int]:
    """Return the network after sweeps through the rows of its system, and their number.

    Where the rows are in single precision, the signs of the units follow every step. Where they are not, the steps
    correct what double precision leaves of the labels, with fixed signs: as in iterative refinement, single precision
    is enough for a correction.

    Parameters
    ----------
    system : NormalEquations
        Of `start`.
    start : Params
    damping : float
        Of the preconditioner.
    until : float
        Mean square that is small enough.
    deadline : callable
        Asked after each sweep; True ends them.
    """
    q, d = len(system.free), system.rows.n_features
    precondition = system.preconditioner(damping, start.span() if q <= d else None)
    zero = padded(np.zeros(system.free.shape), axis=0)

    def step(gradient):
        gradient = system.project(as_like(gradient[:q, :], system.gram))
        return padded(to_numpy(precondition(gradient)), axis=0)

    if is_single(system.rows):
        X, y = system.rows.X, system.rows.y
        final, n_sweeps = _sweeps(
            system,
            start.filled(len(zero) - 1),
            lambda params, rows: params.sums(X[rows, ...], y[rows, ...]),
            lambda params, gradient, length: params.moved(length * step(gradient)),
            _FURTHER * until,
            deadline,
        )
        return final.keep(np.arange(start.n_hidden)), n_sweeps
    D, n_sweeps = _sweeps(
        system,
        zero,
        system.left_by(),
        lambda D, gradient, length: D + length * step(gradient),
        max(until, _ROUNDING * system.loss),
        deadline,
    )
    return start.moved(D[:q, :]), n_sweeps


def _sweeps(
    system: NormalEquations,
    state: State,
    sums: Callable,
    moved: Callable,
    until: float,
    deadline: Callable[[], bool],
) -> tuple[State, int]:
    """Return the state that sweeps lead to, and their number.

    Parameters
    ----------
    system : NormalEquations
    state : Params or array
    sums : callable
        Takes a state and a slice of rows, returns the sums of e^2 and F^T e over these.
    moved : callable
        Takes a state, F^T e and the length of a step, returns the state after it.
    until : float
    deadline : callable
    """
    P, rows = int(system.free.sum()), system.rows
    batches = _cut(slice(0, rows.n_rows), math.ceil(rows.n_rows / (_BATCH * P)))
    n_parts, before = _n_parts(rows), 2 * system.loss
    for n_sweeps in range(1, _MOST_SWEEPS + 1):
        total = 0.0
        for batch in batches:
            n_rows = batch.stop - batch.start
            parts = list(mapped(partial(sums, state), _cut(batch, n_parts), rows.like))
            squares = sum(part[0] for part in parts)
            if not squares <= _ASTRAY * n_rows * system.loss:
                return state, n_sweeps
            state = moved(state, sum(part[1] for part in parts), _RELAXATION / (P + n_rows))
            total += squares / rows.n_rows
        if total <= until or total > _STALLED * before or deadline():
            break
        before = total
    return state, n_sweeps


def _cut(rows: slice, n_parts: int) -> list[slice]:
    """Return so many consecutive slices, about equally long."""
    ends = np.linspace(rows.start, rows.stop, n_parts + 1).astype(int).tolist()
    return [slice(*pair) for pair in pairwise(ends)]
