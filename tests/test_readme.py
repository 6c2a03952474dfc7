"""The README's example runs and prints what the README says, up to the last digits and the seconds."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    shown, expected = capsys.readouterr().out.splitlines(), printed.splitlines()
    # Counts of candidates and last digits may differ between linear algebra libraries.
    exact = ("status", "network", "subspace")
    assert [line for line in shown if line.startswith(exact)] == [
        line for line in expected if line.startswith(exact)
    ]
    assert [line.split()[:1] for line in shown] == [line.split()[:1] for line in expected]
    assert float(shown[-1].split()[-1]) <= 0.25


def test_two_commands_come_first():
    commands = [line.split("#")[0].strip() for line in README.splitlines() if line.startswith("make ")]
    assert commands == ["make demo", "make test"]
