"""The command line: it checks input, calls the library and prints; it computes nothing itself.

This file declares the commands. What a command needs is imported when it runs, so that `netlearn --help` and
shell completion answer at once.
"""

from typing import Annotated, Literal

import typer

from netlearn import __version__
from netlearn.cli.ending import well_ended
from netlearn.cli.tables import listing

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: netlearn demo",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

# What several commands take.
Data = Annotated[
    str,
    typer.Argument(
        help="Rows: a .csv or .jsonl file (also .gz), .parquet, .feather, .xlsx, .npy or .npz; a folder or pattern of "
        "Parquet files."
    ),
]
_TABLE = "The table"
MissingAsLearned = Annotated[
    Literal["error", "drop", "mean"] | None,
    typer.Option(
        help="Rows with missing values, or texts that the model has not seen: refuse the file, leave such rows out, or "
        "fill with the means of the rows that the model was learned from.",
        show_default="as learned",
    ),
]
Model = Annotated[str, typer.Argument(help="A .safetensors file that netlearn wrote.")]
_NETWORK, _FILES, _RUN = "The network", "Files to write", "The run"
_WITH_ROWS, _WITHOUT_ROWS = "With --rows: a run of netlearn learn", "Without --rows: Algorithm 1"
NHidden = Annotated[
    str,
    typer.Option(
        "--n-hidden", "-k", metavar="K", help="Number of neurons, or auto.", rich_help_panel=_NETWORK
    ),
]
Biases = Annotated[
    Literal["auto", "yes", "no"],
    typer.Option(help="Whether neurons have biases.", rich_help_panel=_NETWORK),
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Error to certify, in the units of the labels.", rich_help_panel=_NETWORK),
]
FailureProb = Annotated[
    float,
    typer.Option(help="Probability with which the certificate may be wrong.", rich_help_panel=_NETWORK),
]
ModelOut = Annotated[
    str | None, typer.Option("--out", "-o", help="The network, .safetensors.", rich_help_panel=_FILES)
]
ReportOut = Annotated[
    str | None,
    typer.Option("--report", help="A page to read in a browser, .html.", rich_help_panel=_FILES),
]
Seed = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Same data, same seed: same network.", rich_help_panel=_RUN),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Most threads to compute with.", rich_help_panel=_RUN),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Where to compute: cpu, or a device that torch knows.", rich_help_panel=_RUN
    ),
]
TargetLipschitz = Annotated[
    float | None,
    typer.Option(
        metavar="L",
        help="How steep the function behind the labels is at most; the L2 bound rests on it.",
        show_default="twice the network",
    ),
]
HoldOut = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the rows held out for the certificate.",
        show_default="a quarter, less with noisy labels",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="End with exit code 3 unless the network is recovered or certified.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time after which the best network so far is given.",
        rich_help_panel=_RUN,
    ),
]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"netlearn {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn one-hidden-layer ReLU networks from examples, and say how sure.

    Exit codes: 0 a model was fitted; 2 bad input; 3 with --epsilon or --strict, a model was fitted but is neither
    recovered nor certified; 130 and 143 stopped by Ctrl-C or SIGTERM.
    """


@app.command(epilog="Example: netlearn demo --seed 7")
def demo(
    seed: Annotated[int, typer.Option(min=0, help="Draws the planted networks and all rows.")] = 0,
    json: Json = False,
) -> None:
    """Learn two planted networks, with the paper's algorithm and in practice. Takes seconds."""
    from netlearn.cli.demo import answer
    from netlearn.cli.output import deliver, working

    with working("Planting networks") as tell:
        found = answer(seed, tell)
    deliver(found, as_json=json)


