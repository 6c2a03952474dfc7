r"""Which units a wide fit needs: a penalty that empties the others.

With its signs fixed a network is linear in its vectors a_i, and a ridge on them with the weights

    lambda / |a_i|^(3/2)        (up to a common factor, and with |a_i| those of the round before)

acts like the penalty sum |a_i|^(1/2): of two units that do the same, the smaller one shrinks as its ratio to the power
1.5 from round to round, so near-copies become one and units that do nothing vanish, while those that carry the fit
are hardly moved. A unit stays where the rows ask for it by more than noise could: noise of variance s^2 gives q free
numbers a gradient of about s sqrt(q / n), so lambda is in proportion to that, with s^2 what the fit leaves unexplained.

Where labels are nearly met, units that have come close to each other are made one before, which often leaves nothing to
the penalty.
"""

from __future__ import annotations

import math

import numpy as np

from netlearn.backend import to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.fit import NEAR, Fit, Params, Problem, finish
from netlearn.fit.copies import merged
from netlearn.fit.descend import CANDIDATE_GAIN
from netlearn.fit.problem import ROUNDING
from netlearn.fit.solve import solved
from netlearn.search.judge import WORTH

# Mean square that exact labels are taken to leave while surplus units are emptied: small against any unit that counts,
# large against rounding.
LEVEL = 1e-9
# Mean square above which what is left is not for want of rounds: noise, or a target that is no network.
_NEARLY = 1e-6
# Weight of the penalty in units of what noise would do: full for exact labels, whose level is a convention, less for
# noisy ones, where true units are near it.
_EXACT_WEIGHT = 1.0
_NOISY_WEIGHT = 0.2
# By how much the mean square may rise before a lower weight is tried, that of noisy labels where there are many
# unknowns; and by what factor the weight is lowered.
_EXACT_RISE = 30.0
_NOISY_RISE = 1.3
_LOWER = 30.0
_MOST_LOWERED = 3
# In units of lambda: lengths that count as this long, so that a unit can come back; and lengths that are dropped.
_FLOOR = 0.1
_DROP = 0.3
# Rounds at most, and rounds in a row in which no unit shrinks, after which none will.
_MOST_ROUNDS = 30
_STILL = 2
_SHRINKS = 0.95
# Tolerance and products of the least squares of a round.
_TOLERANCE = 1e-2
_PRODUCTS = 60
_DAMPING = 1e-9
# Unknowns up to which the normal matrix says what each unit is worth. Beyond, the Gram matrix of the signs does: for
# Gaussian rows the normal matrix is just that in all directions outside the span of the units.
_MOST_UNKNOWNS = 1000
# Ridge of that matrix where units coincide, relative to its trace.
_RIDGE = 1e-12
# Rounds of the fits between two cuts, and of the wide fit before them.
_BETWEEN = 4
_ROUNDS = 6
# In units of the loss: what it may cost to make two units one. Copies of a unit stay as far apart as the loss allows.
_COPIES = 10.0
# Rounds that bring exact labels down to the level before units are emptied, and the gain below which three end them.
_CLEAR = 20
_STALLED = 0.2


def narrowed(
    problem: Problem,
    wide: Fit,
    at_most: int | None = None,
    level: float = LEVEL,
    *,
    at_minimum: bool = False,
) -> Fit:
    """Return a fit with the units that the rows ask for, or with at most so many.

    Parameters
    ----------
    problem : Problem
        On as many rows as tell the units of the wide fit from surplus ones.
    wide : Fit
        Near a minimum for these rows.
    at_most : int, optional
        The width that was asked for. Noise takes no unit below it.
    level : float
        Mean square that exact labels are taken to leave, at least.
    at_minimum : bool
        Whether the wide fit is at a minimum for these rows, or as many others.
    """
    loss = problem.equations(wide.params).loss
    if loss < _NEARLY:
        wide = _without_copies(problem, wide, loss, level)
        loss = problem.equations(wide.params).loss
    if loss > level and not at_minimum:
        rounds, gain = (_CLEAR, _STALLED) if loss < NEAR else (_ROUNDS, CANDIDATE_GAIN)
        wide = finish(problem, wide.params, max_rounds=rounds, least_gain=gain, until=level).after(wide)
        loss = wide.loss
    exact = loss < max(_NEARLY, level)
    fit = wide
    if not (exact and wide.params.n_hidden == at_most):  # else it is what was asked for
        fit = _emptied(
            problem, wide, max(loss, level), 0 if exact or at_most is None else at_most, exact=exact
        )
    if not exact and at_most is None:
        fit = _worthwhile(problem, fit)
    if at_most is not None and fit.params.n_hidden > at_most:
        fit = _cut(problem, fit, at_most)
    return fit if fit is wide else fit.after(wide)


def _emptied(problem: Problem, wide: Fit, level: float, least: int, *, exact: bool) -> Fit:
    """Return the fit after the penalty, with the largest weight that the mean square bears; exact ones stay so.

    Under noise it bears what the units that go would have been worth by the price of a unit; where there are many
    unknowns, some more, as a few rounds do not come to the minimum.
    """
    n, equations = problem.rows.n_rows, problem.shape(1).per_row

    def price(fit):
        return WORTH * problem.shape(fit.params.n_hidden).n_unknowns / equations / n

    many = problem.shape(wide.params.n_hidden).n_unknowns > _MOST_UNKNOWNS
    for lowered in range(_MOST_LOWERED):
        weight = (_EXACT_WEIGHT if exact else _NOISY_WEIGHT) / _LOWER**lowered
        held = _held(problem, wide.params, weight, level, least)
        fit = finish(problem, held, max_rounds=_BETWEEN, least_gain=1e-4)
        rise = _NOISY_RISE if many else (1.0 + price(wide)) / (1.0 + price(fit))
        if fit.loss < (_EXACT_RISE if exact else rise) * level:
            return fit
    return wide if exact else fit


