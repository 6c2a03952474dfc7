"""`netlearn learn`: a network from the rows of a file."""

import csv

from netlearn.cli.learning import Options, Outputs, outcome, run
from netlearn.cli.output import Answer
from netlearn.source import FileSource


def answer(data: str, target: str | None, features: str | None, options: Options, outputs: Outputs) -> Answer:
    """Check, learn, write."""
    outputs.check(data)
    options.arguments()
    source = FileSource(data, target=target, features=names(features))
    result = run(source, options, f"Learning {data}: {source.n_features} features")
    written = outputs.write(result, source)
    return outcome(result, written, {"data": data, "n_rows": source.n_rows, "seed": options.seed})


def names(text: str | None) -> list[str] | None:
    """Split a list of column names at its commas; quotes keep a comma inside a name."""
    return (
        None
        if text is None
        else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    )
