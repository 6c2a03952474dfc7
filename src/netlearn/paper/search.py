r"""Lines 6 to 13 of Algorithm 1, fast and with the same guarantee: propose, then try every set of net directions.

**Accepting.** Whatever is accepted has an empirical mean square of at most epsilon^2/2 on rows that it does not depend
on (a proposal) or that are the same for all sets (the net), as in line 12.

**Fail is a proof.** Suppose the target is a network of the class with |w - w_hat| + sum |lambda_i| |u_i - Pi_V u_i| <=
0.1 epsilon, Pi_V u_i taken at unit length. Take a net of some radius, and let f* have the target's weights and, for
every unit, the nearest net direction; units that share one are merged, so sum |lambda_i| <= R and at most k units still
hold. f* depends on no row of the search, and errs by

    ||f - f*|| <= nearest = R radius + 0.1 epsilon.

Outside three events, each of a ninth of the share of screening:

1. its error on the screening rows is at most nearest + 0.1 epsilon (`passing_rows`);
2. the norm of e, what the baseline leaves, is at most `root_mean_square_bound`; so ||f* - f_0|| <= nearest + ||e||;
3. hence H of f* exceeds its mean square by at most `screening_margin`, and its set survives the screening.

**Coarse nets first** (branch and bound). The statement holds for every radius. A net of four times the radius has
4^{(r - 1) k} times fewer sets, and if none of them survives, there is no such target, and the finer nets need not be
looked at. Otherwise a net of twice the radius is tried, and then the one of epsilon / (2R), where
nearest + 0.1 epsilon = 0.7 epsilon < epsilon / sqrt(2): there, outside an event of the share of validation,

4. the error of f* on the rows that validate sets is at most epsilon / sqrt(2) too, and the best weights of its set do
   no worse,

so some set is accepted. A Fail says, with the confidence of all ten events, that there is no such target.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netlearn.certify import root_mean_square_bound
from netlearn.network import ShallowNetwork
from netlearn.paper.bruteforce import ValidationLoss, ValidationSum
from netlearn.paper.nets import direction_net, direction_net_size
from netlearn.paper.propose import PROPOSAL_ROWS, propose
from netlearn.paper.rows import Sample, draw
from netlearn.paper.schedule import ESTIMATION_ERROR, SCREENING_EVENTS, Schedule
from netlearn.paper.screening import ScreeningSum, screening_margin
from netlearn.paper.sets import SetSearch, check_set_budget
from netlearn.paper.weights import best_weights

SCALES = (4.0, 2.0, 1.0)
"""Radii of the nets that are searched, in units of `Schedule.net_radius`; three events each are `SCREENING_EVENTS`."""

_TOLERANCE = 1e-4
"""Ridge of the search over sets, as a part of epsilon^2/2; but at least 1e-8 R^2, for the rounding of its updates."""


@dataclass(frozen=True)
class Found:
    """How the search ended.

    Attributes
    ----------
    network : ShallowNetwork or None
        The accepted candidate, with w_hat as its linear part; None is the paper's Fail.
    mean_square : float
        Its empirical mean square; infinity without one.
    n_sets : int
        Sets of directions of the net that decided; 0 where none was needed.
    n_passed : int
        Sets that were decided before the search ended; all of them in a Fail.
    rows : dict of str to int
        Rows drawn for each purpose.
    excludes : bool
        Whether this is a Fail that proves what the module docstring says.
    """

    network: ShallowNetwork | None
    mean_square: float
    n_sets: int
    n_passed: int
    rows: dict[str, int]
    excludes: bool = False


class Chosen(NamedTuple):
    """A set of directions of the net, by their indices, and the weights that they get."""

    units: np.ndarray
    weights: np.ndarray


def search_subspace(
    sample: Sample,
    V: np.ndarray,
    linear: np.ndarray,
    schedule: Schedule,
    *,
    correlational: bool = False,
    budget: int,
    rng: np.random.Generator,
) -> Found:
    """Find a network with units in V whose error passes validation, or prove that there is none.

    Cost: N_val rows for a proposal that passes; otherwise N_val |N_u| d operations more, and the time of
    `netlearn.paper.sets.log10_search_seconds` for the sets.

    Parameters
    ----------
    sample : callable
        ``sample(n)`` returns n fresh rows.
    V : array of shape (d, r)
        Orthonormal columns.
    linear : array of shape (d,)
        w_hat.
    schedule : Schedule
        epsilon, R, k, N_val and the net.
    correlational : bool
        Take the candidate that maximises mean(2 y f_hat) - E f_hat^2, as in the paper's last footnote: labels enter
        the choice through their correlations with known functions alone, and there is no Fail.
    budget : int
        Refuse to go through more sets than this.
    rng : numpy.random.Generator
        Draws the starts of the proposals, and the net if dim V >= 5.
    """
    proposal_rng, net_rng = rng.spawn(2)
    rows = {"proposal": PROPOSAL_ROWS}
    baseline = _proposal(sample, V, linear, schedule, proposal_rng)
    if not correlational:
        rows["validation"] = round(schedule.N_val)
        candidate = ShallowNetwork(linear, baseline.coefficients, baseline.units)
        value = mean_square(sample, candidate, schedule.N_val)
        if value <= schedule.threshold:
            return Found(candidate, value, 0, 0, rows)
    for scale in SCALES[-1:] if correlational else SCALES:
        radius, share = scale * schedule.net_radius, schedule.shares.net
        if scale > 1.0 and radius > math.sqrt(2.0):
            continue  # one direction would cover: such a net shows nothing
        n_sets = check_set_budget(direction_net_size(V.shape[1], radius, share), schedule.n_hidden, budget)
        net = direction_net(V, radius, failure_prob=share, rng=net_rng)  # line 6
        rows["screening"] = rows.get("screening", 0) + round(schedule.N_val)
        total = ScreeningSum(linear, net, baseline)
        for X, y in draw(sample, schedule.N_val, schedule.n_features):  # line 8
            total.add(X, y)
        if scale > 1.0 and excluded(total, schedule, radius):
            return Found(None, math.inf, n_sets, n_sets, rows, excludes=True)
    chosen: Chosen | None
    if correlational:
        chosen, value, n_passed = most_correlated(total.finalize(), net, baseline, schedule)
    else:
        validation = SetValidation(sample, linear, net, schedule)
        chosen, value, n_passed = first_accepted(total, validation, schedule)  # lines 9 to 13
        rows["set validation"] = validation.n_rows
    network = None if chosen is None else ShallowNetwork(linear, chosen.weights, net[chosen.units])
    excludes = network is None and schedule.fail_is_a_proof
    return Found(network, value, n_sets, n_passed, {use: n for use, n in rows.items() if n}, excludes)


def _proposal(
    sample: Sample, V: np.ndarray, linear: np.ndarray, schedule: Schedule, rng: np.random.Generator
) -> ShallowNetwork:
    """Fit a candidate inside V; without its linear part, which is w_hat for all."""
    blocks = [(X @ V, y - X @ linear) for X, y in draw(sample, PROPOSAL_ROWS, schedule.n_features)]
    Z, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
    # A quarter of the threshold leaves room for rows that have not been fitted.
    weights, units = propose(Z, y, schedule.n_hidden, schedule.R, good=schedule.threshold / 4.0, rng=rng)
    return ShallowNetwork(np.zeros(len(V)), weights, units @ V.T)


def mean_square(sample: Sample, network: ShallowNetwork, n_rows: float) -> float:
    """Mean of (y - f_hat(x))^2 over fresh rows: line 12 for one candidate, divided by N_val, not the printed N."""
    total = 0.0
    for X, y in draw(sample, n_rows, network.n_features):
        total += float(np.sum((y - network(X)) ** 2))
    return total / round(n_rows)


class SetValidation:
    """Validation of the sets that survived the screening; its rows are drawn when the first one comes.

    Cost: O(N_val |N_u|^2), once.
    """

    def __init__(self, sample: Sample, linear: np.ndarray, net: np.ndarray, schedule: Schedule):
        self._sample, self._linear, self._net, self._schedule = sample, linear, net, schedule
        self._loss: ValidationLoss | None = None

    @property
    def n_rows(self) -> int:
        """Rows drawn so far."""
        return 0 if self._loss is None else self._loss.n_rows

    def best(self, sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Of several sets of one size, the one of least mean square with its best weights."""
        if self._loss is None:
            total = ValidationSum(self._linear, self._net)
            for X, y in draw(self._sample, self._schedule.N_val, self._schedule.n_features):
                total.add(X, y)
            self._loss = total.finalize()
        weights, values = best_weights(self._loss, sets, self._schedule.R)
        place = int(np.argmin(values))
        return sets[place], weights[place], float(values[place])


