"""`netlearn demo`: plant networks, learn them from their rows, and compare with the truth.

Two learners, each in one function that returns a `Section`: Algorithm 1 as printed, at a size that it can run,
and the practical learner at one where Algorithm 1 cannot. The page ends with both side by side, next to what
Algorithm 1 would need for the second network.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from netlearn import __version__, learn, paper, teachers
from netlearn.cli.describe import (
    Comparison,
    compare,
    comparison_data,
    network_data,
    progress_sentence,
    result_card,
    result_data,
    spectra_table,
)
from netlearn.cli.output import NOT_CERTIFIED, Answer, number, table
from netlearn.paper.schedule import NOISE_CUT
from netlearn.result import LearnResult

# The brute force sets the size: with a third neuron it would have more candidates than its budget.
SMALL_HIDDEN, SMALL_FEATURES, EPSILON, RADIUS = 2, 6, 0.25, 2.0
N_HIDDEN, N_FEATURES, N_ROWS = 8, 50, 20_000
# What Algorithm 1 is asked for at the larger size, in units of the planted network's norm.
RELATIVE_EPSILON = 0.1

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Section:
    """What one learner did with its planted network."""

    result: LearnResult
    comparison: Comparison
    data: dict[str, Any]
    view: RenderableType


def answer(seed: int, tell: Tell = lambda news: None) -> Answer:
    """Plant, learn and compare; the exit code says whether both networks were certified or recovered."""
    rng_printed, rng_practical = np.random.default_rng(seed).spawn(2)
    tell("Algorithm 1, as printed")
    printed = learn_as_printed(rng_printed)
    practical, needed = learn_in_practice(rng_practical, tell)
    data = {
        "version": __version__,
        "seed": seed,
        "paper": printed.data,
        "learn": {**practical.data, "algorithm_1": needed},
    }
    page = Group(printed.view, "", practical.view, "", side_by_side(printed, practical, needed))
    success = printed.result.success and practical.result.success
    return Answer(data, page, 0 if success else NOT_CERTIFIED)


def learn_as_printed(rng: np.random.Generator) -> Section:
    """Run Algorithm 1 with a practical schedule on a network of two neurons."""
    target = teachers.hard_plane(SMALL_HIDDEN, SMALL_FEATURES, rng, radius=RADIUS)

    def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((n, SMALL_FEATURES))
        return X, target(X)

    result = paper.netlearn(sample, SMALL_FEATURES, SMALL_HIDDEN, EPSILON, RADIUS, rng=rng)
    comparison = compare(result, target)
    log10_rows = paper.Schedule.from_theory(SMALL_FEATURES, SMALL_HIDDEN, EPSILON, RADIUS).log10_N
    data = {
        "n_hidden": SMALL_HIDDEN,
        "n_features": SMALL_FEATURES,
        "epsilon": EPSILON,
        "radius": RADIUS,
        "target": network_data(target),
        **result_data(result, cut=NOISE_CUT),
        **comparison_data(comparison),
        "theory_log10_rows": log10_rows,
    }
    words = (
        f"Planted: {SMALL_HIDDEN} neurons of alternating sign in a random plane of {SMALL_FEATURES} dimensions. "
        f"Algorithm 1 sees rows (x, f(x)) with x ~ N(0, I) and is asked for an error of at most {EPSILON:g}.\n"
    )
    spectra = spectra_table(
        f"Moment matrices: kept is what reaches {NOISE_CUT:g} times the noise",
        result.diagnostics.spectra,
        cut=NOISE_CUT,
    )
    view = Group(_heading("1. Algorithm 1, as printed"), words, spectra, result_card(result, comparison))
    return Section(result, comparison, data, view)


def learn_in_practice(rng: np.random.Generator, tell: Tell) -> tuple[Section, dict[str, Any]]:
    """Run `learn` on a network of eight neurons; also give what Algorithm 1 would need for it."""
    target = teachers.hard_plane(N_HIDDEN, N_FEATURES, rng)
    X = rng.standard_normal((N_ROWS, N_FEATURES))
    result = learn(X, target(X), rng=rng, progress=lambda progress: tell(progress_sentence(progress)))
    comparison = compare(result, target)
    epsilon = RELATIVE_EPSILON * target.norm()
    proved = paper.Schedule.from_theory(N_FEATURES, N_HIDDEN, epsilon, R=1.0)
    needed = {
        "relative_error": RELATIVE_EPSILON,
        "epsilon": epsilon,
        "log10_rows": proved.log10_N,
        "highest_degree": proved.orders[-1],
        "lowest_degree_that_is_not_zero": N_HIDDEN,
        "correlational_lower_bound": "d^Omega(k)",
    }
    data = {
        "n_hidden": N_HIDDEN,
        "n_features": N_FEATURES,
        "n_rows": N_ROWS,
        "target": network_data(target),
        **result_data(result),
        **comparison_data(comparison),
    }
    words = (
        f"Planted: {N_HIDDEN} neurons of alternating sign in a random plane of {N_FEATURES} dimensions. All its "
        f"moments below degree {N_HIDDEN} are zero, so a method that only correlates labels with functions of x, "
        "as Algorithm 1 and gradient descent on the square loss do, needs d^Omega(k). Filters of the label are "
        f"under no such bound. learn sees {N_ROWS:,} rows and is not told the number of neurons.\n"
    )
    spectra = spectra_table(
        "Moment matrices: kept is what stands out of the noise", result.diagnostics.spectra
    )
    view = Group(_heading("2. The practical learner"), words, spectra, result_card(result, comparison))
    return Section(result, comparison, data, view), needed


def side_by_side(printed: Section, practical: Section, needed: dict[str, Any]) -> Table:
    """Put what the two runs took next to what the proof asks for."""
    rows = table("Side by side", "", "Algorithm 1", "learn", "Algorithm 1 needs")

    def cost(section: Section) -> tuple[str, str]:
        seen = section.result.diagnostics
        return f"{sum(seen.rows.values()):,}", f"{sum(seen.seconds.values()):.1f}"

    def error(section: Section) -> str:
        share = section.comparison.relative_error
        return "none found" if share is None else f"{share:.2g}"

    (printed_rows, printed_seconds), (practical_rows, practical_seconds) = cost(printed), cost(practical)
    large = f"{N_HIDDEN} in {N_FEATURES}"
    rows.add_row("neurons in dimensions", f"{SMALL_HIDDEN} in {SMALL_FEATURES}", large, large)
    degrees = (_highest_degree(section.data) for section in (printed, practical))
    rows.add_row("highest degree used", *degrees, str(needed["highest_degree"]))
    rows.add_row("rows", printed_rows, practical_rows, number(needed["log10_rows"]))
    rows.add_row("seconds", printed_seconds, practical_seconds, "")
    rows.add_row("error / norm", error(printed), error(practical), f"{RELATIVE_EPSILON:g}")
    return rows


def _highest_degree(data: dict[str, Any]) -> str:
    """Of the moment matrices that V was joined from."""
    return str(max((spectrum["order"] for spectrum in data["spectra"] if spectrum["n_kept"]), default=0))


def _heading(words: str) -> Text:
    return Text(words, style="bold underline")
