"""What each step of `learn` reads, computes and holds; `netlearn.cost` adds them up.

How many rounds and products the fits take is measured, not derived: these are constants below. Sizes at which a step
does something else are taken from that step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from netlearn import pipeline
from netlearn.backend.calibrate import Rates
from netlearn.fit import Shape
from netlearn.fit.expected import products_needed
from netlearn.fit.solve import matrix_is_cheaper
from netlearn.inputs import normality as inputs
from netlearn.search import budget
from netlearn.search.inside import FEW_DIMENSIONS
from netlearn.search.leap import few_rows
from netlearn.subspace import look

DISK, MEMORY, ARITHMETIC = "disk", "memory", "arithmetic"

# Measured, exact labels: products of conjugate gradients for the affine part; rounds of a wide fit and of the last one,
# and how well their least squares are solved; and the seconds of Python in all rounds.
_AFFINE_PRODUCTS = 8
_WIDE_ROUNDS, _WIDE_TOLERANCE, _SURPLUS = 25, 2e-2, 1.25
_LAST_ROUNDS, _LAST_TOLERANCE, _EXACT_OVERHEAD = 5, 1e-4, 0.1
# Measured, labels with noise a tenth of their spread; as much noise as signal takes twice as long. Rounds of the search
# on the rows that rank its fits, and of the last fit on all rows; and the seconds of Python in either, however few the
# rows.
_NOISY_ROUNDS, _NOISY_TOLERANCE, _SEARCH_OVERHEAD = 50, 1e-1, 0.25
_NOISY_LAST_ROUNDS, _NOISY_LAST_TOLERANCE, _FIT_OVERHEAD = 10, 1e-3, 0.1
# Rounds of the averages that follow, with as much noise as signal; they grow with the variance of the noise.
_AVERAGE_ROUNDS, _MOST_AVERAGED = 100, 1500
# The last fit where rows are so many that the normal matrix of some serves for all: passes, and rounds on these.
_HELD_PASSES, _HELD_ROUNDS = 5, 4
# Operations of the values and the gradient of a round, and of a product, for each row and unknown.
_VALUES, _PRODUCT = 6, 4
# Vectors on which the departure from normality is measured; how often these values, and rows, are gone through.
_PROJECTIONS, _READINGS = 128, 10
# Operations of a symmetric eigenvalue problem, in units of d**3.
_EIGEN = 10
_PROBES = 3
_SKETCH_PRODUCTS, _SKETCH_VECTORS = 5, 32
# How often rows are copied between the disk and a block; where they are gathered at random; and weighted for a moment.
COPIES_READ, COPIES_GATHERED, _COPIES_WEIGHTED = 4, 1.5, 2.5


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


def whitening(train: Rows, copied: float, held: float) -> Cost:
    """Return what mean, covariance and the check for normality take."""
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


def affine_part(train: Rows, held: float) -> Cost:
    """Return what the affine part takes."""
    # One vector: a product takes as long as reading the rows.
    pilot = min(train.n_rows, pipeline.pilot_rows(train.n_features))
    moved = _AFFINE_PRODUCTS * 2 * COPIES_GATHERED * Rows(pilot, train.n_features).n_bytes
    return Cost("affine part", "moments", bytes_moved=moved, resident=held)


def moment_matrices(train: Rows, held: float) -> Cost:
    """Return what the search for the units' span takes."""
    n, d = train
    if d <= look.MANY_FEATURES:
        return Cost(
            "moment matrices",
            "subspace",
            bytes_moved=(2 * COPIES_GATHERED + _PROBES * 2 * _COPIES_WEIGHTED) * train.n_bytes,
            wide=_PROBES * (1.5 * n * d**2 + _EIGEN * d**3),
            resident=held + _PROBES * 128 * d**2,
        )
    return Cost(
        "sketch of one moment matrix",
        "subspace",
        bytes_moved=(1 + _SKETCH_PRODUCTS) * 2 * COPIES_GATHERED * train.n_bytes,
        wide=_SKETCH_PRODUCTS * 2 * n * d * _SKETCH_VECTORS,  # in single precision, which takes half the time
        resident=held + 16 * d * _SKETCH_VECTORS * _SKETCH_PRODUCTS + 8 * n,
    )