def screen(total: ScreeningSum, schedule: Schedule, radius: float) -> SetSearch:
    """Search for the sets of a net whose H may be that of f*: events 1 to 3 of the module docstring."""
    loss, share = total.finalize(), schedule.shares.screening / SCREENING_EVENTS
    nearest = schedule.R * radius + ESTIMATION_ERROR * schedule.epsilon
    lipschitz = schedule.lipschitz - schedule.R + total.baseline_weight
    norm = root_mean_square_bound(total.residual, loss.n_rows, lipschitz, share)
    margin = screening_margin(nearest + norm, schedule.R + total.baseline_weight, loss.n_rows, share)
    limit = (nearest + schedule.fluctuation) ** 2 + margin
    return SetSearch(loss, schedule.n_hidden, limit, R=schedule.R, slack=_slack(schedule))


def _slack(schedule: Schedule) -> float:
    return max(_TOLERANCE * schedule.threshold, 1e-8 * schedule.R**2)


def excluded(total: ScreeningSum, schedule: Schedule, radius: float) -> bool:
    """Whether no set of a coarse net survives the screening: then no target of the class is there."""
    return next(screen(total, schedule, radius).survivors(), None) is None


def first_accepted(
    total: ScreeningSum, validation: SetValidation, schedule: Schedule
) -> tuple[Chosen | None, float, int]:
    """Go through all sets until one passes validation: its units and weights, mean square and place."""
    search = screen(total, schedule, schedule.net_radius)
    for sets in search.survivors():
        units, weights, value = validation.best(sets)
        if value <= schedule.threshold:
            return Chosen(units, weights), value, search.n_passed
    return None, math.inf, search.n_passed


def most_correlated(
    loss: ValidationLoss, net: np.ndarray, baseline: ShallowNetwork, schedule: Schedule
) -> tuple[Chosen, float, int]:
    """Of all sets, the one that maximises mean(2 y f_hat) - E f_hat^2; the search begins next to the baseline.

    That is H without its constant, the only place where a square of labels enters, so H decides alike. Ties go to the
    first set.
    """
    units = np.zeros(0, dtype=int)
    if len(baseline.units):
        units = np.unique(np.argmax(np.abs(net @ baseline.units.T), axis=0))
    weights, values = best_weights(loss, units[None, :], schedule.R)
    weights, value = (weights[0], values[0]) if values[0] < loss.residual else (np.zeros(0), loss.residual)
    units = units[: len(weights)]
    search = SetSearch(loss, schedule.n_hidden, value, R=schedule.R, slack=_slack(schedule))
    for sets in search.survivors():
        lam, values = best_weights(loss, sets, schedule.R)
        place = int(np.argmin(values))
        if values[place] < search.limit:
            units, weights, search.limit = sets[place], lam[place], float(values[place])
    return Chosen(units, weights), float(search.limit), search.n_passed
