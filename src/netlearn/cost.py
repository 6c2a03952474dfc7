r"""What each pass of `learn` reads, computes and holds, as formulas in N rows, d features and k units.

The course is the usual one: inputs are N(0, I), the moments show a dimension for every unit, the width is given and the
first attempt succeeds. docs/scale.md lists the formulas, sets them against measurement and says what changes otherwise.
How many rounds and products the fits take is measured, not derived: these are constants below. Sizes at which a step
does something else are taken from that step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from netlearn import learning, pipeline
from netlearn.backend.calibrate import Rates
from netlearn.backend.grain import grain
from netlearn.certify import LARGEST_SHARE, rows_for_share
from netlearn.errors import InputError
from netlearn.fit import Shape
from netlearn.fit.descend import UNKNOWNS_PER_PRODUCT
from netlearn.inputs import normality as inputs
from netlearn.search import budget
from netlearn.search.leap import few_rows
from netlearn.source import files, samples
from netlearn.source.arrays import HOST
from netlearn.subspace import look

DISK, MEMORY, ARITHMETIC = "disk", "memory", "arithmetic"

# Measured, exact labels. Products of conjugate gradients for the affine part; rounds of the fit inside V, and products
# in each where its normal matrix is not formed; products of a wide fit without V; products, or else normal matrices, of
# the fit in full dimension.
_AFFINE_PRODUCTS = 8
_INNER_ROUNDS, _INNER_PRODUCTS = 10, 14
_WIDE_PRODUCTS, _SURPLUS = 200, 1.25
_POLISH_PRODUCTS, _POLISH_MATRICES = 80, 4
# Most products of a round: up to four unknowns for each, normal matrices are formed.
_MOST_INNER, _MOST_POLISH = 40, 150
# Measured, labels with noise a tenth of their spread; as much noise as signal takes twice as long. Normal matrices, or
# else products, of the search, on the rows that rank its fits; normal matrices, or else products and more of them for
# each unit, of the last fit, on all rows. And the seconds of Python in the rounds of either, however few the rows.
_NOISY_MATRICES, _NOISY_PRODUCTS, _SEARCH_OVERHEAD = 8, 300, 0.25
_LAST_MATRICES, _LAST_PRODUCTS, _LAST_PRODUCTS_PER_UNIT, _FIT_OVERHEAD = 8, 45, 9.0, 0.1
# Products of the averages that follow, with as much noise as signal; they grow with the variance of the noise.
_AVERAGE_PRODUCTS, _MOST_AVERAGED = 600, 1500
# The last fit where rows are so many that the normal matrix of some serves for all.
_HELD_PASSES, _PASS_MATRICES = 5, 4
# Passes over rows that are not held, which noisy labels take to their minimum.
_NOISY_PASSES = 3
# Vectors on which the departure from normality is measured; how often these values, and rows, are gone through.
_PROJECTIONS, _READINGS = 128, 10
# How often arrays are gone through to check and divide their rows.
_CHECKS = 3
# Operations of a symmetric eigenvalue problem, in units of d**3.
_EIGEN = 10
_PROBES = 3
_SKETCH_PRODUCTS, _SKETCH_VECTORS = 5, 32
# How often rows are copied between the disk and a block; where they are gathered at random; and weighted for a moment.
_COPIES_READ, _COPIES_GATHERED, _COPIES_WEIGHTED = 4, 1.5, 2.5
# A Parquet reader holds a page of each column, a mebibyte unless its writer chose otherwise, and a chunk is held by
# the reader, the one it hands on, and the one in use.
_PAGE_BYTES, _CHUNKS = 2**20, 4
# As `learn` has it unless told otherwise.
_FAILURE_PROB = 0.01


class Rows(NamedTuple):
    """A number of rows of some length, without rows in it: as `Counted` as any source."""

    n_rows: int
    n_features: int

    def head(self, n_rows: int) -> Rows:
        """Return the first rows."""
        return Rows(n_rows, self.n_features)

    @property
    def can_be_single(self) -> bool:
        """As rows in memory can."""
        return True

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows and their labels in double precision."""
        return 8 * self.n_rows * (self.n_features + 1)


