"""Files that commands write: refused before any work where they cannot be, replaced only by whole ones."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netlearn.errors import InputError
from netlearn.network.files import cannot_write


def check_output(
    path: str | None, option: str, suffixes: tuple[str, ...], inputs: tuple[str, ...] = ()
) -> None:
    """Refuse a file that could not be written when the work is done; None is no file, and fine."""
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        raise InputError(f"{option} must be a file ending in {' or '.join(suffixes)}, got {path}.")
    if not target.parent.is_dir():
        raise InputError(f"Cannot write {path}: the folder {target.parent} does not exist.")
    if target.is_dir():
        raise InputError(f"Cannot write {path}: it is a folder.")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"Cannot write {path}: the folder {target.parent} is not writable.")
    for file in inputs:
        if os.path.exists(file) and target.exists() and os.path.samefile(file, target):
            raise InputError(f"{option} must not be a file that is read; got {path}.")


@contextmanager
def replacing(path: str) -> Iterator[Path]:
    """Give the name of a file beside `path`, which takes its place at the end if nothing went wrong."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield beside
        with open(beside, "rb+") as stream:
            os.fsync(stream.fileno())  # a full disk may show only now
        os.replace(beside, target)
    except OSError as error:
        if error.filename not in (None, str(beside)):  # another file's fault
            raise
        raise cannot_write(path, error) from error
    finally:
        beside.unlink(missing_ok=True)
