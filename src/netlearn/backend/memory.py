"""Where memory runs out: the same once more with smaller blocks, and in the end one sentence."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import TypeVar

from netlearn.backend.grain import smaller_blocks

Result = TypeVar("Result")

# By how much blocks get smaller each time; a device's then have 2**16 numbers, a processor's a row.
_STEP, _SMALLEST = 16, 16**3


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on the host or on a device."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.cuda.OutOfMemoryError):
        return True
    # Of the host's memory torch says it in words only.
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


def with_smaller_blocks(run: Callable[[], Result], tell: Callable[[int], None]) -> Result:
    """Return run(); where memory runs out, run again with blocks a 16th as large, up to three times.

    Parameters
    ----------
    run : callable
        Begins anew whenever it is called.
    tell : callable
        Told by how much blocks are smaller, before each repetition.

    Raises
    ------
    MemoryError
        If it ran out with the smallest blocks too.
    """
    factor = 1
    while True:
        try:
            with smaller_blocks(factor):
                return run()
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if factor == _SMALLEST:
                raise MemoryError(
                    f"memory ran out, with blocks a {factor:,}th of their usual size too: give fewer rows or columns, "
                    "or rows in files instead of arrays"
                ) from error
        # Only here, where the error and all that its frames held are gone.
        _let_go()
        factor *= _STEP
        tell(factor)


def _let_go() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
