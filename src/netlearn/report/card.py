"""The result card of a notebook: the first screen of the report as plain HTML, in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from netlearn.report.tables import Table, certificates_table
from netlearn.report.verdict import answers, headline, warning

if TYPE_CHECKING:
    from netlearn.result import LearnResult

_COLOURS = {"recovered": "#00795a", "certified": "#0064a0", "useful": "#9a6500", "nothing": "#b3261e"}


def card_html(result: LearnResult) -> str:
    """Return the card: the headline, the four answers, what must not be overlooked, and notes."""
    found = headline(result)
    side = f"border-left: 5px solid {_COLOURS[found.kind]}; padding-left: 1em; max-width: 60em"
    parts = [
        f'<div style="{side}">',
        f"<p><strong>{escape(found.short)}.</strong> {escape(found.sentence)}</p>",
    ]
    if missed := warning(result):
        parts.append(f"<p><strong>{escape(missed)}</strong></p>")
    rows = [(answer.question, answer.text) for answer in answers(result)]
    rows += [("Note", note) for note in result.diagnostics.notes]
    parts.append(_table([], rows))
    if result.certificate is not None and result.certificate.per_output:
        parts.append(_shown(certificates_table(result)))
    parts.append(f"<p><code>{result.status.name}</code></p>")
    return "".join([*parts, "</div>"])


def _shown(table: Table) -> str:
    left_out = f"<p>{escape(table.left_out)}</p>" if table.left_out else ""
    return _table(table.headings, [[cell.text for cell in row] for row in table.rows]) + left_out


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cell = '<{0} style="text-align: left; white-space: normal; vertical-align: top">{1}</{0}>'
    lines = [[cell.format("th", escape(text)) for text in headings]] if headings else []
    lines += [[cell.format("td", escape(text)) for text in row] for row in rows]
    return f"<table>{''.join(['<tr>' + ''.join(line) + '</tr>' for line in lines])}</table>"
