"""pyscnn: two-layer networks by convex optimisation over sampled activation patterns.

Gated ReLUs, the formulation its authors find easiest to solve; the one with ReLUs proper took a hundred times as long
in trials and ended higher. The gates are drawn at random, so that more of them are tried while time allows, and
held-out rows choose among them and among the strengths of the regulariser. Labels lose their affine part first, as the
networks have no intercept. A gated network is no ReLU network, so its error is measured on fresh rows.
"""

import threading

import numpy as np
from scnn.optimize import optimize
from scnn.regularizers import NeuronGL1
from tqdm import tqdm

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch, relative_error

SETTINGS = ((50, 1e-5), (200, 1e-5), (200, 1e-6), (500, 1e-5), (500, 1e-6), (1_000, 1e-5))
"""Number of gates, and strength of the group-sparse regulariser."""


tqdm.set_lock(threading.RLock())  # its own is for processes, and would be left behind when this one ends


def fit(problem: Problem, watch: Watch) -> Found:
    """Return the setting that is best on held-out rows, among those that time allows."""
    X_held, y_held = problem.held_out
    affine = np.linalg.lstsq(_with_ones(problem.X), problem.y, rcond=None)[0]
    rest = problem.y - _with_ones(problem.X) @ affine
    scale = float(np.std(rest))
    best, smallest = None, np.inf
    for gates, strength in SETTINGS:
        begun = watch.seconds
        model, _ = optimize(
            "gated_relu", gates, problem.X, rest / scale, regularizer=NeuronGL1(strength), seed=problem.seed
        )

        def predict(X: np.ndarray, model=model) -> np.ndarray:
            return _with_ones(X) @ affine + scale * np.asarray(model(X), dtype=float).ravel()

        watch.look(predict)
        error = relative_error(predict(X_held), y_held)
        if best is None or error < smallest:
            best, smallest = predict, error
        # The next has more gates: three times as long is a guess on the safe side.
        if watch.seconds + 3 * (watch.seconds - begun) > watch.limit:
            break
    return Found(best)


def _with_ones(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])
