"""One fit in a process of its own: one thread, a limit that holds, and every end recorded."""

import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection

from benchmarks.versus.methods import Method, TooLargeError
from benchmarks.versus.objective import Family, Problem, Watch

GRACE = 5.0
"""Seconds between being told to stop and being stopped."""
PATIENCE = 10.0
"""The clock on the wall may show this many times the processor's seconds, on a machine with other work to do."""
_GLANCE = 0.5
"""Seconds between looks at whether all is to stop."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PRELOADED = (
    "netlearn.learning",
    "benchmarks.versus.rivals.ours",
    "scipy.optimize",
    "sklearn.neural_network",
)

RESULT = ("error", "sine", "seconds", "seconds_to_1e-3", "status", "failure", "note")
"""What is known of a fit; all but status and failure may be empty."""


class StoppedError(Exception):
    """The run was stopped in the middle of a fit."""


def context() -> multiprocessing.context.BaseContext:
    """Return the way to start processes: from one server that has imported the heavy packages, where there is one."""
    for name in _THREADS:
        os.environ[name] = "1"
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([*_PRELOADED, "torch"])
    return made


def attempt(
    family: Family,
    method: Method,
    seed: int,
    limit: float,
    processes: multiprocessing.context.BaseContext,
    stop: threading.Event,
    grace: float = GRACE,
) -> dict:
    """Fit and judge; a method that raises, does not fit or does not end has failed, and the line says how.

    When `stop` is set, the fit is ended and `StoppedError` raised: that it was stopped says nothing of the method.
    """
    if method.missing:
        return failed(f"not installed: {', '.join(method.missing)}")
    receiver, sender = processes.Pipe(duplex=False)
    process = processes.Process(target=_in_process, args=(family, method, seed, limit, grace, sender))
    process.start()
    sender.close()
    try:
        end = time.monotonic() + PATIENCE * (limit + grace)
        # A process that ends without an answer closes its end of the pipe, which wakes poll and fails recv.
        while not receiver.poll(_GLANCE):
            if stop.is_set():
                raise StoppedError
            if time.monotonic() > end:
                return failed("time", limit)
        answer = receiver.recv()
        process.join(grace)  # it may have files to remove
        return answer
    except EOFError:
        process.join()
        if stop.is_set():
            raise StoppedError from None
        if process.exitcode == -getattr(signal, "SIGXCPU", 0):
            return failed("time", limit)
        return failed(f"the process ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()
        receiver.close()


def failed(why: str, seconds: float | None = None) -> dict:
    """Return the line of a fit without an answer."""
    return dict.fromkeys(RESULT) | {"seconds": seconds, "status": "failed", "failure": why}


def judged(
    problem: Problem, method: Method, limit: float, ending: AbstractContextManager | None = None
) -> dict:
    """Fit in this process, inside `ending`, and judge what comes back."""
    try:
        fit = method.load()
        with ending or nullcontext():
            watch = Watch(problem, limit)
            found = fit(problem, watch)
            seconds = watch.seconds
    except TooLargeError as sentence:
        return failed(f"too large: {sentence}")
    except Exception as error:  # whatever a rival raises is its failure, and the others go on
        return failed(f"{type(error).__name__}: {error}".splitlines()[0])
    if found.network is None and found.subspace is None:
        return failed("no answer", seconds) | {"note": found.note}
    error = None if found.network is None else problem.error(found.network)
    if error is not None and not math.isfinite(error):
        return failed("the answer is not finite", seconds)
    return {
        "error": error,
        "sine": None if found.subspace is None else problem.sine(found.subspace),
        "seconds": seconds,
        "seconds_to_1e-3": watch.reached,
        "status": "fitted",
        "failure": None,
        "note": found.note,
    }


def _in_process(
    family: Family, method: Method, seed: int, limit: float, grace: float, sender: Connection
) -> None:
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # a signal to the run, such as Ctrl-C, is not for its fits: they are ended one by one
    line = judged(family.problem(seed), method, limit, _ended_after(limit + grace))
    with suppress(BrokenPipeError):  # a run that was killed asks no more
        sender.send(line)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Let the system end this process when the block has computed for so long."""
    try:
        import resource
    except ImportError:  # not on Windows, where only the clock on the wall ends it
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CPU, before)
