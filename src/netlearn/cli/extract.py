"""`netlearn extract`: a network from a black box, by asking it."""

import numpy as np

from netlearn.cli.learning import Options, Outputs, outcome, run
from netlearn.cli.output import Answer
from netlearn.errors import InputError
from netlearn.source import Oracle, OracleError
from netlearn.source.blackbox import load_blackbox

# With fewer points there is nothing to learn, judge and certify with.
_SMALLEST_BUDGET = 8


def answer(
    spec: str, n_features: int | None, budget: int | None, options: Options, outputs: Outputs
) -> Answer:
    """Check, ask and learn, write."""
    outputs.check(spec)
    options.arguments()
    if budget is not None and budget < _SMALLEST_BUDGET:
        raise InputError(f"--budget must be at least {_SMALLEST_BUDGET} points, got {budget}.")
    box = load_blackbox(spec, n_features)
    if box.n_features is None:
        raise InputError(f"--features must say how many inputs {spec} takes, as it does not tell.")
    oracle = Oracle(box.f, n_features=box.n_features, budget=budget)
    try:
        result = run(oracle, options, f"Asking {box.description}: {box.n_features} features")
    except OracleError as error:
        raise InputError(str(error)) from error
    written = outputs.write(result)
    precision = _precision(box.dtype, oracle)
    lines = {}
    if precision == "float32":
        lines["precision"] = (
            "the black box answers in float32, so its own rounding, about 1e-7 of a label, bounds what can be "
            "recovered"
        )
    data = {
        "spec": spec,
        "description": box.description,
        "n_queries": oracle.n_queries,
        "precision": precision,
    }
    return outcome(result, written, {**data, "seed": options.seed}, lines, strict=options.must_succeed)


def _precision(told: str | None, oracle: Oracle) -> str:
    """Return what the box computes in: as it tells, or as its answers show."""
    labels = oracle.bought[1]
    return told or ("float32" if np.array_equal(labels, labels.astype(np.float32)) else "float64")
