"""Algorithm 1, NetLearn, line by line; each line of the paper calls one part of the package.

What runs differs from what is printed in five places, each noted where it happens: several draws of g are
joined in one pass, a practical schedule measures the noise of each moment matrix, V keeps at most k
dimensions, the loop over candidates is a search with the same guarantee (`netlearn.paper.search`; the printed one is
`netlearn.paper.bruteforce`), and the answer is certified on fresh rows.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from netlearn.certify import Basis, Certificate, certify, lipschitz_constant
from netlearn.certify.law import STANDARD
from netlearn.errors import InputError
from netlearn.moments import MomentSum
from netlearn.network import ShallowNetwork
from netlearn.paper.rows import Sample, draw
from netlearn.paper.schedule import ESTIMATION_ERROR, NOISE_CUT, Schedule
from netlearn.paper.search import search_subspace
from netlearn.paper.sets import DEFAULT_BUDGET
from netlearn.paper.validation import DEVIATION, certification_rows, passing_rows
from netlearn.result import Diagnostics, HeldOut, LearnResult, MomentSpectrum, Status
from netlearn.source import ArraySource
from netlearn.subspace import eigenprojector, joint_span, noise_floor


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
    spectra : tuple of MomentSpectrum
        Spectrum and noise floor of every moment matrix.
    schedule : Schedule
        The schedule, with eta and eta' as measured if it is practical.
    """

    V: np.ndarray
    kappa: np.ndarray
    linear: np.ndarray
    spectra: tuple[MomentSpectrum, ...]
    schedule: Schedule


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of the block to ``seconds[step]``."""
    start = time.perf_counter()
    yield
    seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - start


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
    spectra, bases = [], []
    for direction in range(schedule.n_directions):
        for index, order in enumerate(schedule.orders):
            if order == 2 and direction > 0:
                continue  # M_2 does not depend on g: one copy is enough
            M, floor = moments.matrices[direction, index], float(floors[direction, index])
            rho = np.linalg.eigvalsh(M)
            cut = schedule.eta_prime if schedule.origin == "theory" else NOISE_CUT * floor
            bases.append(eigenprojector(M, cut))  # line 4
            by_magnitude = rho[np.argsort(-np.abs(rho))]
            spectra.append(MomentSpectrum(order, direction, by_magnitude, floor, n_kept=bases[-1].shape[1]))
    V, kappa = joint_span(bases, schedule.nu)  # line 5
    if schedule.origin == "practical":
        schedule = schedule.with_noise_floors([spectrum.noise_floor for spectrum in spectra])
    return SubspaceEstimate(V[:, : schedule.n_hidden], kappa, moments.linear, tuple(spectra), schedule)


def certify_on_fresh_rows(
    sample: Sample, network: ShallowNetwork, schedule: Schedule, validation_error: float
) -> tuple[Certificate, HeldOut]:
    """Certify one network on rows of its own: the only place where Algorithm 1 meets `netlearn.certify`.

    f is 2R-Lipschitz because sum |lambda_i| <= R and |w| <= R. The rows are as many as let a network pass whose fresh
    error is `Schedule.certified_mean_square`, and so many that one which the validation accepted has no larger one.
    """
    target_lipschitz, share = 2.0 * schedule.R, schedule.shares.acceptance / 2.0
    lipschitz = target_lipschitz + lipschitz_constant(network)
    allowed = schedule.certified_mean_square(validation_error)
    n_rows = certification_rows(schedule.epsilon, lipschitz, share, mean_square=allowed)
    if schedule.origin == "theory":
        deviation = 0.95 * (math.sqrt(allowed) - validation_error - DEVIATION * schedule.epsilon)
        n_rows = max(n_rows, passing_rows(lipschitz, deviation, share))
    blocks = list(draw(sample, n_rows, schedule.n_features))
    X, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
    basis = Basis(STANDARD, target_lipschitz, method="mean")
    certificate = certify(network, X, y, failure_prob=share, basis=basis)
    return certificate, HeldOut.first(ArraySource(X, y))


def conclude(
    sample: Sample, network: ShallowNetwork, error: float, found: SubspaceEstimate, diagnostics: Diagnostics
) -> LearnResult:
    """Certify an accepted network on fresh rows, and claim success only if the bound is within epsilon.

    Departs from the paper, which pays for a union bound over all candidates on the validation rows: fresh
    rows need one candidate's share only.
    """
    schedule, seconds = found.schedule, dict(diagnostics.seconds)
    with timed(seconds, "certify"):
        certificate, held_out = certify_on_fresh_rows(sample, network, schedule, error)
    certified = certificate.error_bound <= schedule.epsilon
    notes: tuple[str, ...] = (f"validation error of the candidate {error:.4g}",)
    if not certified:
        notes += (
            "validation accepted this network, and the fresh rows did not certify it: this Fail proves nothing",
        )
    return LearnResult(
        network=network,
        certificate=certificate,
        status=Status.CERTIFIED if certified else Status.FAILED,
        subspace=found.V,
        schedule=schedule,
        diagnostics=replace(
            diagnostics,
            seconds=seconds,
            rows={**diagnostics.rows, "certify": certificate.n_val},
            notes=diagnostics.notes + notes,
        ),
        held_out=held_out,
    )


def fail_note(schedule: Schedule, n_sets: int, *, excludes: bool) -> str:
    """Say what a Fail after the whole net proves (`netlearn.paper.search`)."""
    if not excludes:
        return f"no set of at most {schedule.n_hidden} directions passed; on so few rows, this proves nothing"
    allowed = ESTIMATION_ERROR * schedule.epsilon
    return (
        f"every set of at most {schedule.n_hidden} directions of a net of V was tried ({n_sets:,}). But for a "
        f"probability of {schedule.shares.screening + schedule.shares.validation:.2g}, the target is no network of the "
        f"class with |w - w_hat| and its units' distances to V, weighted, within {allowed:.3g} together"
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
        Largest number of sets of directions that the search may try, where proposals do not pass; a second is enough
        for 1e8 of them where nets are large.
    rng : numpy.random.Generator, optional
        Draws the directions g, the starts of the proposals, and the net if dim V >= 5.

    Returns
    -------
    LearnResult
        CERTIFIED, with error at most epsilon but for the share of acceptance (`Schedule.shares`), or FAILED, with a
        note on what that proves.
    """
    rng = np.random.default_rng() if rng is None else rng
    moment_rng, search_rng = rng.spawn(2)
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
        answer = search_subspace(
            sample,
            found.V,
            found.linear,
            found.schedule,
            correlational=correlational,
            budget=budget,
            rng=search_rng,
        )
    diagnostics = Diagnostics(
        spectra=found.spectra,
        rows={"moments": round(schedule.N), **answer.rows},
        seconds=seconds,
        n_candidates=answer.n_sets,
        n_tried=answer.n_passed,
    )
    if answer.network is None:  # line 14
        notes = (fail_note(found.schedule, answer.n_sets, excludes=answer.excludes),)
        return LearnResult.fail(found.V, found.schedule, replace(diagnostics, notes=notes))
    return conclude(sample, answer.network, math.sqrt(max(answer.mean_square, 0.0)), found, diagnostics)
