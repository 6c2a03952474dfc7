"""Products with few digits, which the matrix units of a GPU compute many times as fast as those with seven."""

from collections.abc import Iterator
from contextlib import contextmanager

from array_api_compat import is_torch_array

from netlearn.backend.arrays import Array


def has_matrix_units(like: Array) -> bool:
    """Whether arrays are on a device that computes products with few digits so fast."""
    return is_torch_array(like) and like.device.type == "cuda"


def roughly(array: Array) -> Array:
    """Return the array with two digits (bfloat16): half the bytes of single precision, and the same range."""
    return array.bfloat16()


@contextmanager
def rough_products(*, allowed: bool, like: Array) -> Iterator[None]:
    """Let products of single-precision matrices round their factors to three digits (TF32), on devices that have it."""
    if not (allowed and has_matrix_units(like)):
        yield
        return
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
