"""The least squares of one round: by preconditioned conjugate gradients or directly, whichever is cheaper."""

from __future__ import annotations

import math

import numpy as np

from netlearn.backend import as_like, linalg, namespace, to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.fit.equations import NormalEquations, is_single
from netlearn.fit.expected import products_needed
from netlearn.fit.modulated import plus

# Operations of products with narrow matrices take so many times as long as those of a normal matrix; and what the
# Python of a step of conjugate gradients takes, in operations of a normal matrix.
_NARROW, _STEP = 4, 2**25
# Products in units of those expected, after which what is expected does not hold.
_PATIENCE = 2.5
# Operations of a normal matrix from which half their time is worth the digits that single precision loses.
_DEAR = 2**27
# A step that need not be solved better than this may have a normal matrix of products in single precision.
_LOOSE = 1e-3
# A step that need not be solved better than this may take products with two digits.
_ROUGH = 1e-2
# Damping at least, in units of the mean eigenvalue, that hides what single precision does to a normal matrix.
_SINGLE_RIDGE = 1e-6


def solved(
    equations: NormalEquations,
    damping: float,
    *,
    tolerance: float,
    max_products: int,
    single: bool = True,
) -> tuple[np.ndarray, int]:
    """Return the step that solves the equations, and the products spent.

    Directly where that is cheaper, or turns out to be: units that nearly do the same, and differ on fewer rows than
    they have unknowns, are told apart by no preconditioner that knows the law of rows and not these.
    """
    P, N = equations.free.sum(), equations.rows.n_rows
    needed = products_needed(P, N * equations.per_row, damping, tolerance)
    spent = 0
    single = single and equations.can_be_single
    if not matrix_is_cheaper(P, N, needed):
        expected = min(max_products, math.ceil(_PATIENCE * needed))
        step, spent = conjugate_gradients(
            equations,
            damping,
            tolerance=tolerance,
            max_products=expected,
            single=single,
        )
        if spent < expected or not matrix_is_cheaper(P, N, max_products):
            return step, spent
    # Where products were not enough, every digit of the matrix is needed.
    single = single and not spent and N * P**2 > _DEAR and tolerance >= _LOOSE
    return direct(equations, damping, single=single), spent


def matrix_is_cheaper(n_unknowns: float, n_rows: float, n_products: float) -> bool:
    """Whether the normal matrix, N P^2 operations and P^3 / 3, takes less time than the products in its place."""
    P, N = n_unknowns, n_rows
    return N * P**2 + P**3 / 3 < n_products * (_NARROW * 4 * N * P + _STEP)


def conjugate_gradients(
    system: NormalEquations,
    damping: float,
    *,
    tolerance: float,
    max_products: int,
    single: bool = False,
) -> tuple[np.ndarray, int]:
    r"""Solve (F^T F / N + p + damping) D = F^T e / N - p a by preconditioned conjugate gradients.

    With products in single precision D is right to about 1e-6: since the gradient is that of double precision,
    the next round corrects what is left, as in iterative refinement.

    Returns
    -------
    D : array of shape (q, d + 1)
    n_steps : int
        Products with F^T F that were spent.
    """
    ridge = as_like(system.ridge(damping), system.gradient)
    rough = tolerance >= _ROUGH and system.can_be_rough and (single or is_single(system.rows))
    D, n_steps = linalg.conjugate_gradients(
        lambda direction: system.product(direction, single=single, rough=rough) + ridge * direction,
        system.gradient,
        system.preconditioner(damping),
        tolerance=tolerance,
        max_products=max_products,
    )
    return to_numpy(D), n_steps


def direct(system: NormalEquations, damping: float, *, single: bool = False) -> np.ndarray:
    """Solve the same equations through the P x P normal matrix, which may be one of products in single precision.

    By Cholesky's factors; where the matrix is singular to rounding, through its eigenvalues, leaving alone
    the directions that no row determines.
    Cost: N P^2 + P^3 / 3 operations, 8 P^2 bytes.
    """
    free = system.free.astype(bool)
    H, g = system.normal_matrix(single=single), to_numpy(system.gradient)[free]
    D = np.zeros(free.shape)
    if single:
        damping = max(damping, _SINGLE_RIDGE * float(namespace(H).linalg.trace(H)) / len(g))
    ridge = np.broadcast_to(system.ridge(damping), free.shape)[free]
    D[free] = to_numpy(spd_solver(plus(H, ridge))(as_like(g[:, None], H)))[:, 0]
    return D
