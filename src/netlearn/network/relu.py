r"""A network written with as few ReLUs as its function allows.

A ReLU in either direction bends like the absolute value and adds a linear map,

    lambda |z| + beta z = (lambda + beta) relu(z) + (lambda - beta) relu(-z),

so unit i costs one ReLU if its share beta_i of the linear part is s_i lambda_i with a sign s_i, and two
otherwise. Every bend needs a ReLU on its own hyperplane and a ReLU elsewhere would bend there, hence for one
output the least number is

- k      if w = sum_i s_i lambda_i u_i for some signs;
- k + 1  if it is so but for one unit, whose share of the linear part is free;
- k + 2  otherwise: any signs, and the rest rho of the linear part as relu(<rho, x>) - relu(-<rho, x>).

With m outputs the first line holds for the matrices w and lambda_i u_i^T. Otherwise a rest of rank q costs
2 q beyond the k, unless it lies on one unit, and no promise is made that other signs would not leave less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

Array = NDArray[np.float64]

# A rest of the linear part below this share of |w| + sum |lambda_i| counts as zero. Parameters that carry an
# error of 1e-13 per entry, as recovered ones do, leave up to sqrt(d) 1e-13; the function moves by no more
# than the rest itself, far below what a meant linear part would be.
_NEGLIGIBLE = 1e-11
# Columns this dependent are searched rather than solved for: signs then come out of the solve with an error
# of at most 1e-11 / 1e-8, and rounding them to +-1 is safe.
_DEPENDENT = 1e-8
# Entries of the table of sign patterns: 32 MB.
_SEARCH_ENTRIES = 2**22


class ReluForm(NamedTuple):
    """f(x) = sum_i mu_i relu(<v_i, x> + b_i) + c, in the order `ShallowNetwork.from_relu` takes.

    Attributes
    ----------
    weights : array of shape (n, d)
    output_weights : array of shape (n,) or (n, m)
    biases : array of shape (n,)
    intercept : float or array of shape (m,)
    """

    weights: Array
    output_weights: Array
    biases: Array
    intercept: float | Array


def to_relu(network: ShallowNetwork) -> ReluForm:
    """Write `network` with ReLUs; see the module's head for how many.

    The signs follow from one pivoted QR where the columns lambda_i u_i are independent; where they are not,
    all signs of the dependent ones are tried, as long as the table of them fits in 32 MB (16 of them beside
    64 independent ones). Beyond that the answer has k + 2 ReLUs for one output.
    Cost: O(m d k^2) and the table.
    """
    k, d, m = network.n_hidden, network.n_features, network.n_outputs
    w, lam, U = network.linear.reshape(m, d), network.coefficients.reshape(k, m), network.units
    columns = (lam[:, :, None] * U[:, None, :]).reshape(k, m * d).T
    tolerance = _NEGLIGIBLE * (np.linalg.norm(w) + np.linalg.norm(lam, axis=1).sum())
    signs, doubled = _shares(columns, w.ravel(), tolerance, U) if k else (np.ones(0), None)

    share = signs[:, None] * lam
    rest = w - share.T @ U
    if doubled is not None:
        share[doubled] += rest @ U[doubled]
        rest = np.zeros_like(rest)
    left, size, right = np.linalg.svd(rest, full_matrices=False)
    rank = int(np.sum(size > tolerance))
    slopes = (left[:, :rank] * size[:rank]).T

    single = np.arange(k) if doubled is None else np.delete(np.arange(k), doubled)
    pair = [] if doubled is None else [doubled]
    weights = [signs[single, None] * U[single], U[pair], -U[pair], right[:rank], -right[:rank]]
    outputs = [2 * lam[single], (lam + share)[pair], (lam - share)[pair], slopes, -slopes]
    b = network.biases
    offsets = [signs[single] * b[single], b[pair], -b[pair], np.zeros(2 * rank)]
    intercept = network.intercept - (share.T @ b).reshape(network.linear.shape[:-1])
    count = len(single) + 2 * len(pair) + 2 * rank
    return ReluForm(
        np.concatenate(weights) + 0.0,
        np.concatenate(outputs).reshape(count, *network.linear.shape[:-1]),
        np.concatenate(offsets) + 0.0,
        intercept if network.linear.ndim == 2 else float(intercept),
    )


def _shares(columns: Array, w: Array, tolerance: float, U: Array) -> tuple[Array, int | None]:
    """Return the signs s and the one unit, if any, whose two ReLUs let nothing linear be left over."""
    k, d = U.shape
    closest, dependent = _signs(columns, w)
    if np.linalg.norm(w - columns @ closest) <= tolerance:
        return closest, None
    # One unit off: an independent one shows as the direction of the rest. A dependent one hides among the
    # sign patterns; taking its direction out of every column leaves a problem without it.
    signs, _ = _signs(columns, w, exempt=1)
    rest = (w - columns @ signs).reshape(-1, d)
    unit = int(np.argmax(np.linalg.norm(rest @ U.T, axis=0)))
    if np.linalg.norm(_project_out(rest, U[unit])) <= tolerance:
        return signs, unit
    for unit in dependent:
        others = np.delete(np.arange(k), unit)
        reduced = _project_out(columns[:, others].T.reshape(k - 1, -1, d), U[unit]).reshape(k - 1, -1).T
        signs, _ = _signs(reduced, _project_out(w.reshape(-1, d), U[unit]).ravel())
        signs = np.insert(signs, unit, 1.0)
        if np.linalg.norm(_project_out((w - columns @ signs).reshape(-1, d), U[unit])) <= tolerance:
            return signs, int(unit)
    return closest, None


def _project_out(rows: Array, u: Array) -> Array:
    """Remove the direction u from rows of shape (..., d)."""
    return rows - (rows @ u)[..., None] * u


def _signs(columns: Array, w: Array, exempt: int = 0) -> tuple[Array, NDArray[np.intp]]:
    """Return the signs s that bring columns @ s closest to w, and the indices of dependent columns.

    With Q R = columns[:, pivots], the columns split into independent and dependent ones. Every choice of the
    dependent signs leaves one solution alpha for the others, and the best choice has its |alpha_i| nearest
    to 1, `exempt` of them left aside. Where there are too many choices all signs are +1.
    """
    k = columns.shape[1]
    factors: Any = qr(columns, mode="economic", pivoting=True)  # SciPy's own types know no three factors
    Q, R, pivots = factors
    diagonal = np.abs(np.diagonal(R))
    rank = int(np.sum(diagonal > _DEPENDENT * diagonal.max(initial=0.0)))
    n_free = k - rank
    if k << n_free > _SEARCH_ENTRIES:
        return np.ones(k), pivots[:0]
    corner = R[:rank, :rank]
    alpha_0 = solve_triangular(corner, Q[:, :rank].T @ w)
    mixing = solve_triangular(corner, R[:rank, rank:])
    patterns = 1.0 - 2.0 * ((np.arange(2**n_free)[:, None] >> np.arange(n_free)) & 1)
    alpha = alpha_0 - patterns @ mixing.T
    off = np.sort(np.abs(np.abs(alpha) - 1), axis=1)[:, : max(rank - exempt, 0)]
    best = np.argmin(off.max(axis=1, initial=0.0))
    signs = np.empty(k)
    signs[pivots] = np.concatenate([np.where(alpha[best] < 0, -1.0, 1.0), patterns[best]])
    return signs, pivots[rank:]
