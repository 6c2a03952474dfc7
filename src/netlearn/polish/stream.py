r"""The last polish where reading the rows is what costs.

A round of `finish` reads all rows several times. Here a pass over them gives the loss and the gradient F^T e / N alone,
and the matrix is that of rows that are held in memory: a <- a + H_held^{-1} g. With R held rows and P unknowns H_held
differs from H by a share of about sqrt(P / R), so each pass takes the distance to the minimum down by that factor.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from netlearn.backend.threads import in_order
from netlearn.polish.gauss_newton import ROUNDING, Deadline, Polished, gauss_newton_step, never
from netlearn.polish.iterate import Iterate, free_entries
from netlearn.polish.system import ModulatedSystem, outer
from netlearn.source import Source
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.stream import Streamed

# A step that would lower the mean square by less than this share of what P unknowns absorb of the noise, P / N, moves
# the network by a hundredth of its statistical error.
_NEGLIGIBLE = 1e-4


def finish_on_stream(
    rows: Streamed,
    held: Source,
    start: Iterate,
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
    start : Iterate
        The minimum over the held rows, or near it.
    biases : bool
    max_passes : int
    checkpoint : Checkpoint, optional
        Where sums are saved, and gone on from.
    deadline : callable
    """
    free = free_entries(start.n_hidden, rows.n_features, biases)
    run = _Passes(rows, free, checkpoint)
    current = run.start_from(start)
    loss, gradient = run.sums(current)
    run.accept()
    while len(run.trace) < max_passes and loss > ROUNDING and not deadline():
        matrix = ModulatedSystem(held, current.linearise, free)
        matrix.gradient = gradient
        step = gauss_newton_step(matrix, current, tolerance=1e-4)
        expected = float(np.vdot(gradient, step))
        if expected < _NEGLIGIBLE * loss * free.sum() / rows.n_rows:
            break
        trial = current.moved(step)
        trial_loss, trial_gradient = run.sums(trial)
        if not trial_loss < loss:
            break
        current, loss, gradient = trial, trial_loss, trial_gradient
        run.accept()
    return Polished(current, loss, tuple(run.trace), len(run.trace))


class _Passes:
    """Passes over all rows, each the sum of e^2 and m e (x,1)^T at one iterate.

    With a checkpoint a pass goes on from where it was cut off. What is saved are the last iterate that was accepted,
    with its sums, and the sums under way at the one tried.
    """

    def __init__(self, rows: Streamed, free: np.ndarray, checkpoint: Checkpoint | None):
        self.rows, self.free, self.checkpoint = rows, free, checkpoint
        self.trace: list[float] = []
        self._parts: dict[str, _Sums] = {}
        saved = None if checkpoint is None else checkpoint.load("pass")
        if saved is not None:
            tensors, text = saved
            self._parts = {
                kind: _Sums(
                    Iterate(tensors[f"{kind}.a"], tensors[f"{kind}.sigma"]),
                    tensors[f"{kind}.gradient"],
                    *text[kind],
                )
                for kind in text
            }

    def start_from(self, start: Iterate) -> Iterate:
        """Return the iterate that was accepted last, or `start`."""
        return self._parts["accepted"].iterate if "accepted" in self._parts else start

    def sums(self, iterate: Iterate) -> tuple[float, np.ndarray]:
        """Return the mean square and the gradient at `iterate`."""
        known = [part for part in self._parts.values() if np.array_equal(part.iterate.a, iterate.a)]
        if not known:
            self._parts["tried"] = _Sums(iterate, np.zeros(self.free.shape))
        tried = self._last = known[0] if known else self._parts["tried"]
        self._complete(tried)
        self.trace.append(tried.loss / self.rows.n_rows)
        return self.trace[-1], tried.gradient * self.free / self.rows.n_rows

    def accept(self) -> None:
        """Go on from the iterate tried last."""
        if self._last is not self._parts.get("accepted"):  # else what is saved of the next one would be lost
            self._parts = {"accepted": self._last}
            self._save()

    def _complete(self, sums: _Sums) -> None:
        def term(block):
            X, y = block
            values, m = sums.iterate.linearise(X)
            e = y - values
            return float(e @ e), outer(m, e, X), len(y)

        if sums.n_rows == self.rows.n_rows:
            return
        with closing(self.rows.blocks(len(self.free), skip=sums.n_rows)) as blocks:
            for loss, gradient, n in in_order(term, blocks):
                sums.loss += loss
                sums.gradient = sums.gradient + gradient
                sums.n_rows += n
                if self.checkpoint is not None and self.checkpoint.due():
                    self._save()
        self._save()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        tensors, text = {}, {}
        for kind, part in self._parts.items():
            tensors |= {f"{kind}.a": part.iterate.a, f"{kind}.sigma": part.iterate.sigma}
            tensors[f"{kind}.gradient"] = part.gradient
            text[kind] = [part.loss, part.n_rows]
        self.checkpoint.save("pass", tensors, **text)


@dataclass
class _Sums:
    """Sums over the first `n_rows` rows at an iterate."""

    iterate: Iterate
    gradient: np.ndarray
    loss: float = 0.0
    n_rows: int = 0
