"""Pages that show commands show what these print; numbers may differ in a digit from machine to machine."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if "```console" in page.read_text(encoding="utf-8")
]


def tool():
    spec = importlib.util.spec_from_file_location("transcripts", ROOT / "docs" / "transcripts.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def words(text):
    """Return the words, without numbers and without the ends of lines."""
    return re.sub(r"[\d.,]*\d", "#", text).split()


def test_there_is_such_a_page():
    assert [page.name for page in PAGES] == ["five_minutes.md", "jobs.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    assert words(tool().rerun(page)) == words(page.read_text(encoding="utf-8")), (
        f"run: python docs/transcripts.py {page.relative_to(ROOT).as_posix()}"
    )
