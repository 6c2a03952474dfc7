"""What a run carries from step to step: what was asked for, and the time it takes."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from netlearn.errors import InputError

_log = logging.getLogger("netlearn")


@dataclass(frozen=True)
class Progress:
    """What `progress` is told: the step of the run, what it does there, and the seconds since its start."""

    step: str
    message: str
    seconds: float


@dataclass(frozen=True)
class Options:
    """What was asked of `learn`, checked."""

    n_hidden: int | Literal["auto"]
    biases: bool | Literal["auto"]
    epsilon: float | None
    failure_prob: float
    time_limit: float | None
    robust: bool
    target_lipschitz: float | None = None
    holdout: float | None = None


class Clock:
    """Seconds per step, the deadline, and the one who wants to know."""

    def __init__(self, time_limit: float | None, progress: Callable[[Progress], None] | None):
        self.start = self._entered = time.perf_counter()
        self.limit, self.progress = time_limit, progress
        self.seconds: dict[str, float] = {}
        self.step = ""
        self.timed_out = False
        self._repeated: set[str] = set()

    def enter(self, step: str, message: str = "") -> None:
        """Charge the time from now on to another step."""
        if step in self._repeated:
            self.tell(message)
            return
        now = time.perf_counter()
        if self.step:
            self.seconds[self.step] = self.seconds.get(self.step, 0.0) + now - self._entered
        self.step, self._entered = step, now
        self.tell(message)

    def repeat(self) -> None:
        """Take the steps up to this one again, all within this one."""
        self._repeated = {*self.seconds, self.step}

    def tell(self, message: str) -> None:
        """Pass on what is being done, and log it."""
        if self.step and message:
            _log.info("%s", message)
        if self.progress is not None and self.step:
            self.progress(Progress(self.step, message, time.perf_counter() - self.start))

    def out_of_time(self) -> bool:
        """Whether the time limit has passed; remembered in `timed_out`."""
        late = self.limit is not None and time.perf_counter() - self.start > self.limit
        self.timed_out = self.timed_out or late
        return late


def checked_options(
    n_hidden: Any,
    biases: Any,
    epsilon: Any,
    failure_prob: Any,
    time_limit: Any,
    robust: Any,
    target_lipschitz: Any = None,
    holdout: Any = None,
) -> Options:
    """Return the options of `learn`, or one sentence on the one that cannot be."""
    if not _is_auto(n_hidden) and (
        isinstance(n_hidden, bool) or not isinstance(n_hidden, int | np.integer) or n_hidden < 0
    ):
        raise InputError(f'"n_hidden" of learn must be "auto" or an integer >= 0, got {n_hidden!r}.')
    if not _is_auto(biases) and not isinstance(biases, bool | np.bool_):
        raise InputError(f'"biases" of learn must be "auto", True or False, got {biases!r}.')
    if epsilon is not None and not (_is_number(epsilon) and 0 < epsilon < math.inf):
        raise InputError(f'"epsilon" of learn must be None or a positive number, got {epsilon!r}.')
    if not (_is_number(failure_prob) and 0 < failure_prob < 1):
        raise InputError(f'"failure_prob" of learn must be in (0, 1), got {failure_prob!r}.')
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise InputError(f'"time_limit" of learn must be None or a positive number, got {time_limit!r}.')
    if not isinstance(robust, bool | np.bool_):
        raise InputError(f'"robust" of learn must be True or False, got {robust!r}.')
    if target_lipschitz is not None and not (
        _is_number(target_lipschitz) and 0 <= target_lipschitz < math.inf
    ):
        raise InputError(
            f'"target_lipschitz" of learn must be None or a number >= 0, got {target_lipschitz!r}.'
        )
    if holdout is not None and not (_is_number(holdout) and 0 < holdout < 1):
        raise InputError(
            f'"holdout" of learn must be None or a share of the rows in (0, 1), got {holdout!r}.'
        )
    biases = biases if biases == "auto" else bool(biases)
    n_hidden = n_hidden if n_hidden == "auto" else int(n_hidden)
    return Options(
        n_hidden, biases, epsilon, failure_prob, time_limit, bool(robust), target_lipschitz, holdout
    )


def _is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"  # an array would be compared entry by entry


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
