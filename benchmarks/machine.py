"""What every line of a result names: the machine, the versions and the commit it was measured with."""

import csv
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import netlearn

RESULTS = Path(__file__).parent / "results"


def provenance(*packages: str) -> dict[str, str]:
    """Return hardware, versions of Python and some packages, and commit, as columns of a result."""
    versions = ", ".join(f"{package} {version(package)}" for package in ("numpy", *packages))
    return {
        "hardware": f"{_processor()}, {os.cpu_count()} cores, {_memory() / 2**30:.0f} GiB",
        "versions": f"Python {platform.python_version()}, netlearn {netlearn.__version__}, {versions}",
        "commit": _commit(),
    }


def write(path: Path, records: list[dict], *packages: str, **other: str) -> None:
    """Write records with where they were measured; `other` replaces columns of that."""
    where = provenance(*packages) | other
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(records[0] | where))
        writer.writeheader()
        writer.writerows(record | where for record in records)


def append(path: Path, record: dict) -> Path:
    """Add a line to a file of results, with a heading where there is none yet."""
    begun = path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(record))
        if not begun:
            writer.writeheader()
        writer.writerow(record)
    return path


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _commit() -> str:
    """Return the commit, marked where files have been changed since; a copy without history is told it."""
    if "NETLEARN_COMMIT" in os.environ:
        return os.environ["NETLEARN_COMMIT"]
    call = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(call, cwd=RESULTS, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
