"""How well a network predicts held-out rows, beside their mean and a linear fit: estimates, not bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import f, t

from netlearn.backend import to_numpy
from netlearn.network import ShallowNetwork
from netlearn.source import Source

# Probability with which labels that have nothing to do with the inputs count as predicted better than by their mean.
_BY_CHANCE = 0.01
# The same where rows are asked that the fit was made for, whose labels need not be normal.
_BEYOND_DOUBT = 1e-6
# Mean square, in units of the largest label, that is rounding.
_NO_SPREAD = 1e-24


@dataclass(frozen=True)
class Score:
    """Estimates from held-out rows; shares of the labels' variance are means over outputs.

    Attributes
    ----------
    n_rows : int
        Number of held-out rows.
    r2 : float or None
        Share of the variance that the network explains; None where the labels do not vary.
    r2_linear : float or None
        The same of a linear fit to the rows the network was learned from.
    r2_mean : float or None
        The same of their mean: about zero, and below it by chance.
    rmse : float
        Root mean square error, squares summed over outputs.
    rmse_error : float
        Its standard error.
    beats_mean : bool
        Whether the network predicts these rows better than the mean does: but for a chance of one in a hundred, or at
        all where the rows it was learned from leave no doubt that labels depend on the inputs.
    r2_each : tuple of float or None
        With several outputs, `r2` of each.
    """

    n_rows: int
    r2: float | None
    r2_linear: float | None
    r2_mean: float | None
    rmse: float
    rmse_error: float
    beats_mean: bool
    r2_each: tuple[float | None, ...] = ()


def scored(network: ShallowNetwork, linear: ShallowNetwork, mean: float | np.ndarray, *rows: Source) -> Score:
    """Compare a network with a linear one and with a mean on the rows of some sources.

    Parameters
    ----------
    network, linear : ShallowNetwork
    mean : float or array of shape (m,)
        Of the labels that were learned from.
    *rows : Source
        Rows that none of the three has seen.
    """
    blocks = [map(to_numpy, block) for source in rows for block in source.blocks(network.n_hidden)]
    parts = [(y, y - network(X), y - linear(X)) for X, y in blocks]
    y, errors, linear_errors = (
        np.concatenate(part).reshape(-1, network.n_outputs) for part in zip(*parts, strict=True)
    )
    # Labels of any size are squared in units of their own.
    unit = np.max(np.abs(y), axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    off_mean = (y - mean) / unit
    spread = np.sum(((y - y.mean(axis=0)) / unit) ** 2, axis=0)
    n = len(y)

    def explained(left: np.ndarray) -> list[float | None]:
        return [
            1.0 - float(e) / float(s) if s > _NO_SPREAD * n else None
            for e, s in zip((left**2).sum(axis=0), spread, strict=True)
        ]

    each = explained(errors / unit)
    largest = float(np.max(np.abs(errors))) or 1.0
    squares = np.sum((errors / largest) ** 2, axis=1)
    root = math.sqrt(float(np.mean(squares)))
    spread_of_squares = float(np.std(squares, ddof=1)) if n > 1 else math.inf
    gain = np.sum(off_mean**2 - (errors / unit) ** 2, axis=1)
    clear = n > 2 and gain.mean() > t.isf(_BY_CHANCE, n - 1) * gain.std(ddof=1) / math.sqrt(n)
    return Score(
        n_rows=n,
        r2=_mean(each),
        r2_linear=_mean(explained(linear_errors / unit)),
        r2_mean=_mean(explained(off_mean)),
        rmse=largest * root,
        rmse_error=largest * spread_of_squares / (2.0 * max(root, 1e-300) * math.sqrt(n)),
        beats_mean=bool(clear),
        r2_each=tuple(each) if len(each) > 1 else (),
    )


def linear_signal(loss: float, n_rows: int, n_features: int) -> bool:
    """Whether a linear fit leaves less of the labels than chance would, by an F test on the rows it was fitted to.

    A few held-out rows may not show what all others do.

    Parameters
    ----------
    loss : float
        Mean square that the fit leaves, in units of the labels' variance.
    n_rows, n_features : int
    """
    left = n_rows - n_features - 1
    if left < 1 or loss >= 1.0:
        return False
    ratio = (1.0 - loss) / n_features / (max(loss, 1e-300) / left)
    return bool(f.sf(ratio, n_features, left) < _BEYOND_DOUBT)


def _mean(values: list[float | None]) -> float | None:
    """Return the mean of those that there are."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None
