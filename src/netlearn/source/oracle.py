"""A black box as a source: it answers at the points we choose, and every answer counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netlearn.errors import InputError


class OracleError(RuntimeError):
    """The oracle failed and went on failing; what was bought before stays in `Oracle.bought`."""


class Oracle:
    """A function that can be asked for labels.

    Parameters
    ----------
    f : callable
        Takes X of shape (n, n_features), returns n numbers, or an array of shape (n, m) for m outputs.
    n_features : int
    budget : int, optional
        Largest number of answers to take from it; repeated calls after a failure are not counted.
    batch : int
        Points asked for in one call.
    retries : int
        How often a failing call is repeated before the run gives up.

    Attributes
    ----------
    n_queries : int
        Points answered so far.
    """

    def __init__(
        self,
        f: Callable,
        *,
        n_features: int,
        budget: int | None = None,
        batch: int = 10_000,
        retries: int = 2,
    ):
        if not callable(f):
            raise InputError(f'"f" of Oracle must be callable, got a {type(f).__name__}.')
        for name, value, least in (
            ("n_features", n_features, 1),
            ("batch", batch, 1),
            ("retries", retries, 0),
            ("budget", 1 if budget is None else budget, 1),
        ):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise InputError(f'"{name}" of Oracle must be an integer >= {least}, got {value!r}.')
        self.f, self.n_features, self.budget, self.batch, self.retries = f, n_features, budget, batch, retries
        self.n_queries = 0
        self._bought: list[tuple[np.ndarray, np.ndarray]] = []
        self._outputs: tuple[int, ...] | None = None  # the shape of a label, once one has been seen

    @property
    def left(self) -> float:
        """Points that may still be asked for."""
        return np.inf if self.budget is None else self.budget - self.n_queries

    @property
    def bought(self) -> tuple[np.ndarray, np.ndarray]:
        """All points answered so far, with their labels."""
        if not self._bought:
            return np.zeros((0, self.n_features)), self._no_labels()
        return np.vstack([X for X, _ in self._bought]), np.concatenate([y for _, y in self._bought])

    def ask(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of the rows of X, asked for in batches."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InputError(f'"X" of Oracle.ask must have shape (n, {self.n_features}), got {X.shape}.')
        if len(X) > self.left:
            raise InputError(
                f"{len(X):,} points were asked for, but the oracle's budget leaves {self.left:,.0f}: "
                "raise budget, or ask for less."
            )
        if len(X) == 0:
            return self._no_labels()
        return np.concatenate([self._answer(X[i : i + self.batch]) for i in range(0, len(X), self.batch)])

    def _no_labels(self) -> np.ndarray:
        return np.zeros((0, *(self._outputs or ())))

    def _answer(self, X: np.ndarray) -> np.ndarray:
        y = self._no_labels()
        missing = np.ones(len(X), dtype=bool)
        failure: BaseException | None = None
        for _ in range(self.retries + 1):
            # A point without a finite answer is asked for again; those that have one are not paid twice.
            try:
                answer = self.f(X[missing].copy())
            except (Exception, SystemExit) as error:  # a black box that exits does not end the run
                failure = error
                continue
            answer = self._labels(as_numbers(answer), int(missing.sum()))
            if len(y) == 0:
                y = np.full((len(X), *answer.shape[1:]), np.nan)
            y[missing] = answer
            missing = ~np.isfinite(y).reshape(len(X), -1).all(axis=1)
            if not missing.any():
                self.n_queries += len(X)
                self._bought.append((X, y))
                return y
        n_missing = int(missing.sum())
        if n_missing < len(X):
            self.n_queries += len(X) - n_missing
            self._bought.append((X[~missing], y[~missing]))
        reason = f"raised {failure!r}" if failure is not None else "returned NaN or infinity"
        raise OracleError(
            f"The oracle {reason} for {n_missing} of {len(X)} points, {self.retries + 1} times over; "
            f"the {self.n_queries:,} answers it gave are kept in Oracle.bought."
        )

    def _labels(self, answer: np.ndarray, n: int) -> np.ndarray:
        """Return the answers for n points as labels, all of one shape."""
        outputs = () if answer.size == n else answer.shape[1:]
        right = answer.size == n or (answer.ndim == 2 and len(answer) == n and answer.size > 0)
        if not right or self._outputs not in (None, outputs):
            raise InputError(
                "The oracle must return one number per row, or a row of as many numbers each time: "
                f"asked for {n} rows, it returned an array of shape {answer.shape}."
            )
        self._outputs = outputs
        return answer.reshape(n, *outputs)

    def draw(
        self, n: int, rng: np.random.Generator, *, antithetic: bool, radius: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ask at `n` points of N(0, radius^2 I).

        Antithetic ones come as x, -x, so that odd and even parts separate.
        """
        if antithetic:
            half = rng.standard_normal((-(-n // 2), self.n_features))
            X = np.stack([half, -half], axis=1).reshape(-1, self.n_features)[:n]
        else:
            X = rng.standard_normal((n, self.n_features))
        X *= radius
        return X, self.ask(X)


def as_numbers(answer) -> np.ndarray:
    """Return what a black box answered as float64; NaN where it is masked."""
    try:
        array = np.ma.asarray(answer) if np.ma.isMaskedArray(answer) else np.asarray(answer)
        if np.iscomplexobj(array):  # NumPy would drop the imaginary part
            raise TypeError("complex numbers")
        return np.ma.filled(array.astype(float), np.nan)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"A black box must return real numbers, got a {type(answer).__name__}.") from None
