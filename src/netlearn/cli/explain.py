"""`netlearn explain`: what each column and each unit adds to the predictions for the rows of a file."""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice

import numpy as np
from rich.text import Text

from netlearn.cli.models import Model
from netlearn.cli.output import Answer, card, working
from netlearn.cli.outputs import check_output, replacing
from netlearn.cli.predictions import SUFFIXES, table_writer
from netlearn.network import ShallowNetwork
from netlearn.report.contributions import contributions
from netlearn.report.measures import has_signal
from netlearn.report.terms import Terms
from netlearn.source import FileSource
from netlearn.source.reading import predicted

# Rows that are shown, and columns that are named of each.
_ROWS, _NAMED = 5, 5
_PREDICTION, _START, _LINEAR = "prediction", "at the mean row", "linear part"


def answer(model: str, data: str, out: str | None, missing: str | None = None) -> Answer:
    """Read the rows as `predict` does, divide the predictions, show some and write all."""
    if out is not None:
        check_output(out, "--out", SUFFIXES, (model, data))
    loaded = Model.load(model)
    source = loaded.rows(data, None, labels=False, missing=missing, may_lack=True)
    start, columns, first = _start(loaded), *_columns(loaded)
    tables = (_table(loaded.network, X, start, first) for X, _ in source.aligned())
    names = loaded.output_names
    m, n_units = len(names), Terms.of(loaded.network).n_hidden
    heads = (_PREDICTION, _START, *columns, _LINEAR, *(f"unit {i + 1}" for i in range(n_units)))
    if out is None:
        shown = list(islice(chain.from_iterable(tables), _ROWS))
    else:
        shown = _write(tables, out, heads if m == 1 else [f"{n}: {h}" for n in names for h in heads], source)
    lines = card()
    for place, row in enumerate(shown):
        for output, name in enumerate(names):
            own = row[output * len(heads) : (output + 1) * len(heads)]
            label = f"row {place + 1}" if output == 0 else ""
            lines.add_row(label, Text(_sentence(name, own, columns)))
    if out is not None:
        lines.add_row("written", Text(f"{source.n_lines:,} rows in {out}"))
    elif source.n_lines > _ROWS:
        lines.add_row("more", Text(f"--out writes all {source.n_lines:,} rows, and what each unit adds"))
    notes = [*source.notes, *_warnings(loaded)]
    for note in notes:
        lines.add_row("note", Text(note))
    found = {
        "model": model,
        "data": data,
        "n_rows": source.n_lines,
        "outputs": list(names),
        "columns": list(heads),
        "rows": [[None if math.isnan(value) else value for value in row.tolist()] for row in shown],
        "files": {} if out is None else {"contributions": out},
        "notes": notes,
    }
    return Answer(found, lines)


def _warnings(model: Model) -> list[str]:
    """Say so where there is nothing to explain."""
    if model.result is None or has_signal(model.result):
        return []
    return [
        "the model predicts new rows no better than their mean does: do not read anything into these parts"
    ]


def _start(model: Model) -> np.ndarray:
    """Return the mean of the rows that the model was learned from; where it does not tell, zero."""
    if model.recipe is not None and model.recipe.means:
        return np.array(model.recipe.means)
    if model.result is not None and model.result.held_out is not None:
        return model.result.held_out.X.mean(axis=0)
    return np.zeros(model.network.n_features)


def _columns(model: Model) -> tuple[tuple[str, ...], list[int]]:
    """Return the columns of the table, and the place of the first feature of each: a column of text has several."""
    recipe, d = model.recipe, model.network.n_features
    if recipe is not None and recipe.columns:
        sizes = [len(texts) or 1 for texts in recipe.categories]
        return recipe.columns, [0, *accumulate(sizes)][:-1]
    return model.names or tuple(f"x{index + 1}" for index in range(d)), list(range(d))


def _table(network: ShallowNetwork, X: np.ndarray, start: np.ndarray, first: Sequence[int]) -> np.ndarray:
    """Put the parts side by side, output after output: what is predicted, start, columns, linear part and units."""
    part, values = contributions(network, X, start), predicted(network, X).reshape(len(X), -1, 1)
    by_column = np.add.reduceat(part.features, first, axis=2)
    begun = np.broadcast_to(part.start[:, None], values.shape)
    whole = np.concatenate([values, begun, by_column, part.linear[:, :, None], part.units], axis=2)
    whole[np.isnan(X).any(axis=1)] = np.nan
    return whole.reshape(len(X), -1)


def _write(
    tables: Iterable[np.ndarray], out: str, columns: Sequence[str], source: FileSource
) -> list[np.ndarray]:
    """Write all rows, and return those that are shown."""
    shown: list[np.ndarray] = []
    shape = (source.n_lines, len(columns))
    with (
        working(f"Writing {out}"),
        replacing(out) as beside,
        table_writer(out, str(beside), tuple(columns), shape) as write,
    ):
        for table in tables:
            write(table)
            shown += list(table[: _ROWS - len(shown)])
    return shown


def _sentence(name: str, row: np.ndarray, columns: Sequence[str]) -> str:
    """Write a prediction as a sum, the columns that add most first."""
    predicted, start, *parts = row[: 2 + len(columns)]
    if math.isnan(predicted):
        return f"{name}: no prediction, a value is missing"
    order = sorted(range(len(columns)), key=lambda column: -abs(parts[column]))
    terms = [(parts[column], f" ({columns[column]})") for column in order[:_NAMED]]
    rest = math.fsum(parts[column] for column in order[_NAMED:])
    if len(order) > _NAMED:
        terms.append((rest, " (others)"))
    said = "".join(f" {'-' if value < 0 else '+'} {abs(value):.4g}{of}" for value, of in terms)
    return f"{name} = {predicted:.4g}: {start:.4g} ({_START}){said}"
