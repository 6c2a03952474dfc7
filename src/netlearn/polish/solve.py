"""The two ways to solve one round's least squares: preconditioned conjugate gradients, and directly."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from netlearn.polish.system import ModulatedSystem

# Below this relative size an eigenvalue of a Gram matrix of signs is rounding.
_RELATIVE_RIDGE = 1e-12
# Rows from which the preconditioner's matrix on the units' span is estimated, for each of its columns.
_ROWS_PER_ENTRY = 20


def conjugate_gradients(
    system: ModulatedSystem,
    damping: float,
    *,
    tolerance: float,
    max_steps: int,
    span: np.ndarray | None = None,
    single: bool = False,
) -> tuple[np.ndarray, int]:
    r"""Solve (F^T F / N + damping) D = F^T e / N by preconditioned conjugate gradients.

    The preconditioner is (G + damping)^{-1} (x) I with G the mean of m m^T: for whitened Gaussian rows
    E[m_i m_j x x^T] differs from G_ij I only on the span of the units. Given that `span`, the matrix on it is
    estimated from some rows and inverted too, which halves the number of steps; it is worth that where the span
    is small.

    With products in single precision D is right to about 1e-6: since the gradient is that of double precision,
    the next round corrects what is left, as in iterative refinement.

    Returns
    -------
    D : array of shape (q, d + 1)
    n_steps : int
        Products with F^T F that were spent.
    """
    precondition = _preconditioner(system, damping, span)
    r = system.gradient
    z = precondition(r)
    D, direction = np.zeros_like(r), z
    rz = first = float(np.vdot(r, z))
    for step in range(1, max_steps + 1):
        if rz <= 0.0:
            return D, step - 1
        image = system.product(direction, single=single) + damping * direction
        curvature = float(np.vdot(direction, image))
        if curvature <= 0.0:
            return D, step  # rounding has eaten the matrix: what is left of the residual is below it
        alpha = rz / curvature
        D = D + alpha * direction
        r = r - alpha * image
        z = precondition(r)
        rz, old = float(np.vdot(r, z)), rz
        if rz <= tolerance**2 * first:
            return D, step
        direction = z + (rz / old) * direction
    return D, max_steps


def _preconditioner(system: ModulatedSystem, damping: float, span: np.ndarray | None):
    G = system.gram
    ridge = damping + _RELATIVE_RIDGE * np.trace(G)
    factor = cho_factor(G + ridge * np.eye(len(G)))
    if span is None or not _pays(system, span):
        return lambda r: system.project(cho_solve(factor, r))

    n_inside = len(G) * (span.shape[1] + 1)
    H = system.normal_matrix(span, _ROWS_PER_ENTRY * n_inside)
    inside_factor = cho_factor(H + ridge * np.eye(len(H)))
    free = np.hstack([system.free[:, : span.shape[1]], system.free[:, -1:]]).astype(bool)

    def precondition(r):
        inside = np.hstack([r[:, :-1] @ span, r[:, -1:]])
        z = np.zeros_like(r)
        z[:, :-1] = cho_solve(factor, r[:, :-1] - inside[:, :-1] @ span.T)
        inside[free] = cho_solve(inside_factor, inside[free])
        z[:, :-1] += inside[:, :-1] @ span.T
        z[:, -1] = inside[:, -1]
        return system.project(z)

    return precondition


def _pays(system: ModulatedSystem, span: np.ndarray) -> bool:
    """Whether the matrix on the span costs less than the few products that it saves."""
    q, d = system.free.shape[0], system.rows.n_features
    n_inside = q * (span.shape[1] + 1)
    return _ROWS_PER_ENTRY * n_inside**3 <= 4 * (4 * system.rows.n_rows * d * q)


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
