"""The result card of a notebook: plain HTML that takes its colours from the notebook, and no figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from netlearn.report.tables import Table, certificates_table, units_table
from netlearn.report.words import VERDICTS, certificate_sentence, facts

if TYPE_CHECKING:
    from netlearn.result import LearnResult

_SHOWN_UNITS = 8


def card_html(result: LearnResult) -> str:
    """Return the card: the status in words, the facts, the certificate, and the leading units."""
    answer = VERDICTS[result.status.name][1]
    rows = [(fact.label, f"{fact.text} ({fact.note})" if fact.note else fact.text) for fact in facts(result)]
    rows.append(("Certificate", certificate_sentence(result.certificate)))
    rows += [("Note", note) for note in result.diagnostics.notes]
    parts = [
        '<div style="max-width: 60em">',
        f"<p><strong>{result.status.name}</strong>. {escape(answer)}</p>",
        _table([], rows),
    ]
    if result.certificate is not None and result.certificate.per_output:
        parts.append(_shown(certificates_table(result)))
    if result.network is not None and result.network.n_hidden and result.status.name != "NO_SIGNAL":
        table = units_table(result, _SHOWN_UNITS)
        left = result.network.n_hidden - len(table.rows)
        parts.append(_shown(replace(table, left_out=f"and {left:,} more" if left else "")))
    return "".join([*parts, "</div>"])


def _shown(table: Table) -> str:
    left_out = f"<p>{escape(table.left_out)}</p>" if table.left_out else ""
    return _table(table.headings, [[cell.text for cell in row] for row in table.rows]) + left_out


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cell = '<{0} style="text-align: left; white-space: normal">{1}</{0}>'
    lines = [[cell.format("th", escape(text)) for text in headings]] if headings else []
    lines += [[cell.format("td", escape(text)) for text in row] for row in rows]
    return f"<table>{''.join(['<tr>' + ''.join(line) + '</tr>' for line in lines])}</table>"
