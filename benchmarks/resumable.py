"""Grids of runs that may be stopped and gone on with: a cell is measured once, and its line kept at once."""

import csv
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice

from benchmarks.machine import RESULTS, append, provenance


class Stopwatch:
    """Seconds on the wall and seconds of computing, from here on; neighbours on a machine move only the first."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def columns(self) -> dict[str, str]:
        """Return both as columns of a result; computing is summed over threads."""
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return {"seconds": f"{wall:.3f}", "cpu_seconds": f"{cpu:.3f}"}


def results(name: str) -> list[dict[str, str]]:
    """Return the lines of a file of results; none if it has not been begun."""
    path = RESULTS / name
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def measure_missing(
    name: str,
    cells: Iterable[dict],
    measure: Callable[..., dict],
    *packages: str,
    jobs: int = 1,
    minutes: float = float("inf"),
) -> None:
    """Measure the cells that a file of results lacks, and append one line for each.

    Parameters
    ----------
    name : str
        Of the file in benchmarks/results.
    cells : iterable of dict
        What tells one line from another: the arguments of `measure`, and columns of the file.
    measure : callable
        Takes a cell, gives the other columns. It runs in a process of its own.
    *packages : str
        Named in the lines with their versions.
    jobs : int
        Cells at a time.
    minutes : float
        After which no further cell is begun; the same command goes on with those that are left.
    """
    cells = list(cells)
    done = [{column: line[column] for column in cells[0]} for line in results(name)]
    missing = [cell for cell in cells if {column: str(value) for column, value in cell.items()} not in done]
    where = provenance(*packages)
    print(f"{name}: {len(missing)} of {len(cells)} lines are missing", flush=True)
    end = time.perf_counter() + 60 * minutes
    left = iter(missing)
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(measure, **cell): cell for cell in islice(left, jobs)}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                record = running.pop(future) | future.result()
                append(RESULTS / name, record | where)
                print(*(f"{column} {value}" for column, value in record.items()), sep="  ", flush=True)
                # One after the other, as a pool would begin what it has been given, whatever the time.
                for cell in islice(left, int(time.perf_counter() < end)):
                    running[pool.submit(measure, **cell)] = cell
