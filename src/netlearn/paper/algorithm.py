"""Algorithm 1, NetLearn, line by line; each line of the paper calls one room of the package.

What runs differs from what is printed in five places, each noted where it happens: several draws of g are
joined in one pass, a practical schedule measures the noise of each moment matrix, V keeps at most k
dimensions, the brute force skips what cannot be accepted, and the answer is certified on fresh rows.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from netlearn.certify import Basis, certification_rows, certify, lipschitz_constant
from netlearn.certify.law import STANDARD
from netlearn.errors import InputError
from netlearn.moments import MomentSum
from netlearn.network import ShallowNetwork
from netlearn.paper.rows import Sample, draw
from netlearn.paper.schedule import NOISE_CUT, Schedule
from netlearn.result import Diagnostics, HeldOut, LearnResult, Probe, Status
from netlearn.search import (
    SearchOutcome,
    ValidationSum,
    brute_force,
    check_budget,
    interval_net,
    interval_net_size,
    sphere_net,
    sphere_net_size,
)
from netlearn.search.bruteforce import DEFAULT_BUDGET
from netlearn.source import ArraySource
from netlearn.subspace import eigenprojector, joint_span, noise_floor

_CERTIFIED_FRACTION = 0.55
"""Of epsilon^2: the fresh empirical mean up to which the certificate succeeds. Accepted candidates have at
most 0.5 on the validation rows; the rest is room for the fluctuation between the two sets of rows."""


@dataclass(frozen=True)
class SubspaceEstimate:
    """What lines 3 to 5 leave behind.

    Attributes
    ----------
    V : array of shape (d, r)
        Orthonormal basis, by decreasing eigenvalue of the sum of projectors.
    kappa : array
        Eigenvalues of the sum of projectors, descending.
    linear : array of shape (d,)
        w_hat.
    probes : tuple of Probe
        Spectrum and noise floor of every moment matrix.
    schedule : Schedule
        The schedule, with eta and eta' as measured if it is practical.
    """

    V: np.ndarray
    kappa: np.ndarray
    linear: np.ndarray
    probes: tuple[Probe, ...]
    schedule: Schedule


@contextmanager
def timed(seconds: dict[str, float], room: str) -> Iterator[None]:
    """Add the duration of the block to ``seconds[room]``."""
    start = time.perf_counter()
    yield
    seconds[room] = seconds.get(room, 0.0) + time.perf_counter() - start


def find_subspace(sample: Sample, schedule: Schedule, *, rng: np.random.Generator) -> SubspaceEstimate:
    """Lines 3 to 5 of Algorithm 1: the moment matrices, their projectors, and the subspace V.

    Departs from the paper in three ways. The matrices of all draws of g enter one sum of projectors:
    Lemmas 4.6 and 4.7 hold matrix by matrix, so one good draw among `n_directions` is enough. A practical
    schedule cuts each matrix at a multiple of its own noise floor, measured by splitting the rows, in
    place of one eta' for all. And V keeps its k leading directions at most, as Lemma 4.6 proves for the
    theory's nu.
    Cost: O(N d^2) for each pair of order and direction; one block of rows in memory.

    Parameters
    ----------
    sample : callable
        ``sample(n)`` returns n fresh rows (X, y).
    schedule : Schedule
        Orders, number of draws, rows and cuts.
    rng : numpy.random.Generator
        Draws the directions g.

    Returns
    -------
    SubspaceEstimate
    """
    g = rng.standard_normal((schedule.n_directions, schedule.n_features))
    total = MomentSum(g / np.linalg.norm(g, axis=1, keepdims=True), schedule.orders)
    for X, y in draw(sample, schedule.N, schedule.n_features):  # line 3
        total.add(X, y)
    moments = total.finalize()
    # A floor of exactly 0 (all labels 0) would let every eigenvalue of a zero matrix pass the cut.
    floors = np.maximum(noise_floor(*moments.halves), np.finfo(float).tiny)
    probes, bases = [], []
    for direction in range(schedule.n_directions):
        for index, order in enumerate(schedule.orders):
            if order == 2 and direction > 0:
                continue  # M_2 does not depend on g: one copy is enough
            M, floor = moments.matrices[direction, index], float(floors[direction, index])
            rho = np.linalg.eigvalsh(M)
            cut = schedule.eta_prime if schedule.origin == "theory" else NOISE_CUT * floor
            bases.append(eigenprojector(M, cut))  # line 4
            by_magnitude = rho[np.argsort(-np.abs(rho))]
            probes.append(Probe(order, direction, by_magnitude, floor, n_kept=bases[-1].shape[1]))
    V, kappa = joint_span(bases, schedule.nu)  # line 5
    if schedule.origin == "practical":
        schedule = schedule.with_noise_floors([probe.noise_floor for probe in probes])
    return SubspaceEstimate(V[:, : schedule.n_hidden], kappa, moments.linear, tuple(probes), schedule)


def search_subspace(
    sample: Sample,
    found: SubspaceEstimate,
    *,
    threshold: float | None,
    budget: int,
    rng: np.random.Generator,
) -> tuple[ShallowNetwork | None, SearchOutcome, int]:
    """Lines 6 to 13 of Algorithm 1: the nets, the validation rows, and the loop over candidates.

    Returns
    -------
    network : ShallowNetwork or None
        The accepted candidate; None is the paper's Fail.
    outcome : SearchOutcome
        Where the loop ended.
    n_candidates : int
        Its length.
    """
    schedule = found.schedule
    share = schedule.failure_prob / 3.0
    n_candidates = check_budget(
        sphere_net_size(found.V.shape[1], schedule.xi / 2.0, share),
        interval_net_size(schedule.R, schedule.xi),
        schedule.n_hidden,
        budget,
    )
    net_u = sphere_net(found.V, schedule.xi / 2.0, failure_prob=share, rng=rng)  # line 6
    net_lam = interval_net(schedule.R, schedule.xi)  # line 7
    total = ValidationSum(found.linear, net_u)
    for X, y in draw(sample, schedule.N_val, schedule.n_features):  # line 8
        total.add(X, y)
    # Lines 9 to 13; the mean is over N_val rows, where the paper prints N.
    outcome = brute_force(total.finalize(), net_lam, schedule.n_hidden, threshold=threshold, budget=budget)
    if outcome.chosen is None:
        return None, outcome, n_candidates
    units = net_u[list(outcome.chosen)]
    return ShallowNetwork(found.linear, outcome.weights, units), outcome, n_candidates


def conclude(
    sample: Sample, network: ShallowNetwork, found: SubspaceEstimate, diagnostics: Diagnostics
) -> LearnResult:
    """Certify an accepted network on fresh rows, and claim success only if the bound is within epsilon.

    Departs from the paper, which pays for a union bound over all candidates on the validation rows: fresh
    rows need one candidate's share only. f is 2R-Lipschitz because sum |lambda_i| <= R and |w| <= R.
    """
    schedule, seconds = found.schedule, dict(diagnostics.seconds)
    epsilon, target_lipschitz = schedule.epsilon, 2.0 * schedule.R
    n_rows = certification_rows(
        epsilon,
        target_lipschitz + lipschitz_constant(network),
        schedule.failure_prob,
        mean_square=_CERTIFIED_FRACTION * epsilon**2,
    )
    with timed(seconds, "certify"):
        blocks = list(draw(sample, n_rows, schedule.n_features))
        X, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
        certificate = certify(
            network,
            X,
            y,
            failure_prob=schedule.failure_prob,
            basis=Basis(STANDARD, target_lipschitz, method="mean"),
        )
    return LearnResult(
        network=network,
        certificate=certificate,
        status=Status.CERTIFIED if certificate.error_bound <= epsilon else Status.FAILED,
        subspace=found.V,
        schedule=schedule,
        diagnostics=replace(diagnostics, seconds=seconds, rows={**diagnostics.rows, "certify": n_rows}),
        held_out=HeldOut.first(ArraySource(X, y)),
    )


def netlearn(
    sample: Sample,
    n_features: int,
    k: int,
    epsilon: float,
    R: float,
    *,
    schedule: Schedule | None = None,
    correlational: bool = False,
    budget: int = DEFAULT_BUDGET,
    rng: np.random.Generator | None = None,
) -> LearnResult:
    """Algorithm 1 (NetLearn): learn f(x) = <w, x> + sum_i lambda_i |<u_i, x>| from Gaussian rows.

    Parameters
    ----------
    sample : callable
        ``sample(n)`` returns n fresh rows X ~ N(0, I) of shape (n, d), and y = f(X) of shape (n,).
    n_features : int
        Dimension d.
    k : int
        Largest number of neurons.
    epsilon : float
        Target error in L2(gamma), in (0, 1].
    R : float
        Bound on sum |lambda_i| and on |w|, at least 1.
    schedule : Schedule, optional
        Line 1 and 2; by default `Schedule.practical`. A theory schedule is refused for the rows it asks for.
    correlational : bool
        Accept as in the paper's last footnote, which makes the whole algorithm one of correlational
        statistical queries: take the candidate that maximises mean(2 y f_hat - f_hat^2).
    budget : int
        Largest number of candidates.
    rng : numpy.random.Generator, optional
        Draws the directions g, and the net if dim V >= 3.

    Returns
    -------
    LearnResult
        CERTIFIED, with error at most epsilon at confidence 1 - failure_prob of the schedule, or FAILED.
    """
    rng = np.random.default_rng() if rng is None else rng
    moment_rng, net_rng = rng.spawn(2)
    if schedule is None:
        schedule = Schedule.practical(n_features, k, epsilon, R)  # lines 1 and 2
    made_for = (schedule.n_features, schedule.n_hidden, schedule.epsilon, schedule.R)
    if made_for != (n_features, k, epsilon, R):
        raise InputError(
            '"schedule" must be made for (n_features, k, epsilon, R) as given, '
            f"{(n_features, k, epsilon, R)}, got one for {made_for}."
        )
    seconds: dict[str, float] = {}
    with timed(seconds, "moments and subspace"):
        found = find_subspace(sample, schedule, rng=moment_rng)
    with timed(seconds, "search"):
        network, outcome, n_candidates = search_subspace(
            sample,
            found,
            threshold=None if correlational else schedule.threshold,
            budget=budget,
            rng=net_rng,
        )
    diagnostics = Diagnostics(
        probes=found.probes,
        rows={"moments": round(schedule.N), "search": round(schedule.N_val)},
        seconds=seconds,
        n_candidates=n_candidates,
        n_tried=outcome.n_tried,
        notes=(f"validation error of the candidate {math.sqrt(outcome.mean_square):.4g}",) if network else (),
    )
    if network is None:  # line 14
        return LearnResult(None, None, Status.FAILED, found.V, found.schedule, diagnostics)
    return conclude(sample, network, found, diagnostics)
