"""`netlearn predict`: a network's values at the rows of a file."""

from dataclasses import asdict

from rich.console import Group
from rich.text import Text

from netlearn.cli.describe import outputs_table
from netlearn.cli.models import Model
from netlearn.cli.output import Answer, card, working
from netlearn.cli.outputs import check_output
from netlearn.cli.predictions import SUFFIXES, predict_to_file


def answer(model: str, data: str, target: list[str] | None, out: str, missing: str | None = None) -> Answer:
    """Check, predict, write; with labels also say how far off the predictions are."""
    check_output(out, "--out", SUFFIXES, (model, data))
    loaded = Model.load(model)
    source = loaded.rows(data, target, labels=bool(target), missing=missing, may_lack=True)
    names, m = loaded.output_names, loaded.network.n_outputs
    with working(f"Writing {out}"):
        errors = predict_to_file(loaded.network, names, source, out)
    lines = card()
    several = f", {m} outputs" if m > 1 else ""
    lines.add_row("predictions", Text(f"{source.n_lines:,} rows{several} in {out}"))
    notes = source.notes
    for note in notes:
        lines.add_row("note", Text(note))
    found = {"model": model, "data": data, "n_rows": source.n_lines, "files": {"predictions": out}}
    answer = {**found, "outputs": list(names), "errors": None if errors is None else asdict(errors)}
    answer["notes"] = notes
    if errors is None:
        return Answer(answer, lines)
    lines.add_row(
        "error",
        f"{errors.root_mean_square:.3g} (root mean square), {errors.largest:.3g} at most; the labels' standard "
        f"deviation is {errors.label_deviation:.3g}",
    )
    if not errors.per_output:
        return Answer(answer, lines)
    columns = {
        "root mean square": [own.root_mean_square for own in errors.per_output],
        "largest": [own.largest for own in errors.per_output],
        "labels' deviation": [own.label_deviation for own in errors.per_output],
    }
    return Answer(answer, Group(lines, outputs_table(names, columns)))
