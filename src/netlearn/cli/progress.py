"""A run as it goes, on stderr: at a terminal a live list of its steps, elsewhere a line every few seconds."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from netlearn.cli.ending import printable
from netlearn.words import step_name

if TYPE_CHECKING:
    from netlearn.run import Progress
    from netlearn.source import FileSource

# Seconds should not be far from what took them.
_WIDEST = 90
# Seconds between two lines where there is no terminal; a run that is over before has none.
_BETWEEN_LINES = 5.0


class Display:
    """What is shown while `learn` runs; it is the callable that `learn` tells of its progress.

    Parameters
    ----------
    title : str
        What is being done.
    time_limit : float, optional
        Seconds that the run was given.
    file : FileSource, optional
        The rows, where they are read from a file; it tells how far reading is.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        title: str,
        time_limit: float | None = None,
        file: "FileSource | None" = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.title, self.time_limit, self.file, self._clock = title, time_limit, file, clock
        self.step, self.message = "samples", ""
        self._start = self._entered = clock()
        self._seconds: dict[str, float] = {}
        self._spinner = Spinner("dots")

    def __call__(self, progress: "Progress") -> None:
        """Take note of where the run is."""
        now = self._clock()
        if progress.step != self.step:
            self._seconds[self.step] = self._seconds.get(self.step, 0.0) + now - self._entered
            self._entered = now
        self.step, self.message = progress.step, progress.message

    def line(self) -> str:
        """Say where the run is in one line."""
        now = self._clock()
        spent = now - self._entered + self._seconds.get(self.step, 0.0)
        doing = self.message
        if self.step == "samples" and (reading := self._reading(spent)):
            doing = reading
        return f"{self.title} {self._total(now)}: {step_name(self.step)}{f', {doing}' if doing else ''}"

    def __rich__(self) -> RenderableType:
        now = self._clock()
        rows = Table.grid(padding=(0, 2), expand=True)
        rows.add_column(width=1)
        rows.add_column(width=8)
        rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")  # what the others leave
        rows.add_column(justify="right", width=9)
        for step, seconds in self._seconds.items():
            if step != self.step:
                rows.add_row(
                    "",
                    _step(step),
                    self._reading(seconds) if step == "samples" else "",
                    _clocked(seconds),
                    style="dim",
                )
        spent = now - self._entered + self._seconds.get(self.step, 0.0)
        message = self.message
        if self.step == "samples" and (reading := self._reading(spent)):
            message = reading
        rows.add_row(self._spinner, Text(_step(self.step), style="bold"), message, _clocked(spent))
        return Group(Text(f"{self.title} {self._total(now)}"), Constrain(rows, _WIDEST))

    def _total(self, now: float) -> str:
        spent = now - self._start
        if self.time_limit is None:
            return f"({_clocked(spent)})"
        return f"({_clocked(spent)}, {_clocked(max(self.time_limit - spent, 0.0))} left)"

    def _reading(self, seconds: float) -> str:
        if self.file is None or self.file.n_read == 0:
            return ""
        total = self.file.n_rows_if_known
        of = "" if total in (None, self.file.n_read) else f" of {total:,}"
        # The first second is spent on opening, not on reading.
        rate = f", {self.file.n_read / seconds:,.0f} rows/s" if seconds > 1.0 else ""
        return f"{self.file.n_read:,}{of} rows{rate}"


@contextmanager
def showing(display: Display) -> Iterator[None]:
    """Keep the display on stderr while the block runs, and take it away at the end; without a terminal, print lines."""
    console = Console(stderr=True)
    if not console.is_terminal:
        with _printing(display):
            yield
        return
    with Live(display, console=console, refresh_per_second=8, transient=True):
        yield


@contextmanager
def _printing(display: Display) -> Iterator[None]:
    """Print a line every few seconds, from a thread of its own: a step may take long without a word."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(_BETWEEN_LINES):
            typer.echo(f"netlearn: {printable(display.line())}", err=True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _step(step: str) -> str:
    """Return the plain name of a step, in one word."""
    return step if step == "samples" else step_name(step)


def _clocked(seconds: float) -> str:
    """Write a duration for reading.

    Examples
    --------
    >>> _clocked(3.21), _clocked(75.0), _clocked(3725.0)
    ('3.2 s', '1:15 min', '1:02 h')
    """
    if seconds < 60.0:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    return (
        f"{minutes}:{int(seconds % 60):02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
    )
