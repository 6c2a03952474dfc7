"""How answers leave the command line: tables for people, one JSON object for programs, progress on stderr."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from netlearn.cli.ending import printable

NOT_CERTIFIED = 3


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    data : dict
        The JSON object; finite numbers, strings, lists, dicts and None only.
    view : rich renderable
        The same for a person at a terminal.
    exit_code : int
        0, or `NOT_CERTIFIED`.
    """

    data: dict[str, Any]
    view: RenderableType
    exit_code: int = 0


def deliver(answer: Answer, *, as_json: bool) -> None:
    """Print an answer on stdout and end the command with its exit code."""
    if as_json:
        typer.echo(json.dumps(answer.data, allow_nan=False))
    else:
        Console(highlight=False).print(_Shown(answer.view))
    raise typer.Exit(answer.exit_code)


class _Shown:
    """A view whose texts a terminal can only show: names that came from a file may hold commands to it."""

    def __init__(self, view: RenderableType):
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self._view, options, pad=False):
            for text, style, control in line:
                yield Segment(printable(text), style, control)
            yield Segment.line()


@contextmanager
def working(message: str) -> Iterator[Callable[[str], None]]:
    """Show what runs, on stderr and only at a terminal; what is yielded replaces the message."""
    with Console(stderr=True).status(Text(message)) as status:
        yield lambda news: status.update(Text(news))


def table(title: str, *headings: str, text_columns: int = 1) -> Table:
    """Start a table whose first `text_columns` columns hold words, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, heading in enumerate(headings):
        made.add_column(heading, justify="left" if index < text_columns else "right")
    return made


def card() -> Table:
    """Start a list of labelled sentences; rows are (label, sentence)."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="bold", no_wrap=True)
    made.add_column()
    return made


def number(log10: float) -> str:
    """Write 10**log10 for reading: in full between 0.0001 and a thousand million, else as a power of ten.

    Examples
    --------
    >>> number(-1.5), number(6.0), number(141.27)
    ('0.0316', '1,000,000', '10^141.3')
    """
    if not -4.0 <= log10 < 9.0:
        return f"10^{log10:.1f}"
    value = 10.0**log10
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"
