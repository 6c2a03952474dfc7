"""The scikit-learn door: an estimator that checks its input, calls `learn` and shows the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import (
    BaseEstimator,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted, validate_data

from netlearn.backend import refuse_masked
from netlearn.certify import Certificate
from netlearn.errors import InputError
from netlearn.learning import learn
from netlearn.network import ShallowNetwork
from netlearn.report import card_html
from netlearn.result import LearnResult, Status
from netlearn.run import Progress
from netlearn.source import FileSource, Oracle
from netlearn.source.frames import is_frame, series_names
from netlearn.source.reading import is_table, predicted, read, rows_as_learned
from netlearn.source.recipe import Recipe
from netlearn.source.samples import SMALLEST_SAMPLE

_STEPS = ("samples", "moments", "subspace", "search", "fit", "certify")


class NetLearnRegressor(
    CallbackSupportMixin,
    TransformerMixin,
    RegressorMixin,
    BaseEstimator,
):
    """One-hidden-layer ReLU network, learned by `netlearn.learn`.

    It predicts with the network and transforms to the few directions that its units see. There is no `partial_fit`: the
    refinement reads rows more than once, so rows that are gone could not be learned from in the same way. Rows that do
    not fit into arrays are given as a `FileSource`.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Number of hidden units; "auto" picks the smallest network whose held-out error no larger one clearly beats.
    biases : bool or "auto", default="auto"
        Whether the units have biases.
    epsilon : float, default=None
        Error to certify, in the units of y.
    failure_prob : float, default=0.01
        Probability with which each statement of the certificate may be wrong.
    target_lipschitz : float, default=None
        How steep the function behind the labels is at most; None assumes at most twice as steep as the network.
    holdout : float, default=None
        Share of the rows held out for the certificate; None holds out a quarter, or less with noisy labels.
    time_limit : float, default=None
        Seconds after which the best network so far is kept.
    robust : bool, default=False
        Whether to leave out rows far outside all others, and a few labels that an otherwise exact fit contradicts.
    random_state : int, RandomState, Generator or None, default=None
        Same data, same number, same machine: same network.
    verbose : bool, default=False
        Whether to write to stderr what is being done. The logger "netlearn" is told in any case.

    Attributes
    ----------
    network_ : ShallowNetwork
    certificate_ : Certificate
        What rows that took no part in learning prove about `network_`.
    status_ : Status
        How the run ended: RECOVERED and CERTIFIED are successes, NO_SIGNAL means that nothing was found, any other
        that this is a fit, and why.
    components_ : array of shape (r, d)
        Orthonormal basis of the span of the units; r is 0 where no unit was found.
    n_hidden_ : int
        Number of units of `network_`.
    result_ : LearnResult
        All of the above, and what was seen on the way.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the columns of X have names.

    See Also
    --------
    netlearn.learn : The same as a function.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from netlearn import NetLearnRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NetLearnRegressor(random_state=0).fit(X, y)
    >>> model.status_.name
    'NOISE_LIMITED'
    """

    # Set by `fit`.
    network_: ShallowNetwork
    certificate_: Certificate
    status_: Status
    components_: np.ndarray
    n_hidden_: int
    result_: LearnResult
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(
        self,
        n_hidden: int | Literal["auto"] = "auto",
        biases: bool | Literal["auto"] = "auto",
        epsilon: float | None = None,
        failure_prob: float = 0.01,
        target_lipschitz: float | None = None,
        holdout: float | None = None,
        time_limit: float | None = None,
        robust: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: bool = False,
    ):
        self.n_hidden: int | Literal["auto"] = n_hidden
        self.biases: bool | Literal["auto"] = biases
        self.epsilon = epsilon
        self.failure_prob = failure_prob
        self.target_lipschitz = target_lipschitz
        self.holdout = holdout
        self.time_limit = time_limit
        self.robust = robust
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NetLearnRegressor:
        """Learn the network.

        Parameters
        ----------
        X : array or frame of shape (n, d), path, FileSource or Oracle
        y : array, series or frame of shape (n,) or (n, m)
            Several outputs share the hidden units. The name of a column when X is a path; left out when X is a
            FileSource or an Oracle, which have their own labels.
        sample_weight : array of shape (n,), optional
            How many rows each row counts for in the last least squares; rows of weight zero are left out.

        Returns
        -------
        self
        """
        if isinstance(X, str | os.PathLike):
            X, y, _ = read(X, y)
        is_source = isinstance(X, FileSource | Oracle)
        rows: Any = X
        labels = y
        if not is_source:
            rows, labels = self._checked(X, y)
        # An oracle may be asked several times, and the steps be taken as often.
        n_subtasks: Any = None if isinstance(X, Oracle) else len(_STEPS)
        task = self._init_callback_context(max_subtasks=n_subtasks)
        given: dict[str, Any] = {"estimator": self} if is_source else {"estimator": self, "X": X, "y": y}
        if sample_weight is not None:
            given["metadata"] = {"sample_weight": sample_weight}
        task.call_on_fit_task_begin(**given)
        with self._told(task) as progress:
            result = learn(
                rows,
                labels,
                sample_weight=sample_weight,
                n_hidden=self.n_hidden,
                biases=self.biases,
                epsilon=self.epsilon,
                failure_prob=self.failure_prob,
                target_lipschitz=self.target_lipschitz,
                holdout=self.holdout,
                rng=self._rng(),
                progress=progress,
                time_limit=self.time_limit,
                robust=self.robust,
            )
        if is_source:
            self._take_names(result)
        elif hasattr(self, "feature_names_in_"):
            names = tuple(self.feature_names_in_)
            recipe = Recipe(names, ((),) * len(names)).with_means(rows.mean(axis=0, dtype=float))
            result = replace(result, names=names, target=series_names(y), recipe=recipe)
        self._reads_tables = is_source and result.recipe is not None
        self._keeps_columns = result.network.n_outputs > 1 or (not is_source and labels.ndim == 2)
        self.result_ = result
        self.network_, self.certificate_, self.status_ = result.network, result.certificate, result.status
        self.components_ = result.subspace.T
        self.n_hidden_ = result.network.n_hidden
        kept = ("network_", "components_", "result_", "_keeps_columns", "_reads_tables")
        fitted = {name: vars(self)[name] for name in kept}
        task.call_on_fit_task_end(**given, reconstruction_attributes=fitted)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the network's values on the rows of X, shape (n,) or (n, m), as that of y was.

        An estimator that was fitted to a path or FileSource reads another path, or a frame, in the same way: texts
        become the same features, and gaps are filled, refused, or give NaN where rows with gaps were left out.
        """
        X = self._rows(X)
        values = predicted(self.network_, X)
        return values.reshape(len(X), -1) if self._keeps_columns else values

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of the rows of X in the span of the units, shape (n, r).

        They are ``X @ components_.T``, not centred: the network is an affine function of x plus a function of these.
        """
        X = self._rows(X)
        return X @ self.components_.T

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the columns that `transform` gives: direction0, direction1 and so on.

        Parameters
        ----------
        input_features : ignored
            Each direction is a combination of all features.
        """
        check_is_fitted(self)
        return np.array([f"direction{index}" for index in range(len(self.components_))], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        for name, value in (("X", X), ("y", y)):
            refuse_masked(name, value)
        try:
            checked: Any = validate_data(
                self,
                X,
                y,
                dtype=(np.float64, np.float32),
                y_numeric=True,
                multi_output=True,
                ensure_min_samples=SMALLEST_SAMPLE,
            )
            return checked
        except ValueError as error:
            if is_frame(X) and y is not None:
                read(X, y)  # names every column with texts or gaps
            # What follows the first line is advice on other estimators.
            raise InputError(f"fit cannot use its X and y: {str(error).splitlines()[0]}") from error

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        refuse_masked("X", X)
        recipe = self.result_.recipe
        if self._reads_tables and recipe is not None and is_table(X):
            return rows_as_learned(X, recipe)
        rows: Any = validate_data(self, X, dtype=np.float64, reset=False)
        return rows

    def _rng(self) -> int | np.random.Generator | None:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31))
        return self.random_state

    def _take_names(self, result: LearnResult) -> None:
        """Set what scikit-learn reads off arrays for rows that came from elsewhere."""
        self.n_features_in_ = result.network.n_features
        if result.names:
            self.feature_names_in_ = np.array(result.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @contextmanager
    def _told(self, task: Any) -> Iterator[Callable[[Progress], None]]:
        """Give what `learn` wants to tell its progress to: each step is a subtask for the callbacks."""
        step: Any = None

        def leave() -> None:
            if step is not None:
                step.call_on_fit_task_end(estimator=self)

        def progress(now: Progress) -> None:
            nonlocal step
            if self.verbose and now.message:
                sys.stderr.write(f"[netlearn] {now.seconds:6.1f} s  {now.message}\n")
            if step is None or step.task_name != now.step:
                leave()
                step = task.subcontext(task_name=now.step).call_on_fit_task_begin(estimator=self)

        yield progress
        leave()

    def _html_repr(self) -> str:
        diagram = super()._html_repr()
        return diagram + card_html(self.result_) if hasattr(self, "result_") else diagram
