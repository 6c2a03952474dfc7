"""Checkpoints: parts of a run, kept in a folder, that the same run picks up where it was cut off."""

from __future__ import annotations

import hashlib
import json
import os
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from netlearn.backend.paths import path_text
from netlearn.errors import InputError
from netlearn.network import files

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
        self.folder = Path(path_text('"checkpoint"', folder))
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f'"checkpoint" must be a folder, or a name for a new one; {folder} is a file.')
        if not self.folder.parent.is_dir():
            raise InputError(f'"checkpoint" is to be made in {self.folder.parent}, which is no folder.')
        self.folder.mkdir(exist_ok=True)
        # What another version saved may have other tensors, or mean something else.
        text = json.dumps([version("netlearn"), identity], sort_keys=True, default=str)
        self._identity = hashlib.sha256(text.encode()).hexdigest()
        self._saved = time.monotonic()

    def save(self, part: str, tensors: dict[str, np.ndarray], **text) -> None:
        """Write a part, in place of what it held before."""
        tensors = {name: np.asarray(tensors[name], order="C") for name in sorted(tensors)}
        written = json.dumps(text)
        metadata = {"format": "netlearn.Checkpoint", "identity": self._identity, "text": written}
        metadata["sha256"] = files.checksum(tensors, written)
        files.write_whole(self._path(part), save(tensors, metadata=metadata))
        self._saved = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._saved >= _EVERY

    def load(self, part: str) -> tuple[dict[str, np.ndarray], dict] | None:
        """Return tensors and text of a part; None where it was never saved."""
        path = self._path(part)
        if not path.exists():
            return None
        damaged = f"{path} is no part of a checkpoint, or a damaged one"
        with files.whole_tensors(damaged), safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
        if metadata.get("identity") != self._identity:
            raise InputError(
                f"The checkpoint in {self.folder} belongs to a run with other data, options or random state, or of "
                "another version of netlearn: give another folder, or remove this one."
            )
        text = metadata.get("text", "")
        if metadata.get("sha256") != files.checksum(tensors, text):
            raise InputError(f"{damaged} (its checksum does not match its contents).")
        try:
            return tensors, dict(json.loads(text))
        except (TypeError, ValueError, RecursionError):
            raise InputError(f"{damaged} (its text is not what it should be).") from None

    def _path(self, part: str) -> Path:
        return self.folder / f"{part}.safetensors"


def fingerprint(X: np.ndarray, y: np.ndarray) -> str:
    """Return a hash of two arrays: shapes, all labels, and rows spread over X, up to about 32 MB of them."""
    step = max(1, X.size // 2**22)
    parts = hashlib.sha256(repr((X.shape, str(X.dtype), y.shape, str(y.dtype))).encode())
    parts.update(np.ascontiguousarray(y).data)
    parts.update(np.ascontiguousarray(X[::step]).data)
    return parts.hexdigest()
