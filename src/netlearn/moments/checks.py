"""What the orders ell and the directions g of a moment sum must satisfy."""

from operator import index

from netlearn.backend import namespace, real_array
from netlearn.errors import InputError


def checked_orders(orders):
    """`orders` as a tuple of distinct even integers >= 2, or one sentence on why they are not.

    Parameters
    ----------
    orders : iterable of int

    Returns
    -------
    orders : tuple of int
    """
    orders = tuple(index(ell) for ell in orders)
    if not orders:
        raise InputError("orders must name at least one even integer >= 2; got none.")
    for ell in orders:
        if ell < 2 or ell % 2:
            raise InputError(
                f"orders must be even integers >= 2; got {ell}. Odd moments above 1 of the network vanish; "
                "order 1 is the linear part, which every sum holds."
            )
    if len(set(orders)) < len(orders):
        raise InputError(f"orders must not repeat; got {orders}.")
    return orders


def unit_directions(directions):
    """`directions` in float64 if its rows have unit length, or one sentence on why they have not.

    M_ell^g scales like |g|^(ell-2), so another length is refused rather than divided away. Rounding, up to
    float32's, is forgiven and left in: a direction that comes back from a saved sum must still be the same
    to the last bit.

    Parameters
    ----------
    directions : array of shape (n_directions, n_features)

    Returns
    -------
    directions : array of shape (n_directions, n_features)
    """
    directions = real_array("directions", directions, ndim=2)
    if 0 in directions.shape:
        raise InputError(f"directions must hold at least one vector g; got shape {tuple(directions.shape)}.")
    xp = namespace(directions)
    directions = xp.astype(directions, xp.float64)
    lengths = xp.linalg.vector_norm(directions, axis=1)
    furthest = float(lengths[xp.argmax(xp.abs(lengths - 1))])
    if abs(furthest - 1) > 1e-6:
        raise InputError(f"Each direction g must have length 1; got length {furthest:.6g}. Pass g / |g|.")
    return directions
