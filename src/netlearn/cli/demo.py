"""`netlearn demo`: plant a network, learn it from its rows, and compare with the truth.

Each learner has one function that returns a `Section`: its key in the JSON object and its part of the page.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group, RenderableType

from netlearn import __version__, paper, teachers
from netlearn.cli.describe import (
    certificate_sentence,
    network_data,
    result_data,
    spectra_data,
    spectra_table,
)
from netlearn.cli.output import NOT_CERTIFIED, Answer, card, number
from netlearn.network import ShallowNetwork
from netlearn.paper.schedule import NOISE_CUT
from netlearn.subspace import sine

# The brute force sets the size: with a third neuron it would have more candidates than its budget.
N_HIDDEN, N_FEATURES, EPSILON, RADIUS = 2, 6, 0.25, 2.0


@dataclass(frozen=True)
class Section:
    """What one learner did with the planted network."""

    success: bool
    data: dict[str, Any]
    view: RenderableType


def answer(seed: int) -> Answer:
    """Plant, learn and compare; the exit code says whether the network was certified."""
    rng = np.random.default_rng(seed)
    target = teachers.hard_plane(N_HIDDEN, N_FEATURES, rng, radius=RADIUS)
    as_printed = learn_as_printed(target, rng)
    planted = (
        f"Planted: {N_HIDDEN} neurons of alternating sign in a random plane of {N_FEATURES} dimensions, with "
        f"sum |lambda_i| = {RADIUS:g}. Algorithm 1 sees rows (x, f(x)) with x ~ N(0, I) and is asked for an "
        f"error of at most {EPSILON:g}.\n"
    )
    data = {
        "version": __version__,
        "seed": seed,
        "epsilon": EPSILON,
        "radius": RADIUS,
        "target": network_data(target),
        "paper": as_printed.data,
    }
    return Answer(data, Group(planted, as_printed.view), 0 if as_printed.success else NOT_CERTIFIED)


def learn_as_printed(target: ShallowNetwork, rng: np.random.Generator) -> Section:
    """Run Algorithm 1 with a practical schedule, and say what the proof's own schedule asks for."""

    def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((n, N_FEATURES))
        return X, target(X)

    result = paper.netlearn(sample, N_FEATURES, N_HIDDEN, EPSILON, RADIUS, rng=rng)
    seen, V = result.diagnostics, result.subspace
    plane = np.linalg.qr(target.units.T)[0]
    angle = sine(plane, V) if V.shape[1] else None
    error = None if result.network is None else target.distance(result.network)
    log10_rows = paper.Schedule.from_theory(N_FEATURES, N_HIDDEN, EPSILON, RADIUS).log10_N

    lines = card()
    beside = "" if angle is None else f", sine of its angle to the planted plane {angle:.4f}"
    lines.add_row("subspace V", f"dimension {V.shape[1]}{beside}")
    lines.add_row("search", f"ended at candidate {seen.n_tried:,} of {seen.n_candidates:,}")
    if error is not None:
        lines.add_row("error", f"{error:.4f}, exactly, as the planted network is known here")
    if result.certificate is not None:
        lines.add_row("certificate", certificate_sentence(result.certificate))
    lines.add_row("status", f"{result.status.name}: {result.status.value}")
    lines.add_row("cost", f"{sum(seen.rows.values()):,} rows, {sum(seen.seconds.values()):.1f} seconds")
    lines.add_row("in theory", f"the proof's constants ask for {number(log10_rows)} rows (see netlearn plan)")
    data = {
        **result_data(result),
        "spectra": spectra_data(seen.probes, NOISE_CUT),
        "sine_to_planted": angle,
        "exact_error": error,
        "theory_log10_rows": log10_rows,
    }
    return Section(result.success, data, Group(spectra_table(seen.probes, NOISE_CUT), lines))