@dataclass(frozen=True)
class Cost:
    """What one pass costs.

    Attributes
    ----------
    name : str
        What it does.
    step : str
        Where `Diagnostics.seconds` counts its time.
    bytes_read : float
        From disk.
    bytes_moved : float
        Read or written in memory by copies, beside what products read.
    wide, narrow : float
        Operations of products with matrices of many columns, and of a few, as in `Rates`.
    resident : float
        Bytes in memory meanwhile, beside Python and its libraries.
    divides : bool
        Whether workers share it: rows that stay where they are do, rows that are held do not.
    overhead : float
        Seconds that do not depend on the rows.
    times_read : int
        How often rows on disk are gone through.
    """

    name: str
    step: str
    bytes_read: float = 0.0
    bytes_moved: float = 0.0
    wide: float = 0.0
    narrow: float = 0.0
    resident: float = 0.0
    divides: bool = False
    overhead: float = 0.0
    times_read: int = 1

    @property
    def flops(self) -> float:
        """Operations in all."""
        return self.wide + self.narrow

    def parts(self, rates: Rates, workers: int = 1) -> dict[str, float]:
        """Return the seconds of disk, memory and arithmetic, if each were alone."""
        share = workers if self.divides else 1
        return {
            DISK: self.bytes_read / rates.disk / share,
            MEMORY: self.bytes_moved / rates.memory / share,
            ARITHMETIC: (self.wide / rates.wide + self.narrow / rates.narrow) / share,
        }

    def seconds(self, rates: Rates, workers: int = 1) -> float:
        """Return the expected time: a thread reads ahead, and what is done in memory is done in turn."""
        parts = self.parts(rates, workers)
        return max(parts[DISK], parts[MEMORY] + parts[ARITHMETIC]) + self.overhead

    def bottleneck(self, rates: Rates) -> str:
        """Return which of the three takes longest."""
        parts = self.parts(rates)
        return max(parts, key=parts.__getitem__)


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
    if not 0 <= noise < math.inf:
        raise InputError(f'"noise" of a plan must be a number >= 0, got {noise}.')
    for name, value, least in (
        ("n_rows", n_rows, 4),
        ("n_features", n_features, 1),
        ("n_hidden", n_hidden, 1),
    ):
        if value < least:
            raise InputError(f'"{name}" of a plan must be at least {least:,}, got {value:,}.')
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
            _noisy_search(train, k, biases, noise, held),
            _noisy_fit(train if streamed else fitted, k, biases, noise, held),
        )
        if noise
        else (_fits(train, k, biases, held), _last_fits(train, k, biases, held))
    )
    passes = (
        Cost(
            "read and check the rows",
            "samples",
            bytes_read=read,
            bytes_moved=2 * (_COPIES_READ * read + _COPIES_GATHERED * held * streamed)
            or _CHECKS * every.n_bytes,
            resident=held + chunks,
            divides=in_files,
        ),
        _standardise(train, 2 * _COPIES_GATHERED * every.n_bytes * copied, held),
        _affine(train, held),
        _probes(train, held),
        *fits,
        Cost(
            "refinement on all rows",
            "fit",
            bytes_read=n_passes * read * streamed,
            bytes_moved=n_passes * 2 * (_COPIES_READ if streamed else _COPIES_GATHERED) * fitted.n_bytes,
            narrow=n_passes * 4 * fitted.n_rows * d * (k + 1),
            resident=held + chunks * streamed,
            divides=streamed,
            times_read=n_passes,
        ),
        Cost(
            "certificate",
            "certify",
            bytes_moved=2 * _COPIES_GATHERED * train.n_bytes,
            narrow=2 * (train.n_rows + 2 * n_val) * d * (k + 1),
            resident=held,
        ),
    )
    return Plan(passes, train.n_rows, unknowns, streamed)


def _standardise(train: Rows, copied: float, held: float) -> Cost:
    d = train.n_features
    n = min(train.n_rows, max(inputs.ROWS_PER_FEATURE * d, inputs.FEWEST_ROWS))
    some = Rows(n, d)
    wide = narrow = 0.0
    if d <= inputs.MANY_FEATURES:
        wide = n * d**2 + _EIGEN * d**3
    else:  # single precision takes half the time
        narrow = 2 * n * d * inputs.N_VECTORS * inputs.N_PRODUCTS
    projected = min(n, inputs.FEWEST_ROWS) * _PROJECTIONS
    return Cost(
        "mean and covariance",
        "moments",
        bytes_moved=copied + _READINGS * (some.n_bytes + 8 * projected),
        wide=wide,
        narrow=narrow,
        resident=held + some.n_bytes / 2 + 32 * projected,
    )


def _affine(train: Rows, held: float) -> Cost:
    # One vector: a product takes as long as reading the rows.
    pilot = min(train.n_rows, pipeline.pilot_rows(train.n_features))
    moved = _AFFINE_PRODUCTS * 2 * _COPIES_GATHERED * Rows(pilot, train.n_features).n_bytes
    return Cost("affine part", "moments", bytes_moved=moved, resident=held)


def _probes(train: Rows, held: float) -> Cost:
    n, d = train
    if d <= look.MANY_FEATURES:
        return Cost(
            "moment matrices",
            "subspace",
            bytes_moved=(2 * _COPIES_GATHERED + _PROBES * 2 * _COPIES_WEIGHTED) * train.n_bytes,
            wide=_PROBES * (1.5 * n * d**2 + _EIGEN * d**3),
            resident=held + _PROBES * 128 * d**2,
        )
    return Cost(
        "sketch of one moment matrix",
        "subspace",
        bytes_moved=(1 + _SKETCH_PRODUCTS) * 2 * _COPIES_GATHERED * train.n_bytes,
        wide=_SKETCH_PRODUCTS * 2 * n * d * _SKETCH_VECTORS,  # in single precision, which takes half the time
        resident=held + 16 * d * _SKETCH_VECTORS * _SKETCH_PRODUCTS + 8 * n,
    )


