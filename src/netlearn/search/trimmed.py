"""Labels that are exact on all rows but a few: these are wrong, or a unit switches there that no others show.

A unit that switches on hardly any row cannot be determined, and what it does on those rows is spread by least squares
over all other units. Left out, these rows leave a problem that the other units solve exactly. Which rows they are shows
in the residuals: dropping the largest, fitting the others and looking again (concentration steps of least trimmed
squares) settles within a few repeats, as the others are so many.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from netlearn.backend import as_like, to_numpy
from netlearn.fit import Fit, Params, Problem, finish
from netlearn.source import Source
from netlearn.source.arrays import weighted
from netlearn.source.blocks import block_slices, over_blocks

# Rows on the rarer side of a unit, in units of its d + 1 parameters, that determine it beyond doubt.
_ENOUGH_SWITCHED = 4
# How many such units' rows may be left out, in the order tried.
_N_UNSEEN = (1, 4)
# The largest share of all rows that is few.
LARGEST_SHARE = 0.02
_MOST_REPEATS = 6
# Median of the squared residuals over their mean below which few rows carry them; it is 0.45 for Gaussian noise.
_FEW_ROWS = 0.1


def n_rarer_side(rows: Source, params: Params) -> np.ndarray:
    """Return for each unit the number of rows on the rarer of its two sides."""

    def on_first_side(block):
        return to_numpy((params.signs(block[0]) > 0).sum(axis=0))

    positive = sum(over_blocks(on_first_side, rows, params.n_hidden), np.zeros(params.n_hidden, int))
    return np.minimum(positive, rows.n_rows - positive)


def n_apart(rows: Source, params: Params, counted: np.ndarray, enough: int) -> np.ndarray:
    """Return for each unit on how few rows it switches apart from the affine part or from some other unit."""
    return np.min(pairs_apart(rows, params, counted, enough), axis=1)


def pairs_apart(rows: Source, params: Params, counted: np.ndarray, enough: int) -> np.ndarray:
    """Return on how many rows each unit switches apart from the affine part, and from each unit; shape (K, K + 1).

    Rows on which two units have the same signs, or all opposite ones, show a sum of the two; what each is by itself
    only the others show. So a step is no pair of units, however well a steep ramp of two may fit its labels.

    Parameters
    ----------
    rows : Source
    params : Params
    counted : array of bool
        Which of the rows count.
    enough : int
        Rows that are enough for all: once the first ones show so many, the others are not read.
    """
    K = params.n_hidden

    def products(block, here):
        m = params.linearise(block[0])[1][:, : K + 1]
        return to_numpy(m.T @ (m * as_like(here, m)[:, None])), here.sum()

    masks = (counted[part] for part in block_slices(rows.n_rows, rows.n_features + K, like=rows.like))
    total, n_counted = np.zeros((K + 1, K + 1)), 0
    for part, n in over_blocks(products, rows, K, beside=masks):
        total += part
        n_counted += n
        apart = (n_counted - np.abs(total)) / 2
        np.fill_diagonal(apart, np.inf)
        if np.all(apart >= enough):
            break
    return apart[1:]


def finish_trimmed(problem: Problem, found: Fit, *, robust: bool = False) -> Fit | None:
    """Fit all rows but a few that the others contradict; None where no few rows make the difference.

    Parameters
    ----------
    problem : Problem
    found : Fit
        What least squares over all rows come to.
    robust : bool
        Whether labels may be wrong, and not only a few units' rows but any small share of all.

    Returns
    -------
    Fit or None
        Without the units that those rows alone had shown, and exact on all others.
    """
    rows = problem.rows
    per_unit = _ENOUGH_SWITCHED * (rows.n_features + 1)
    switched = n_rarer_side(rows, found.params)
    most = int(LARGEST_SHARE * rows.n_rows)
    few = [n_unseen * per_unit for n_unseen in _N_UNSEEN if n_unseen * per_unit <= most]
    # A unit that has settled on those rows may switch on a few more: first without the certain ones, then the likely.
    for least, n_left_out in product((rows.n_features + 4, per_unit), few + [most] * (robust and most > 0)):
        fit = replace(found, params=found.params.keep(switched >= least), loss=np.inf)
        for _ in range(_MOST_REPEATS):
            if problem.deadline():
                return None
            residual = residuals(rows, fit.params)
            kept = np.ones(rows.n_rows)
            kept[np.argpartition(-np.abs(residual), n_left_out)[:n_left_out]] = 0.0
            before = fit.loss
            fit = finish(problem.on(weighted(rows, kept)), fit.params, max_rounds=10)
            if fit.loss <= problem.zero_loss:
                off = np.abs(residuals(rows, fit.params)) > np.sqrt(problem.zero_loss)
                return replace(fit.after(found), left_out=tuple(np.flatnonzero(off).tolist()))
            if fit.loss > 0.5 * before:
                break
    return None


def residuals(rows: Source, params: Params) -> np.ndarray:
    """Return what a network leaves of each label."""
    parts = over_blocks(lambda block: to_numpy(params.residual(*block)), rows)
    return np.concatenate(list(parts))


def few_stand_out(rows: Source, params: Params) -> bool:
    """Whether what is left is on few rows: of noise, half the rows carry more than a tenth of the mean."""
    squares = residuals(rows, params) ** 2
    return float(np.median(squares)) < _FEW_ROWS * float(np.mean(squares))
