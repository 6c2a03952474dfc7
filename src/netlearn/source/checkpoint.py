"""Checkpoints: parts of a run, kept in a folder, that the same run picks up where it was cut off."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from netlearn.errors import InputError
from netlearn.network.files import write_whole

_EVERY = 20.0
"""Seconds between two savings of a pass under way."""


class Checkpoint:
    """A folder with the parts of one run.

    A part is one safetensors file, written beside and renamed: one that was half written is never read. The run is
    known by an identity, a text of everything that determines its answer; parts of another run are refused.

    Parameters
    ----------
    folder : str or path
        Made where it does not exist; its parent must.
    identity : dict
        Data, options and random state, as JSON could hold them.
    """

    def __init__(self, folder: str | os.PathLike, identity: dict):
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f'"checkpoint" must be a folder, or a name for a new one; {folder} is a file.')
        if not self.folder.parent.is_dir():
            raise InputError(f'"checkpoint" is to be made in {self.folder.parent}, which is no folder.')
        self.folder.mkdir(exist_ok=True)
        text = json.dumps(identity, sort_keys=True, default=str)
        self._identity = hashlib.sha256(text.encode()).hexdigest()
        self._saved = time.monotonic()

    def save(self, part: str, tensors: dict[str, np.ndarray], **text) -> None:
        """Write a part, in place of what it held before."""
        metadata = {"format": "netlearn.Checkpoint", "identity": self._identity, "text": json.dumps(text)}
        data = save({name: np.ascontiguousarray(array) for name, array in tensors.items()}, metadata=metadata)
        write_whole(self._path(part), data)
        self._saved = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._saved >= _EVERY

    def load(self, part: str) -> tuple[dict[str, np.ndarray], dict] | None:
        """Return tensors and text of a part; None where it was never saved."""
        path = self._path(part)
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="numpy") as opened:
                metadata = opened.metadata() or {}
                tensors = {name: opened.get_tensor(name) for name in opened.keys()}
        except (SafetensorError, OSError) as error:
            raise InputError(f"{path} is no part of a checkpoint, or a damaged one: {error}.") from None
        if metadata.get("identity") != self._identity:
            raise InputError(
                f"The checkpoint in {self.folder} belongs to a run with other data, options or random state: "
                "give another folder, or remove this one."
            )
        return tensors, json.loads(metadata["text"])

    def _path(self, part: str) -> Path:
        return self.folder / f"{part}.safetensors"


def fingerprint(X: np.ndarray, y: np.ndarray) -> str:
    """Return a hash of two arrays: shapes, all labels, and rows spread over X, up to about 32 MB of them."""
    step = max(1, X.size // 2**22)
    parts = hashlib.sha256(repr((X.shape, str(X.dtype), y.shape, str(y.dtype))).encode())
    parts.update(np.ascontiguousarray(y))
    parts.update(np.ascontiguousarray(X[::step]))
    return parts.hexdigest()
