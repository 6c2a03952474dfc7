"""One feature: in the order of x exact labels are straight lines, and the units are where two of them meet.

A label that is not what its two neighbours interpolate has a unit beside it. Between two units there are no such
labels but the outermost two, so a line needs two rows, and all units are read off at once, however many: a fit from
random starts places each of them by chance.
"""

from __future__ import annotations

import numpy as np

from netlearn.backend import to_numpy
from netlearn.fit import Params
from netlearn.network import ShallowNetwork
from netlearn.source import Source

# Share of the largest label by which rounding may move one; interpolating adds to it a little.
_ROUNDING = 1e-13
# Rows that are looked at, and units at most, as a share of them: noise shows one beside every row.
_MOST_ROWS = 1_000_000
_LARGEST_SHARE = 0.25


def read_off(rows: Source) -> Params | None:
    """Return the network whose units are where the labels turn; None where they turn almost everywhere, or nowhere.

    Cost: n log n operations.
    """
    some = rows.head(min(rows.n_rows, _MOST_ROWS)).in_memory()
    x, first = np.unique(to_numpy(some.X)[:, 0].astype(float), return_index=True)
    y = to_numpy(some.y).astype(float)[first]
    if len(x) < 3:
        return None
    gap = np.diff(x)
    between = (gap[1:] * y[:-2] + gap[:-1] * y[2:]) / (gap[1:] + gap[:-1])
    turns = np.flatnonzero(np.abs(y[1:-1] - between) > _ROUNDING * np.max(np.abs(y))) + 1
    if not len(turns) or len(turns) > _LARGEST_SHARE * len(x):
        return None
    ends = _ends_of_lines(turns, len(x))
    slopes = (y[ends[:, 1]] - y[ends[:, 0]]) / (x[ends[:, 1]] - x[ends[:, 0]])
    steps = np.diff(slopes)
    offsets = y[ends[:, 0]] - slopes * x[ends[:, 0]]
    seen = steps != 0.0
    places = -np.diff(offsets)[seen] / steps[seen]
    linear, weights = (slopes[0] + slopes[-1]) / 2, steps[seen] / 2
    intercept = y[0] - linear * x[0] - weights @ np.abs(x[0] - places)
    units = np.ones((len(places), 1))
    return Params.from_network(ShallowNetwork(np.array([linear]), weights, units, -places, float(intercept)))


def _ends_of_lines(turns: np.ndarray, n: int) -> np.ndarray:
    """Return the first and the last row of each line, from the rows at which neighbours do not interpolate.

    A unit between two rows shows in both. Where it shows in one alone it is there, and both lines hold that row.
    """
    ends, start, i = [], 0, 0
    while i < len(turns):
        pair = i + 1 < len(turns) and turns[i + 1] == turns[i] + 1
        if turns[i] > start:
            ends.append((start, turns[i]))
        start = turns[i + 1] if pair else turns[i]
        i += 2 if pair else 1
    ends.append((start, n - 1))
    return np.array([(first, last) for first, last in ends if last > first])
