r"""The printed loop of Algorithm 1: try every small network made of net directions and net weights.

`netlearn.paper.search` does the same with least-squares weights; this one is its slow twin, for two neurons or three.

A candidate picks m net directions u_j and net weights lambda_j; with the residual r = y - <w_hat, x> and the
atoms a_j = |<u_j, x>|, its validation loss is a quadratic form of m variables,

    mean (y - f_hat)^2 = r0 - 2 lambda.b + lambda^T G lambda,   r0 = mean r^2,  b = mean r a,  G = mean a a^T.

So the rows are read once, for r0, b and G over all net directions, and no network is evaluated again.

Departures from the printed loop, none of which changes the set of functions that are tried:

* directions come as unordered sets, as the sum does not depend on their order;
* a direction occurs once: a repeated one is the single neuron of weight lambda_1 + lambda_2, which is a net
  weight too (`interval_net`), unless it leaves [-R, R] and with it the class;
* weights are non-zero: a zero weight is a candidate of a smaller m, tried before.

For a set S of directions the loss of every weight vector is at least

    r0 - b_S^T (G_S + rho I)^{-1} b_S - rho m max(lambda)^2     for any rho > 0,

because lambda^T G lambda >= lambda^T (G + rho I) lambda - rho |lambda|^2. Sets whose bound exceeds the
acceptance threshold are passed over; their candidates could not have been accepted, so the first accepted
candidate and its position in the loop stay the same.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product

import numpy as np

from netlearn.errors import BudgetError

DEFAULT_BUDGET = 10**9
_SETS_AT_ONCE = 4096
_WEIGHTS_AT_ONCE = 1 << 16
_RHO = 1e-9  # large against rounding (G has diagonal about 1), small against any threshold in use


@dataclass(frozen=True)
class ValidationLoss:
    """The quadratic form behind every candidate's loss: r0, b and G of the module docstring."""

    residual: float
    correlations: np.ndarray
    gram: np.ndarray
    n_rows: int

    def of(self, chosen: tuple[int, ...], weights: np.ndarray) -> np.ndarray:
        """Losses of several weight vectors, shape (c, m), on the same m directions."""
        S = list(chosen)
        b, G = self.correlations[S], self.gram[np.ix_(S, S)]
        return self.residual + np.einsum("ci,ci->c", weights @ G - 2.0 * b, weights)


class ValidationSum:
    """Sum over validation rows behind `ValidationLoss`.

    Cost: O(n |N_u| (d + |N_u|)) per block of n rows.

    Parameters
    ----------
    linear : array of shape (d,)
        The estimated linear part w_hat, common to all candidates.
    directions : array of shape (n_directions, d)
        The net N_u.
    """

    def __init__(self, linear: np.ndarray, directions: np.ndarray):
        self._linear, self._directions = linear, directions
        n = len(directions)
        self._count, self._rr, self._ra, self._aa = 0, 0.0, np.zeros(n), np.zeros((n, n))

    def add(self, X: np.ndarray, y: np.ndarray) -> "ValidationSum":
        """Add a block of rows."""
        r = y - X @ self._linear
        a = np.abs(X @ self._directions.T)
        self._count += len(y)
        self._rr += float(r @ r)
        self._ra += r @ a
        self._aa += a.T @ a
        return self

    def finalize(self) -> ValidationLoss:
        """Divide by the number of rows: N_val, not the printed N (the sum runs over N_val rows)."""
        n = self._count
        return ValidationLoss(self._rr / n, self._ra / n, self._aa / n, n)


@dataclass(frozen=True)
class SearchOutcome:
    """What the loop found.

    Attributes
    ----------
    chosen : tuple of int, or None
        Indices of the accepted candidate's directions in the net; None if none was accepted.
    weights : array of shape (m,), or None
        Its output weights.
    mean_square : float
        Its validation loss; without an accepted candidate, infinity.
    n_tried : int
        Its position in the loop, counted from one; the length of the loop where it ran to its end.
    n_scored : int
        How many losses were computed; the others were excluded a set of directions at a time.
    """

    chosen: tuple[int, ...] | None
    weights: np.ndarray | None
    mean_square: float
    n_tried: int
    n_scored: int


def count_candidates(n_directions: int, n_weights: int, n_hidden: int) -> int:
    """Length of the loop: the sum over m = 0...k of C(n_directions, m) (n_weights - 1)^m, exactly."""
    return sum(math.comb(n_directions, m) * (n_weights - 1) ** m for m in range(n_hidden + 1))


def check_budget(n_directions: int, n_weights: int, n_hidden: int, budget: int) -> int:
    """Return the length of the loop, or refuse it, before anything is built or drawn."""
    total = count_candidates(n_directions, n_weights, n_hidden)
    if total > budget:
        raise BudgetError(
            f"The brute force has 10^{math.log10(total):.1f} candidates ({n_directions} directions, "
            f"{n_weights} weights, up to {n_hidden} neurons), more than its budget of "
            f"10^{math.log10(budget):.1f}: "
            "take a larger epsilon, fewer neurons, or raise the budget."
        )
    return total


