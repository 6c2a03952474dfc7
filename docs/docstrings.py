r"""A Sphinx extension that makes reStructuredText of docstrings that were written to be read in an editor.

Formulas there are plain text: |x| is a length, d**2 a square, and an indented paragraph a displayed formula. Keys of
docs/references.bib in brackets become links to the bibliography.
"""

import re

SECTION = re.compile(r"-{3,}\s*$")
# Code, emphasis and the mark of a list are the markup that docstrings use; all else is text.
MARKUP = re.compile(r"(``.*?``|`[^`]*`|(?<![\w*(])\*\w[^*]*\w\*(?!\w)|^ *\* )")
KEY = re.compile(r"\[([A-Z]+\d\d)\]_")


def plain(line: str) -> str:
    """Escape what reStructuredText would take for markup, and link keys of the bibliography."""
    parts = MARKUP.split(line)
    for i in range(0, len(parts), 2):  # what lies between pieces of markup
        text = parts[i].replace("|", r"\|").replace("*", r"\*")
        text = re.sub(r"(?<=\w)_(?![\w])", r"\_", text)
        parts[i] = KEY.sub(r":cite:p:`\1`", text.replace(r"]\_", "]_"))
    return "".join(parts)


def prose(lines: list[str]) -> list[str]:
    """Turn indented paragraphs into literal blocks, and escape the rest."""
    out: list[str] = []
    for line in lines:
        if not line.startswith("    "):
            out.append(plain(line))
            continue
        if out and not out[-1]:  # a paragraph begins: say that it is to be taken literally
            before = len(out) - 2
            if before >= 0 and out[before].endswith(":") and not out[before].startswith("    "):
                out[before] += ":"
            elif before < 0 or not out[before].startswith("    "):
                out.extend(["::", ""])
        out.append(line)
    return out


def without_references(lines: list[str]) -> list[str]:
    """Leave out the section that only repeats keys of the bibliography."""
    if "References" not in lines:
        return lines
    start = lines.index("References")
    rest = (i for i in range(start + 2, len(lines)) if SECTION.match(lines[i]))
    return lines[:start] + lines[next(rest, len(lines) + 1) - 1 :]


def convert(app, what, name, obj, options, lines: list[str]) -> None:
    """Rewrite the lines of one docstring in place."""
    lines[:] = without_references(lines)
    sections = (i - 1 for i, line in enumerate(lines) if i and SECTION.match(line))
    head = next(sections, len(lines))
    # Names of parameters stand at the margin and are numpydoc's to read; types beside them may hold a length.
    tail = [plain(line) if line.startswith("    ") else line.replace("|", r"\|") for line in lines[head:]]
    lines[:] = prose(lines[:head]) + tail


def setup(app) -> dict:
    """Run before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", convert, priority=100)
    return {"parallel_read_safe": True}
