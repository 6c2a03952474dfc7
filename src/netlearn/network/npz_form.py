"""A network as plain NumPy arrays in one .npz file, layer by layer, there and back.

hidden = np.maximum(X @ weights_0 + biases_0, 0)
y = hidden @ weights_1 + biases_1
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netlearn.backend.npy import BROKEN_ARCHIVE, open_member, read_array
from netlearn.errors import InputError
from netlearn.network.files import write_whole
from netlearn.network.relu import ReluForm

if TYPE_CHECKING:
    from netlearn.network.model import ShallowNetwork

_NAMES = ("weights_0", "biases_0", "weights_1", "biases_1")


def to_npz(network: ShallowNetwork, path: str | os.PathLike) -> None:
    """Write the four arrays of `network.to_relu()`, oriented as in the formulas above."""
    form = network.to_relu()
    arrays = (form.weights.T, form.biases, form.output_weights, np.asarray(form.intercept))
    data = io.BytesIO()
    named: dict[str, Any] = dict(zip(_NAMES, arrays, strict=True))
    np.savez(data, **named)
    write_whole(path, data.getvalue())


def from_npz(path: str | os.PathLike) -> ReluForm:
    """Read the four arrays back; any other file is refused in one sentence."""
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"Cannot read {source}: there is no such file.")
    try:
        with zipfile.ZipFile(source) as archive:
            arrays = {}
            for member in archive.namelist():
                with open_member(archive, member) as stream:
                    arrays[member.removesuffix(".npy")] = read_array(stream)
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{source} is not a whole .npz file of numbers.") from error
    if arrays.keys() != set(_NAMES) or arrays["weights_0"].ndim != 2:
        raise InputError(
            f"{source} must hold the arrays {', '.join(_NAMES)} of one hidden layer, got {', '.join(arrays) or 'none'}."
        )
    weights, biases, output_weights, intercept = (arrays[name] for name in _NAMES)
    return ReluForm(np.ascontiguousarray(weights.T), output_weights, biases, intercept)
