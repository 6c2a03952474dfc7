"""Commands on a page and what they print: run again, and compared or written anew.

    python docs/transcripts.py docs/guide/five_minutes.md docs/jobs.md

A block ```console holds commands after "$ " and below each what it prints. A block ```python that begins with a comment
such as "# houses.py" is a file of that name. All commands of a page run in one new folder.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
_FILE = re.compile(r"(?ms)^```python\n# (\w+\.py)\n(.*?)^```$")
_WIDTH = 80
# The commands of this environment, whatever the path says.
_SHELL = 'netlearn() { "$PYTHON" -c "from netlearn.cli import main; main()" "$@"; }; python() { "$PYTHON" "$@"; }; '


def rerun(page: Path) -> str:
    """Return the text of a page with what its commands print now."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="netlearn-") as folder:
        for name, code in _FILE.findall(text):
            (Path(folder) / name).write_text(code, encoding="utf-8")
        return _BLOCK.sub(lambda block: f"```console\n{_answered(block[1], folder)}```", text)


def _answered(block: str, folder: str) -> str:
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_printed(command, folder)}" for command in commands)


def _printed(command: str, folder: str) -> str:
    setting = {"PYTHON": sys.executable, "COLUMNS": str(_WIDTH), "TERM": "dumb", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["bash", "-c", _SHELL + command],
        cwd=folder,
        env={**os.environ, **setting},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        given.write_text(rerun(given), encoding="utf-8")
