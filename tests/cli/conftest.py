"""The command line, called in this process."""

import sys

import pytest

from netlearn import cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process; gives (exit code, stdout, stderr)."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["netlearn", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return call
