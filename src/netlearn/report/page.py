"""The report: one HTML file with everything in it, written from a template."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.resources import files as resources
from typing import TYPE_CHECKING

from netlearn.backend.extras import need
from netlearn.network.files import write_whole
from netlearn.report.facts import facts
from netlearn.report.outputs import output_cards
from netlearn.report.sections import sections
from netlearn.report.technical import technical
from netlearn.report.verdict import Answer, answers, headline, warning
from netlearn.report.words import as_sentence, plural, target_words, typeset

if TYPE_CHECKING:
    from netlearn.result import LearnResult

# Longer tables are folded away under their figure.
_OPEN_ROWS = 10


def write_report(result: LearnResult, path: str | os.PathLike) -> None:
    """Write the report of a run to `path` as one HTML file; an existing file is replaced once all is written.

    It needs no network access, no other file and no script. Equal results give equal files.

    Parameters
    ----------
    result : LearnResult
    path : str or path
    """
    write_whole(path, page_html(result).encode())


def page_html(result: LearnResult) -> str:
    """Return the report as text."""
    jinja2 = need("jinja2", extra="report", purpose="A report")
    environment = jinja2.Environment(
        autoescape=True,  # column names and notes are data, never markup
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    here = resources("netlearn.report")
    template = environment.from_string(here.joinpath("page.html.jinja").read_text(encoding="utf-8"))
    return template.render(
        result=result,
        certificate=result.certificate,
        departure=result.diagnostics.departure,
        style=here.joinpath("page.css").read_text(encoding="utf-8"),
        headline=headline(result),
        answers=[_typeset(answer) for answer in answers(result)],
        warning=warning(result),
        notes=[as_sentence(note) for note in result.diagnostics.notes],
        target=target_words(result),
        predicted_from=plural(result.network.n_features, "feature") if result.has_network else "",
        cards=output_cards(result),
        facts=facts(result),
        sections=sections(result),
        technical=technical(result),
        open_rows=_OPEN_ROWS,
    )


def _typeset(answer: Answer) -> Answer:
    """Typeset the numbers of an answer, unless it has names of columns, which stay as they are."""
    return answer if answer.key == "matters" else replace(answer, text=typeset(answer.text))
