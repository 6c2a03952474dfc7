"""How work on rows is cut up for the place where they are: a processor's cache or a device's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from array_api_compat import device, is_numpy_array


@dataclass(frozen=True)
class Grain:
    """Sizes of the pieces that one operation works on.

    Attributes
    ----------
    block_entries : int
        Numbers in a block of rows with all that is computed of them.
    least_rows : int
        Below so many rows a block costs more to start than to compute.
    kept_bytes : int
        What may be kept from one pass for the next, and need not be computed again.
    side_by_side : bool
        Whether blocks are computed by threads of ours; libraries with threads of their own want them one by one.
    cached : bool
        Whether blocks are cut for a cache, so that work which goes through them in parts may have longer ones.
    """

    block_entries: int
    least_rows: int
    kept_bytes: int
    side_by_side: bool
    cached: bool


# A block, and the equally long block of what is computed from it, should stay in a core's cache.
_NUMPY = Grain(2**17, 512, 2**27, True, True)
_TORCH = Grain(2**17, 512, 2**27, False, True)
# A device has no such cache, and is busy only with products of some size.
_DEVICE = Grain(2**28, 4096, 2**35, False, False)

_FACTOR: ContextVar[int] = ContextVar("netlearn_smaller_blocks", default=1)


def grain(array) -> Grain:
    """Return the sizes for the library and device of an array."""
    if is_numpy_array(array):
        usual = _NUMPY
    else:
        usual = _TORCH if str(device(array)) == "cpu" else _DEVICE
    factor = _FACTOR.get()
    if factor == 1:
        return usual
    sizes = ("block_entries", "least_rows", "kept_bytes")
    return replace(usual, **{name: max(1, getattr(usual, name) // factor) for name in sizes})


@contextmanager
def smaller_blocks(factor: int) -> Iterator[None]:
    """Divide all sizes by `factor` while the block runs, in this thread."""
    token = _FACTOR.set(factor)
    try:
        yield
    finally:
        _FACTOR.reset(token)
