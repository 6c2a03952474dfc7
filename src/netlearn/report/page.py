"""The report: one HTML file with everything in it, written from a template."""

from __future__ import annotations

import os
from importlib.metadata import version
from importlib.resources import files as resources
from typing import TYPE_CHECKING

from netlearn.backend.extras import need
from netlearn.network.files import write_whole
from netlearn.report.sections import sections
from netlearn.report.tables import certificates_table, parameters_table
from netlearn.report.words import (
    VERDICTS,
    certificate_sentence,
    departure_sentence,
    facts,
    target_words,
    verdict_sentence,
)

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
    mark, answer = VERDICTS[result.status.name]
    return template.render(
        result=result,
        network=result.network,
        certificate=result.certificate,
        seen=result.diagnostics,
        style=here.joinpath("page.css").read_text(encoding="utf-8"),
        mark=mark,
        answer=answer,
        facts=facts(result),
        verdict_sentence=verdict_sentence(result),
        certificate_sentence=certificate_sentence(result.certificate),
        departure_sentence=departure_sentence(result.diagnostics.departure),
        sections=sections(result),
        target=target_words(result),
        certificates=certificates_table(result) if _has_several(result) else None,
        parameters=None if result.network is None else parameters_table(result),
        open_rows=_OPEN_ROWS,
        version=version("netlearn"),
    )


def _has_several(result: LearnResult) -> bool:
    return result.certificate is not None and bool(result.certificate.per_output)
