"""Small and real data that are no small network: cross-validated R^2, ours against scikit-learn's trained network.

    python -m benchmarks.regression                       # the whole table, some fifteen minutes on one core
    python -m benchmarks.regression --only diabetes --seeds 1

The rival is `MLPRegressor` of the same width (of its default width where ours is "auto"), inputs standardised, with
iterations enough to converge: its defaults and early stopping, on labels as they are and standardised. The best of
these four over all folds is compared, fold by fold. Ridge regression stands beside for orientation. A line holds when
ours is not worse by more than the standard error of the paired difference.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from netlearn import NetLearnRegressor

N_FOLDS = 5
DEFAULT_WIDTH = 100

Data = tuple[np.ndarray, np.ndarray]


def sine(n: int, noise: float) -> Data:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + noise * rng.standard_normal(n)


def mostly_linear(n: int, d: int) -> Data:
    """Draw Gaussian rows whose labels are linear in three columns, with one kink and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, :3].sum(axis=1) + np.maximum(X[:, 0], 0) + 0.5 * rng.standard_normal(n)


def table() -> dict[str, tuple[Data, int | str]]:
    diabetes = load_diabetes(return_X_y=True)
    friedman = make_friedman1(n_samples=300, noise=1.0, random_state=0)
    data = {
        "diabetes 442 x 10": (diabetes, (5, 20, "auto")),
        "friedman1 300 x 10": (friedman, (5, 10, 20, "auto")),
        "sine 100 x 1": (sine(100, 0.1), (5, 10, "auto")),
        "mostly linear 40 x 20": (mostly_linear(40, 20), (5, "auto")),
        "mostly linear 15 x 50": (mostly_linear(15, 50), (5, "auto")),
    }
    return {
        f"{name}, {width} units": (rows, width) for name, (rows, widths) in data.items() for width in widths
    }


def rivals(width: int | str) -> dict[str, Callable[[int], RegressorMixin]]:
    layers = (DEFAULT_WIDTH if width == "auto" else width,)

    def trained(early_stopping: bool, standardised: bool) -> Callable[[int], RegressorMixin]:
        def make(seed: int) -> RegressorMixin:
            network = MLPRegressor(
                hidden_layer_sizes=layers, max_iter=3000, early_stopping=early_stopping, random_state=seed
            )
            model = make_pipeline(StandardScaler(), network)
            return TransformedTargetRegressor(model, transformer=StandardScaler()) if standardised else model

        return make

    return {
        f"{stop}{labels}": trained(bool(stop), bool(labels))
        for stop in ("", "early stopping ")
        for labels in ("", "labels scaled")
    }


def scores(make: Callable[[int], RegressorMixin], rows: Data, n_seeds: int) -> np.ndarray:
    """Return R^2 on each fold of each seed's division."""
    X, y = rows
    values = []
    for seed in range(n_seeds):
        for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(X):
            values.append(make(seed).fit(X[train], y[train]).score(X[test], y[test]))
    return np.array(values)


def standard_error(values: np.ndarray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--seeds", type=int, default=3, help="divisions into folds")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    print(f"{'case':34}{'ours':>15}{'s/fit':>7}{'network':>15}{'ridge':>8}{'ours - network':>18}  best rival")
    n_lines = n_held = 0
    for name, (rows, width) in table().items():
        if options.only not in name:
            continue
        start = time.perf_counter()
        ours = scores(lambda seed, k=width: NetLearnRegressor(k, random_state=seed), rows, options.seeds)
        seconds = (time.perf_counter() - start) / len(ours)
        theirs = {label: scores(make, rows, options.seeds) for label, make in rivals(width).items()}
        label, best = max(theirs.items(), key=lambda item: np.mean(item[1]))
        ridge = scores(
            lambda _: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 30))), rows, options.seeds
        )
        gain = ours - best
        holds = np.mean(gain) >= -standard_error(gain)
        n_lines, n_held = n_lines + 1, n_held + holds
        print(
            f"{name:34}{np.mean(ours):8.3f} ± {standard_error(ours):.3f}{seconds:6.2f} "
            f"{np.mean(best):8.3f} ± {standard_error(best):.3f}{np.mean(ridge):8.3f}"
            f"{np.mean(gain):+10.3f} ± {standard_error(gain):.3f}  "
            f"{'ok' if holds else 'WORSE'}  {label.strip() or 'defaults'}",
            flush=True,
        )
    print(f"{n_held} of {n_lines} lines hold")


if __name__ == "__main__":
    main()
