r"""Lemma 2.4: a random direction g keeps close units close and far units far.

The lemma leaves its constants open. For a fixed unit vector v and g uniform on the sphere:

* <v, g> has density at most sqrt(d / (2 pi)), so |<v, g>| < c / (k^2 sqrt(d)) has probability at most 0.8 c / k^2.
  There are k^2 vectors v = (u_i + sigma u_j) / |u_i + sigma u_j| (i = j counts once), and c = 1/8 makes the sum 1/10.
* P(|<v, g>| > t / sqrt(d)) <= 2 exp(-t^2 / 2), so with t = c' sqrt(log k) the sum is 2 k^(2 - c'^2 / 2), which is 1/10
  at k = 2 and less beyond for c'^2 = 4 + 2 log(20) / log(2).

Both sides hold with probability 4/5. At k = 1 the printed upper side is 0 and cannot hold; log 2 stands for log k.
Nothing in the algorithm uses the upper side.
"""

import math

import numpy as np

LOWER = 1.0 / 8.0
"""c of Lemma 2.4; `Schedule` relies on it: neurons of one cluster are at most (k^3 sqrt(d) / LOWER) Delta apart."""

UPPER = math.sqrt(4.0 + 2.0 * math.log(20.0) / math.log(2.0))
"""c' of Lemma 2.4."""


def anticoncentration(units: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the ratios |<u_i + sigma u_j, g>| / |u_i + sigma u_j| that Lemma 2.4 is about.

    Parameters
    ----------
    units : array of shape (k, d)
        Unit vectors, no two of them equal up to sign.
    g : array of shape (d,)
        Of unit norm.

    Returns
    -------
    array of shape (k^2,)
        First the k ratios |<u_i, g>| (i = j), then those of the sums, then those of the differences.
    """
    i, j = np.triu_indices(len(units), k=1)
    vectors = np.concatenate([units, units[i] + units[j], units[i] - units[j]])
    return np.abs(vectors @ g) / np.linalg.norm(vectors, axis=1)


def is_good_direction(
    units: np.ndarray, g: np.ndarray, *, lower: float = LOWER, upper: float = UPPER
) -> bool:
    """Whether g satisfies both sides of Lemma 2.4 for these units, as 4 of 5 random directions do.

    Parameters
    ----------
    units, g
        As in `anticoncentration`.
    lower, upper : float
        c and c'.
    """
    k, d = units.shape
    ratios = anticoncentration(units, g)
    return bool(
        ratios.min() >= lower / (k**2 * math.sqrt(d))
        and ratios.max() <= upper * math.sqrt(math.log(max(k, 2)) / d)
    )
