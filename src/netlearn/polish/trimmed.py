"""Labels that are exact on all rows but a few: these are wrong, or a unit bends there that no others show.

A unit that bends on hardly any row cannot be determined, and what it does on those rows is spread by least squares over
all other units. Set aside, these rows leave a problem that the other units solve exactly. Which rows they are shows in
the residuals: dropping the largest, polishing on the others and looking again (concentration steps of least trimmed
squares) settles within a few repeats, as the others are so many.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from netlearn.backend import as_like, to_numpy
from netlearn.polish.gauss_newton import Deadline, Polished, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.shared import SharedIterate
from netlearn.source import Source
from netlearn.source.arrays import block_slices, over_blocks, weighted

# Rows on the rarer side of a unit, in units of its d + 1 parameters, that determine it beyond doubt.
ENOUGH_BENT = 4
# How many such units' rows may be set aside, in the order tried, and the largest share of all rows that is few.
_N_UNSEEN, LARGEST_SHARE = (1, 4), 0.02
_MOST_REPEATS = 6


def n_bent(rows: Source, iterate: Iterate | SharedIterate) -> np.ndarray:
    """Return for each unit the number of rows on the rarer of its two sides."""

    def on_first_side(block):
        signs = iterate.linearise(block[0])[1][:, 1 : iterate.n_hidden + 1]
        return to_numpy((signs > 0).sum(axis=0))

    positive = sum(over_blocks(on_first_side, rows, iterate.n_hidden), np.zeros(iterate.n_hidden, int))
    return np.minimum(positive, rows.n_rows - positive)


def n_apart(rows: Source, iterate: Iterate | SharedIterate, counted: np.ndarray, enough: int) -> np.ndarray:
    """Return for each unit on how few rows it bends apart from the affine part or from some other unit."""
    return np.min(pairs_apart(rows, iterate, counted, enough), axis=1)


def pairs_apart(
    rows: Source, iterate: Iterate | SharedIterate, counted: np.ndarray, enough: int
) -> np.ndarray:
    """Return for each unit on how many rows it bends apart from the affine part, and from each unit; shape (K, K + 1).

    Rows on which two units have the same signs, or all opposite ones, show a sum of the two; what each is by itself
    only the others show. So a step is no pair of units, however well a steep ramp of two may fit its labels.

    Parameters
    ----------
    rows : Source
    iterate : Iterate or SharedIterate
    counted : array of bool
        Which of the rows count.
    enough : int
        Rows that are enough for all: once the first ones show so many, the others are not read.
    """
    K = iterate.n_hidden

    def products(block, here):
        m = iterate.linearise(block[0])[1][:, : K + 1]
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


def finish_trimmed(
    rows: Source,
    found: Polished,
    *,
    exact: float,
    biases: bool,
    robust: bool = False,
    deadline: Deadline = never,
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
    robust : bool
        Whether labels may be wrong, and not only a few units' rows but any small share of all.
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
    most = int(LARGEST_SHARE * rows.n_rows)
    few = [n_unseen * per_unit for n_unseen in _N_UNSEEN if n_unseen * per_unit <= most]
    # A unit that has settled on those rows may bend a few more: first without the certain ones, then the likely ones.
    for least, n_aside in product((rows.n_features + 4, per_unit), few + [most] * (robust and most > 0)):
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
