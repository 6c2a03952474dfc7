"""The network's file: five float64 tensors in safetensors, with format, version and checksum in the header.

safetensors holds numbers and text only: reading one runs no code. The checksum covers names, shapes and bytes
of the tensors, so that a file that was cut, mixed up or edited is told from one that `write` left.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from netlearn.errors import InputError

NAMES = ("linear", "coefficients", "units", "biases", "intercept")

_FORMAT = "netlearn.ShallowNetwork"
_VERSION = "1"


def write(path: str | os.PathLike, arrays: Mapping[str, ArrayLike]) -> None:
    """Write the arrays named `NAMES` to `path`, beside it first and renamed into place when whole.

    Whatever goes wrong, `path` holds either its former contents or all of the new ones, and no other file is
    left behind.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {target}: the folder {target.parent} does not exist.")
    tensors = {name: np.asarray(arrays[name], dtype="<f8", order="C") for name in NAMES}
    data = save(tensors, metadata={"format": _FORMAT, "version": _VERSION, "sha256": _checksum(tensors)})
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike) -> dict[str, NDArray[np.float64]]:
    """Read the arrays that `write` wrote; refuse anything else before building on it."""
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"Cannot read {source}: there is no such file.")
    try:
        # The header is checked before any tensor is read, so that a large foreign file costs nothing.
        with safe_open(source, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            if metadata.get("format") != _FORMAT or set(opened.keys()) != set(NAMES):
                raise InputError(
                    f"{source} is a safetensors file, but not one that holds a netlearn network."
                )
            if metadata.get("version") != _VERSION:
                raise InputError(
                    f"{source} has format version {metadata.get('version')}, but this netlearn reads version "
                    f"{_VERSION} only."
                )
            tensors = {name: opened.get_tensor(name) for name in NAMES}
    except SafetensorError as error:
        raise InputError(f"{source} is not a whole safetensors file ({error}).") from error
    if any(tensor.dtype != np.float64 for tensor in tensors.values()):
        raise InputError(f"{source} is damaged: its tensors must be float64.")
    if _checksum(tensors) != metadata.get("sha256"):
        raise InputError(
            f"{source} was altered after it was written: its checksum does not match its contents."
        )
    return tensors


def _checksum(tensors: Mapping[str, NDArray[np.float64]]) -> str:
    digest = hashlib.sha256()
    for name in NAMES:
        digest.update(f"{name}{tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()
