r"""From sums per group of rows to estimates, their standard errors and the two halves."""

import math
from dataclasses import dataclass
from typing import Any

from netlearn.backend import namespace
from netlearn.moments.contraction import assemble


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Moments of (x, y) estimated from `count` rows, with their standard errors.

    A standard error is a group-means estimate with `degrees_of_freedom` = (groups in use) - 1: an interval
    for an entry takes its quantile from Student's t with that many degrees of freedom, not from the normal
    law. It is NaN where fewer than two groups hold rows.

    Attributes
    ----------
    orders : tuple of L int
    directions : array of shape (n_directions, d)
    count : int
        Number of rows.
    mean_y : float
    linear : array of shape (d,)
        w_hat, the mean of y x, whose expectation is w (Lemma 2.3 at ell = 1).
    linear_standard_errors : array of shape (d,)
    matrices : array of shape (n_directions, L, d, d)
        M_ell_hat^g, symmetric.
    standard_errors : array of shape (n_directions, L, d, d)
    halves : array of shape (2, n_directions, L, d, d)
        The same matrices from the rows of even and of odd index; their difference measures the noise.
    degrees_of_freedom : int
    """

    orders: tuple[int, ...]
    directions: Any
    count: int
    mean_y: float
    linear: Any
    linear_standard_errors: Any
    matrices: Any
    standard_errors: Any
    halves: Any
    degrees_of_freedom: int


def estimate(directions, orders, sums):
    r"""Read the moments off the sums of a `MomentSum`.

    With group means m_j from n_j rows and the overall mean m, the squared standard error of an entry is

        sum_j n_j (m_j - m)^2 / ((J - 1) n),    J the number of groups that hold rows, n = sum_j n_j,

    which is unbiased for independent rows, whatever the n_j.
    Cost: O(d**2) per group, direction and order, in time; one group at a time in memory.

    Parameters
    ----------
    directions : array of shape (n_directions, d)
    orders : tuple of int
    sums : dict of str to array
        Sums over rows, the group as first axis; at least one row.

    Returns
    -------
    moments : Moments
    """
    xp = namespace(directions)
    counts = [int(n) for n in sums["count"]]
    count, n_used = sum(counts), sum(n > 0 for n in counts)

    def matrices_over(groups):
        gram, cross, ends = (xp.sum(sums[name][groups, ...], axis=0) for name in ("gram", "cross", "ends"))
        return assemble(gram, cross, ends, directions, orders)

    def standard_errors(mean, sum_of_group):
        if n_used < 2:
            return mean * math.nan
        spread = sum(n * (sum_of_group(j) / n - mean) ** 2 for j, n in enumerate(counts) if n)
        return (spread / ((n_used - 1) * count)) ** 0.5

    even, odd = (matrices_over(slice(parity, None, 2)) for parity in (0, 1))
    matrices = (even + odd) / count
    linear = xp.sum(sums["yx"], axis=0) / count
    return Moments(
        orders=orders,
        directions=directions,
        count=count,
        mean_y=float(xp.sum(sums["y"])) / count,
        linear=linear,
        linear_standard_errors=standard_errors(linear, lambda j: sums["yx"][j, :]),
        matrices=matrices,
        standard_errors=standard_errors(matrices, lambda j: matrices_over(slice(j, j + 1))),
        # A half without rows has no mean: NaN, as for the standard errors.
        halves=xp.stack([even / (sum(counts[::2]) or math.nan), odd / (sum(counts[1::2]) or math.nan)]),
        degrees_of_freedom=n_used - 1,
    )
