"""PyTorch's Adam on minibatches with a cosine schedule, best of five restarts on held-out rows.

Learning rate, momentum and batch were tuned once, on hard_plane 4/50, hard_plane 6/20 and random 5/50 with a seed that
is not in the table, and are the same for every family. The model has what the planted networks may have: ReLUs without
biases beside an affine part. Adam itself ends no lower in double precision than in single; the L-BFGS finish does, and
is in double.
"""

from collections.abc import Iterator

import numpy as np
import torch

from benchmarks.versus.methods import Found
from benchmarks.versus.objective import Problem, Watch, relative_error
from benchmarks.versus.rivals.network import network

LEARNING_RATE = 0.02
BETAS = (0.9, 0.99)
BATCH = 500
STEPS = 5_000
RESTARTS = 5
RESTARTS_BEFORE_FINISH = {1: 3, 4: 2}
"""By width, in units of k."""
FINISH_ITERATIONS, FINISH_GAIN = 50, 0.9
"""The finish ends when so many iterations leave this share of the mean square."""
FINISH_EXACT = 1e-18
LOOKS = 25
"""How often the time to 1e-3 is looked at in one restart."""


class Model(torch.nn.Module):
    """ReLUs beside an affine part, scaled so that labels and answers begin with variance about one."""

    def __init__(self, n_features: int, width: int, generator: torch.Generator):
        super().__init__()
        self.units = torch.nn.Parameter(torch.randn(n_features, width, generator=generator) / n_features**0.5)
        self.weights = torch.nn.Parameter(torch.randn(width, generator=generator) / width**0.5)
        self.linear = torch.nn.Parameter(torch.zeros(n_features))
        self.intercept = torch.nn.Parameter(torch.zeros(()))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the values at the rows of X."""
        return torch.relu(X @ self.units) @ self.weights + X @ self.linear + self.intercept


class Rows:
    """The rows of a problem as tensors, labels scaled to variance one."""

    def __init__(self, problem: Problem, dtype: torch.dtype):
        self.scale = float(np.std(problem.y))
        self.X = torch.tensor(problem.X, dtype=dtype)
        self.y = torch.tensor(problem.y / self.scale, dtype=dtype)
        self.dtype = dtype

    def values(self, model: Model, X: np.ndarray) -> np.ndarray:
        """Return the model's values in the units of the labels."""
        with torch.no_grad():
            return self.scale * model(torch.tensor(X, dtype=self.dtype)).numpy()


def narrow(problem: Problem, watch: Watch) -> Found:
    """Fit with the true number of units."""
    return _found(problem, best_of_restarts(problem, watch, problem.k, RESTARTS))


def wide(problem: Problem, watch: Watch) -> Found:
    """Fit with four times the true number of units."""
    return _found(problem, best_of_restarts(problem, watch, 4 * problem.k, RESTARTS))


def finished(problem: Problem, watch: Watch) -> Found:
    """Fit at both widths, finish the best of each by L-BFGS on all rows, and let held-out rows choose."""
    rows = Rows(problem, torch.float64)
    X_held, y_held = problem.held_out
    best, smallest = None, np.inf
    for factor, restarts in RESTARTS_BEFORE_FINISH.items():
        model = best_of_restarts(problem, watch, factor * problem.k, restarts).double()
        _finish(model, rows, watch)
        error = relative_error(rows.values(model, X_held), y_held)
        if best is None or error < smallest:
            best, smallest = model, error
        if watch.is_over:
            break
    return _found(problem, best)


def _finish(model: Model, rows: Rows, watch: Watch) -> None:
    """Go on by L-BFGS until some iterations gain little, or time is over."""
    optimiser = torch.optim.LBFGS(
        model.parameters(),
        max_iter=FINISH_ITERATIONS,
        history_size=30,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-12,
        tolerance_change=0.0,
    )

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = torch.nn.functional.mse_loss(model(rows.X), rows.y)
        value.backward()
        return value

    before = np.inf
    while not watch.is_over:
        optimiser.step(loss)
        watch.look(lambda X: rows.values(model, X))
        now = loss().item()
        if now > FINISH_GAIN * before or now < FINISH_EXACT:
            break
        before = now


def best_of_restarts(problem: Problem, watch: Watch, width: int, restarts: int) -> Model:
    """Return the restart with the smallest error on held-out rows, among those that time allows."""
    rows = Rows(problem, torch.float32)
    X_held, y_held = problem.held_out
    best, smallest = None, np.inf
    for restart in range(restarts):
        generator = torch.Generator().manual_seed(1_000 * problem.seed + restart)
        model = Model(problem.X.shape[1], width, generator)
        for _ in _trained(model, rows, generator):
            watch.look(lambda X, model=model: rows.values(model, X))
            if watch.is_over:
                break
        error = relative_error(rows.values(model, X_held), y_held)
        if best is None or error < smallest:
            best, smallest = model, error
        if watch.is_over:
            break
    return best


def _trained(model: Model, rows: Rows, generator: torch.Generator) -> Iterator[None]:
    """Train, stopping `LOOKS` times on the way."""
    n = len(rows.y)
    batch = min(BATCH, n // 4)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=BETAS, fused=True)
    for step in range(STEPS):
        at = step % (n // batch) * batch
        if at == 0:
            order = torch.randperm(n, generator=generator)
        chosen = order[at : at + batch]
        optimiser.param_groups[0]["lr"] = LEARNING_RATE * (1 + np.cos(np.pi * step / STEPS)) / 2
        loss = torch.nn.functional.mse_loss(model(rows.X[chosen]), rows.y[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % (STEPS // LOOKS) == 0:
            yield


def _found(problem: Problem, model: Model) -> Found:
    scale = float(np.std(problem.y))
    units, weights, linear, intercept = (p.detach().double().numpy() for p in model.parameters())
    return Found(network(units.T, scale * weights, scale * linear, scale * float(intercept)))
