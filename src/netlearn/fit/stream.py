r"""The last fit where reading the rows is what costs.

A round of `Finish` reads all rows several times. Here a pass over them gives the loss and the gradient F^T e / N alone,
and the matrix is that of rows that are held in memory: a <- a + H_held^{-1} g. With R held rows and P unknowns H_held
differs from H by a share of about sqrt(P / R), so each pass takes the distance to the minimum down by that factor.

Rows in memory are read so, too, where they are very many for each unknown: a pass costs 4 N P operations, their normal
matrix N P^2.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from netlearn.fit.descend import NEGLIGIBLE, Point, descend, well_solved
from netlearn.fit.params import Params
from netlearn.fit.problem import ROUNDING, Fit, Problem
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.stream import Held, Streamed

# A step that is expected to lower the mean square by less than this share of what the unknowns absorb of the noise
# moves the network by a sixth of its statistical error, or less: no pass is spent on how well it did.
_UNSEEN = 0.03


def finish_on_stream(
    problem: Problem,
    rows: Streamed | Held,
    start: Params,
    *,
    max_passes: int = 8,
    checkpoint: Checkpoint | None = None,
) -> Fit:
    """Descend to the minimum of the mean square over all rows; one pass for labels that are fitted exactly already.

    Parameters
    ----------
    problem : Problem
        On rows that are held in memory, some hundred for each unknown.
    rows : Streamed or Held
        All rows, read once in each pass.
    start : Params
        The minimum over the held rows, or near it.
    max_passes : int
    checkpoint : Checkpoint, optional
        Where sums are saved, and gone on from.
    """
    run = _Passes(rows, start, problem.biases, checkpoint)
    fit = descend(problem, start, OnStream(run, max_passes))
    return replace(fit, trace=tuple(run.trace), n_products=len(run.trace))


class OnStream:
    """Steps by the gradient of all rows and the matrix of those that are held; a pass for each."""

    def __init__(self, passes: _Passes, max_passes: int):
        self._passes, self.max_rounds = passes, max_passes - 1
        self._gradient, self._at_end = np.zeros(0), False

    def begin(self, problem: Problem, start: Params) -> Point:
        """Evaluate the start, or the network that the checkpoint has come to."""
        loss, self._gradient = self._passes.sums(self._passes.start)
        self._passes.accept()
        return Point(self._passes.start, loss)

    def ended(self, point: Point, best: Point) -> bool:
        """Say whether rounding is all that is left, or the last step was too small to be looked at."""
        return self._at_end or point.loss <= ROUNDING

    def step(self, problem: Problem, point: Point, best: Point) -> tuple[Point | None, int]:
        """Take the step if it gains enough, and keep it if the loss has fallen; a last small one is taken unseen."""
        matrix = problem.equations(point.params)
        matrix.gradient = self._gradient
        step = well_solved(matrix, tolerance=1e-4)
        expected = float(np.vdot(self._gradient, step))
        statistical = point.loss * self._passes.free.sum() / self._passes.rows.n_rows
        if expected < NEGLIGIBLE * statistical:
            return None, 0
        trial = point.params.moved(step)
        if expected < _UNSEEN * statistical:
            self._at_end = True
            return Point(trial, point.loss - expected), 0
        loss, gradient = self._passes.sums(trial)
        if not loss < point.loss:
            return None, 1
        self._gradient = gradient
        self._passes.accept()
        return Point(trial, loss), 1


class _Passes:
    """Passes over all rows, each the sum of e^2 and F^T e at one network.

    With a checkpoint a pass goes on from where it was cut off. What is saved are the parameters that were accepted
    last, with their sums, and the sums under way at the one tried.

    Attributes
    ----------
    start : Params
        The one that was accepted last, or the one given.
    free : array
        The mask of its unknowns.
    trace : list of float
        The mean square at each params tried.
    """

    def __init__(self, rows: Streamed | Held, start: Params, biases: bool, checkpoint: Checkpoint | None):
        self.rows, self.start, self.free, self.checkpoint = (
            rows,
            start,
            start.shape(biases).free(),
            checkpoint,
        )
        self.trace: list[float] = []
        self._parts: dict[str, _Pass] = {}
        saved = None if checkpoint is None else checkpoint.load("pass")
        if saved is not None:
            tensors, text = saved
            self._parts = {
                kind: _Pass(
                    type(start)(**{name: tensors[f"{kind}.{name}"] for name in vars(start)}),
                    _Sums(loss, tensors[f"{kind}.gradient"], n_rows),
                )
                for kind, (loss, n_rows) in text.items()
            }
            if "accepted" in self._parts:
                self.start = self._parts["accepted"].params

    def sums(self, params: Params) -> tuple[float, np.ndarray]:
        """Return the mean square and the gradient at `params`."""
        known = [part for part in self._parts.values() if _is_same(part.params, params)]
        if not known:
            self._parts["tried"] = _Pass(params, _Sums(0.0, np.zeros(self.free.shape), 0))
        tried = self._last = known[0] if known else self._parts["tried"]
        self._complete(tried)
        self.trace.append(tried.sums.loss / self.rows.n_rows)
        return self.trace[-1], tried.sums.gradient * self.free / self.rows.n_rows

    def accept(self) -> None:
        """Go on from the params tried last."""
        if self._last is not self._parts.get("accepted"):  # else what is saved of the next one would be lost
            self._parts = {"accepted": self._last}
            self._save()

    def _complete(self, part: _Pass) -> None:
        if part.sums.n_rows == self.rows.n_rows:
            return
        term = partial(_sums_of, part.params)
        with closing(self.rows.over_rows(term, len(self.free), skip=part.sums.n_rows)) as stretches:
            for sums in stretches:
                part.sums += sums
                if self.checkpoint is not None and self.checkpoint.due():
                    self._save()
        self._save()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        tensors: dict[str, np.ndarray] = {}
        text: dict[str, list] = {}
        for kind, part in self._parts.items():
            tensors |= {f"{kind}.{name}": array for name, array in vars(part.params).items()}
            tensors[f"{kind}.gradient"] = part.sums.gradient
            text[kind] = [part.sums.loss, part.sums.n_rows]
        self.checkpoint.save("pass", tensors, **text)


@dataclass(frozen=True)
class _Sums:
    """Sums over some rows, and their number."""

    loss: float
    gradient: np.ndarray
    n_rows: int

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.loss + other.loss, self.gradient + other.gradient, self.n_rows + other.n_rows)


@dataclass
class _Pass:
    """A pass under way at some parameters: the sums over the first rows."""

    params: Params
    sums: _Sums


def _is_same(params: Params, other: Params) -> bool:
    return all(np.array_equal(array, getattr(other, name)) for name, array in vars(params).items())


def _sums_of(params: Params, X, y) -> _Sums:
    return _Sums(*params.sums(X, y), y.shape[0])
