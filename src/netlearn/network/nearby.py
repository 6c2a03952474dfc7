r"""E f^2 of a function whose units nearly cancel, without the cancellation.

The plain quadratic form subtracts numbers of size 1 to find d^2, so that distances below 1e-8 drown in
rounding. Here the subtraction happens on the parameters. Units whose hyperplanes lie within a small distance
of each other, up to sign, form a cluster with one reference hyperplane (v_A, b_A). Let y_i(x) be the
pre-activation of a unit i of A, its sign turned to agree with the reference, and s_A the sign of the
reference. Then, exactly,

    |y_i| = s_A y_i + W_i,    W_i = |y_i| - s_A y_i >= 0, zero outside the thin wedge where the signs differ,
    f = L + sum_i lambda_i W_i,    L(x) = <a_0, (x, 1)> - 2 sum_A H_A(x) <a_A, (x, 1)>,
    a_A = sum_{i in A} lambda_i (v_i, b_i),    a_0 = (w, c) + sum_A a_A,    H_A = (1 - s_A) / 2.

With delta = the largest distance within a cluster, E f^2 is the sum of

1. E L^2: half-space integrals of `gaussian.pair`, contracted with the small vectors a;
2. the wedges of one cluster among themselves. As |y_i||y_j| = y_i y_j + 2 relu(-y_i y_j), and the y_i y_j
   already are |a_A|^2, what is left is kappa_ij = 2 E relu(-y_i y_j): with the hyperplane halfway between
   the two, kappa_ij = phi(b) E|p + q g|^3 / 3 (1 + O(delta^2)), p and q the differences of bias and unit;
3. a wedge against the rest F_A of L: W_i tends to the mass delta_i(x)^2 on the reference hyperplane, where
   delta_i = y_i - y_A, so that E[W_i F_A] = phi(b_A) E[delta_i^2 F_A | y_A = 0] (1 + O(delta));
4. wedges of different clusters, of order delta^4 / sine, left out.

Terms 1 to 3 are of orders |a|^2, lambda^2 delta^3 and lambda |a| delta^2, so what is left out is O(delta)
relative to E f^2 even where a_A vanishes, as it does when one unit is split into two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist
from scipy.special import erf, ndtr

from netlearn.network.gaussian import Pair, density, pair
from netlearn.network.ramps import Ramps

Array = NDArray[np.float64]

# The error of the expansion falls with this distance, measured as its square: 1e-5 here. Units further apart
# leave at least its cube, 1e-8, of their own size, of which rounding (1e-16) takes 1e-8.
CLUSTER_DISTANCE = 2.0**-9


def second_moment(f: Ramps) -> Array:
    """Return E f^2 per output, to a relative error of at most about the diameter of the clusters.

    Cost: O(k^2) pair integrals and O(m k^2 d) flops.

    Parameters
    ----------
    f : Ramps

    Returns
    -------
    array of shape (m,)
    """
    label, reference, side = _clusters(f)
    V, b = f.units[reference], f.biases[reference]
    # Differences first, then sums: both are exact where the units nearly agree.
    d_units = side[:, None] * f.units - V[label]
    d_biases = side * f.biases - b[label]
    r = np.clip(V @ V.T, -1.0, 1.0)
    np.fill_diagonal(r, 1.0)
    integrals = pair(r, b[:, None], b[None, :])

    total = np.empty(len(f.intercept))
    for output, lam in enumerate(f.coefficients.T):
        weight = np.bincount(label, lam, len(V))
        members = csr_array((lam, (label, np.arange(len(lam)))), shape=(len(V), len(lam)))
        a = weight[:, None] * V + members @ d_units
        alpha = weight * b + members @ d_biases
        a_0 = f.linear[output] + a.sum(axis=0)
        alpha_0 = f.intercept[output] + alpha.sum()
        pieces = _Pieces(V, b, r, integrals, a, alpha, a_0, alpha_0)
        total[output] = (
            pieces.square() + _wedges(f, lam, label, side) + pieces.wedge_cross(lam, label, d_units, d_biases)
        )
    return total


def _clusters(f: Ramps) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return each unit's label, each label's reference unit, and the sign that turns a unit to its reference.

    Clusters are the connected components of "closer than CLUSTER_DISTANCE"; the reference is the member of
    largest coefficient.
    """
    if len(f.units) == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
    r = f.units @ f.units.T
    turn = np.where(r < 0, -1.0, 1.0)
    tilt = np.sqrt(np.maximum(2 - 2 * np.abs(r), 0.0))
    gap = np.hypot(tilt, f.biases[:, None] - turn * f.biases[None, :])
    count, label = connected_components(csr_array(gap < CLUSTER_DISTANCE), directed=False)
    by_size = np.argsort(np.linalg.norm(f.coefficients, axis=1), kind="stable")
    reference = np.empty(count, np.intp)
    reference[label[by_size]] = by_size
    return label, reference, turn[np.arange(len(label)), reference[label]]


def _wedges(f: Ramps, lam: Array, label: NDArray[np.intp], side: Array) -> float:
    """Term 2: sum over pairs of one cluster of lambda_i lambda_j kappa_ij."""
    total = 0.0
    for cluster in np.flatnonzero(np.bincount(label) > 1):
        inside = np.flatnonzero(label == cluster)
        biases = side[inside] * f.biases[inside]
        q = pdist(side[inside, None] * f.units[inside])
        p = pdist(biases[:, None])
        i, j = np.triu_indices(len(inside), 1)
        middle = 0.5 * (biases[i] + biases[j])
        total += np.sum(2 * lam[inside[i]] * lam[inside[j]] * density(middle) * _third_moment(p, q) / 3)
    return total


