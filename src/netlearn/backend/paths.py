"""The one check that every path given from outside passes."""

import os

from netlearn.errors import InputError


def path_text(what: str, path: str | os.PathLike) -> str:
    """Return a path as text, or one sentence on why it is none; `what` opens the sentence."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{what} must be a path, got {path!r:.100}.")
    return text
