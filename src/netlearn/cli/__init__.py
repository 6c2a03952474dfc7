"""The command line: it checks input, calls the library and prints; it computes nothing itself.

This file declares the commands. What a command needs is imported when it runs, so that `netlearn --help` and
shell completion answer at once.
"""

import sys
from typing import Annotated

import typer

from netlearn import __version__
from netlearn.errors import InputError, MissingExtraError

BAD_INPUT = 2

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: netlearn demo",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


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

    Exit codes: 0 success, 2 bad input, 3 learned but not certified.
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


@app.command(epilog="Example: netlearn plan -k 2 -d 10 --epsilon 0.1 --radius 1")
def plan(
    n_hidden: Annotated[int, typer.Option("-k", "--n-hidden", help="Largest number of neurons, k.")],
    n_features: Annotated[int, typer.Option("-d", "--n-features", help="Input dimension, d.")],
    epsilon: Annotated[float, typer.Option(help="Target error in L2 under N(0, I), at most 1.")] = 0.1,
    radius: Annotated[float, typer.Option(help="R, bound on sum |lambda_i| and on |w|, at least 1.")] = 1.0,
    failure_prob: Annotated[float, typer.Option(help="Allowed probability of failure.")] = 0.01,
    json: Json = False,
) -> None:
    """Show every parameter of Algorithm 1 before any run: the proof's values beside practical ones."""
    from netlearn.cli.output import deliver
    from netlearn.cli.plan import answer

    deliver(answer(n_features, n_hidden, epsilon, radius, failure_prob), as_json=json)


def main() -> None:
    """Run the command line; what cannot be used is refused here, in one sentence and without a traceback."""
    try:
        app()
    except (InputError, MissingExtraError, OSError) as refusal:
        typer.echo(f"netlearn: {refusal}", err=True)
        sys.exit(BAD_INPUT)
