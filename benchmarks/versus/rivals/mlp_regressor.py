"""scikit-learn's MLPRegressor: the best of four settings on held-out rows.

Its networks have biases and no linear part, so that width 4k is there beside the true width. Adam goes epoch by epoch
and L-BFGS in short fits that go on from one another, to end when time is over; each setting has an equal share of it.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch, relative_error
from netlearn import ShallowNetwork

SETTINGS = ((4, "adam"), (4, "lbfgs"), (1, "adam"), (1, "lbfgs"))
"""Width in units of k, and solver."""
EPOCHS = 300
ITERATIONS, PIECES = 100, 10
STALL = 0.99


def fit(problem: Problem, watch: Watch) -> Found:
    """Return the setting that is best on held-out rows."""
    scale = float(np.std(problem.y))
    X_held, y_held = problem.held_out
    best, smallest = None, np.inf
    for index, (factor, solver) in enumerate(SETTINGS):
        model = MLPRegressor(
            hidden_layer_sizes=(factor * problem.k,),
            solver=solver,
            alpha=0.0,
            learning_rate_init=3e-3,
            max_iter=ITERATIONS,
            max_fun=10 * ITERATIONS,
            tol=1e-12,
            warm_start=True,
            random_state=problem.seed,
        )
        _train(model, problem.X, problem.y / scale, watch, watch.limit * (index + 1) / len(SETTINGS), scale)
        found = scale * ShallowNetwork.from_sklearn(model)
        error = relative_error(found(X_held), y_held)
        if best is None or error < smallest:
            best, smallest = found, error
    return Found(best)


def _train(
    model: MLPRegressor, X: np.ndarray, y: np.ndarray, watch: Watch, until: float, scale: float
) -> None:
    """Train until nothing is gained, or until this second of the fit."""
    before = np.inf
    for _ in range(EPOCHS if model.solver == "adam" else PIECES):
        if model.solver == "adam":
            model.partial_fit(X, y)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", ConvergenceWarning
                )  # a piece ends before it converges, as meant
                model.fit(X, y)
            if model.loss_ > STALL * before:
                break
            before = model.loss_
        watch.look(lambda rows: scale * model.predict(rows))
        if watch.seconds > until:
            break
