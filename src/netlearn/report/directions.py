"""The directions of the input that a network responds to, ordered by what they explain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import erf

from netlearn.network import ShallowNetwork
from netlearn.network.ramps import Ramps
from netlearn.report.in_spreads import gradients, in_own_units, scaled, standardised
from netlearn.report.measures import feature_spreads

if TYPE_CHECKING:
    from netlearn.result import LearnResult

Array = NDArray[np.float64]

# Of the directions that matter, those whose share of the variance is computed: each costs k^2 integrals.
_MEASURED_DIRECTIONS = 8
# Below this many rows for each direction their covariance says too little to whiten with.
_ROWS_PER_DIRECTION = 3
# A direction that explains this much of the network needs no second one beside it.
_ENOUGH_ALONE = 0.99


@dataclass(frozen=True)
class Directions:
    """The directions of the input that the network responds to, those that matter most first.

    f depends on x through r coordinates s = axes^T x - offset alone. Over the held-out rows these are
    uncorrelated with mean 0 and variance 1, if there are rows enough to see that.

    Attributes
    ----------
    axes : array of shape (d, r)
    offset : array of shape (r,)
    network : ShallowNetwork
        f as a function of s.
    shares : array of shape (min(r, 8),)
        Var E[f | s_j] / Var f for s ~ N(0, I): what a direction explains alone; decreasing. Variances are summed over
        outputs, each in units of the size of its own parameters.
    n_shown : int
        1 if the first explains the network (almost) alone, else 2.
    joint_share : float
        What the shown ones explain together.
    """

    axes: Array
    offset: Array
    network: ShallowNetwork
    shares: Array
    n_shown: int
    joint_share: float

    def coordinates(self, X: Array) -> Array:
        """Return s, shape (n, r), for the rows of X."""
        return X @ self.axes - self.offset

    def expected(self, S: Array) -> Array:
        r"""Return E[f | the leading coordinates], shape (n,) or (n, outputs), for S of shape (n, number given).

        Given these, <u_i, s> + b_i is normal with some mean p and deviation q, and
        E|p + q z| = q sqrt(2/pi) exp(-p^2 / (2 q^2)) + p erf(p / (q sqrt(2))).
        """
        f, m = self.network, S.shape[1]
        p = S @ f.units[:, :m].T + f.biases
        q = np.linalg.norm(f.units[:, m:], axis=1)
        ratio = p / np.maximum(q, 1e-12)  # a unit without a part outside: the formula's limit is |p|
        folded = q * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + p * erf(ratio / math.sqrt(2))
        return S @ f.linear[..., :m].T + folded @ f.coefficients + f.intercept


def leading_directions(result: LearnResult) -> Directions | None:
    """Order the directions that matter by what they explain; None without rows, or for a constant network.

    Units and linear part span what f sees. There the held-out rows are whitened, and the directions are the
    eigenvectors of E[grad f grad f^T] over these rows (the active subspace), sorted by the variance that each
    explains alone.
    """
    if not result.has_network or result.held_out is None:
        return None
    X, spreads = result.held_out.X, feature_spreads(result)
    scale, centre = np.where(spreads > 0, spreads, 1.0), X.mean(axis=0)
    f, size = in_own_units(standardised(result.network, scale, centre))
    if not np.any(f.linear) and not f.n_hidden:
        return None
    # A linear part at rounding level beside the units adds no direction.
    seen = np.vstack([f.units, f.linear.reshape(-1, f.n_features)])
    _, strengths, basis = np.linalg.svd(seen, full_matrices=False)
    B = basis[strengths > 1e-9 * strengths[0]].T
    r = B.shape[1]
    T = (X - centre) / scale @ B
    L = np.eye(r)
    if len(X) >= _ROWS_PER_DIRECTION * r:
        covariance = np.cov(T, rowvar=False).reshape(r, r)
        if np.linalg.eigvalsh(covariance)[0] > 1e-12 * np.trace(covariance):
            L = np.linalg.cholesky(covariance)
    g = f.precompose(B @ L)
    slopes = gradients(g, solve_triangular(L, T.T, lower=True).T)
    Q = np.linalg.eigh(slopes.T @ slopes)[1][:, ::-1]
    ramps = Ramps.of(g.precompose(Q))
    total = ramps.variance_given(slice(None))[0].sum()
    if not total > 0:
        return None
    n_measured = min(r, _MEASURED_DIRECTIONS)
    shares = np.array([_share(ramps, [index], total) for index in range(n_measured)])
    order = np.concatenate([np.argsort(-shares, kind="stable"), np.arange(n_measured, r)])
    n_shown = 1 if r == 1 or shares[order[0]] >= _ENOUGH_ALONE else 2
    joint = _share(ramps, order[:n_shown], total)
    axes = B @ solve_triangular(L, Q[:, order], lower=True, trans=1) / scale[:, None]
    # The sign of an eigenvector means nothing: the largest entry is positive, as for units.
    side = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(r)])
    return Directions(
        side * axes,
        centre @ (side * axes),
        scaled(g.precompose(side * Q[:, order]), size),
        shares[order[:n_measured]],
        n_shown,
        joint,
    )


def _share(ramps: Ramps, kept: NDArray[np.intp] | list[int], total: float) -> float:
    mask = np.zeros(ramps.units.shape[1], dtype=bool)
    mask[kept] = True
    return float(np.clip(ramps.variance_given(mask)[0].sum() / total, 0.0, 1.0))
