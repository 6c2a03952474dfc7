r"""What the normal matrix of a step would be if rows were N(0, I): the preconditioner of its least squares.

The modulators of units are the signs s_i of z_i = <u_i, x> + b_i with |u_i| = 1. Their derivatives are s_i' =
2 delta(z_i) and s_i'' = 2 delta'(z_i), and integration by parts (Stein's lemma) takes every x to one of these:

    E[s_i s_j x x^T] = S_ij I + P_ij u_i u_i^T + R_ij (u_i u_j^T + u_j u_i^T) + P_ji u_j u_j^T,
    E[s_i s_j x] = F_ij u_i + F_ji u_j,    S_ij = E[s_i s_j],  F_ij = E[s_i' s_j],  P_ij = E[s_i'' s_j],
                                           R_ij = E[s_i' s_j'].

With phi and Phi the normal density and distribution, rho = <u_i, u_j>, r = sqrt(1 - rho^2) and t = (b_j - rho b_i) / r,

    F_ij = 2 phi(b_i) (2 Phi(t) - 1),    R_ij = 4 phi(b_i) phi(t) / r,    P_ij = -b_i F_ij - rho R_ij,

and S_ij = 1 - 4 T(b_i, t_ij / b_i) - 4 T(b_j, t_ji / b_j), less 2 where b_i b_j < 0, with Owen's function T.
Near-copies of a unit are told apart by differences of these, so each must be right relative to how far S is from 1.
The affine part is a unit too, one whose sign is always 1. A product with the matrix costs 6 K^2 d operations: no row is
read for it.

The normal matrix of N rows of N(0, I) differs from this one as a sample covariance from the identity: its eigenvalues
relative to it lie between (1 -+ sqrt(P / N))^2 (Marchenko and Pastur), so that conjugate gradients need
`products_needed`, whatever the units are. Rows of other laws, once whitened, need one to two times as many (measured:
uniform, exponential, signs, t with five degrees of freedom, sparse).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from array_api_compat import is_torch_array
from scipy.special import ndtr

from netlearn.backend import Array, as_like, namespace, to_numpy
from netlearn.backend.linalg import conjugate_gradients, spd_solver
from netlearn.fit.modulated import plus

# Biases are cut to this, which no row of N(0, I) comes near; and are this at least, for the sake of quotients.
_FAR, _NO_BIAS = 30.0, 1e-30
# Sine of the angle that two units are taken to have at least: below, rounding hides it.
_LEAST_ANGLE = 1e-7
# Nodes of an integral over at most the unit interval.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
# How well equations with this matrix are solved, and with how many products at most: it is not quite that of the rows.
_TOLERANCE, _MOST_PRODUCTS = 0.2, 60
# Unknowns on the span of the units up to which the matrix there is formed and factored.
_DENSE = 500


def products_needed(n_unknowns: float, n_equations: float, damping: float, tolerance: float) -> float:
    """Return how many products conjugate gradients take with this preconditioner.

    ln(2 / tolerance) / 2 times the root of the condition number, that of (1 -+ s)^2 + damping with s = sqrt(P / N); and
    no more than there are unknowns.
    """
    s = math.sqrt(n_unknowns / n_equations)
    most, least = (1.0 + s) ** 2 + damping, max(1.0 - s, 0.0) ** 2 + damping
    needed = 0.5 * math.log(2.0 / tolerance) * math.sqrt(most / least) if least > 0 else math.inf
    return min(needed, n_unknowns)


class Expected:
    """The expected normal matrix of units with given weights.

    Parameters
    ----------
    planes : array of shape (q, d + 1)
        Of all units; the affine part of an output is one with no direction and a bias.
    weights : array of shape (q, m)
        Rows of length 1.
    like : array
        Of the library, and on the device, where products are computed.

    Attributes
    ----------
    signs : array of shape (q, q)
        S times the inner products of the weights.
    """

    def __init__(self, planes: np.ndarray, weights: np.ndarray, like: Array):
        length = np.linalg.norm(planes[:, :-1], axis=1)
        has_direction = length > 0
        scale = np.where(has_direction, length, 1.0)
        bias = np.where(has_direction, planes[:, -1] / scale, _FAR * np.where(planes[:, -1] < 0, -1.0, 1.0))
        bias = np.where(np.abs(bias) < _NO_BIAS, _NO_BIAS, np.clip(bias, -_FAR, _FAR))
        b = as_like(bias, like)
        U = as_like(planes[:, :-1] / scale[:, None], like)
        xp = namespace(U)
        one = as_like(np.eye(len(planes)), U)
        rho = xp.clip(U @ U.T, -1.0, 1.0)
        r = xp.sqrt(xp.clip((1.0 - rho) * (1.0 + rho), _LEAST_ANGLE**2, 1.0))
        t = (b[None, :] - rho * b[:, None]) / r
        phi = _density(b)[:, None]
        C = as_like(weights, U)
        both = C @ C.T
        apart = both * (1.0 - one)  # a unit by itself has E[s s x x^T] = I
        F = 2.0 * phi * (2.0 * _distribution(t) - 1.0)
        R = 4.0 * phi * _density(t) / r
        self._F, self._R = apart * F, apart * R
        self._P = apart * (-b[:, None] * F - rho * R)
        self._U, self._one = U, one
        # Signs differ where one of z_i and z_j is positive. A threshold of nearly 0 lies on either side of it.
        T = _owens_t(b[:, None] + 0.0 * rho, t / b[:, None])
        opposite = xp.where(b[:, None] * b[None, :] < 0.0, 1.0 + 0.0 * rho, 0.0 * rho)
        self.signs = both * one + apart * (1.0 - 4.0 * (T + T.T) - 2.0 * opposite)

    def product(self, D):
        """Return the matrix times D, rows of shape (q, d + 1)."""
        xp, U = namespace(D), self._U
        x, last = D[:, :-1], D[:, -1]
        M = U @ x.T  # <u_i, D_j>
        own = xp.vecdot(U, x)
        along = self._R * M + self._P.T * own + self._F.T * last
        along = along + self._one * (xp.sum(self._P * M, axis=1) + self._R @ own + self._F @ last)[:, None]
        beside = xp.sum(self._F * M, axis=1) + self._F.T @ own
        return self.signs @ D + xp.concat([along @ U, beside[:, None]], axis=1)

    def solver(self, ridge: np.ndarray, project: Callable) -> Callable:
        """Return the map of r to an approximate solution of (matrix + ridge) D = r among the admissible D.

        Parameters
        ----------
        ridge : array of shape (q, 1)
        project : callable
            The orthogonal projection onto admissible D.
        """
        outside = spd_solver(plus(self.signs, ridge))
        q, d = self._U.shape
        if q * (min(q, d) + 1) <= _DENSE:
            return self._exact_solver(outside, ridge, project)
        beside = as_like(np.broadcast_to(ridge, (q, 1)).copy(), self._U)
        return lambda r: conjugate_gradients(
            lambda D: project(self.product(D)) + beside * D,
            r,
            lambda residual: project(outside(residual)),
            tolerance=_TOLERANCE,
            max_products=_MOST_PRODUCTS,
        )[0]

    def _exact_solver(self, outside: Callable, ridge: np.ndarray, project: Callable) -> Callable:
        """Solve on the span of the units by factors of the matrix there; off it the matrix is S (x) I."""
        xp, d = namespace(self._U), self._U.shape[1]
        basis = xp.linalg.qr(self._U.T)[0]
        n, r = self._U.shape[0], basis.shape[1]
        ones = project(0.0 * xp.concat([self._U, self._U[:, :1]], axis=1) + 1.0)
        # What is not free has an equation of its own, 1 times it is 0.
        free = xp.reshape(xp.concat([ones[:, :r], ones[:, d:]], axis=1), (-1,))
        matrix = free[:, None] * self._on(self._U @ basis) * free
        inside = spd_solver(plus(matrix, np.broadcast_to(ridge, (n, r + 1)).ravel() + 1.0 - to_numpy(free)))

        def solve(residual):
            along = xp.concat([residual[:, :d] @ basis, residual[:, d:]], axis=1)
            away = outside(residual[:, :d] - along[:, :r] @ basis.T)
            solution = xp.reshape(inside(free[:, None] * xp.reshape(along, (-1, 1))), along.shape)
            return project(xp.concat([away + solution[:, :r] @ basis.T, solution[:, r:]], axis=1))

        return solve

    def _on(self, A):
        """Return the matrix for units with the directions A in some coordinates, of shape (q (r + 1), q (r + 1))."""
        xp, (q, r) = namespace(A), A.shape
        row, column = A[:, :, None, None], A[None, None, :, :]
        S, F, R, P = (M[:, None, :, None] for M in (self.signs, self._F, self._R, self._P))
        F_T, P_T = (M.T[:, None, :, None] for M in (self._F, self._P))
        first, second = (
            A[:, None, None, :],
            A.T[None, :, :, None],
        )  # u_i and u_j, in the coordinates of the other
        H = S * as_like(np.eye(r), A)[None, :, None, :]
        H = H + row * (P * first + R * column) + second * (R * first + P_T * column)
        last = F * row + F_T * second
        H = xp.concat([H, last], axis=3)
        last = xp.concat([xp.permute_dims(last, (2, 3, 0, 1)), S], axis=3)
        return xp.reshape(xp.concat([H, last], axis=1), (q * (r + 1), q * (r + 1)))


def _owens_t(h, a):
    """Return Owen's T(h, a), the integral of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) from 0 to a, divided by 2 pi.

    From a = 1 on, where the integrand is no polynomial to the nodes, by T(h, a) + T(a h, 1 / a) for h, a >= 0.
    """
    xp = namespace(h)
    sign, a, h = xp.sign(a), xp.abs(a), xp.abs(h)
    is_far = a > 1.0
    across, limit = xp.where(is_far, a * h, h), xp.where(is_far, 1.0 / xp.clip(a, 1.0, math.inf), a)
    total = 0.0 * limit
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        squared = 1.0 + (0.5 * (1.0 + node) * limit) ** 2
        total = total + weight * xp.exp(-0.5 * across**2 * squared) / squared
    total = limit * total / (4.0 * math.pi)
    here, there = _distribution(h), _distribution(a * h)
    return sign * xp.where(is_far, 0.5 * (here + there) - here * there - total, total)


def _density(x):
    return namespace(x).exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)


def _distribution(x):
    """Return Phi, which the array API standard does not know."""
    if is_torch_array(x):
        import torch

        return torch.special.ndtr(x)
    return as_like(ndtr(to_numpy(x)), x)
