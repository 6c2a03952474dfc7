"""Units that exact labels do not ask for.

A network that is looked for with more units than the target has meets the labels all the same: a unit too many ends
with next to no weight, or shares the hyperplane of another but for a few rows, on which the two are free to agree with
any label. Both are taken out one at a time, as long as the labels are met as well without.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netlearn.polish.gauss_newton import ROUNDING, Deadline, Polished, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import kink_strengths
from netlearn.polish.shared import SharedIterate
from netlearn.polish.trimmed import n_apart
from netlearn.source import Source

# With the patterns almost right already, the polish takes two or three rounds.
_ROUNDS = 10


def without_surplus(
    rows: Source, fit: Polished, *, exact: float, biases: bool, deadline: Deadline = never
) -> Polished:
    """Return an exact fit with the units that it needs.

    The mean square may rise to what double precision leaves or, where rounded labels leave more, by what Schwarz's
    criterion grants to the parameters of a unit.

    Parameters
    ----------
    rows : Source
    fit : Polished
    exact : float
        Mean square that counts as none: only weaker units can be surplus, and such as few rows tell from others.
    biases : bool
    deadline : callable
    """
    n, d = rows.n_rows, rows.n_features
    strengths = _strengths(fit.iterate)
    suspected = (strengths**2 < exact) | (n_apart(rows, fit.iterate, np.ones(n, dtype=bool), d + 4) < d + 4)
    kept = np.ones(len(strengths), dtype=bool)
    for unit in np.argsort(strengths, kind="stable"):
        if not suspected[unit] or deadline():
            continue
        others = np.delete(np.arange(fit.iterate.n_hidden), kept[:unit].sum())
        smaller = finish(rows, fit.iterate.keep(others), biases=biases, max_rounds=_ROUNDS, deadline=deadline)
        if smaller.loss <= max(ROUNDING, fit.loss * n ** ((d + biases) / n)):
            fit, kept[unit] = replace(smaller, trace=fit.trace + smaller.trace), False
    return fit


def _strengths(iterate: Iterate | SharedIterate) -> np.ndarray:
    """Return what each unit adds to an affine function; with several outputs, to all of them together."""
    if isinstance(iterate, SharedIterate):
        iterate = Iterate(
            np.vstack([iterate.planes[:1], iterate.planes]), np.ones(iterate.n_hidden)
        )  # the length of a plane is what it does
    return kink_strengths(iterate)
