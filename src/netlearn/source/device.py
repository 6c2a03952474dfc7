"""Rows that are read on the host and computed with on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from netlearn.backend import Array, to_numpy
from netlearn.backend.extras import need
from netlearn.errors import InputError


@dataclass(frozen=True)
class OnDevice:
    """A source whose rows `learn` is to compute with elsewhere, such as on a GPU.

    Rows that fit are moved there once. Of larger files a part is held there, and the others go through it in blocks,
    each copied while the last is being computed with.

    Parameters
    ----------
    rows : FileSource, DaskSource or Oracle
    device : str
        A name that torch knows, such as "cuda", "cuda:1" or "cpu".
    """

    rows: Any
    device: str

    def __post_init__(self):
        torch = need("torch", extra="torch", purpose="Learning on a device")
        try:
            torch.zeros(1, device=torch.device(self.device))
        except (RuntimeError, AssertionError, TypeError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise InputError(
                f'"device" must name a device that torch can use here, such as "cpu" or "cuda", got {self.device!r}: '
                f"{reason}."
            ) from None

    @property
    def like(self):
        """An empty array there, in double precision."""
        import torch

        return torch.empty(0, dtype=torch.float64, device=self.device)


def moved(array: Array, like: Array) -> Array:
    """Return the array in the library and on the device of `like`, in double precision.

    To a GPU it goes through memory that cannot be paged, on a stream of its own: what is computed there by other
    threads goes on meanwhile.
    """
    if isinstance(like, np.ndarray):
        return to_numpy(array)
    import torch

    array = torch.as_tensor(array)
    if like.device.type != "cuda" or array.device.type == "cuda":
        return array.to(like.device, torch.float64)
    beside = torch.cuda.Stream(like.device)
    with torch.cuda.stream(beside):
        there = array.pin_memory().to(like.device, non_blocking=True)
    torch.cuda.current_stream(like.device).wait_stream(beside)
    there.record_stream(torch.cuda.current_stream(like.device))
    return there.to(torch.float64)
