"""Factorisations that cannot end a run, for NumPy, for torch and for other libraries of the array API standard.

In exact arithmetic every matrix here is positive definite. Rounding, units that coincide and rows that show nothing
make them singular or slightly indefinite, and then Cholesky's factorisation does not exist. Each function goes on to
the eigenvalues, which always do: directions whose eigenvalue is rounding are left alone. Where even these fail, or the
matrix is not finite, there is nothing to be learned from it, and the solution is zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array, is_torch_array
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky

from netlearn.backend.arrays import as_like, namespace, to_numpy


def spd_solver(A) -> Callable:
    """Factor a symmetric positive definite matrix once, for many right-hand sides.

    Parameters
    ----------
    A : array of shape (n, n)

    Returns
    -------
    solve : callable
        Takes b of shape (n, m), returns A^{-1} b; where A is not positive definite to rounding, the solution in the
        span of the eigenvectors whose eigenvalues are.
    """
    factors = _cholesky(A)
    if factors is not None:
        return factors
    root = _positive_part(A)
    if root is None:
        return lambda b: 0.0 * b
    vectors = as_like(root[1] / root[0], A)
    return lambda b: vectors @ (vectors.T @ b)


def conjugate_gradients(
    product: Callable, r: Any, precondition: Callable, *, tolerance: float, max_products: int
) -> tuple[Any, int]:
    """Solve A x = r for a symmetric positive definite A, given as a product, and return x and how many were taken.

    Steps end where the residual's length, as the preconditioner measures it, is `tolerance` of what it was; or where
    rounding has eaten the matrix. The preconditioner need not be the same linear map each time: a new direction takes
    off what the change of the residual has in common with the one before (Polak and Ribiere).
    """
    z = precondition(r)
    x, direction = 0.0 * r, z
    rz = first = _dot(r, z)
    for step in range(1, max_products + 1):
        if rz <= 0.0:
            return x, step - 1
        image = product(direction)
        curvature = _dot(direction, image)
        if curvature <= 0.0:
            return x, step
        alpha = rz / curvature
        x = x + alpha * direction
        change = alpha * image
        r = r - change
        z = precondition(r)
        rz, old = _dot(r, z), rz
        if rz <= tolerance**2 * first:
            return x, step
        direction = z + max(-_dot(change, z) / old, 0.0) * direction
    return x, max_products


def _dot(a, b) -> float:
    xp = namespace(a)
    return float(xp.reshape(a, (-1,)) @ xp.reshape(b, (-1,)))


def spd_root(A: np.ndarray) -> np.ndarray:
    """Return an upper triangular R with R^T R = A, up to rounding of A; R is invertible for every finite A.

    Directions that A does not determine get the smallest eigenvalue that is no rounding.
    """
    try:
        return cholesky(A)
    except (LinAlgError, ValueError):
        root = _positive_part(A, keep_all=True)
    if root is None:
        return np.eye(len(A))
    return upper_factor((root[1] * root[0]).T)


def upper_factor(A: np.ndarray) -> np.ndarray:
    """Return R of A = Q R."""
    R: Any = np.linalg.qr(A, mode="r")  # NumPy's own types know the pair (Q, R) alone
    return R


def _cholesky(A) -> Callable | None:
    """Return what solves with Cholesky's factors; None where there are none."""
    if is_numpy_array(A):
        try:
            factor = cho_factor(A)
        except (LinAlgError, ValueError):
            return None
        return lambda b: cho_solve(factor, b)
    if is_torch_array(A):
        import torch

        L, failed = torch.linalg.cholesky_ex(A)
        if failed or not bool(torch.isfinite(L).all()):
            return None
        if L.device.type == "cpu":
            return lambda b: torch.cholesky_solve(b, L)
        # A GPU solves triangular systems row after row, and takes a hundred times as long as for products.
        inverse = torch.linalg.solve_triangular(
            L, torch.eye(len(L), dtype=L.dtype, device=L.device), upper=False
        )
        return lambda b: inverse.T @ (inverse @ b)
    xp = namespace(A)
    try:
        inverse = xp.linalg.inv(xp.linalg.cholesky(A))  # the standard knows no triangular systems
    except (LinAlgError, ValueError):
        return None
    return (lambda b: inverse.T @ (inverse @ b)) if bool(xp.all(xp.isfinite(inverse))) else None


def _positive_part(A, *, keep_all: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the roots of the eigenvalues above rounding, and their vectors; with `keep_all` the others, lifted."""
    try:
        values, vectors = map(to_numpy, namespace(A).linalg.eigh((A + A.T) / 2))
    except (LinAlgError, RuntimeError):  # torch has an error of its own
        return None
    if not (np.all(np.isfinite(values)) and values[-1] > 0):
        return None
    floor = values[-1] * len(values) * np.finfo(float).eps
    if keep_all:
        return np.sqrt(np.maximum(values, floor)), vectors
    return np.sqrt(values[values > floor]), vectors[:, values > floor]
