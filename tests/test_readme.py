"""What README and docs show is what happens: examples run, links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

from netlearn import Status

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_example_prints_what_it_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_two_commands_come_first():
    commands = [line.split("#")[0].strip() for line in README.splitlines() if line.startswith("make ")]
    assert commands == ["make demo", "make test"]
    assert README.splitlines()[2:5] == ["```", *(line for line in README.splitlines() if line[:5] == "make ")]


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_every_status_is_in_the_table(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE)) == {status.name for status in Status}


GUIDE = [
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "guide.md",
    ROOT / "docs" / "faq.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.name)
def test_the_examples_of_the_guide_print_what_they_say(page):
    outcome = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    assert outcome.attempted >= 5
    assert outcome.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    here = [link for link in links if "://" not in link]
    assert [link for link in here if not (page.parent / link).exists()] == []
