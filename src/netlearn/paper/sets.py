r"""Every set of at most k net directions, with the best weights for each: the loop of Algorithm 1 without N_lambda.

For a set S of directions the loss of the weights lambda is a quadratic form (`netlearn.paper.bruteforce`),

    loss(lambda) = r0 - 2 lambda.b_S + lambda^T G_S lambda,

whose least value r0 - b_S^T G_S^{-1} b_S is at most that of any weight in a net. So no net of weights is needed, and a
set is of interest if and only if its least value is at most a limit.

**Ridge.** Weights of the class have |lambda|_2 <= |lambda|_1 <= R, so for every rho > 0

    loss(lambda) >= r0 - b_S^T (G_S + rho I)^{-1} b_S - rho R^2 :

with rho on the diagonal and rho R^2 added to the limit no set of the class is lost, and nearly parallel directions,
whose G_S is singular to rounding, need no special treatment.

**Rank-one updates.** Units are added in the order of their index. With h = G' row i / sqrt(G'_ii) and
beta = b'_i / sqrt(G'_ii), adding unit i to a set turns G' into G' - h h^T, b' into b' - beta h and the least loss r'
into r' - beta^2.

**The last two at once.** Let T = r' - limit > 0 be what the last two units j, l must explain. They do if and only if

    b'_j^2 G'_ll - 2 b'_j b'_l G'_jl + b'_l^2 G'_jj >= T (G'_jj G'_ll - G'_jl^2).

Multiplied by T, this is a comparison of two squares,

    (T G'_jl - b'_j b'_l)^2 >= c_j c_l,     c_j = T G'_jj - b'_j^2 > 0,

where c_j <= 0 says that unit j alone is enough. So all pairs of a prefix are decided by one matrix of products, one
scaling of its columns by c_l^{-1/2} and one look for the largest entry of each row; no division by a determinant and
no branch. A slab holds the pairs of several prefixes that differ in their last unit.
Cost: about 10 operations for each set, and some 0.2 ms for each prefix.
"""

import math
from collections.abc import Iterator

import numpy as np

from netlearn.errors import BudgetError
from netlearn.paper.bruteforce import ValidationLoss

SETS_PER_SECOND = 1.5e8
"""Sets that one core decides in a second where nets are large; 1.2e8 to 3.8e8 were measured."""

SECONDS_PER_PREFIX = 2e-4
"""What each choice of all units but the last three costs beside that, which is most of the time for small nets and many
units: 1.3e7 sets a second for six units of 63 directions."""

DEFAULT_BUDGET = 10**10
"""Largest number of sets that a search goes through: about a minute for three or four units."""

_SLAB = 1 << 16  # entries of a slab: half a megabyte, which stays in the second-level cache

_UNITS_OF_TIME = ((90.0, 1.0, "seconds"), (5400.0, 60.0, "minutes"), (172_800.0, 3600.0, "hours"))


def count_sets(n_directions: int, n_hidden: int) -> int:
    """Return the number of sets of at most `n_hidden` directions, the empty one included, exactly."""
    return sum(math.comb(n_directions, m) for m in range(n_hidden + 1))


def log10_count_sets(log10_directions: float, n_hidden: int) -> float:
    """Decimal logarithm of a bound on `count_sets`, sum over m of n^m / m!, for nets that leave float64."""
    terms = [
        m * log10_directions - math.lgamma(m + 1.0) / math.log(10.0) if m else 0.0
        for m in range(n_hidden + 1)
    ]
    largest = max(terms)
    return largest + math.log10(sum(10.0 ** (term - largest) for term in terms))


def log10_search_seconds(log10_directions: float, n_hidden: int) -> float:
    """Decimal logarithm of the seconds that one core takes to decide all sets."""
    in_slabs = log10_count_sets(log10_directions, n_hidden) - math.log10(SETS_PER_SECOND)
    before = log10_count_sets(log10_directions, max(n_hidden - 3, 0)) + math.log10(SECONDS_PER_PREFIX)
    return max(in_slabs, before) + math.log10(1.0 + 10.0 ** -abs(in_slabs - before))


def time_in_words(log10_seconds: float) -> str:
    """Say a time, given by its decimal logarithm, as words that follow a comma.

    Examples
    --------
    >>> time_in_words(0.3), time_in_words(4.2), time_in_words(22.2)
    ('about 2 seconds', 'about 4 hours', 'about 10^14.7 years')
    """
    if log10_seconds < 0.0:
        return "less than a second"
    if log10_seconds > 13.0:
        return f"about 10^{log10_seconds - math.log10(3.156e7):.1f} years"
    seconds = 10.0**log10_seconds
    for limit, size, unit in _UNITS_OF_TIME:
        if seconds < limit:
            count = round(seconds / size)
            return f"about {count} {unit if count > 1 else unit[:-1]}"
    return (
        f"about {seconds / 86_400:,.0f} days" if seconds < 3.2e8 else f"about {seconds / 3.156e7:,.0f} years"
    )


def check_set_budget(n_directions: int, n_hidden: int, budget: int) -> int:
    """Return the number of sets, or refuse the search, before anything is built or drawn for it."""
    total = count_sets(n_directions, n_hidden)
    if total > budget:
        words = time_in_words(log10_search_seconds(math.log10(max(n_directions, 1)), n_hidden))
        raise BudgetError(
            f"Trying every set of at most {n_hidden} of {n_directions:,} directions takes {total:.2g} sets, {words} on "
            f"one core, and the budget is {budget:.2g} sets: take a larger epsilon, fewer neurons, or raise the budget."
        )
    return total


