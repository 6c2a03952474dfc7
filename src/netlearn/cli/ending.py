"""How a command ends that does not end well: one printable sentence on stderr, and an exit code that tells why."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from netlearn.errors import InputError, MissingExtraError

BAD_INPUT = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A signal asked the command to stop; not a KeyboardInterrupt, for which typer has an exit code of its own."""

    def __init__(self, number: int):
        self.signal = signal.Signals(number)
        super().__init__(
            f"stopped by {self.signal.name}: files are whole or as they were, and the same command with the same "
            "--checkpoint, if there was one, goes on from it."
        )


def _stop(number: int, frame: object) -> None:
    raise Stopped(number)


@contextmanager
def well_ended() -> Iterator[None]:
    """Turn refusals, faults of the system and signals into a sentence and an exit code, without a traceback."""
    # What whoever started the command wants it to ignore, as for a job in the background, it goes on to ignore.
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in heeded}
    try:
        yield
    except Stopped as stopped:
        code, sentence = 128 + stopped.signal, str(stopped)
    except (InputError, MissingExtraError) as refusal:
        code, sentence = BAD_INPUT, str(refusal)
    except OSError as fault:
        code, sentence = BAD_INPUT, _of_system(fault)
    except (MemoryError, RuntimeError) as fault:
        from netlearn.backend.memory import is_out_of_memory

        if not is_out_of_memory(fault):
            raise
        code, sentence = (
            BAD_INPUT,
            f"There is not enough memory: {fault}".partition("\n")[0].rstrip(": .") + ".",
        )
    else:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    typer.echo(f"netlearn: {printable(sentence)}", err=True)
    raise SystemExit(code)


def printable(text: str) -> str:
    r"""Write out what a terminal would obey instead of showing it: names and cells of a file may hold anything.

    Examples
    --------
    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def _of_system(fault: OSError) -> str:
    """Say what the system says, of which file, without its number."""
    if fault.strerror is None:
        return str(fault)
    sentence = fault.strerror if fault.filename is None else f"{fault.filename}: {fault.strerror}"
    return sentence.rstrip(".") + "."
