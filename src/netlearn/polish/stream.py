r"""The last polish where reading the rows is what costs.

A round of `finish` reads all rows several times. Here a pass over them gives the loss and the gradient F^T e / N alone,
and the matrix is that of rows that are held in memory: a <- a + H_held^{-1} g. With R held rows and P unknowns H_held
differs from H by a share of about sqrt(P / R), so each pass takes the distance to the minimum down by that factor.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from netlearn.polish.gauss_newton import ROUNDING, Deadline, Polished, gauss_newton_step, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.shared import SharedIterate
from netlearn.source import Source
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.stream import Streamed

# A step that would lower the mean square by less than this share of what P unknowns absorb of the noise, P / N, moves
# the network by a hundredth of its statistical error.
_NEGLIGIBLE = 1e-4


def finish_on_stream(
    rows: Streamed,
    held: Source,
    start: Iterate | SharedIterate,
    *,
    biases: bool,
    max_passes: int = 8,
    checkpoint: Checkpoint | None = None,
    deadline: Deadline = never,
) -> Polished:
    """Descend to the minimum of the mean square over all rows; one pass for labels that are fitted exactly already.

    Parameters
    ----------
    rows : Streamed
        All rows, read once in each pass.
    held : Source
        Some of them, in memory.
    start : Iterate or SharedIterate
        The minimum over the held rows, or near it.
    biases : bool
    max_passes : int
    checkpoint : Checkpoint, optional
        Where sums are saved, and gone on from.
    deadline : callable
    """
    run = _Passes(rows, start, biases, checkpoint)
    current = run.start
    loss, gradient = run.sums(current)
    run.accept()
    while len(run.trace) < max_passes and loss > ROUNDING and not deadline():
        matrix = current.system(held, biases)
        matrix.gradient = gradient
        step = gauss_newton_step(matrix, current, tolerance=1e-4)
        expected = float(np.vdot(gradient, step))
        if expected < _NEGLIGIBLE * loss * run.free.sum() / rows.n_rows:
            break
        trial = current.moved(step)
        trial_loss, trial_gradient = run.sums(trial)
        if not trial_loss < loss:
            break
        current, loss, gradient = trial, trial_loss, trial_gradient
        run.accept()
    return Polished(current, loss, tuple(run.trace), len(run.trace))


class _Passes:
    """Passes over all rows, each the sum of e^2 and F^T e at one iterate.

    With a checkpoint a pass goes on from where it was cut off. What is saved are the last iterate that was accepted,
    with its sums, and the sums under way at the one tried.

    Attributes
    ----------
    start : Iterate or SharedIterate
        The one that was accepted last, or the one given.
    free : array
        The mask of its unknowns.
    trace : list of float
        The mean square at each iterate tried.
    """

    def __init__(
        self, rows: Streamed, start: Iterate | SharedIterate, biases: bool, checkpoint: Checkpoint | None
    ):
        self.rows, self.start, self.free, self.checkpoint = rows, start, start.free(biases), checkpoint
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
                self.start = self._parts["accepted"].iterate

    def sums(self, iterate: Iterate | SharedIterate) -> tuple[float, np.ndarray]:
        """Return the mean square and the gradient at `iterate`."""
        known = [part for part in self._parts.values() if _is_same(part.iterate, iterate)]
        if not known:
            self._parts["tried"] = _Pass(iterate, _Sums(0.0, np.zeros(self.free.shape), 0))
        tried = self._last = known[0] if known else self._parts["tried"]
        self._complete(tried)
        self.trace.append(tried.sums.loss / self.rows.n_rows)
        return self.trace[-1], tried.sums.gradient * self.free / self.rows.n_rows

    def accept(self) -> None:
        """Go on from the iterate tried last."""
        if self._last is not self._parts.get("accepted"):  # else what is saved of the next one would be lost
            self._parts = {"accepted": self._last}
            self._save()

    def _complete(self, part: _Pass) -> None:
        if part.sums.n_rows == self.rows.n_rows:
            return
        term = partial(_sums_of, part.iterate)
        with closing(self.rows.over_rows(term, len(self.free), skip=part.sums.n_rows)) as stretches:
            for sums in stretches:
                part.sums += sums
                if self.checkpoint is not None and self.checkpoint.due():
                    self._save()
        self._save()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        tensors, text = {}, {}
        for kind, part in self._parts.items():
            tensors |= {f"{kind}.{name}": array for name, array in vars(part.iterate).items()}
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
    """A pass under way at an iterate: the sums over the first rows."""

    iterate: Iterate | SharedIterate
    sums: _Sums


def _is_same(iterate: Iterate | SharedIterate, other: Iterate | SharedIterate) -> bool:
    return all(np.array_equal(array, getattr(other, name)) for name, array in vars(iterate).items())


def _sums_of(iterate: Iterate | SharedIterate, X, y) -> _Sums:
    return _Sums(*iterate.sums(X, y), len(y))
