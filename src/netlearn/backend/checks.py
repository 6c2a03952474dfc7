"""The check that every input array passes: real, finite, dense, and of so many axes."""

from typing import Any, NoReturn

import array_api_compat
import numpy as np

from netlearn.backend.arrays import Array, namespace, numpy_namespace
from netlearn.errors import InputError


def refuse_masked(name: str, value: object) -> None:
    """Refuse an array with masked entries: the numbers behind the mask would be taken for data."""
    if np.ma.is_masked(value):
        raise InputError(f"{name} must not be masked; fill the masked entries or drop their rows first.")


def _refuse_unusual(name: str, tensor: Array, xp: Any) -> None:
    """Refuse tensors that have no NumPy counterpart."""
    dense = str(tensor.layout) == "torch.strided" and tensor.device.type != "meta"
    known = not tensor.dtype.is_floating_point or tensor.dtype in (xp.float16, xp.float32, xp.float64)
    if not (dense and known):
        raise InputError(
            f"{name} must be a dense tensor of integers, float16, float32 or float64; got {tensor.dtype} in "
            f'{tensor.layout} on "{tensor.device}".'
        )


def refuse_infinite(name: str) -> NoReturn:
    """Say that an array holds what is no number."""
    raise InputError(f"{name} must be finite; got NaN or infinity. Drop or repair those rows first.")


def real_array(
    name: str, value: Any, *, ndim: int, like: Array | None = None, is_read_later: bool = False
) -> Array:
    """`value` as a finite real array with `ndim` axes, or one sentence on why it is not.

    The element type is kept: rows in float32 are widened tile by tile where they are used, never as a whole.

    Parameters
    ----------
    name : str
        What the caller calls the argument; it opens the error sentence.
    value : array or nested sequence of numbers
    ndim : int
        Number of axes required.
    like : array, optional
        An array whose library and device the result takes. Default: those of `value` (NumPy for sequences).
    is_read_later : bool
        Whether it is the caller who looks at every entry, and refuses what is not finite.

    Returns
    -------
    array : array with `ndim` axes
        `value` itself where nothing had to change.
    """
    refuse_masked(name, value)
    array: Array
    try:
        if like is not None:
            array = namespace(like).asarray(value, device=array_api_compat.device(like))
        elif array_api_compat.is_array_api_obj(value):
            array = value
        else:
            array = numpy_namespace.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"{name} must be an array of numbers; got a {type(value).__name__} that is none."
        ) from None
    xp = namespace(array)
    if not xp.isdtype(array.dtype, ("integral", "real floating")):
        raise InputError(f"{name} must hold real numbers; got elements of type {array.dtype}.")
    if array_api_compat.is_torch_array(array):
        _refuse_unusual(name, array, xp)
    if array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} axes; got an array of shape {tuple(array.shape)}.")
    if is_read_later:
        return array
    # One non-finite entry makes the sum non-finite; only such a sum is worth a second look, entry by entry.
    with np.errstate(over="ignore", invalid="ignore"):
        total = xp.sum(array)
    if not xp.isfinite(total) and not xp.all(xp.isfinite(array)):
        refuse_infinite(name)
    return array
