"""Units that exact labels do not ask for.

A network that is looked for with more units than the target has meets the labels all the same: a unit too many ends
with next to no weight, or shares the hyperplane of another but for a few rows, on which the two are free to agree with
any label. Both are taken out one at a time, as long as the labels are met as well without.
"""

from __future__ import annotations

import numpy as np

from netlearn.fit import Fit, Problem, finish
from netlearn.search.judge import loses_nothing
from netlearn.search.trimmed import n_apart

# With the patterns almost right already, a fit takes two or three rounds.
_ROUNDS = 10


def without_surplus(problem: Problem, fit: Fit) -> Fit:
    """Return an exact fit with the units that it needs.

    Only units weaker than what counts as none can be surplus, and such as few rows tell from others. The mean square
    may rise to what double precision leaves or, where rounded labels leave more, by what Schwarz's criterion grants to
    the parameters of a unit.
    """
    rows = problem.rows
    n, d = rows.n_rows, rows.n_features
    strengths = fit.params.kink_strengths()
    few = n_apart(rows, fit.params, np.ones(n, dtype=bool), d + 4) < d + 4
    suspected = (strengths**2 < problem.zero_loss) | few
    kept = np.ones(len(strengths), dtype=bool)
    for unit in np.argsort(strengths, kind="stable"):
        if not suspected[unit] or problem.deadline():
            continue
        others = np.delete(np.arange(fit.params.n_hidden), kept[:unit].sum())
        smaller = finish(problem, fit.params.keep(others), max_rounds=_ROUNDS)
        if loses_nothing(smaller, fit, n, d + problem.biases):
            fit, kept[unit] = smaller.after(fit), False
    return fit
