"""The array namespace of the inputs, and the one check that input arrays pass."""

from typing import Any, NoReturn, TypeAlias

import array_api_compat
import numpy as np
from array_api_compat import numpy as _numpy_namespace

from netlearn.errors import InputError

# Its functions are made when it is imported, where no type checker sees them.
numpy_namespace: Any = _numpy_namespace
Array: TypeAlias = Any
"""An array of any library: their types share nothing that a type checker could see."""


def namespace(*arrays: Array) -> Any:
    """Array-API namespace that all `arrays` share.

    Parameters
    ----------
    *arrays : array
        NumPy or torch arrays.

    Returns
    -------
    xp : module
        The namespace as array-api-compat wraps it.
    """
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError:
        kinds = ", ".join(sorted({f"{type(array).__module__}.{type(array).__name__}" for array in arrays}))
        raise InputError(
            f"Arrays that meet must come from one array library, NumPy or torch; got {kinds}."
        ) from None


def as_like(value: Array, like: Array) -> Array:
    """`value` in the library, on the device and in the precision of `like`; itself where it is there already.

    Parameters
    ----------
    value : array
        NumPy, or of the library of `like`.
    like : array of floats
    """
    xp = namespace(like)
    if isinstance(value, np.ndarray) and xp is not numpy_namespace and not value.flags.writeable:
        value = value.copy()  # torch warns of arrays that it could write to and should not
    return xp.asarray(value, dtype=like.dtype, device=array_api_compat.device(like))


def to_numpy(array: Array) -> np.ndarray:
    """`array` as a NumPy array in the memory of the host; no copy where it is one."""
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


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
