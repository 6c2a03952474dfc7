"""The multi-stage algorithm that the paper simplifies, as section 1.1 describes it."""

import math
from dataclasses import replace

import numpy as np

from netlearn.network import ShallowNetwork
from netlearn.paper.algorithm import SubspaceEstimate, conclude, find_subspace, search_subspace, timed
from netlearn.paper.rows import Sample
from netlearn.paper.schedule import Schedule
from netlearn.result import Diagnostics, LearnResult, Status
from netlearn.search.bruteforce import DEFAULT_BUDGET


def multi_stage(
    sample: Sample,
    n_features: int,
    k: int,
    epsilon: float,
    R: float,
    *,
    schedule: Schedule | None = None,
    budget: int = DEFAULT_BUDGET,
    rng: np.random.Generator | None = None,
) -> LearnResult:
    r"""Learn in stages: find the neurons that the joint span contains, subtract them, recurse.

    Section 1.1 of the paper, on Chen, Dou, Goel, Klivans and Meka (2023): the top-k singular subspaces of
    many M_ell span a space that contains a few of the neurons. A stage estimates that space from the
    moments of the residual y - f_hat, takes the best candidate inside it, and adds it to f_hat; there are
    about log2 k + 1 stages, and their errors compound.

    Departs from the description where it leaves a choice: singular vectors below the noise floor are not
    taken (`find_subspace`), and "the neurons it contains" are those of the candidate of least validation
    loss among up to k neurons. The estimate may have more than k neurons; the certificate does not depend
    on that.
    Cost: one run of `netlearn` per stage.

    Parameters
    ----------
    sample, n_features, k, epsilon, R, schedule, budget, rng
        As in `netlearn.paper.netlearn`.

    Returns
    -------
    LearnResult
        Its subspace is the last stage's.
    """
    rng = np.random.default_rng() if rng is None else rng
    if schedule is None:
        schedule = Schedule.practical(n_features, k, epsilon, R)
    estimate = ShallowNetwork(np.zeros(n_features), np.zeros(0), np.zeros((0, n_features)))
    seen = Diagnostics()
    for stage in range(math.ceil(math.log2(k)) + 2):
        estimate, found, loss, seen = _stage(sample, estimate, schedule, budget, rng.spawn(1)[0], seen)
        if loss <= schedule.threshold:
            return conclude(sample, estimate, found, replace(seen, notes=(f"stages: {stage + 1}",)))
    return LearnResult(None, None, Status.FAILED, found.V, found.schedule, seen)


def _stage(
    sample: Sample,
    estimate: ShallowNetwork,
    schedule: Schedule,
    budget: int,
    rng: np.random.Generator,
    seen: Diagnostics,
) -> tuple[ShallowNetwork, SubspaceEstimate, float, Diagnostics]:
    """Learn what the estimate lacks, from fresh rows of the residual, and add it."""
    seconds = dict(seen.seconds)

    def residual(n: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = sample(n)
        return X, y - estimate(X)

    moment_rng, net_rng = rng.spawn(2)
    with timed(seconds, "moments and subspace"):
        found = find_subspace(residual, schedule, rng=moment_rng)
    with timed(seconds, "search"):
        lacking, outcome, n_candidates = search_subspace(
            residual, found, threshold=None, budget=budget, rng=net_rng
        )
    spent = {"moments": round(schedule.N), "search": round(schedule.N_val)}
    seen = replace(
        seen,
        probes=seen.probes + found.probes,
        rows={room: seen.rows.get(room, 0) + n for room, n in spent.items()},
        seconds=seconds,
        n_candidates=seen.n_candidates + n_candidates,
        n_tried=seen.n_tried + outcome.n_tried,
    )
    return estimate + lacking, found, outcome.mean_square, seen