def log10_count_candidates(log10_directions: float, log10_weights: float, n_hidden: int) -> float:
    """Decimal logarithm of the printed loop's length, the sum over m = 0...k of (|N_u| |N_lambda|)^m.

    For theory schedules, whose nets cannot be built; it bounds `count_candidates` from above.
    """
    log10_pairs = log10_directions + log10_weights
    terms = np.array([m * log10_pairs if m else 0.0 for m in range(n_hidden + 1)])
    return float(terms.max() + np.log10(np.sum(10.0 ** (terms - terms.max()))))


def candidates(
    n_directions: int, weights: np.ndarray, n_hidden: int
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield the candidates in the order of the loop: by size, then by directions, then by weights.

    This is the definition of the order; `brute_force` gives the same answer without visiting each one.
    """
    nonzero = weights[weights != 0.0].tolist()
    for m in range(n_hidden + 1):
        for chosen in combinations(range(n_directions), m):
            for lam in product(nonzero, repeat=m):
                yield chosen, lam


def _floors(loss: ValidationLoss, sets: np.ndarray, largest: float) -> np.ndarray:
    """Lower bounds on the loss over all weights, one for each row of `sets`."""
    m = sets.shape[1]
    b = loss.correlations[sets]
    G = loss.gram[sets[:, :, None], sets[:, None, :]] + _RHO * np.eye(m)
    explained = np.einsum("ci,ci->c", b, np.linalg.solve(G, b[:, :, None])[:, :, 0])
    # The last term is a margin for rounding in the solve, which is far smaller.
    return loss.residual - explained - _RHO * m * largest**2 - 1e-6 * loss.residual


def _scan(
    loss: ValidationLoss, chosen: tuple[int, ...], nonzero: np.ndarray, limit: float, stop_at_first: bool
) -> tuple[int, np.ndarray | None, float, int]:
    """Score the weight vectors of one set in lexicographic order, a block at a time.

    Returns place, weights and loss of the first one below `limit`, or of the least one below it, and how many
    were scored; weights are None if none is below.
    """
    m = len(chosen)
    n, shape = len(nonzero) ** m, (len(nonzero),) * m
    place, weights, scored = n, None, 0
    for start in range(0, n, _WEIGHTS_AT_ONCE):
        index = np.arange(start, min(start + _WEIGHTS_AT_ONCE, n))
        lam = nonzero[np.stack(np.unravel_index(index, shape), axis=1)] if m else np.zeros((1, 0))
        values = loss.of(chosen, lam)
        scored += len(lam)
        at = int(np.argmax(values < limit) if stop_at_first else np.argmin(values))
        if values[at] < limit:
            place, weights, limit = start + at, lam[at], float(values[at])
            if stop_at_first:
                break
    return place, weights, limit, scored


def brute_force(
    loss: ValidationLoss,
    weights: np.ndarray,
    n_hidden: int,
    *,
    threshold: float | None,
    budget: int = DEFAULT_BUDGET,
) -> SearchOutcome:
    """Run the loop of Algorithm 1 and return the first candidate whose loss is at most `threshold`.

    With ``threshold=None`` the loop takes the correlational form of the paper's last footnote: it returns the
    candidate that maximises mean(2 y f_hat - f_hat^2). As that is mean(y^2) minus the loss, and mean(y^2) is
    the same for all, it is the candidate of least loss.
    Cost: O(k^3) for each set of directions, plus O(k^2 |N_lambda|^m) for each set that is not excluded.

    Parameters
    ----------
    loss : ValidationLoss
        Of the net directions.
    weights : array
        The net of output weights, `interval_net`.
    n_hidden : int
        The largest number k of neurons.
    threshold : float or None
        Acceptance threshold, epsilon^2 / 2 in the paper; None for the correlational form.
    budget : int
        Refuse to start when the loop is longer than this.

    Returns
    -------
    SearchOutcome
    """
    n_directions = len(loss.correlations)
    check_budget(n_directions, len(weights), n_hidden, budget)
    # _scan asks for a loss strictly below its limit; the printed test is "at most".
    limit = math.inf if threshold is None else math.nextafter(threshold, math.inf)
    nonzero = weights[weights != 0.0]
    largest = float(np.abs(nonzero).max(initial=0.0))
    stop_at_first = threshold is not None
    best, n_passed, n_scored = None, 0, 0
    for m in range(n_hidden + 1):
        sets = combinations(range(n_directions), m)
        while block := list(islice(sets, _SETS_AT_ONCE)):
            floors = _floors(loss, np.array(block, dtype=int).reshape(len(block), m), largest)
            for chosen, floor in zip(block, floors, strict=True):
                if floor < limit:
                    place, lam, value, scored = _scan(loss, chosen, nonzero, limit, stop_at_first)
                    n_scored += scored
                    if lam is not None and stop_at_first:
                        return SearchOutcome(chosen, lam, value, n_passed + place + 1, n_scored)
                    if lam is not None:
                        best, limit = (chosen, lam, value), value
                n_passed += len(nonzero) ** m
    if best is None:
        return SearchOutcome(None, None, math.inf, n_passed, n_scored)
    return SearchOutcome(*best, n_tried=n_passed, n_scored=n_scored)
