r"""The polynomial that isolates a cluster (Lemma 3.1), its coefficient bound, and the degrees it needs.

For nodes x_1 < ... < x_k in [-1, 1] and the interval I = {a, ..., b} the paper takes

    p(x) = prod_{j not in I} ( 1 - prod_{i in I} (x - x_i) / (x_j - x_i) ),

which is 1 at the nodes of I and 0 at the others, whatever the gaps inside I. The paper asks for a < b; a = b,
a cluster of one, works as well. A gap larger than Delta is needed on both sides of I only where there is a
node on that side: for a = 1 or b = k one gap is enough, and for I = {1, ..., k} p is the constant 1. The paper asks
for x_1 < ... < x_k, while its analysis allows equal z_i (section 2.3): nodes may coincide inside I, and outside, as
long as the gaps around I are there.

The analysis applies it to the nodes <u_i, g>^2, where

    sum_ell p_ell M_{2 + 2 ell} = sum_{i in I} lambda_i u_i u_i^T.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from netlearn.errors import InputError


def _check_nodes(x: Sequence[float], a: int, b: int) -> None:
    k = len(x)
    if not 1 <= a <= b <= k:
        raise InputError(f'"a" and "b" must satisfy 1 <= a <= b <= {k} for {k} nodes, got {a} and {b}.')
    if not all(s <= t for s, t in pairwise(x)) or not -1.0 <= x[0] <= x[-1] <= 1.0:
        raise InputError(f'"x" must be in ascending order and within [-1, 1], got {list(x)}.')
    if (a > 1 and x[a - 2] == x[a - 1]) or (b < k and x[b - 1] == x[b]):
        raise InputError(
            f'"x" must have a gap on both sides of a...b, as no polynomial tells equal nodes apart, got {list(x)}.'
        )


def _times(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    """Coefficients of the product of two polynomials, low to high."""
    out = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, s in enumerate(p):
        for j, t in enumerate(q):
            out[i + j] += s * t
    return out


def cluster_polynomial(x: Sequence[float], a: int, b: int) -> np.ndarray:
    """Coefficients, low to high, of the polynomial of Lemma 3.1 for the nodes a...b of `x`.

    The degree is |I| (k - |I|) with |I| = b - a + 1. The coefficients alternate and reach Delta^{-deg}, so
    floating-point products would lose the values at the nodes; the arithmetic is exact (a float is a
    rational number) and each coefficient is rounded once, at the end.
    Cost: O(deg^2) rational operations.

    Parameters
    ----------
    x : sequence of float
        Nodes in [-1, 1], ascending; equal ones on the same side of the cluster's ends.
    a, b : int
        First and last node of the cluster, counted from 1 as in the paper; a = b is allowed.

    Returns
    -------
    array of shape (|I| (k - |I|) + 1,)
    """
    _check_nodes(x, a, b)
    nodes = [Fraction(float(s)) for s in x]
    inside, outside = nodes[a - 1 : b], nodes[: a - 1] + nodes[b:]
    vanishing = [Fraction(1)]  # prod_{i in I} (x - x_i)
    for x_i in inside:
        vanishing = _times(vanishing, [-x_i, Fraction(1)])
    p = [Fraction(1)]
    for x_j in outside:
        scale = math.prod((x_j - x_i for x_i in inside), start=Fraction(1))
        factor = [-c / scale for c in vanishing]
        factor[0] += 1
        p = _times(p, factor)
    return np.array([float(c) for c in p])


def evaluate_cluster_polynomial(x: Sequence[float], a: int, b: int, at: np.ndarray) -> np.ndarray:
    """Values of the polynomial of Lemma 3.1 in product form, exact (0 or 1) at the nodes.

    Summing the coefficients instead would cancel numbers as large as the bound below.
    """
    _check_nodes(x, a, b)
    nodes, at = np.asarray(x, dtype=float), np.asarray(at, dtype=float)
    inside, outside = nodes[a - 1 : b], np.delete(nodes, slice(a - 1, b))
    ratios = (at[..., None, None] - inside) / (outside[:, None] - inside)
    return np.prod(1.0 - np.prod(ratios, axis=-1), axis=-1)


def log10_cluster_polynomial_bound(k: int, size: int, log10_gap: float) -> float:
    """Decimal logarithm of `cluster_polynomial_bound`, for gaps that underflow."""
    log10_ratio = size * (math.log10(2.0) - log10_gap)
    return (k - size) * (log10_ratio + math.log1p(10.0**-log10_ratio) / math.log(10.0))


def cluster_polynomial_bound(k: int, size: int, Delta: float) -> float:
    """Bound on the sum of the absolute coefficients of p: (1 + (2/Delta)^size)^(k - size).

    That sum is submultiplicative, and it is 1 + |x_i| <= 2 for x - x_i. So it is at most 2^size for the
    product over I, at most 1 + (2/Delta)^size for each factor of p, as |x_j - x_i| >= Delta, and p has
    k - size factors. This is the O(1/Delta)^{O(k^2)} of the lemma: the exponent is size (k - size) <= k^2/4.

    Parameters
    ----------
    k : int
        Number of nodes.
    size : int
        Number |I| of nodes in the cluster.
    Delta : float
        Smallest distance between a node of the cluster and another node.
    """
    if not (1 <= size <= k and 0.0 < Delta <= 2.0):
        raise InputError(
            f'"size" must be in 1...{k} and "Delta" in (0, 2], the largest distance of two nodes, '
            f"got {size} and {Delta}."
        )
    return 10.0 ** log10_cluster_polynomial_bound(k, size, math.log10(Delta))


def sufficient_orders(k: int, max_cluster: int | None = None) -> tuple[int, ...]:
    """Smallest list of orders that isolates every cluster of at most `max_cluster` neurons (Remark 4.10).

    A cluster of s neurons needs the powers 0...s (k - s) of <u_i, g>^2, hence the orders 2, 4, ...,
    2 + 2 deg with deg = max_{s <= max_cluster} s (k - s). Without a cap on the cluster that is
    deg = floor(k^2/4), where Algorithm 1 prints k^2; for well separated neurons, clusters of one, it is
    deg = k - 1.
    """
    sizes = range(1, (k if max_cluster is None else max_cluster) + 1)
    degree = max(s * (k - s) for s in sizes)
    return tuple(range(2, 2 * degree + 3, 2))