@app.command(epilog="Example: netlearn plan --rows 1e9 --features 1000 --hidden 10")
def plan(
    n_hidden: Annotated[int, typer.Option("-k", "--n-hidden", "--hidden", help="Number of neurons, k.")],
    n_features: Annotated[int, typer.Option("-d", "--n-features", "--features", help="Number of inputs, d.")],
    rows: Annotated[
        str | None,
        typer.Option(metavar="N", help="Number of rows, such as 1e9.", rich_help_panel=_WITH_ROWS),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="M", help="Machines that share the rows.", show_default="1", rich_help_panel=_WITH_ROWS
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="File or folder to time reading on.",
            show_default="a temporary file",
            rich_help_panel=_WITH_ROWS,
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Noise in the labels, in units of their spread.",
            show_default="none",
            rich_help_panel=_WITH_ROWS,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Target error in L2 under N(0, I), at most 1.",
            show_default="0.1",
            rich_help_panel=_WITHOUT_ROWS,
        ),
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(
            help="R, bound on sum |lambda_i| and on |w|, at least 1.",
            show_default="1.0",
            rich_help_panel=_WITHOUT_ROWS,
        ),
    ] = None,
    failure_prob: Annotated[
        float | None,
        typer.Option(
            help="Allowed probability of failure.", show_default="0.01", rich_help_panel=_WITHOUT_ROWS
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say beforehand what learning takes.

    With --rows: memory, passes and time of a run, after measuring this machine for a second.

    Without: every parameter of the paper's Algorithm 1, the proof's values beside practical ones.
    """
    from netlearn.cli.output import deliver
    from netlearn.cli.plan import answer

    of_run = {"workers": workers, "data": data, "noise": noise}
    of_paper = {"epsilon": epsilon, "radius": radius, "failure_prob": failure_prob}
    deliver(answer(n_features, n_hidden, rows, of_run, of_paper), as_json=json)


@app.command(epilog="Example: netlearn learn data.csv --target price --out model.safetensors")
def learn(
    data: Data,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column of labels: its name, or its number counted from 0. Several outputs: the option several "
            "times, or a star for any text, as in 'logit_*'.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Columns to learn from, as a,b,c.", show_default="all but the target", rich_help_panel=_TABLE
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Learn from these only: names with commas between, a star for any text, as in 'x_*,age'.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Leave these out, written as for --keep.", rich_help_panel=_TABLE
        ),
    ] = None,
    missing: Annotated[
        Literal["error", "drop", "mean"],
        typer.Option(
            help="Rows with missing values (empty, NA, n/a, -, ?): refuse the file, leave such rows out, or fill with "
            "the mean of the column.",
            rich_help_panel=_TABLE,
        ),
    ] = "error",
    encode: Annotated[
        Literal["onehot"] | None,
        typer.Option(
            help="Columns of text: onehot makes a feature of each different text.",
            show_default="refuse them",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    n_hidden: NHidden = "auto",
    biases: Biases = "auto",
    epsilon: Epsilon = None,
    failure_prob: FailureProb = 0.01,
    target_lipschitz: TargetLipschitz = None,
    holdout: HoldOut = None,
    robust: Annotated[
        bool,
        typer.Option("--robust", help="Leave out rows far outside all others, and a few wrong labels."),
    ] = False,
    strict: Strict = False,
    out: ModelOut = None,
    report: ReportOut = None,
    predictions: Annotated[
        str | None,
        typer.Option(
            help="The network's values at all rows: .csv, .parquet or .npy.", rich_help_panel=_FILES
        ),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    time_limit: TimeLimit = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Save on the way, and go on from there after an interruption."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Pass over the rows on a Dask cluster, whose workers read the files.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Pass over the rows in N processes here.", rich_help_panel=_RUN
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Learn a network from the rows of a file."""
    from netlearn.cli.cluster import Cluster
    from netlearn.cli.learn import answer
    from netlearn.cli.learning import Options, Outputs
    from netlearn.cli.output import deliver
    from netlearn.cli.tables import Reading

    options = Options(
        n_hidden,
        biases,
        epsilon,
        failure_prob,
        seed,
        time_limit,
        threads,
        device,
        checkpoint,
        robust,
        target_lipschitz,
        holdout,
        strict,
    )
    outputs, cluster = Outputs(out, report, predictions), Cluster(scheduler, workers)
    reading = Reading(features, keep, drop, missing, encode)
    deliver(answer(data, target, reading, options, outputs, cluster), as_json=json)


@app.command(epilog="Example: netlearn predict model.safetensors new.csv --out predictions.csv")
def predict(
    model: Model,
    data: Data,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write: .csv, .parquet or .npy.")],
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Columns of labels, to say how far off predictions are."
        ),
    ] = None,
    missing: MissingAsLearned = None,
    json: Json = False,
) -> None:
    """Write a network's values at the rows of a file; columns are read as those it was learned from."""
    from netlearn.cli.output import deliver
    from netlearn.cli.predict import answer

    deliver(answer(model, data, target, out, missing), as_json=json)


