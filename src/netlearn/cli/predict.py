"""`netlearn predict`: a network's values at the rows of a file."""

from dataclasses import asdict

from rich.text import Text

from netlearn.cli.models import Model
from netlearn.cli.output import Answer, card, working
from netlearn.cli.outputs import check_output
from netlearn.cli.predictions import SUFFIXES, predict_to_file


def answer(model: str, data: str, target: str | None, out: str) -> Answer:
    """Check, predict, write; with labels also say how far off the predictions are."""
    check_output(out, "--out", SUFFIXES, (model, data))
    loaded = Model.load(model)
    source = loaded.rows(data, target, labels=target is not None)
    with working(f"Writing {out}"):
        errors = predict_to_file(loaded.network, source, out)
    lines = card()
    lines.add_row("predictions", Text(f"{source.n_rows:,} rows in {out}"))
    if errors is not None:
        lines.add_row(
            "error",
            f"{errors.root_mean_square:.3g} (root mean square), {errors.largest:.3g} at most; the labels' standard "
            f"deviation is {errors.label_deviation:.3g}",
        )
    found = {"model": model, "data": data, "n_rows": source.n_rows, "files": {"predictions": out}}
    return Answer({**found, "errors": None if errors is None else asdict(errors)}, lines)
