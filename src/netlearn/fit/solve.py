"""The least squares of one round: by preconditioned conjugate gradients or directly, whichever is cheaper."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.fit.equations import NormalEquations, is_single
from netlearn.fit.modulated import plus

if TYPE_CHECKING:
    from netlearn.fit.params import Params

# The normal matrix costs N P^2 operations, a product 4 N P: with at most M products to replace, it pays up to
# P = 4 M unknowns. With many more units than dimensions the preconditioner of the conjugate gradients is blind
# (the units span everything) and all M products are spent to little effect: there it pays for longer.
UNKNOWNS_PER_PRODUCT = 4
_WHEN_CROWDED = 5
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
    params: Params,
    damping: float,
    *,
    tolerance: float,
    max_products: int,
    single: bool = True,
) -> tuple[np.ndarray, int]:
    """Return the step that solves the equations, directly where that is cheaper, and the products spent."""
    q, width = equations.free.shape
    worth = UNKNOWNS_PER_PRODUCT * max_products * (_WHEN_CROWDED if q > 4 * width else 1)
    if equations.free.sum() <= worth:
        is_dear = equations.rows.n_rows * equations.free.sum() ** 2 > _DEAR
        single = single and is_dear and tolerance >= _LOOSE and equations.can_be_single
        return direct(equations, damping, single=single), 0
    return conjugate_gradients(
        equations,
        damping,
        tolerance=tolerance,
        max_steps=max_products,
        span=params.span() if q <= width else None,
        single=single and equations.can_be_single,
    )


def conjugate_gradients(
    system: NormalEquations,
    damping: float,
    *,
    tolerance: float,
    max_steps: int,
    span: np.ndarray | None = None,
    single: bool = False,
    precondition: Callable | None = None,
) -> tuple[np.ndarray, int]:
    r"""Solve (F^T F / N + p + damping) D = F^T e / N - p a by preconditioned conjugate gradients.

    The preconditioner is the system's own, where none is given. Given a `span` of the units, the matrix on it is
    inverted too, which halves the number of steps; it is worth that where the span is small.

    With products in single precision D is right to about 1e-6: since the gradient is that of double precision,
    the next round corrects what is left, as in iterative refinement.

    Returns
    -------
    D : array of shape (q, d + 1)
    n_steps : int
        Products with F^T F that were spent.
    """
    precondition = precondition or system.preconditioner(damping, span)
    ridge = as_like(system.ridge(damping), system.gram)
    r = as_like(system.gradient, system.gram)
    z = precondition(r)
    D, direction = 0.0 * r, z
    rough = tolerance >= _ROUGH and system.can_be_rough and (single or is_single(system.rows))
    rz = first = _dot(r, z)
    for step in range(1, max_steps + 1):
        if rz <= 0.0:
            return to_numpy(D), step - 1
        image = system.product(direction, single=single, rough=rough) + ridge * direction
        curvature = _dot(direction, image)
        if curvature <= 0.0:
            # Rounding has eaten the matrix: what is left of the residual is below it.
            return to_numpy(D), step
        alpha = rz / curvature
        D = D + alpha * direction
        r = r - alpha * image
        z = precondition(r)
        rz, old = _dot(r, z), rz
        if rz <= tolerance**2 * first:
            return to_numpy(D), step
        direction = z + (rz / old) * direction
    return to_numpy(D), max_steps


def _dot(a, b) -> float:
    xp = namespace(a)
    return float(xp.reshape(a, (-1,)) @ xp.reshape(b, (-1,)))


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