def _third_moment(p: NDArray[np.floating], q: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return E|p + q g|^3 = (p^3 + 3 p q^2) erf(p / q sqrt 2) + 2 q (p^2 + 2 q^2) phi(p / q), p, q >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p > 0, p / q, 0.0)
    return (p**3 + 3 * p * q**2) * erf(ratio / np.sqrt(2)) + 2 * q * (p**2 + 2 * q**2) * density(ratio)


@dataclass
class _Pieces:
    """L for one output: hyperplanes (V, b), vectors (a, alpha) on them, and the affine part (a_0, alpha_0).

    For the pair (A, B) let e = (v_B - r v_A) / sine, the direction in which B varies along the hyperplane A.
    """

    V: Array
    b: Array
    r: Array
    integrals: Pair
    a: Array
    alpha: Array
    a_0: Array
    alpha_0: float

    def __post_init__(self) -> None:
        self.along = self.a @ self.V.T  # <a_A, v_B>
        own = np.diagonal(self.along)
        # <a, v_B - r v_A> for a = a_A and for a = a_B; where A and B are parallel there is no e, nor a need.
        self.tilt = self.along - self.r * own[:, None]
        self.other_tilt = own[None, :] - self.r * self.along.T
        sine = self.integrals.sine
        self.inverse_sine = np.divide(1.0, sine, out=np.zeros_like(sine), where=sine > 0)

    def square(self) -> float:
        r"""Term 1, E L^2, from E[H H' x x^T] and its kin.

        E[H H' x]     = -(v A + v' A'),
        E[H H' x x^T] = P I + v v^T (b A - r D) + v' v'^T (b' A' - r D) + (v v'^T + v' v^T) D.

        The four terms in D cancel to (1 - r^2) D = ridge as v and v' become parallel; written in v and e
        they do so on paper. A half-space with itself is the limit r = 1.
        """
        V, b, r, a, alpha = self.V, self.b, self.r, self.a, self.alpha
        P, A, A_prime, ridge, _, _ = self.integrals
        own = np.diagonal(self.along)
        x, x_prime = own[:, None], self.along  # <a_A, v_A>, <a_A, v_B>
        y, y_prime = self.along.T, own[None, :]  # <a_B, v_A>, <a_B, v_B>
        tilts = self.tilt * self.other_tilt * self.inverse_sine**2
        pairs = (
            P * (a @ a.T + np.outer(alpha, alpha))
            + b[:, None] * A * x * y
            + b[None, :] * A_prime * x_prime * y_prime
            + ridge * (r * x * y + x * self.other_tilt + self.tilt * y - r * tilts)
            - alpha[:, None] * (A * y + A_prime * y_prime)
            - alpha[None, :] * (A * x + A_prime * x_prime)
        )
        Q, phi, along_0 = ndtr(-b), density(b), V @ self.a_0
        single = (
            Q * (a @ self.a_0 + alpha * self.alpha_0)
            + b * phi * along_0 * own
            - phi * (self.alpha_0 * own + alpha * along_0)
        )
        return self.a_0 @ self.a_0 + self.alpha_0**2 - 4 * single.sum() + 4 * pairs.sum()

    def wedge_cross(self, lam: Array, label: NDArray[np.intp], d_units: Array, d_biases: Array) -> float:
        r"""Term 3, 2 sum_i lambda_i E[W_i F_A].

        F_A = <a_0 - a_A, (x, 1)> - 2 sum_{B != A} H_B <a_B, (x, 1)>.

        On the hyperplane A, with g the coordinate along e and the rest independent of it, delta_i = p + q g +
        rest and <a_B, (x, 1)> = m + n g + rest, so that only h_j = E[1[g < -t] g^j], j <= 3, is needed.
        """
        moved = np.flatnonzero(np.any(d_units != 0, axis=1) | (d_biases != 0))
        lam, label, p, d = lam[moved], label[moved], d_biases[moved, None], d_units[moved]
        V, b = self.V, self.b
        size = np.einsum("id,id->i", d, d)[:, None]
        rest, rest_alpha = self.a_0 - self.a[label], self.alpha_0 - self.alpha[label]
        level = rest_alpha - b[label] * np.einsum("id,id->i", rest, V[label])
        affine = (p**2 + size)[:, 0] * level + 2 * p[:, 0] * np.einsum("id,id->i", d, rest)

        t, inverse = self.integrals.offset[label], self.inverse_sine[label]
        along = d @ V.T
        q = (along - self.r[label] * along[np.arange(len(label)), label][:, None]) * inverse
        m = self.alpha[None, :] - b[label, None] * self.along.T[label]
        n = self.other_tilt[label] * inverse
        rests = d @ self.a.T - q * n
        thickness = p**2 + size - q**2
        tail, peak = ndtr(-t), density(t)
        bent = (
            (thickness * m + 2 * p * rests) * tail
            - (2 * p * q * m + thickness * n + 2 * q * rests) * peak
            + (q**2 * m + 2 * p * q * n) * (tail + t * peak)
            - q**2 * n * (t**2 + 2) * peak
        )
        bent[np.arange(len(label)), label] = 0.0
        return float(2 * np.sum(lam * density(b[label]) * (affine - 2 * bent.sum(axis=1))))
