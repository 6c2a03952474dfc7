"""`netlearn report`: the report of a run that was saved before."""

from rich.text import Text

from netlearn.cli.output import Answer, card, working
from netlearn.cli.outputs import check_output
from netlearn.result import LearnResult


def answer(model: str, out: str) -> Answer:
    """Read the result, write the page."""
    check_output(out, "--out", (".html", ".htm"), (model,))
    result = LearnResult.load(model)
    with working(f"Writing {out}"):
        result.report(out)
    lines = card()
    lines.add_row("report", Text(f"{out}: open it in a browser"))
    return Answer({"model": model, "files": {"report": out}}, lines)
