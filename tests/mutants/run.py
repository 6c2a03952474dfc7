"""Apply every mutant to a copy of the package and report those that no test notices.

python -m tests.mutants.run               # all
python -m tests.mutants.run "Lemma 2.5"   # those with these words in their names
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.catalogue import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]


def mutated(text: str, mutant: Mutant) -> str:
    """Return the file with the mutant's change; refuse one whose place is not there, or not unique."""
    count = text.count(mutant.old)
    if count != 1:
        raise ValueError(f"{mutant.name}: {mutant.old!r} occurs {count} times in {mutant.file}, not once.")
    return text.replace(mutant.old, mutant.new)


def notices(mutant: Mutant, source: Path) -> bool:
    """Whether the mutant's tests fail on the package in `source`, which holds it."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    done = subprocess.run(
        [*command, *mutant.tests],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    # 1: tests failed; 2: a test module could not be imported. Anything else is no verdict.
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"{mutant.name}: pytest ended with {done.returncode}.\n{done.stdout}{done.stderr}")
    return done.returncode != 0


def outcomes(mutants: list[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    """Yield every mutant with whether it is noticed; the copy is restored after each."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for mutant in mutants:
            path = source / mutant.file
            text = path.read_text(encoding="utf-8")
            path.write_text(mutated(text, mutant), encoding="utf-8")
            yield mutant, notices(mutant, source)
            path.write_text(text, encoding="utf-8")


def main() -> int:
    """Print a line for each mutant; exit code 1 if one survives."""
    words = " ".join(sys.argv[1:])
    chosen = [mutant for mutant in MUTANTS if words in mutant.name]
    survivors = []
    for mutant, noticed in outcomes(chosen):
        print(f"{'noticed ' if noticed else 'SURVIVES'}  {mutant.name}", flush=True)
        if not noticed:
            survivors.append(mutant.name)
    print(f"{len(chosen)} mutants, {len(survivors)} survive")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