def _fits(train: Rows, k: int, biases: bool, held: float) -> Cost:
    d = train.n_features
    if k > d / 3:  # the full space is hardly larger than V
        shape = Shape(k, d, biases=biases)
        width = budget.affordable(k, train.n_rows, shape, _SURPLUS)
        n = budget.enough(train, shape.wider(width), budget.EXPLORE).n_rows
        products = _WIDE_PRODUCTS * 4 * n * d * (width + 1)
        return Cost("wide fit", "search", narrow=products, resident=held + 8 * n * (width + 1))
    width = 2 * k + 2
    shape = Shape(width, k, biases=biases)
    P = shape.n_unknowns
    n = min(train.n_rows, budget.inside(shape, tilting=False))
    wide = narrow = 0.0
    if P <= UNKNOWNS_PER_PRODUCT * _MOST_INNER:
        wide = _INNER_ROUNDS * n * P**2
    else:
        narrow = _INNER_ROUNDS * _INNER_PRODUCTS * 4 * n * k * (width + 1)
    return Cost(
        "fits inside V",
        "search",
        bytes_moved=2 * _COPIES_GATHERED * Rows(n, d).n_bytes,
        wide=wide,
        narrow=narrow,
        resident=held + 8 * n * (k + width) + 8 * P**2,
    )


def _last_fits(train: Rows, k: int, biases: bool, held: float) -> Cost:
    shape = Shape(k, train.n_features, biases=biases)
    n, d = few_rows(train, shape)
    P = shape.n_unknowns
    wide = narrow = 0.0
    if P <= UNKNOWNS_PER_PRODUCT * _MOST_POLISH:
        wide, own = _POLISH_MATRICES * n * P**2, 8 * P**2
    else:
        narrow, own = _POLISH_PRODUCTS * 4 * n * d * (k + 1), 4 * n * d + 12 * n * (k + 1)
    return Cost("refinement on rows held", "search", wide=wide, narrow=narrow, resident=held + own)


def _noisy_search(train: Rows, k: int, biases: bool, noise: float, held: float) -> Cost:
    """With noise few rows do not do: a wide fit is narrowed, and fits are ranked, on as many as rank."""
    shape = Shape(k, train.n_features, biases=biases)
    wide = shape.wider(budget.affordable(k, train.n_rows, shape, _SURPLUS))
    n = budget.ranking(train, wide).n_rows
    resident = held + 8 * n * (wide.n_hidden + 1)
    work = _noisy_work(n, wide, _NOISY_MATRICES, _NOISY_PRODUCTS, noise)
    return Cost(
        "wide fit, narrowed",
        "search",
        wide=work[0],
        narrow=work[1],
        resident=resident,
        overhead=_SEARCH_OVERHEAD,
    )


def _noisy_fit(rows: Rows, k: int, biases: bool, noise: float, held: float) -> Cost:
    """On all rows that are held, and averaged over where it might have started if that makes a difference."""
    shape = Shape(k, rows.n_features, biases=biases)
    resident, P = held + 12 * rows.n_rows * (k + 1), shape.n_unknowns
    if budget.has(rows, shape, budget.ALIKE):
        some = budget.enough(rows, shape, budget.RANK).n_rows
        work = _noisy_work(some, shape, _PASS_MATRICES, _PASS_MATRICES * _MOST_POLISH, 0.0)
        work = work[0], work[1] + _HELD_PASSES * 4 * rows.n_rows * P
    else:
        products = _LAST_PRODUCTS + _LAST_PRODUCTS_PER_UNIT * k
        averaged = _AVERAGE_PRODUCTS * min(noise, 1.0) ** 2 if P <= _MOST_AVERAGED else 0.0
        work = _noisy_work(rows.n_rows, shape, _LAST_MATRICES, products, noise)
        work = work[0], work[1] + averaged * 4 * rows.n_rows * P
    return Cost(
        "fit of all rows held", "fit", wide=work[0], narrow=work[1], resident=resident, overhead=_FIT_OVERHEAD
    )


def _noisy_work(n: int, shape: Shape, matrices: float, products: float, noise: float) -> tuple[float, float]:
    """Return the operations of normal matrices where these are formed, and of products where they are not."""
    P, more = shape.n_unknowns, 1.0 + min(noise, 1.0)
    if P <= UNKNOWNS_PER_PRODUCT * _MOST_POLISH:
        return more * matrices * n * P**2, 0.0
    return 0.0, more * products * 4 * n * P
