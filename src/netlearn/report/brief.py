"""A result in a few lines of text, as Python shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlearn.report.verdict import headline, warning
from netlearn.report.words import as_sentence, plural, short
from netlearn.words import score_sentence, share_sentence

if TYPE_CHECKING:
    from netlearn.result import LearnResult

_NAME = 30


def brief(result: LearnResult) -> str:
    """Say how the run ended, what was found, how good and how sure it is, and what to do next, in at most 8 lines.

    Nothing is computed: `repr` may be called at any time.
    """
    found = headline(result)
    lines = [f"<LearnResult {result.status.name}> {found.short}. {found.sentence}"]
    if (missed := warning(result)) != "":
        lines.append(f"  missed    {missed}")
    f = result.network
    if f is not None:
        outputs = f", {plural(f.n_outputs, 'output')}" if f.n_outputs > 1 else ""
        target = short(result.target, _NAME) if isinstance(result.target, str) else ""
        of = f" for {target}" if target else ""
        lines.append(
            f"  network   {plural(f.n_hidden, 'unit')} on {plural(f.n_features, 'feature')}{outputs}{of}"
        )
    if result.score is not None:
        lines.append(f"  held out  {score_sentence(result.score)}")
    if result.certificate is not None:
        lines.append(f"  sure      {share_sentence(result.certificate)}")
    if result.diagnostics.advice:
        lines.append(f"  next      {as_sentence(result.diagnostics.advice)}")
    if f is not None:
        lines.append(
            "  more      .predict(X), .sensitivity(), .summary(), .report('report.html'), .save(path)"
        )
    return "\n".join(lines)
