"""`netlearn recheck`: the certificate of a network anew, on rows that took no part in learning it."""

from rich.console import Group
from rich.text import Text

from netlearn.cli.describe import certificate_data, certificate_sentences, certificates_table
from netlearn.cli.models import Model
from netlearn.cli.output import NOT_CERTIFIED, Answer, card, working
from netlearn.errors import InputError
from netlearn.words import rounded_up


def answer(
    model: str,
    data: str,
    target: list[str] | None,
    epsilon: float | None,
    failure_prob: float | None,
    missing: str | None = None,
) -> Answer:
    """Certify on the basis of the model's own certificate; `epsilon` is what must be met."""
    loaded = Model.load(model)
    own = loaded.certificate
    if failure_prob is None:
        failure_prob = 0.01 if own is None else 1.0 - own.confidence
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f"--failure-prob must be in (0, 1), got {failure_prob}.")
    if epsilon is not None and not epsilon > 0.0:
        raise InputError(f"--epsilon must be a positive number, got {epsilon}.")
    source = loaded.rows(data, target, labels=True, missing=missing)
    with working(f"Reading {data}"):
        X, y = source.arrays()
    fresh = loaded.recheck(X, y, failure_prob)
    met = epsilon is None or fresh.error_bound <= epsilon

    head = Text()
    if epsilon is not None:
        head.append("MET" if met else "NOT MET", style="bold green" if met else "bold yellow")
        head.append(f"  an error of at most {epsilon:g} is {'' if met else 'not '}certified.\n")
    lines = card()
    together = ", of all outputs together" if fresh.per_output else ""
    lines.add_row("error", f"{fresh.empirical_error:.3g} on the {fresh.n_val:,} rows of {data}{together}")
    for label, sentence in certificate_sentences(fresh):
        lines.add_row(label, Text(sentence))
    for note in source.notes:
        lines.add_row("note", Text(note))
    if own is not None:
        before = (
            f"error {own.empirical_error:.3g} on {own.n_val:,} rows, the largest {rounded_up(own.tolerance)}"
        )
        lines.add_row("when learned", before)
    found = {
        "model": model,
        "data": data,
        "epsilon": epsilon,
        "met": None if epsilon is None else met,
        "outputs": list(loaded.output_names),
        "notes": source.notes,
        "certificate": certificate_data(fresh),
        "certificate_when_learned": None if own is None else certificate_data(own),
    }
    parts = [head, lines] if head else [lines]
    if fresh.per_output:
        parts += [Text(), certificates_table(loaded.output_names, fresh, y.std(axis=0))]
    return Answer(found, Group(*parts), 0 if met else NOT_CERTIFIED)