@app.command(epilog="Example: netlearn explain model.safetensors new.csv --out contributions.csv")
def explain(
    model: Model,
    data: Data,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="Where to write all rows, and what each unit adds: .csv, .parquet or .npy."
        ),
    ] = None,
    missing: MissingAsLearned = None,
    json: Json = False,
) -> None:
    """Show why rows are predicted as they are: what each column adds to the prediction for the mean row."""
    from netlearn.cli.explain import answer
    from netlearn.cli.output import deliver

    deliver(answer(model, data, out, missing), as_json=json)


@app.command(epilog="Example: netlearn recheck model.safetensors fresh.csv --epsilon 0.1")
def recheck(
    model: Model,
    data: Data,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Columns of labels.", show_default="those learned from"
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Error that must be certified; exit code 3 if not.")
    ] = None,
    failure_prob: Annotated[
        float | None,
        typer.Option(help="Probability with which the certificate may be wrong.", show_default="as learned"),
    ] = None,
    missing: MissingAsLearned = None,
    json: Json = False,
) -> None:
    """Certify a network anew, on rows that took no part in learning it."""
    from netlearn.cli.output import deliver
    from netlearn.cli.recheck import answer

    deliver(answer(model, data, target, epsilon, failure_prob, missing), as_json=json)


@app.command(epilog="Example: netlearn extract mymodule:predict --features 10 --budget 5000")
def extract(
    spec: Annotated[
        str,
        typer.Argument(
            help="The black box: module:function, a .onnx file, a TorchScript or state_dict file, or .npz with the "
            "layers."
        ),
    ],
    features: Annotated[
        int | None,
        typer.Option("--features", "-d", min=1, help="Number of inputs, where the box does not tell."),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Largest number of points to ask for.")] = None,
    n_hidden: NHidden = "auto",
    biases: Biases = "auto",
    epsilon: Epsilon = None,
    failure_prob: FailureProb = 0.01,
    target_lipschitz: TargetLipschitz = None,
    holdout: HoldOut = None,
    strict: Strict = False,
    out: ModelOut = None,
    report: ReportOut = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    time_limit: TimeLimit = None,
    json: Json = False,
) -> None:
    """Learn a network by asking a black box."""
    from netlearn.cli.extract import answer
    from netlearn.cli.learning import Options, Outputs
    from netlearn.cli.output import deliver

    options = Options(
        n_hidden,
        biases,
        epsilon,
        failure_prob,
        seed,
        time_limit,
        threads,
        device,
        target_lipschitz=target_lipschitz,
        holdout=holdout,
        strict=strict,
    )
    deliver(answer(spec, features, budget, options, Outputs(out, report)), as_json=json)


@app.command(epilog="Example: netlearn export model.safetensors --out model.onnx")
def export(
    model: Model,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="Its suffix decides: .onnx, .npz, or .safetensors, a state_dict for torch."
        ),
    ],
    dtype: Annotated[
        Literal["float64", "float32"], typer.Option(help="Numbers of an .onnx file.")
    ] = "float64",
    json: Json = False,
) -> None:
    """Write a network in a format of others: ONNX, NumPy, torch."""
    from netlearn.cli.export import answer
    from netlearn.cli.output import deliver

    deliver(answer(model, out, dtype), as_json=json)


@app.command(epilog="Example: netlearn report model.safetensors --out report.html")
def report(
    model: Model,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write the page, .html.")],
    json: Json = False,
) -> None:
    """Write the report of a run that was saved before."""
    from netlearn.cli.output import deliver
    from netlearn.cli.report import answer

    deliver(answer(model, out), as_json=json)


@app.command(epilog="Example: netlearn bench --quick")
def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="A choice of families, two seeds: ten minutes on two cores.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="One line per fit, .csv; fits that it has are not repeated.",
            show_default="versus.csv, or versus_quick.csv",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Fits at a time, one thread each.")] = 2,
    json: Json = False,
) -> None:
    """Compare with other methods on planted networks. Runs in a copy of the repository."""
    from netlearn.cli.bench import answer
    from netlearn.cli.output import deliver

    deliver(answer(quick, out, jobs), as_json=json)


def main() -> None:
    """Run the command line; what cannot be used is refused here, in one sentence and without a traceback."""
    with well_ended(), listing():
        app()
