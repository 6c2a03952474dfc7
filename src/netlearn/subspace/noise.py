"""The noise of an estimated matrix, measured by splitting the sample."""

from netlearn.backend import namespace
from netlearn.errors import InputError


def noise_floor(M_first, M_second):
    r"""Operator norm |(M_first - M_second)/2|_op: one draw of the size of the noise of the mean of both.

    Let the two estimates of M come from disjoint halves of the sample, equal in size. Their errors E_1, E_2
    are independent with one law, symmetric in the limit, so (E_1 - E_2)/2 has the law of (E_1 + E_2)/2, the
    error of M_hat = (M_first + M_second)/2, while the signal drops out. This is eta_hat, an honest stand-in
    for the eta of Lemma 4.3 per matrix; practical schedules take eta' as a small multiple of it.
    Cost: O(d**3) per matrix.

    Parameters
    ----------
    M_first, M_second : array of shape (..., d, d)
        Symmetric, such as the two entries of `Moments.halves`.

    Returns
    -------
    eta_hat : array of shape (...)
    """
    if M_first.shape != M_second.shape or M_first.ndim < 2 or M_first.shape[-1] != M_first.shape[-2]:
        raise InputError(
            "M_first and M_second must be square matrices of one shape; "
            f"got shapes {tuple(M_first.shape)} and {tuple(M_second.shape)}."
        )
    xp = namespace(M_first, M_second)
    return xp.max(xp.abs(xp.linalg.eigvalsh((M_first - M_second) / 2)), axis=-1)
