"""The array library of the inputs: its namespace, and ways into it and out of it."""

from typing import Any, TypeAlias

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
