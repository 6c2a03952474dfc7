"""Products with rows that are multiplied by modulators, and the forms of arrays in which they take least time."""

from __future__ import annotations

import numpy as np
from array_api_compat import device

from netlearn.backend import as_like, namespace

# With 16 modulators a product takes half the time that it takes with 11.
_LANES = 8
# Columns from which padding them to whole lanes costs less than it gains: with 1,283 modulators and 256 features a
# product takes a GPU 42 ms where the columns are 257.
_WIDE = 64


def in_lanes(n: int) -> int:
    """Return the least number of modulators, from n on, that fills whole vector instructions."""
    return -(-n // _LANES) * _LANES


def padded(array, axis: int):
    """Append zeros until the modulators are as many as vector instructions like; a single one needs no others."""
    n = array.shape[axis]
    return array if n == 1 else filled_up(array, in_lanes(n), axis)


def filled_up(array, n: int, axis: int):
    """Append zeros up to a length of n."""
    xp, shape = namespace(array), list(array.shape)
    shape[axis] = n - shape[axis]
    return xp.concat([array, xp.zeros(shape, dtype=array.dtype, device=device(array))], axis=axis)


def aligned(array):
    """Append columns of zeros to whole lanes: a product takes twice as long or more where rows begin anywhere."""
    return padded(array, axis=1) if array.shape[1] > _WIDE else array


def modulated(m, z):
    """Return m_j (z, 1) for all j side by side, shape (n, q (r + 1))."""
    xp = namespace(z)
    F = xp.concat([m[:, :, None] * z[:, None, :], m[:, :, None]], axis=2)
    return xp.reshape(F, (z.shape[0], -1))


def taken(array, index: np.ndarray, axis: int):
    """Return the entries of an array at some places of an axis."""
    xp = namespace(array)
    return xp.take(array, xp.asarray(index, device=device(array)), axis=axis)


def plus(A, ridge: float | np.ndarray):
    """Return A with a ridge on its diagonal: one number, or one for each entry."""
    xp = namespace(A)
    n = A.shape[0]
    diagonal = as_like(np.broadcast_to(np.ravel(ridge), n).copy(), A)
    return A + diagonal * xp.eye(n, dtype=A.dtype, device=device(A))


def inner(m, D, X):
    """Return the sum over j of m_j <D_j, (x,1)> for each row.

    Either product comes first, whichever leaves the smaller matrix: beyond a product nothing costs as much as memory.
    """
    xp = namespace(X)
    d = X.shape[1]
    if m.shape[1] > d:
        D_m = m @ aligned(D)
        return xp.vecdot(X, D_m[:, :d]) + D_m[:, d]
    return xp.vecdot(m, X @ D[:, :-1].T) + m @ D[:, -1]


def outer(m, e, X):
    """Return the sum over rows of m e (x,1)^T, in double precision."""
    xp = namespace(X)
    d = X.shape[1]
    if m.shape[1] > d:
        return in_double(m.T @ aligned(xp.concat([e[:, None] * X, e[:, None]], axis=1)))[:, : d + 1]
    return in_double(xp.concat([(m * e[:, None]).T @ X, (e @ m)[:, None]], axis=1))


def with_ones(X):
    """Append a column of ones, and zeros to whole lanes: products then take no part of an array, nor join two."""
    return padded(namespace(X).concat([X, 0.0 * X[:, :1] + 1.0], axis=1), axis=1)


def inner_of_whole(m, D, X):
    """Return what `inner` does, for rows `with_ones`."""
    xp = namespace(X)
    D = filled_up(D, X.shape[1], axis=1)
    return xp.vecdot(X, m @ D) if m.shape[1] > X.shape[1] else xp.vecdot(m, X @ D.T)


def outer_of_whole(m, e, X):
    """Return what `outer` does, for rows `with_ones`."""
    return in_double(m.T @ (e[:, None] * X) if m.shape[1] > X.shape[1] else (m * e[:, None]).T @ X)


def is_in_single(array) -> bool:
    """Whether the array is in single precision."""
    return array.dtype == namespace(array).float32


def in_single(array):
    """Return the array in single precision."""
    xp = namespace(array)
    return xp.astype(array, xp.float32, copy=False)


def in_double(array):
    """Return the array in double precision."""
    xp = namespace(array)
    return xp.astype(array, xp.float64, copy=False)
