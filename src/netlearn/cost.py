r"""What each pass of `learn` reads, computes and holds, as formulas in N rows, d features and k units.

The course is the usual one: inputs are N(0, I), the moments show a dimension for every unit, the width is given and the
first attempt succeeds. docs/scale.md lists the formulas, sets them against measurement and says what changes otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from netlearn import learning, pipeline
from netlearn.backend.calibrate import Rates
from netlearn.backend.grain import grain
from netlearn.certify import LARGEST_SHARE, rows_for_share
from netlearn.errors import InputError
from netlearn.fit import Shape
from netlearn.search import budget
from netlearn.source import files, samples
from netlearn.source.blocks import HOST
from netlearn.step_costs import (
    ARITHMETIC,
    COPIES_GATHERED,
    COPIES_READ,
    DISK,
    MEMORY,
    Cost,
    Rows,
    affine_part,
    exact_fit,
    exact_search,
    moment_matrices,
    noisy_fit,
    noisy_search,
    whitening,
)

# Passes over rows that are not held, which noisy labels take to their minimum.
_NOISY_PASSES = 3
# How often arrays are gone through to check and divide their rows.
_CHECKS = 3
# A Parquet reader holds a page of each column, a mebibyte unless its writer chose otherwise, and a chunk is held by
# the reader, the one it hands on, and the one in use.
_PAGE_BYTES, _CHUNKS = 2**20, 4
# As `learn` has it unless told otherwise.
_FAILURE_PROB = 0.01


@dataclass(frozen=True)
class Plan:
    """The passes of one run, in order.

    Attributes
    ----------
    passes : tuple of Cost
    n_held : int
        Rows that units are looked for among; all rows that learn where these fit in memory.
    n_unknowns : int
    streamed : bool
        Whether the rows are read from files more than once, and never held together.
    """

    passes: tuple[Cost, ...]
    n_held: int
    n_unknowns: int
    streamed: bool

    @property
    def n_passes(self) -> int:
        """How often all rows are read from disk."""
        return sum(cost.times_read for cost in self.passes if cost.bytes_read)

    @property
    def resident(self) -> float:
        """Bytes in memory at most."""
        return max(cost.resident for cost in self.passes)

    def seconds(self, rates: Rates, workers: int = 1) -> float:
        """Return the expected time of the run."""
        return sum(cost.seconds(rates, workers) for cost in self.passes)

    def bottleneck(self, rates: Rates, workers: int = 1) -> str:
        """Return what the run spends most of its time on: the bottlenecks of its passes, each by its seconds."""
        totals: dict[str, float] = dict.fromkeys((DISK, MEMORY, ARITHMETIC), 0.0)
        for cost in self.passes:
            totals[cost.bottleneck(rates)] += cost.seconds(rates, workers)
        return max(totals, key=totals.__getitem__)


def least_rows(n_hidden: int, n_features: int, *, biases: bool = True) -> int:
    """Return how many rows such a network needs, those that judge and certify included."""
    return budget.least(Shape(n_hidden, n_features, biases=biases).n_unknowns)


def plan(
    n_rows: int,
    n_features: int,
    n_hidden: int,
    *,
    biases: bool = True,
    in_files: bool = True,
    noise: float = 0.0,
) -> Plan:
    """Return what learning so many rows costs.

    Parameters
    ----------
    n_rows, n_features, n_hidden : int
    biases : bool
        Whether units have biases.
    in_files : bool
        Whether rows are read from files; else they are arrays in memory.
    noise : float
        Standard deviation of the labels' noise, in units of that of the labels without it.
    """
    _check(n_rows, n_features, n_hidden, noise)
    N, d, k = n_rows, n_features, n_hidden
    every = Rows(N, d)
    n_held = max(learning.LARGE_FILE // d, pipeline.SMALLEST_PILOT)
    streamed = in_files and N > 2 * n_held
    enough = rows_for_share(LARGEST_SHARE, _FAILURE_PROB)
    out = samples.HoldOut.of(N, d, n_hidden=k, n_enough=enough, per_unknown=budget.LEARN)
    n_judge = samples.judging_rows(N)
    n_val = out.n_fresh + (0 if streamed else out.n_reserve)
    train = Rows(n_held if streamed else N - n_val - n_judge, d)
    held = Rows(train.n_rows + n_judge + n_val, d).n_bytes
    chunks = _CHUNKS * 8 * files.CHUNK_ENTRIES + _PAGE_BYTES * (d + 1) if in_files else 0
    copied = not streamed and 8 * N * d <= grain(HOST).kept_bytes
    # What stays: the rows held, and the judge's rows apart; or two copies where rows are few.
    held += Rows(n_judge, d).n_bytes + copied * every.n_bytes
    read = every.n_bytes if in_files else 0
    fitted = every if streamed else Rows(N - n_val, d)
    unknowns = Shape(k, d, biases=biases).n_unknowns
    n_passes = _NOISY_PASSES if noise and streamed else 1
    fits = (
        (
            noisy_search(train, k, biases, noise, held),
            noisy_fit(train if streamed else fitted, k, biases, noise, held),
        )
        if noise
        else (exact_search(train, k, biases, held), exact_fit(train, k, biases, held))
    )
    passes = (
        Cost(
            "read and check the rows",
            "samples",
            bytes_read=read,
            bytes_moved=2 * (COPIES_READ * read + COPIES_GATHERED * held * streamed)
            or _CHECKS * every.n_bytes,
            resident=held + chunks,
            divides=in_files,
        ),
        whitening(train, 2 * COPIES_GATHERED * every.n_bytes * copied, held),
        affine_part(train, held),
        moment_matrices(train, held),
        *fits,
        Cost(
            "refinement on all rows",
            "fit",
            bytes_read=n_passes * read * streamed,
            bytes_moved=n_passes * 2 * (COPIES_READ if streamed else COPIES_GATHERED) * fitted.n_bytes,
            narrow=n_passes * 4 * fitted.n_rows * d * (k + 1),
            resident=held + chunks * streamed,
            divides=streamed,
            times_read=n_passes,
        ),
        Cost(
            "certificate",
            "certify",
            bytes_moved=2 * COPIES_GATHERED * train.n_bytes,
            narrow=2 * (train.n_rows + 2 * n_val) * d * (k + 1),
            resident=held,
        ),
    )
    return Plan(passes, train.n_rows, unknowns, streamed)


def _check(n_rows: int, n_features: int, n_hidden: int, noise: float) -> None:
    """Refuse numbers of which there is no plan."""
    if not 0 <= noise < math.inf:
        raise InputError(f'"noise" of a plan must be a number >= 0, got {noise}.')
    for name, value, least in (
        ("n_rows", n_rows, 4),
        ("n_features", n_features, 1),
        ("n_hidden", n_hidden, 1),
    ):
        if value < least:
            raise InputError(f'"{name}" of a plan must be at least {least:,}, got {value:,}.')
