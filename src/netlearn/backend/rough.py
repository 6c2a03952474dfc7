"""Products with three digits, which the matrix units of a GPU compute several times as fast as those with seven."""

from collections.abc import Iterator
from contextlib import contextmanager

from array_api_compat import is_torch_array


@contextmanager
def rough_products(*, allowed: bool, like) -> Iterator[None]:
    """Let products of single-precision matrices round their factors to TF32 (10 bits), on devices that have it."""
    if not (allowed and is_torch_array(like) and like.device.type == "cuda"):
        yield
        return
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
