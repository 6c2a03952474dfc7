"""The multi-stage algorithm that the paper simplifies, as section 1.1 and the first footnote describe it."""

import math
from dataclasses import replace

import numpy as np

from netlearn.moments import MomentSum
from netlearn.network import ShallowNetwork
from netlearn.paper.algorithm import SubspaceEstimate, conclude, timed
from netlearn.paper.propose import PROPOSAL_ROWS, propose
from netlearn.paper.rows import Sample, draw
from netlearn.paper.schedule import NOISE_CUT, Schedule
from netlearn.paper.search import mean_square
from netlearn.result import Diagnostics, LearnResult, MomentSpectrum
from netlearn.subspace import eigenprojector, joint_span, noise_floor

_WHOLE_SPAN = 1e-12
"""Cut on the sum of projectors that leaves out rounding only: the joint span itself, not an approximation of it."""


def top_singular_span(
    matrices: np.ndarray, floors: np.ndarray, n_hidden: int
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Joint span U of the top-k singular subspaces of several symmetric matrices.

    Departs from Algorithm 1 in both of its cuts: at most k eigenvectors of each matrix are taken, and of their joint
    span nothing is left out. The paper's first footnote is about this: V is a low-dimensional approximation of U.
    Singular vectors below `NOISE_CUT` times the noise of their matrix are not taken, because they are arbitrary.

    Parameters
    ----------
    matrices : array of shape (L, d, d)
        Estimates of M_ell.
    floors : array of shape (L,)
        Operator norm of the noise of each.
    n_hidden : int
        k.

    Returns
    -------
    U : array of shape (d, r)
        Orthonormal basis, r <= min(d, k L).
    kappa : array
        Eigenvalues of the sum of projectors, descending.
    n_kept : list of int
        Singular vectors taken from each matrix.
    """
    bases = [
        eigenprojector(M, NOISE_CUT * float(floor))[:, :n_hidden]
        for M, floor in zip(matrices, floors, strict=True)
    ]
    U, kappa = joint_span(bases, _WHOLE_SPAN)
    return U, kappa, [basis.shape[1] for basis in bases]


def multi_stage(
    sample: Sample,
    n_features: int,
    k: int,
    epsilon: float,
    R: float,
    *,
    schedule: Schedule | None = None,
    rng: np.random.Generator | None = None,
) -> LearnResult:
    r"""Learn in stages: find the neurons that the joint span contains, subtract them, recurse.

    Section 1.1 of the paper, on Chen, Dou, Goel, Klivans and Meka (2023): the top-k singular subspaces of many M_ell
    span a space U that contains a few of the neurons; these are subtracted, and Theta(log k) rounds do it.

    Where the text leaves freedom, this was chosen:

    * one g for each stage, and the orders of the schedule (2, 4, ..., 2k);
    * a singular vector is taken if it is above `NOISE_CUT` times its matrix' noise. The moments are those of the
      residual y - f_hat, whose noise shrinks with it, so each stage has a threshold of its own;
    * the neurons that U contains are found by fits inside U (`netlearn.paper.propose`), because a net of U, which
      may have k^2 dimensions, has too many points; those with |lambda| above the schedule's tau are subtracted, with
      the stage's linear part;
    * ceil(log2 k) + 2 stages, ended by the first whose mean square on N_val fresh rows is at most epsilon^2/2.

    The estimate may have more than k neurons; the certificate does not depend on that. A Fail proves nothing.
    Cost: N rows for the moments and N_val for the test, in every stage.

    Parameters
    ----------
    sample, n_features, k, epsilon, R, schedule, rng
        As in `netlearn.paper.netlearn`.

    Returns
    -------
    LearnResult
        Its subspace is that of the first stage, the one to compare with V.
    """
    rng = np.random.default_rng() if rng is None else rng
    if schedule is None:
        schedule = Schedule.practical(n_features, k, epsilon, R)
    estimate = ShallowNetwork(np.zeros(n_features), np.zeros(0), np.zeros((0, n_features)))
    seen = Diagnostics()
    stages: list[SubspaceEstimate] = []
    for stage in range(math.ceil(math.log2(k)) + 2):
        estimate, found, seen = _stage(sample, estimate, schedule, rng.spawn(1)[0], seen)
        stages.append(found)
        seconds = dict(seen.seconds)
        with timed(seconds, "search"):
            value = mean_square(sample, estimate, schedule.N_val)
        rows = {**seen.rows, "validation": seen.rows.get("validation", 0) + round(schedule.N_val)}
        seen = replace(seen, rows=rows, seconds=seconds)
        if value <= schedule.threshold:
            seen = replace(seen, notes=(f"stages: {stage + 1}",))
            return conclude(sample, estimate, math.sqrt(value), stages[0], seen)
    notes = ("no stage passed validation; unlike that of Algorithm 1, this Fail proves nothing",)
    return LearnResult.fail(stages[0].V, stages[0].schedule, replace(seen, notes=notes))


def _stage(
    sample: Sample,
    estimate: ShallowNetwork,
    schedule: Schedule,
    rng: np.random.Generator,
    seen: Diagnostics,
) -> tuple[ShallowNetwork, SubspaceEstimate, Diagnostics]:
    """Learn what the estimate lacks, from fresh rows of the residual, and add it."""
    d, seconds = schedule.n_features, dict(seen.seconds)

    def residual(n: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = sample(n)
        return X, y - estimate(X)

    direction_rng, start_rng = rng.spawn(2)
    g = direction_rng.standard_normal((1, d))
    total = MomentSum(g / np.linalg.norm(g), schedule.orders)
    with timed(seconds, "moments and subspace"):
        for X, y in draw(residual, schedule.N, d):
            total.add(X, y)
        moments = total.finalize()
        # A floor of exactly 0 (a residual of 0) would let every eigenvalue of a zero matrix pass the cut.
        floors = np.maximum(noise_floor(*moments.halves), np.finfo(float).tiny)[0]
        U, kappa, n_kept = top_singular_span(moments.matrices[0], floors, schedule.n_hidden)
    with timed(seconds, "search"):
        blocks = [(X @ U, y - X @ moments.linear) for X, y in draw(residual, PROPOSAL_ROWS, d)]
        Z, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
        weights, units = propose(
            Z, y, schedule.n_hidden, schedule.R, good=schedule.threshold / 4.0, rng=start_rng
        )
    large = np.abs(weights) > schedule.tau
    lacking = ShallowNetwork(moments.linear, weights[large], units[large] @ U.T)
    spectra = tuple(
        MomentSpectrum(order, None, rho[np.argsort(-np.abs(rho))], float(floor), n_kept=kept)
        for order, rho, floor, kept in zip(
            schedule.orders, np.linalg.eigvalsh(moments.matrices[0]), floors, n_kept, strict=True
        )
    )
    spent = {"moments": round(schedule.N), "proposal": PROPOSAL_ROWS}
    rows = {**seen.rows, **{use: seen.rows.get(use, 0) + n for use, n in spent.items()}}
    found = SubspaceEstimate(U, kappa, moments.linear, spectra, schedule)
    return (
        estimate + lacking,
        found,
        replace(seen, spectra=seen.spectra + spectra, rows=rows, seconds=seconds),
    )
