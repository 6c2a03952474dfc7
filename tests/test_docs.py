"""The site holds together before it is built: examples run, links and commands lead somewhere, names exist."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import netlearn
from benchmarks import everyday
from netlearn.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "api", "gallery")  # by Sphinx
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in MADE]
EXAMPLES = sorted((DOCS / "examples").rglob("*.py"))
TEXTS = [ROOT / "README.md", *PAGES, *EXAMPLES]


def name(path):
    return path.relative_to(ROOT).as_posix()


def test_there_are_pages_and_examples():
    assert len(PAGES) > 15
    assert len(EXAMPLES) > 10


# Examples


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_an_example_is_a_page_with_a_figure(path):
    source = path.read_text(encoding="utf-8")
    title, underline, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert underline == "=" * len(title)
    assert "plt.subplots(" in source
    compile(source, str(path), "exec")


@pytest.mark.parametrize(
    ("example", "printed"),
    [
        ("start/first_network.py", "RECOVERED"),
        ("start/biases_and_width.py", "RECOVERED with 7 units"),
        ("limits/certificate.py", "0 of 300 bounds are below the true error"),
    ],
)
def test_the_quickest_examples_run(example, printed):
    done = subprocess.run(
        [sys.executable, "-W", "error", DOCS / "examples" / example],
        env={**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def test_every_group_of_examples_has_a_place():
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    groups = {path.parent.name for path in EXAMPLES}
    assert set(re.findall(r'"examples/(\w+)"', conf)) == groups
    assert all((DOCS / "examples" / group / "GALLERY_HEADER.rst").exists() for group in groups)


# Links. That relative links lead to files is checked in test_readme.py; here are the others.


def anchors(page):
    """Return the anchors of the headings of a page, as the site makes them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"(?m)^#+ (.*)$", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def page_of(target):
    """Return the file behind a document's name: of a page, or of an example that will become one."""
    if target.startswith("/gallery/"):
        return DOCS / "examples" / (target.removeprefix("/gallery/") + ".py")
    return DOCS / (target.removeprefix("/") + ".md")


