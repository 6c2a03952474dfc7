"""Labels that are exact on all rows but a few.

A unit that bends on hardly any row cannot be determined, and what it does on those rows is spread by least squares over
all other units. Set aside, these rows leave a problem that the other units solve exactly. Which rows they are shows in
the residuals: dropping the largest, polishing on the others and looking again (concentration steps of least trimmed
squares) settles within a few repeats, as the others are so many.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from netlearn.backend import to_numpy
from netlearn.polish.gauss_newton import Deadline, Polished, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.shared import SharedIterate
from netlearn.source import Source
from netlearn.source.arrays import over_blocks, weighted

# Rows on the rarer side of a unit, in units of its d + 1 parameters, that determine it beyond doubt.
ENOUGH_BENT = 4
# How many such units' rows may be set aside, in the order tried, and the largest share of all rows that is few.
_N_UNSEEN, _LARGEST_SHARE = (1, 4), 0.02
_MOST_REPEATS = 6


def n_bent(rows: Source, iterate: Iterate | SharedIterate) -> np.ndarray:
    """Return for each unit the number of rows on the rarer of its two sides."""

    def on_first_side(block):
        signs = iterate.linearise(block[0])[1][:, 1 : iterate.n_hidden + 1]
        return to_numpy((signs > 0).sum(axis=0))

    positive = sum(over_blocks(on_first_side, rows, iterate.n_hidden), np.zeros(iterate.n_hidden, int))
    return np.minimum(positive, rows.n_rows - positive)


def finish_trimmed(
    rows: Source, found: Polished, *, exact: float, biases: bool, deadline: Deadline = never
) -> tuple[Polished, np.ndarray] | None:
    """Polish on all rows but a few that the others contradict.

    Parameters
    ----------
    rows : Source
    found : Polished
        What least squares over all rows come to.
    exact : float
        Mean square that counts as none.
    biases : bool
    deadline : callable

    Returns
    -------
    fit : Polished
        Without the units that those rows alone had bent, and exact on all others.
    aside : array of int
        The rows that it does not fit.
        None in place of both where no few rows make the difference.
    """
    per_unit = ENOUGH_BENT * (rows.n_features + 1)
    bent = n_bent(rows, found.iterate)
    # A unit that has settled on those rows may bend a few more: first without the certain ones, then the likely ones.
    for least, n_unseen in product((rows.n_features + 4, per_unit), _N_UNSEEN):
        n_aside = n_unseen * per_unit
        if n_aside > _LARGEST_SHARE * rows.n_rows:
            continue
        fit = replace(found, iterate=found.iterate.keep(bent >= least), loss=np.inf)
        for _ in range(_MOST_REPEATS):
            if deadline():
                return None
            residual = _residual(rows, fit.iterate)
            kept = np.ones(rows.n_rows)
            kept[np.argpartition(-np.abs(residual), n_aside)[:n_aside]] = 0.0
            before = fit.loss
            fit = finish(weighted(rows, kept), fit.iterate, biases=biases, max_rounds=10, deadline=deadline)
            if fit.loss <= exact:
                aside = np.flatnonzero(np.abs(_residual(rows, fit.iterate)) > np.sqrt(exact))
                return replace(fit, trace=found.trace + fit.trace), aside
            if fit.loss > 0.5 * before:
                break
    return None


def _residual(rows: Source, iterate: Iterate) -> np.ndarray:
    parts = over_blocks(lambda block: to_numpy(block[1] - iterate.linearise(block[0])[0]), rows)
    return np.concatenate(list(parts))
