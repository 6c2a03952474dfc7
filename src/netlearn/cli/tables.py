"""Tables on the command line: the options that say how to read one, and the list of what is wrong with it."""

import csv
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from netlearn.cli.ending import BAD_INPUT, printable


@dataclass(frozen=True)
class Reading:
    """How the rows of a file are read, in the words of the command line."""

    features: str | None = None
    keep: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    missing: str = "error"
    encode: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Translate into the arguments of `FileSource`, which checks them."""
        return {
            "features": None if self.features is None else names(self.features),
            "keep": _several(self.keep),
            "drop": _several(self.drop),
            "missing": self.missing,
            "encode": self.encode,
        }


def _several(given: Sequence[str] | None) -> list[str] | None:
    return [name for text in given for name in names(text)] if given else None


def names(text: str) -> list[str]:
    """Split a list of column names at its commas; quotes keep a comma inside a name."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


@contextmanager
def listing() -> Iterator[None]:
    """Print everything that is wrong with a table, each problem on its own line, with the options that help."""
    try:
        yield
    except ValueError as refusal:
        from netlearn.source.problems import TableError  # not at the top, where it would make `--help` wait

        if not isinstance(refusal, TableError):
            raise
        lines = refusal.lines(_as_option)
        for place, line in enumerate(lines):
            typer.echo(("" if place else "netlearn: ") + printable(line), err=True)
        raise SystemExit(BAD_INPUT) from None


def _as_option(option: str, value: str) -> str:
    return f"--{option} {value if value == 'NAME' else shlex.quote(value)}"
