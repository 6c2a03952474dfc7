"""The two ways to solve one round's least squares: preconditioned conjugate gradients, and directly."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from netlearn.polish.system import ModulatedSystem

# Below this relative size an eigenvalue of a Gram matrix of signs is rounding.
_RELATIVE_RIDGE = 1e-12


def conjugate_gradients(
    system: ModulatedSystem, damping: float, *, tolerance: float, max_steps: int
) -> tuple[np.ndarray, int]:
    r"""Solve (F^T F / N + damping) D = F^T e / N by preconditioned conjugate gradients.

    The preconditioner is (G + damping)^{-1} (x) I with G the mean of m m^T: for whitened Gaussian rows
    E[m_i m_j x x^T] differs from G_ij I only on the span of the units.

    Returns
    -------
    D : array of shape (q, d + 1)
    n_steps : int
        Products with F^T F that were spent.
    """
    G = system.gram
    ridge = damping + _RELATIVE_RIDGE * np.trace(G)
    factor = cho_factor(G + ridge * np.eye(len(G)))

    def precondition(r):
        return system.project(cho_solve(factor, r))

    r = system.gradient
    z = precondition(r)
    D, direction = np.zeros_like(r), z
    rz = first = float(np.vdot(r, z))
    for step in range(1, max_steps + 1):
        if rz <= 0.0:
            return D, step - 1
        image = system.product(direction) + damping * direction
        alpha = rz / float(np.vdot(direction, image))
        D = D + alpha * direction
        r = r - alpha * image
        z = precondition(r)
        rz, old = float(np.vdot(r, z)), rz
        if rz <= tolerance**2 * first:
            return D, step
        direction = z + (rz / old) * direction
    return D, max_steps


def direct(system: ModulatedSystem, damping: float) -> np.ndarray:
    """Solve the same equations through the P x P normal matrix.

    By Cholesky's factors; where the matrix is singular to rounding, through its eigenvalues, leaving alone
    the directions that no row determines.
    Cost: N P^2 + P^3 / 3 operations, 8 P^2 bytes.
    """
    free = system.free.astype(bool)
    H, g = system.normal_matrix(), system.gradient[free]
    D = np.zeros(free.shape)
    try:
        D[free] = cho_solve(cho_factor(H + damping * np.eye(len(H))), g)
    except LinAlgError:
        values, vectors = eigh(H)
        floor = values[-1] * len(values) * np.finfo(float).eps
        inverse = np.where(values > floor, 1.0 / (np.maximum(values, floor) + damping), 0.0)
        D[free] = vectors @ (inverse * (vectors.T @ g))
    return D
