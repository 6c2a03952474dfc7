"""The command line: it checks input, calls the library and prints; it computes nothing itself."""

import typer

import netlearn

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)


@app.callback()
def root() -> None:
    """Learn one-hidden-layer ReLU networks from examples, and say how sure."""


@app.command()
def demo() -> None:
    """Show what this installation can do."""
    typer.echo(f"netlearn {netlearn.__version__}")


def main() -> None:
    """Run the command line."""
    app()
