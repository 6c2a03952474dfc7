"""Throw mutated files at a reader, guided by the coverage of the code that reads them.

    python -m tests.reliability.fuzz csv --seconds 600

Needs atheris. Files that reach new code are kept in a folder of their own, one that is not the corpus of the tests;
a file that shows a fault is written to that folder as well, and ends the run.
"""

import argparse
import resource
import sys
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["netlearn", "csv", "zipfile", "json", "safetensors", "numpy.lib._format_impl"],
    enable_loader_override=False,
):
    from tests.reliability.readers import CORPUS, READERS, replay

# Beyond what the libraries take when they are imported; what a small file takes must be far below.
_MEMORY = 2**30
_LONGEST = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), help="folder of what is found")
    asked = parser.parse_args()
    kept = asked.keep / asked.reader
    kept.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for path in (CORPUS / asked.reader).iterdir():
        replay(asked.reader, path.read_bytes())  # whatever is imported or set up late is now
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, resource.RLIM_INFINITY))
    options = [f"-max_total_time={asked.seconds}", f"-max_len={_LONGEST}", "-timeout=30", "-rss_limit_mb=0"]
    options += [f"-artifact_prefix={kept}/fault-", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup(
        [sys.argv[0], *options, str(kept), str(CORPUS / asked.reader)],
        lambda data: replay(asked.reader, data),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
