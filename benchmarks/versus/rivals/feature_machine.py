"""xRFM, recursive feature machines: kernel regression that learns its metric, in leaves of a tree.

The settings are its documentation's for regression, with fewer iterations, and the bandwidth chosen on the held-out
rows, which the method takes for its own validation too. It is no network, so its error is measured on fresh rows.
"""

import threading

import numpy as np
from tqdm import tqdm
from xrfm import xRFM

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch, relative_error

BANDWIDTHS = (10.0, 30.0)
LARGEST_LEAF = 2_000
"""Rows of one kernel system. Larger ones take longer to solve; with smaller ones the splits take as long."""
MOST_ROWS = 6_000
"""Of more rows the first are taken: with all of them it would not end in a minute on one thread."""


tqdm.set_lock(threading.RLock())  # its own is for processes, and would be left behind when this one ends


def fit(problem: Problem, watch: Watch) -> Found:
    """Return the bandwidth that is best on held-out rows, among those that time allows."""
    X_held, y_held = problem.held_out
    X, y = problem.X[:MOST_ROWS], problem.y[:MOST_ROWS]
    scale = float(np.std(y))
    best, smallest = None, np.inf
    for bandwidth in BANDWIDTHS:
        model = _model(bandwidth, watch.limit - watch.seconds, problem.seed)
        model.fit(_single(X), _column(y / scale), _single(X_held), _column(y_held / scale))

        def predict(X: np.ndarray, model: xRFM = model) -> np.ndarray:
            return scale * model.predict(_single(X)).ravel().astype(float)

        watch.look(predict)
        error = relative_error(predict(X_held), y_held)
        if best is None or error < smallest:
            best, smallest = predict, error
        if 2 * watch.seconds > watch.limit:
            break
    return Found(best, note=f"learned from {len(y):,} rows" if len(y) < len(problem.y) else "")


def _model(bandwidth: float, seconds: float, seed: int) -> xRFM:
    kernel = {
        "kernel": "l2",
        "bandwidth": bandwidth,
        "exponent": 1.0,
        "diag": False,
        "bandwidth_mode": "constant",
    }
    return xRFM(
        rfm_params={"model": kernel, "fit": {"reg": 1e-5, "iters": 3, "verbose": False}},
        max_leaf_size=LARGEST_LEAF,
        device="cpu",
        tuning_metric="mse",
        time_limit_s=seconds,
        n_threads=1,
        random_state=seed,
        verbose=False,
    )


def _single(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float32)


def _column(y: np.ndarray) -> np.ndarray:
    return y.astype(np.float32)[:, None]
