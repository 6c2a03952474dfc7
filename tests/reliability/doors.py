"""What must stay as it was, and what must come to an end: the means by which every row of bad input is checked."""

import contextlib
import io
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from netlearn import cli

# Far above what a refusal takes on a busy machine: only a hang gets there.
_PATIENCE = 120


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """End what takes longer than any refusal could."""

    def give_up(number, frame):
        raise AssertionError(f"still at work after {_PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def called(*arguments: object) -> tuple[int, str, str]:
    """Call the command line in this process; gives exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["netlearn", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        no_hang(),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def files() -> dict[Path, bytes]:
    """Return the contents of all files below this folder."""
    return {
        path: path.read_bytes()
        for path in Path().rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def contents(value: object) -> object:
    """Return the numbers behind an argument, to be compared with what they are later."""
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tobytes(), value.mask.tobytes()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.tobytes()
    if hasattr(value, "to_numpy"):  # a frame
        return repr(value.to_numpy().tolist())
    if hasattr(value, "layout") and str(value.layout) == "torch.strided" and value.device.type == "cpu":
        return bytes(value.untyped_storage())
    return repr(value) if isinstance(value, list | tuple | dict) else None
