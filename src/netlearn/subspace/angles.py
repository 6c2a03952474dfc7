"""The angle between two subspaces."""

from netlearn.backend import namespace, real_array
from netlearn.errors import InputError


def sine(V_first, V_second):
    r"""Sine of the largest principal angle between two subspaces.

    With V the basis of the larger and W of the smaller one it is |W - V (V^T W)|_op, the largest distance
    of a unit vector of the smaller from the larger. Unlike sqrt(1 - cos^2) this keeps angles far below
    1e-8.
    Cost: O(d r**2).

    Parameters
    ----------
    V_first, V_second : array of shape (d, r)
        Orthonormal columns; the two r may differ, and are at least 1.

    Returns
    -------
    sine : float
        Between 0 (the smaller lies in the larger) and 1 (some vector of it is orthogonal to the larger).
    """
    V, W = real_array("V_first", V_first, ndim=2), real_array("V_second", V_second, ndim=2)
    xp = namespace(V, W)
    for name, basis in (("V_first", V), ("V_second", W)):
        if basis.shape[1] == 0:
            raise InputError(f"{name} must have at least one column; got shape {tuple(basis.shape)}.")
        identity = xp.eye(basis.shape[1], dtype=basis.dtype, device=basis.device)
        departure = float(xp.max(xp.abs(basis.T @ basis - identity)))
        if departure > 1e-6:
            raise InputError(f"{name} must have orthonormal columns; got inner products {departure:.1e} off.")
    if V.shape[0] != W.shape[0]:
        raise InputError(
            f"V_first and V_second must have as many rows each; got {V.shape[0]} and {W.shape[0]}."
        )
    if V.shape[1] < W.shape[1]:
        V, W = W, V
    return min(float(xp.max(xp.linalg.svdvals(W - V @ (V.T @ W)))), 1.0)
