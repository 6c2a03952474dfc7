"""What `netlearn learn` and `netlearn extract` share: options, the run itself, its files and its card."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from netlearn import learn
from netlearn.cli.describe import certificate_sentences, certificates_table, result_data, shape
from netlearn.cli.models import SUFFIX
from netlearn.cli.output import NOT_CERTIFIED, Answer, card, working
from netlearn.cli.outputs import check_output
from netlearn.cli.predictions import SUFFIXES as PREDICTIONS
from netlearn.cli.predictions import predict_to_file
from netlearn.cli.progress import Display, showing
from netlearn.report.formula import is_readable, text_formula
from netlearn.report.measures import has_signal, noise_limit
from netlearn.report.verdict import headline, warning, what_matters
from netlearn.result import LearnResult
from netlearn.source import FileSource, OnDevice, Oracle
from netlearn.source.dask import DaskSource
from netlearn.words import is_missed_epsilon, score_sentence, shown_r2


@dataclass(frozen=True)
class Options:
    """What a user may ask of `learn`, in the words of the command line."""

    n_hidden: str
    biases: str
    epsilon: float | None
    failure_prob: float
    seed: int
    time_limit: float | None
    threads: int | None
    device: str = "cpu"
    checkpoint: str | None = None
    robust: bool = False
    target_lipschitz: float | None = None
    holdout: float | None = None
    strict: bool = False

    def arguments(self) -> dict[str, Any]:
        """Translate into the arguments of `learn`, which checks them."""
        return {
            "n_hidden": int(self.n_hidden) if re.fullmatch("-?[0-9]+", self.n_hidden) else self.n_hidden,
            "biases": {"yes": True, "no": False}.get(self.biases, self.biases),
            "epsilon": self.epsilon,
            "failure_prob": self.failure_prob,
            "rng": self.seed,
            "time_limit": self.time_limit,
            "checkpoint": self.checkpoint,
            "robust": self.robust,
            "target_lipschitz": self.target_lipschitz,
            "holdout": self.holdout,
        }

    @property
    def must_succeed(self) -> bool:
        """Whether only a recovered or certified network ends the command with 0."""
        return self.strict or self.epsilon is not None


@dataclass(frozen=True)
class Outputs:
    """Files to write when the run has ended; None is not asked for."""

    model: str | None = None
    report: str | None = None
    predictions: str | None = None

    def check(self, *inputs: str) -> None:
        """Refuse, before any work, what could not be written, or would replace one of the `inputs`."""
        check_output(self.model, "--out", SUFFIX, inputs)
        check_output(self.report, "--report", (".html", ".htm"), inputs)
        check_output(self.predictions, "--predictions", PREDICTIONS, inputs)
        if self.report is not None:
            from netlearn.backend.extras import need

            for package in ("matplotlib", "jinja2"):
                need(package, extra="report", purpose="Writing a report")

    def write(self, result: LearnResult, rows: FileSource | None = None) -> dict[str, str]:
        """Write them; gives the paths by what they hold."""
        paths = {"model": self.model, "report": self.report, "predictions": self.predictions}
        wanted = {what: path for what, path in paths.items() if path is not None}
        for what, path in wanted.items():
            with working(f"Writing {path}"):
                if what == "model":
                    result.save(path)
                elif what == "report":
                    result.report(path)
                elif rows is not None:
                    predict_to_file(result.network, result.output_names, rows, path)
        return wanted


def run(rows: FileSource | DaskSource | Oracle, options: Options, title: str) -> LearnResult:
    """Call `learn` with a live display, on the device asked for, and at most as many threads as allowed."""
    arguments = options.arguments()
    display = Display(title, options.time_limit, rows if isinstance(rows, FileSource) else None)
    placed = rows if options.device == "cpu" else OnDevice(rows, options.device)
    with threads(options.threads), showing(display):
        return learn(placed, progress=display, **arguments)


@contextmanager
def threads(limit: int | None) -> Iterator[None]:
    """Hold the libraries that compute to `limit` threads each; None leaves them alone."""
    with ExitStack() as stack:
        if limit is not None:
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(limit))
        yield


def outcome(
    result: LearnResult,
    written: dict[str, str],
    data: dict[str, Any],
    extra: dict[str, str] | None = None,
    *,
    strict: bool = False,
) -> Answer:
    """Make the answer of a run; `extra` are lines of the card that only this command has.

    With `strict`, a network that is neither recovered nor certified ends the command with another exit code.
    """
    answer = {
        **result_data(result),
        "names": list(result.names),
        "target": result.target,
        "outputs": list(result.output_names),
        "files": written,
        **data,
    }
    code = NOT_CERTIFIED if strict and not result.success else 0
    return Answer(answer, result_view(result, written, extra or {}), code)


_COLOURS = {
    "recovered": "bold green",
    "certified": "bold blue",
    "useful": "bold yellow",
    "nothing": "bold red",
}


def result_view(result: LearnResult, written: dict[str, str], extra: dict[str, str]) -> RenderableType:
    """Tell a result: how it ended, what was found, how sure that is, what to do next."""
    head, found = Text(), headline(result)
    head.append(f"{found.short}. ", style=_COLOURS[found.kind])
    head.append(f"{found.sentence}\n")
    if missed := warning(result):
        head.append(f"{missed}\n", style="bold")
    head.append("\n")
    head.append(result.status.name, style="bold")
    head.append(f"  {result.message}\n")
    lines = card()
    for label, sentence in [*_sentences(result), *extra.items()]:
        lines.add_row(label, Text(sentence))
    for note in result.diagnostics.notes:
        if not is_missed_epsilon(note):  # which the head has said
            lines.add_row("note", Text(note))
    for what, path in written.items():
        lines.add_row(what, Text(path))
    lines.add_row("next", Text(_next(result, written.get("model"))))
    if not result.certificate.per_output or result.held_out is None:
        return Group(head, lines)
    deviations = result.held_out.y.std(axis=0)
    return Group(head, lines, Text(), certificates_table(result.output_names, result.certificate, deviations))


def _sentences(result: LearnResult) -> Iterator[tuple[str, str]]:
    seen, network, certificate = result.diagnostics, result.network, result.certificate
    r = result.subspace.shape[1]
    span = f", spanning {r} dimension{'' if r == 1 else 's'}" if network.n_hidden else ": an affine function"
    yield "network", f"{shape(network)}{span}"
    if has_signal(result):
        if network.n_outputs == 1 and is_readable(result):
            yield "formula", "\n".join(text_formula(result))
        yield "matters", what_matters(result)
    together = ", of all outputs together" if certificate.per_output else ""
    share = ""
    # Of several outputs variances are summed, as the squares of their errors are.
    if result.held_out is not None and len(result.held_out.y) > 1:
        deviation = float(np.linalg.norm(result.held_out.y.std(axis=0)))
        share = f"; the labels' standard deviation is {deviation:.3g}" if deviation > 0.0 else ""
    limit = noise_limit(result)
    noise = "" if limit is None else f"; noise limits any model to an R2 of about {shown_r2(limit)}"
    if result.score is not None:
        yield "held out", f"{score_sentence(result.score)}{together}{share}{noise}"
    yield from certificate_sentences(certificate)
    if seen.noise_level is not None and has_signal(result):
        own = (
            "" if seen.excess_error is None else f"; the network's own error is about {seen.excess_error:.2g}"
        )
        yield "noise", f"standard deviation {seen.noise_level:.3g} in the labels{together}{own}"
    yield "cost", f"{sum(seen.rows.values()):,} rows, {sum(seen.seconds.values()):.1f} seconds"


def _next(result: LearnResult, model: str | None) -> str:
    advice = "" if result.success else result.diagnostics.advice
    if not has_signal(result):
        return advice
    if model is None:
        saved = "nothing was saved; to keep the network, add --out model.safetensors"
        return f"{advice}; {saved}" if advice else saved
    return advice or f"netlearn predict {model} NEW_ROWS --out predictions.csv"
