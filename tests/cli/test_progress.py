"""The live display: steps, rows and time, for a clock that the test turns."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from netlearn.cli import progress
from netlearn.run import Progress


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def shown(display, width=80):
    console = Console(width=width, file=io.StringIO())
    console.print(display)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_rooms_are_listed_with_their_seconds():
    clock = Clock()
    file = SimpleNamespace(n_read=0, n_rows_if_known=1_000_000)
    display = progress.Display("Learning t.csv", time_limit=90.0, file=file, clock=clock)
    clock.now, file.n_read = 102.0, 500_000
    head, samples = shown(display)
    assert head == "Learning t.csv (2.0 s, 1:28 min left)"
    assert samples.split()[1:] == "samples 500,000 of 1,000,000 rows, 250,000 rows/s 2.0 s".split()
    file.n_read = 1_000_000
    display(Progress("samples", "reading", 2.0))
    clock.now = 104.0
    display(Progress("search", "looking for units", 4.0))
    clock.now = 107.5
    display(Progress("search", "4 units", 7.5))
    lines = shown(display)
    assert len(lines) == 3
    assert "1,000,000 rows, 250,000 rows/s" in lines[1]
    assert lines[1].endswith("4.0 s")
    assert "search" in lines[2]
    assert "4 units" in lines[2]
    assert lines[2].endswith("3.5 s")


def test_a_room_that_is_entered_again_goes_on_counting():
    clock = Clock()
    display = progress.Display("Asking", clock=clock)
    for step, now in (("samples", 100.0), ("search", 101.0), ("samples", 103.0), ("search", 106.0)):
        clock.now = now
        display(Progress(step, "", 0.0))
    clock.now = 110.0
    lines = shown(display)
    assert lines[0] == "Asking (10.0 s)"
    assert [line.split()[-2] for line in lines[1:]] == ["4.0", "6.0"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_display_keeps_to_the_terminal(width):
    display = progress.Display("Learning", clock=Clock())
    display(Progress("search", "a long message " * 20, 0.0))
    lines = shown(display, width)
    assert [line.split()[-2:] for line in lines[1:]] == [["0.0", "s"], ["0.0", "s"]]
    assert max(map(len, lines)) <= width
    assert [line[3:11].strip() for line in lines[1:]] == ["samples", "search"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.04, "0.0 s"), (59.0, "59.0 s"), (75.9, "1:15 min"), (3725.0, "1:02 h")]
)
def test_durations(seconds, words):
    assert progress._clocked(seconds) == words


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with progress.showing(progress.Display("Learning")):
        pass
    assert capsys.readouterr() == ("", "")
