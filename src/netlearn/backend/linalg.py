"""Linear algebra that the array standard does not have, for NumPy and for torch."""

import numpy as np
from array_api_compat import is_numpy_array
from scipy.linalg import cho_factor, cho_solve


def spd_solver(A):
    """Factor a symmetric positive definite matrix once, for many right-hand sides.

    Parameters
    ----------
    A : array of shape (n, n)

    Returns
    -------
    solve : callable
        Takes b of shape (n, m), returns A^{-1} b.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A is not positive definite to rounding.
    """
    if is_numpy_array(A):
        factor = cho_factor(A)
        return lambda b: cho_solve(factor, b)
    import torch

    L, failed = torch.linalg.cholesky_ex(A)
    if failed:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    return lambda b: torch.cholesky_solve(b, L)