def _without_copies(problem: Problem, wide: Fit, loss: float, level: float) -> Fit:
    """Return a fit that is nearly exact with units that do the same as one, where it is as good without the others."""
    fewer = merged(wide.params, _COPIES * loss)
    if fewer.n_hidden == wide.params.n_hidden:
        return wide
    # To the bottom even where the loss is rounding: the few rows between two near units hardly show in the mean.
    until = level if loss > ROUNDING else 0.0
    fit = finish(problem, fewer, max_rounds=_BETWEEN, least_gain=_STALLED, until=until)
    return fit.after(wide) if fit.loss < max(loss, level) else wide


def _held(problem: Problem, params: Params, weight: float, level: float, least: int) -> Params:
    """Take rounds with the penalty, and drop what it empties, down to `least` units."""
    q = problem.shape(1).per_unit
    lam = weight * math.sqrt(level * q / problem.rows.n_rows)
    still = 0
    for _ in range(_MOST_ROUNDS):
        if problem.deadline() or still == _STILL or params.n_hidden <= least:
            break
        equations = params.equations(problem.rows, problem.biases, penalty(params, lam))
        step, _ = solved(equations, _DAMPING, tolerance=_TOLERANCE, max_products=_PRODUCTS)
        moved = params.moved(step)
        length = np.linalg.norm(moved.planes, axis=1)
        kept = length >= min(_DROP * lam, np.sort(length)[::-1][least - 1] if least else np.inf)
        before = np.linalg.norm(params.planes, axis=1)
        still = still + 1 if np.all(length > _SHRINKS * before) else 0
        params = moved.keep(kept)
    return params


def penalty(params: Params, lam: float) -> np.ndarray:
    """Return the weights of the squared lengths, those of the affine part zero; shape (m + K,)."""
    size = np.sqrt(np.sum(params.planes**2, axis=1) + (_FLOOR * lam) ** 2)
    typical = np.sum(size**2) / np.sum(size)
    return np.concatenate([np.zeros(params.n_outputs), lam * size**-1.5 * typical**0.5])


def worth(problem: Problem, params: Params) -> np.ndarray:
    r"""Return by how much the mean square would rise without each unit, the others moved to make up for it.

    With the signs fixed the mean square is quadratic in a, and forcing a_i to zero costs <a_i, ([H^{-1}]_ii)^{-1} a_i>
    with H = F^T F / N: little for a weak unit, and for a strong one that has close neighbours. Where H is large,
    the Gram matrix of the signs and the part of each unit that is not affine tell it to some ten per cent.
    Cost: N P^2 + P^3 operations for P unknowns, or N K^2.
    """
    equations = problem.equations(params)
    free = equations.free.astype(bool)
    if free.sum() > _MOST_UNKNOWNS:
        G = to_numpy(equations.coupling)
        inverse = spd_solver(G + _RIDGE * np.trace(G) * np.eye(len(G)))(np.eye(len(G)))
        return params.kink_strengths() ** 2 / np.diag(inverse)[params.n_outputs :]
    H = to_numpy(equations.normal_matrix())
    inverse = spd_solver(H + _RIDGE * np.trace(H) * np.eye(len(H)))(np.eye(len(H)))
    places = np.full(free.shape, -1)
    places[free] = np.arange(len(H))
    costs = np.zeros(params.n_hidden)
    vectors = np.hstack([params.planes, np.zeros((params.n_hidden, params.n_outputs - 1))])
    for i, vector in enumerate(vectors):
        mine = free[params.n_outputs + i]
        own, a = places[params.n_outputs + i][mine], vector[mine]
        costs[i] = a @ spd_solver(inverse[np.ix_(own, own)])(a[:, None])[:, 0]
    return costs


def _worthwhile(problem: Problem, fit: Fit) -> Fit:
    """Drop units that gain less than noise lets any unit gain, half of those that do at a time."""
    q = problem.shape(1).per_unit
    while fit.params.n_hidden and not problem.deadline():
        gains = worth(problem, fit.params)
        small = np.flatnonzero(gains < WORTH * fit.loss * q / problem.rows.n_rows)
        if not len(small):
            break
        worst = small[np.argsort(gains[small], kind="stable")][: max(1, len(small) // 2)]
        fit = _without(problem, fit, worst)
    return fit


def _cut(problem: Problem, fit: Fit, n_hidden: int) -> Fit:
    """Drop the units that are worth least, half of the surplus at a time."""
    while fit.params.n_hidden > n_hidden and not problem.deadline():
        surplus = fit.params.n_hidden - n_hidden
        order = np.argsort(worth(problem, fit.params), kind="stable")
        fit = _without(problem, fit, order[: math.ceil(surplus / 2)])
    if fit.params.n_hidden > n_hidden:  # out of time
        strongest = np.argsort(-np.linalg.norm(fit.params.planes, axis=1), kind="stable")[:n_hidden]
        params = fit.params.keep(np.sort(strongest))
        fit = Fit(params, problem.equations(params).loss, fit.trace)
    return fit


def _without(problem: Problem, fit: Fit, units: np.ndarray) -> Fit:
    kept = np.setdiff1d(np.arange(fit.params.n_hidden), units)
    return finish(problem, fit.params.keep(kept), max_rounds=_BETWEEN, least_gain=1e-4).after(fit)
