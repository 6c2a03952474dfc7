"""`netlearn learn`: a network from the rows of a file."""

import os

from netlearn.cli.cluster import Cluster
from netlearn.cli.learning import Options, Outputs, outcome, run
from netlearn.cli.models import as_target
from netlearn.cli.output import Answer
from netlearn.cli.tables import Reading
from netlearn.errors import InputError
from netlearn.source import FileSource
from netlearn.source.dask import DaskSource


def answer(
    data: str,
    target: list[str] | None,
    reading: Reading,
    options: Options,
    outputs: Outputs,
    cluster: Cluster,
) -> Answer:
    """Check, learn, write."""
    outputs.check(data)
    options.arguments()
    cluster.check()
    if options.device != "cpu" and cluster.is_wanted:
        raise InputError("--device is for rows that are computed with here; leave it out with a cluster.")
    # Workers elsewhere may have been started in another folder.
    path = data if cluster.scheduler is None else os.path.abspath(data)
    source = FileSource(path, as_target(target), **reading.arguments())
    with cluster.connected() as client:
        rows = source if client is None else DaskSource.from_files(source, client)
        several = f", {source.n_outputs} outputs" if source.n_outputs > 1 else ""
        result = run(rows, options, f"Learning {data}: {source.n_features} features{several}")
    written = outputs.write(result, source)
    found = {"data": data, "n_rows": rows.n_rows, "seed": options.seed}
    return outcome(result, written, found, strict=options.must_succeed)