def broken_links(text, folder):
    """Return anchors without a heading, and documents and examples without a file."""
    broken = []
    for link, anchor in re.findall(r"\]\(([^)#\s]*\.md)#([^)\s]+)\)", text):
        if anchor not in anchors((folder / link).resolve()):
            broken.append(f"{link}#{anchor}")
    for target in re.findall(r"(?:\{doc\}|:doc:)`(?:[^`<]*<)?(/[\w/]+)>?`", text):
        if not page_of(target).exists():
            broken.append(target)
    for target in re.findall(r":ref:`sphx_glr_gallery_(\w+)\.py`", text):
        if not page_of("/gallery/" + target.replace("_", "/", 1)).exists():
            broken.append(target)
    return broken


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_links_lead_to_headings_and_documents(path):
    assert broken_links(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[x](guide.md#options)", []),
        ("[x](guide.md#nonsense)", ["guide.md#nonsense"]),
        ("{doc}`noise </gallery/limits/noise>`, :doc:`/theory/filters`", []),
        ("{doc}`noise </gallery/limits/nonsense>`", ["/gallery/limits/nonsense"]),
        (":doc:`/theory/nonsense`", ["/theory/nonsense"]),
        (":ref:`sphx_glr_gallery_limits_hard_plane.py`", []),
        (":ref:`sphx_glr_gallery_limits_nonsense.py`", ["limits_nonsense"]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(text, broken):
    assert broken_links(text, DOCS) == broken


# Words

# Words of the code that say nothing to a reader; the glossary may explain one.
ODD = re.compile(r"\b(bent|melts?|sleeps?|aside|rooms?|corridors?|probes?|polish\w*)\b|counts as none", re.I)


def prose(text):
    """Return a page without code, neither in blocks nor within lines."""
    return re.sub(r"`[^`\n]+`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


def sentences(source):
    """Return the strings of a module that have a space and are no docstring: what its users may see."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in bare)
    return [node.value for node in strings if isinstance(node.value, str) and " " in node.value]


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name)
def test_pages_use_plain_words(path):
    if path.name != "glossary.md":
        assert ODD.findall(prose(path.read_text(encoding="utf-8"))) == []


def test_messages_use_plain_words():
    modules = (ROOT / "src").rglob("*.py")
    said = [text for module in modules for text in sentences(module.read_text(encoding="utf-8"))]
    assert len(said) > 500
    assert [text for text in said if ODD.search(text)] == []


def test_an_odd_word_is_found():
    assert ODD.search(prose("The `probe` is fine,\n```\npolish\n```\nbut this room is not."))[0] == "room"
    assert sentences('"""A room."""\nf("a corridor")\nf("polish")') == ["a corridor"]


# Commands

COMMANDS = typer.main.get_command(app).commands


def quoted_commands(text):
    """Return what stands behind `netlearn` in code, in blocks and within lines, as lists of words."""
    blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```$", text)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("netlearn ")]
    inline = re.findall(r"(?<!`)`(netlearn [^`]+)`(?!`)", text)
    # A choice of commands, such as "demo | plan", is no command.
    return [shlex.split(line, comments=True)[1:] for line in lines + inline if "|" not in line]


def unknown(words):
    """Return the command, or those of its options, that the command line does not know."""
    if words[0].startswith("-"):
        return [] if words[0] in ("--help", "--version") else words[:1]
    if words[0] not in COMMANDS:
        return words[:1]
    known = {"--help", *(opt for param in COMMANDS[words[0]].params for opt in param.opts)}
    return [word for word in words[1:] if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known]


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_quoted_commands_exist(path):
    quoted = quoted_commands(path.read_text(encoding="utf-8"))
    assert [" ".join(words) for words in quoted if unknown(words)] == []


def test_every_command_is_on_its_page():
    quoted = quoted_commands((DOCS / "cli.md").read_text(encoding="utf-8"))
    assert {words[0] for words in quoted} == set(COMMANDS)


def test_a_command_that_does_not_exist_is_found():
    text = (
        "```\nnetlearn learn a.csv --nonsense 3\n```\nSee `netlearn plan -k 2 -d 10` and `netlearn nonsense`."
    )
    assert [unknown(words) for words in quoted_commands(text)] == [["--nonsense"], [], ["nonsense"]]


# The reference

LISTED = re.findall(r"(?m)^   (netlearn\.[\w.]+)$", (DOCS / "api.md").read_text(encoding="utf-8"))


def test_the_reference_lists_every_public_name():
    assert {
        f"netlearn.{name}" for name in netlearn.__all__ if name not in ("__version__", "paper", "teachers")
    } <= set(LISTED)
    assert {f"netlearn.teachers.{name}" for name in netlearn.teachers.__all__} <= set(LISTED)


def test_every_name_of_the_reference_has_a_sentence():
    said = re.findall(
        r"(?m)^\| \{py:obj\}`(netlearn\.[\w.]+)` \| [^|]+\. \|$",
        (DOCS / "api.md").read_text(encoding="utf-8"),
    )
    assert said == LISTED


@pytest.mark.parametrize("dotted", LISTED)
def test_what_the_reference_lists_exists(dotted):
    module, _, attribute = dotted.rpartition(".")
    assert getattr(import_module(module), attribute).__doc__


def docstrings():
    """Load docs/docstrings.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("docstrings", DOCS / "docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("sum_i |lambda_i| and d**2", r"sum_i \|lambda_i\| and d\*\*2"),
        ("`|x|` stays, ``a*b`` too", "`|x|` stays, ``a*b`` too"),
        ("status_ is an attribute", r"status\_ is an attribute"),
        ("an *emphasis*, f(*args)", r"an *emphasis*, f(\*args)"),
        ("([CN24]_, Lemma 2.1)", "(:cite:p:`CN24`, Lemma 2.1)"),
        ("* an item", "* an item"),
    ],
)
def test_docstrings_lose_no_sign(written, shown):
    assert docstrings().plain(written) == shown


def test_displayed_formulas_become_literal():
    lines = [
        "A sum.",
        "",
        "It is",
        "",
        "    |x| + 1",
        "",
        "with an x:",
        "",
        "    x_",
        "",
        "Parameters",
        "----------",
        "x : |x|",
    ]
    docstrings().convert(None, None, None, None, None, lines)
    assert lines == [
        *("A sum.", "", "It is", "", "::", "", "    |x| + 1", "", "with an x::", "", "    x_", ""),
        *("Parameters", "----------", r"x : \|x\|"),
    ]


# Results


def test_the_table_of_everyday_data_is_that_of_the_results():
    assert everyday.PAGE.read_text(encoding="utf-8") == everyday.markdown()