class SetSearch:
    """All sets of at most k directions whose least loss is within a limit, smaller sets first.

    The limit may be lowered while the search is under way.

    Parameters
    ----------
    loss : ValidationLoss
        The quadratic form over all net directions.
    n_hidden : int
        The largest number k of neurons.
    limit : float
        Sets whose least loss exceeds it are passed over.
    R : float
        Bound on sum |lambda_i|.
    slack : float
        rho R^2 of the module docstring: by how much a set may exceed the limit and still be given.
    """

    def __init__(self, loss: ValidationLoss, n_hidden: int, limit: float, *, R: float, slack: float):
        self._r0, self._b = loss.residual, loss.correlations
        self.n_directions, self.n_hidden = len(self._b), min(n_hidden, len(self._b))
        self.limit, self.n_passed = limit, 0
        self._slack = slack + 1e-12 * self._r0  # and rounding
        self._G = loss.gram + slack / R**2 * np.eye(self.n_directions)

    def survivors(self) -> Iterator[np.ndarray]:
        """Yield the sets within the limit as arrays of shape (n_sets, m), by size m, then by prefix.

        `n_passed` counts the sets that have been decided so far.
        """
        n = self.n_directions
        if self._r0 <= self.limit + self._slack:
            yield np.zeros((1, 0), dtype=int)
        self.n_passed = 1
        if self.n_hidden >= 1:
            least = self._r0 - self._b**2 / np.diag(self._G)
            alone = np.flatnonzero(least <= self.limit + self._slack)
            if len(alone):
                yield alone[:, None]
            self.n_passed += n
        for m in range(2, self.n_hidden + 1):
            yield from self._extend((), self._G, self._b, self._r0, m)

    def _extend(
        self, prefix: tuple[int, ...], G: np.ndarray, b: np.ndarray, r: float, m: int
    ) -> Iterator[np.ndarray]:
        """Go through the sets of size m that begin with `prefix`; G, b and r are what it leaves."""
        n, first, missing = self.n_directions, prefix[-1] + 1 if prefix else 0, m - len(prefix)
        if missing == 2:  # only for m = 2, whose one prefix is empty
            yield from self._pairs([prefix], G, np.zeros((1, n)), b[None, :], np.array([r]))
        elif missing == 3:
            start = first
            while start < n - 2:
                chunk = np.arange(start, min(start + max(1, _SLAB // (n - start) ** 2), n - 2))
                yield from self._pairs([(*prefix, int(i)) for i in chunk], G, *_added(G, b, r, chunk))
                start += len(chunk)
        else:
            for i in range(first, n - missing + 1):
                (h,), (b_i,), (r_i,) = _added(G, b, r, np.array([i]))
                yield from self._extend((*prefix, i), G - np.outer(h, h), b_i, r_i, m)

    def _pairs(
        self, prefixes: list[tuple[int, ...]], G: np.ndarray, h: np.ndarray, b: np.ndarray, r: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Decide all pairs j < l behind the last unit of each prefix, a block of rows j at a time.

        G belongs to the prefixes without their last unit, whose update h, b, r carry.
        """
        n, last = self.n_directions, np.array([prefix[-1] if prefix else -1 for prefix in prefixes])
        T = r - (self.limit + self._slack)
        c = T[:, None] * (np.diag(G) - h**2) - b**2
        behind = np.arange(n) > last[:, None]
        # With such a unit every pair is within the limit.
        enough = behind & ((c <= 0.0) | (T[:, None] <= 0.0))
        root = np.where(behind, np.sqrt(np.where(enough, 0.0, np.maximum(c, 0.0))), np.inf)
        with np.errstate(divide="ignore"):
            scale = np.where(enough, 0.0, 1.0 / root)
        left, right = np.stack([T[:, None] * h, b], axis=2), np.stack([h * scale, b * scale], axis=1)
        least = root * (1.0 - 1e-8)  # rounding must not lose a set: eps / rho, with rho at least 1e-8
        begin = int(last[0]) + 1
        rows = max(1, _SLAB // (len(prefixes) * (n - begin)))
        for j0 in range(begin, n - 1, rows):
            j1 = min(j0 + rows, n - 1)
            block = G[None, j0:j1, j0:] * (T[:, None] * scale[:, j0:])[:, None, :]
            block -= left[:, j0:j1] @ right[:, :, j0:]
            np.abs(block, out=block)
            if enough.any():
                block += np.where(enough[:, j0:], 1e300, 0.0)[:, None, :]
            block[:, range(j1 - j0), range(j1 - j0)] = 0.0  # a unit is no partner of itself
            for p, row in np.argwhere(block.max(axis=2) >= least[:, j0:j1]):
                j = j0 + int(row)
                within = np.flatnonzero(block[p, row, j - j0 + 1 :] >= least[p, j]) + j + 1
                if len(within):
                    yield _sets((*prefixes[p], j), within)
        left_over = n - 1 - last
        self.n_passed += int(np.sum(left_over * (left_over - 1) // 2))


def _added(
    G: np.ndarray, b: np.ndarray, r: float, chunk: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank-one updates for each unit of `chunk`: h, and what is left of b and r."""
    size = np.sqrt(G[chunk, chunk])
    h, beta = G[chunk] / size[:, None], b[chunk] / size
    return h, b - beta[:, None] * h, r - beta**2


def _sets(units: tuple[int, ...], partners: np.ndarray) -> np.ndarray:
    """Return the sets that consist of `units` and one partner each."""
    return np.column_stack([np.tile(np.array(units, dtype=int), (len(partners), 1)), partners])