def exact_search(train: Rows, k: int, biases: bool, held: float) -> Cost:
    """Return what the search for units takes where labels are exact."""
    d = train.n_features
    if k > min(FEW_DIMENSIONS, d / 3):  # units span too many dimensions, or nearly all
        shape = Shape(k, d, biases=biases)
        width = budget.affordable(k, train.n_rows, shape, _SURPLUS)
        n = budget.enough(train, shape.wider(width), budget.EXPLORE).n_rows
        wide, narrow = _work(n, shape.wider(width), _WIDE_ROUNDS, _WIDE_TOLERANCE)
        resident = held + 8 * n * (width + 1)
        return Cost(
            "wide fit", "search", wide=wide, narrow=narrow, resident=resident, overhead=_EXACT_OVERHEAD
        )
    width = 2 * k + 2
    shape = Shape(width, k, biases=biases)
    P = shape.n_unknowns
    n = min(train.n_rows, budget.inside(shape, tilting=False))
    wide, narrow = _work(n, shape, _WIDE_ROUNDS, _WIDE_TOLERANCE)
    return Cost(
        "fits inside V",
        "search",
        bytes_moved=2 * COPIES_GATHERED * Rows(n, d).n_bytes,
        wide=wide,
        narrow=narrow,
        resident=held + 8 * n * (k + width) + 8 * P**2,
        overhead=_EXACT_OVERHEAD,
    )


def exact_fit(train: Rows, k: int, biases: bool, held: float) -> Cost:
    """Return what the last fit takes where labels are exact."""
    shape = Shape(k, train.n_features, biases=biases)
    n, d = few_rows(train, shape)
    wide, narrow = _work(n, shape, _LAST_ROUNDS, _LAST_TOLERANCE)
    own = 8 * shape.n_unknowns**2 if wide else 4 * n * d + 12 * n * (k + 1)
    return Cost("refinement on rows held", "search", wide=wide, narrow=narrow, resident=held + own)


def noisy_search(train: Rows, k: int, biases: bool, noise: float, held: float) -> Cost:
    """With noise few rows do not do: a wide fit is narrowed, and fits are ranked, on as many as rank."""
    shape = Shape(k, train.n_features, biases=biases)
    wide = shape.wider(budget.affordable(k, train.n_rows, shape, _SURPLUS))
    n = budget.ranking(train, wide).n_rows
    resident = held + 8 * n * (wide.n_hidden + 1)
    work = _work(n, wide, _NOISY_ROUNDS * (1 + min(noise, 1.0)), _NOISY_TOLERANCE)
    return Cost(
        "wide fit, narrowed",
        "search",
        wide=work[0],
        narrow=work[1],
        resident=resident,
        overhead=_SEARCH_OVERHEAD,
    )


def noisy_fit(rows: Rows, k: int, biases: bool, noise: float, held: float) -> Cost:
    """On all rows that are held, and averaged over where it might have started if that makes a difference."""
    shape = Shape(k, rows.n_features, biases=biases)
    resident, P = held + 12 * rows.n_rows * (k + 1), shape.n_unknowns
    if budget.has(rows, shape, budget.ALIKE):
        some = budget.enough(rows, shape, budget.RANK).n_rows
        wide, narrow = _work(some, shape, _HELD_ROUNDS, _NOISY_LAST_TOLERANCE)
        narrow += _HELD_PASSES * _VALUES * rows.n_rows * P
    else:
        rounds = _NOISY_LAST_ROUNDS * (1 + min(noise, 1.0))
        if P <= _MOST_AVERAGED:
            rounds += _AVERAGE_ROUNDS * min(noise, 1.0) ** 2
        wide, narrow = _work(rows.n_rows, shape, rounds, _NOISY_LAST_TOLERANCE)
    return Cost(
        "fit of all rows held", "fit", wide=wide, narrow=narrow, resident=resident, overhead=_FIT_OVERHEAD
    )


def _work(n: int, shape: Shape, rounds: float, tolerance: float) -> tuple[float, float]:
    """Return the operations of rounds: of normal matrices where these are formed, and of products."""
    P = shape.n_unknowns
    products = products_needed(P, n * shape.per_row, 0.0, tolerance)
    if matrix_is_cheaper(P, n, products):
        return rounds * n * P**2, rounds * _VALUES * n * P
    return 0.0, rounds * (_VALUES + _PRODUCT * products) * n * P
