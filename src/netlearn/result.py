"""What every learner returns: the network, how sure it is, how the run ended, what was seen on the way."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints

import numpy as np

from netlearn.backend import to_numpy
from netlearn.certify import Certificate, Score, certify
from netlearn.certify.certificate import METHODS, NO_BASIS
from netlearn.certify.law import ASSUMPTIONS
from netlearn.errors import InputError
from netlearn.inputs.duplicates import n_known
from netlearn.network import ShallowNetwork, files
from netlearn.source import ArraySource, Source
from netlearn.source.reading import is_table, predicted, rows_as_learned
from netlearn.source.recipe import Recipe
from netlearn.words import bound_sentence, score_sentence, share_sentence, step_name

if TYPE_CHECKING:
    from netlearn.paper.schedule import Schedule


class Status(Enum):
    """How a run ended; the value is the message: what was seen, likely causes, what to try."""

    RECOVERED = "The network reproduces every held-out row to rounding."
    CERTIFIED = (
        "The root mean square error is certified to be at most epsilon, under the certificate's assumptions."
    )
    REPRODUCED = (
        "The network reproduces all rows to rounding, with fewer unknowns than rows, but too few rows were held out "
        "to say how it does on new ones."
    )
    NOISE_LIMITED = (
        "The residual looks like label noise: a larger network does not reduce it. The error of the network itself "
        "falls with more rows."
    )
    NO_SIGNAL = (
        "Nothing was found: held-out rows are not predicted better than by their mean. Either y does not depend on "
        "these columns, or the rows are too few to show how."
    )
    NOT_A_SMALL_NETWORK = (
        "No network of the allowed size explains the labels; what is left is misfit, not noise. Either the target is "
        "not such a network, or it has more units than allowed."
    )
    TOO_FEW_ROWS = (
        "The rows do not determine the network: they are too few for its unknowns, or a unit is active on too few "
        "of them."
    )
    OUT_OF_TIME = "The time limit ended the run; this is the best network so far."
    FAILED = (
        "Fail, in the sense of Algorithm 1: no candidate passed validation with a certified error. Either "
        "the target is not a network of at most k neurons with sum |lambda_i| <= R, or the moments were too "
        "noisy to show its subspace: raise k or R, or give more rows."
    )


@dataclass(frozen=True)
class MomentSpectrum:
    """The spectrum of one moment matrix.

    Attributes
    ----------
    order : int
        Hermite degree ell.
    direction : int or None
        Index of the contraction direction g; None where there is none (degree 2).
    eigenvalues : array of shape (d,)
        Of the estimate, by decreasing magnitude.
    noise_floor : float
        Operator norm of its estimated noise.
    name : str
        What was done to the labels; empty for the labels themselves.
    n_kept : int or None
        How many eigenvectors joined V, where that is decided matrix by matrix.
    """

    order: int
    direction: int | None
    eigenvalues: np.ndarray
    noise_floor: float
    name: str = ""
    n_kept: int | None = None


@dataclass(frozen=True)
class Diagnostics:
    """What was seen and spent on the way.

    Attributes
    ----------
    spectra : tuple of MomentSpectrum
        One for each moment matrix.
    rows : dict
        Rows used by each step.
    seconds : dict
        Wall-clock seconds of each step.
    n_candidates : int
        Length of the search, known before it started.
    n_tried : int
        Position at which it ended.
    trace : tuple of float
        Mean square of the fit after each round of refinement, in units of the label variance.
    noise_level : float or None
        Estimated standard deviation of the label noise; None where none was estimated. With several outputs variances
        are summed over them, here and in the next.
    excess_error : float or None
        Estimated error of the network itself, noise left out.
    departure : float or None
        How far the inputs are from Gaussian: the largest skewness or excess kurtosis over projections, in
        standard errors.
    notes : tuple of str
        Anything a reader of the result should know.
    advice : str
        What to do next; empty where there is nothing.
    """

    spectra: tuple[MomentSpectrum, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    n_candidates: int = 0
    n_tried: int = 0
    trace: tuple[float, ...] = ()
    noise_level: float | None = None
    excess_error: float | None = None
    departure: float | None = None
    notes: tuple[str, ...] = ()
    advice: str = ""


# Rows that travel with a result: enough for every figure, and at most 8 MB.
_HELD_OUT_ROWS, _HELD_OUT_NUMBERS = 1_000, 2**20


@dataclass(frozen=True)
class HeldOut:
    """Some of the rows that the certificate rests on, which took no part in learning.

    Attributes
    ----------
    X : array of shape (n, d)
        In the user's coordinates.
    y : array of shape (n,) or (n, m)
    """

    X: np.ndarray
    y: np.ndarray

    @classmethod
    def first(cls, *rows: Source) -> HeldOut:
        """Copy 1,000 rows of some sources, or fewer of them where they are very long."""
        left = min(_HELD_OUT_ROWS, max(1, _HELD_OUT_NUMBERS // rows[0].n_features))
        X, y = [], []
        for source in reversed(rows):  # the last are fresh in every case
            some = source.head(min(left, source.n_rows)).in_memory()
            X.append(np.array(to_numpy(some.X), dtype=float))
            y.append(np.array(to_numpy(some.y), dtype=float))
            left -= some.n_rows
            if left <= 0:
                break
        return cls(np.concatenate(X), np.concatenate(y))


# Stands where every run of `learn` has something: in the Fail of the paper's algorithm, and in results made by hand.
_NOTHING: Any = None


@dataclass(frozen=True)
class LearnResult:
    """The answer of a learner.

    Attributes
    ----------
    network : ShallowNetwork
        The estimate. Only a Fail of the paper's algorithm has none, which `has_network` tells.
    certificate : Certificate
        Upper bound on its error, from rows that took no part in learning it; a Fail has none.
    status : Status
        How the run ended.
    subspace : array of shape (d, r)
        Orthonormal basis of the recovered span V of the units.
    schedule : Schedule or None
        The parameters of the paper's algorithm, where it was the learner.
    diagnostics : Diagnostics
        Spectra, rows, seconds and counts.
    held_out : HeldOut or None
        Rows that took no part in learning, for figures and checks.
    names : tuple of str
        Of the features, where they are known.
    target : str or tuple of str
        Name of y, where it is known; the names of all outputs where there are several.
    message : str
        The status in words, with the numbers of this run.
    score : Score or None
        How well held-out rows are predicted, beside a linear fit and the mean: estimates.
    taught : array of shape (n,), or None
        A fingerprint of the rows that were learned from, so that `recheck` notices them.
    recipe : Recipe or None
        What was done to the columns of a table before learning, and is done before predicting; None for arrays.
    """

    network: ShallowNetwork
    certificate: Certificate
    status: Status
    subspace: np.ndarray = _NOTHING
    schedule: Schedule | None = None
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    held_out: HeldOut | None = None
    names: tuple[str, ...] = ()
    target: str | tuple[str, ...] = ""
    message: str = ""
    score: Score | None = None
    taught: np.ndarray | None = None
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        if not self.message:
            object.__setattr__(self, "message", self.status.value)
        if self.names and self.has_network and len(self.names) != self.network.n_features:
            raise InputError(
                f'"names" of a result must be empty or name all {self.network.n_features} features, '
                f"got {len(self.names)} names."
            )
        n_outputs = self.network.n_outputs if self.has_network else None
        if not isinstance(self.target, str) and len(self.target) != n_outputs is not None:
            raise InputError(
                f'"target" of a result must be one name, or name all {n_outputs} outputs, got {len(self.target)} names.'
            )

    @classmethod
    def fail(cls, subspace: np.ndarray, schedule: Schedule, diagnostics: Diagnostics) -> LearnResult:
        """Return the Fail of the paper's Algorithm 1: neither network nor certificate."""
        return cls(_NOTHING, _NOTHING, Status.FAILED, subspace, schedule, diagnostics)

    @property
    def has_network(self) -> bool:
        """Whether there is a network: always after `learn`, not after a Fail of the paper's algorithm."""
        return self.network is not None

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs: the target's, or y, or y1, y2, ... for several without names."""
        return named_outputs(self.target, self.network.n_outputs) if self.has_network else ()

    @property
    def success(self) -> bool:
        """Whether the error is certified, or the network recovered to rounding level."""
        return self.status in (Status.CERTIFIED, Status.RECOVERED)

    @property
    def r2(self) -> float | None:
        """Share of the variance of held-out labels that the network explains, a mean over outputs: an estimate."""
        return None if self.score is None else self.score.r2

    def predict(self, X) -> np.ndarray:
        """Return the network's values at the rows of X, shape (n,) or (n, m).

        Parameters
        ----------
        X : array of shape (n, d), frame or path
            A frame or file is read as the table that was learned from: columns by name, gaps and texts by the recipe.
            A row that lacks a value which the recipe does not fill has no prediction: NaN.
        """
        if not self.has_network:
            raise InputError(f"There is no network to predict with: {self.message}")
        if self.recipe is not None and is_table(X):
            return predicted(self.network, rows_as_learned(X, self.recipe))
        return self.network(X)

    def sensitivity(self, output: str | int | None = None) -> dict[str, float]:
        """Return by name how much of the network's variance is lost without each feature, the largest first.

        These are total Sobol indices for independent normal features with the means and spreads of the held-out rows.
        Features without names are x1, x2, ... Empty where nothing was found, or no rows were held out.

        Parameters
        ----------
        output : str or int, optional
            One of several outputs, by name or place; left out, a mean over all of them.

        Returns
        -------
        dict
            Which prints as a table.
        """
        from netlearn.report.importance import shares

        return shares(self, output)

    def recheck(self, X, y, *, failure_prob: float | None = None) -> Certificate:
        """Certify the network anew, on rows that took no part in learning it; others are refused.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,) or (n, m)
        failure_prob : float, optional
            Probability with which each statement may be wrong; that of the certificate where it is left out.
        """
        if not self.has_network:
            raise InputError(f"There is no network to certify: {self.message}")
        own = self.certificate
        if failure_prob is None:
            failure_prob = 0.01 if own is None else 1.0 - own.confidence
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        if self.taught is not None and X.ndim == 2 and y.shape == (len(X), *self.network.linear.shape[:-1]):
            known, is_estimate = n_known(self.taught, ArraySource(X, y))
            if known:
                raise InputError(
                    f"The rows to recheck must be fresh, but {'about ' * is_estimate}{known:,} of the {len(X):,} "
                    "given took part in learning the network. Leave these out, or give other rows."
                )
        basis = NO_BASIS if own is None else own.basis
        return certify(self.network, X, y, failure_prob=failure_prob, basis=basis)

    def summary(self) -> str:
        """Return a short text card: status, network, certificate, subspace, cost."""
        seen = self.diagnostics
        lines = [f"status       {self.status.name}: {self.message}"]
        if self.has_network:
            f = self.network
            outputs = "" if f.n_outputs == 1 else f", {f.n_outputs} outputs"
            lines.append(f"network      {f.n_hidden} neurons in {f.n_features} dimensions{outputs}")
        if self.certificate is not None:
            c = self.certificate
            lines.append(f"share        {share_sentence(c)}")
            lines.append(f"bound        {bound_sentence(c)}")
            for assumption in c.assumptions:
                lines += textwrap.wrap(
                    f"assumes that {assumption}", 100, initial_indent=13 * " ", subsequent_indent=15 * " "
                )
            if c.per_output:
                tolerances = [own.tolerance for own in c.per_output]
                lines.append(
                    f"each output  tolerance {min(tolerances):.4g} to {max(tolerances):.4g}, all with confidence "
                    f"{c.confidence:.4g}; {self.output_names[int(np.argmax(tolerances))]} has the largest"
                )
        if self.score is not None:
            lines.append(f"held-out     {score_sentence(self.score)}")
        if self.subspace is not None:
            lines.append(f"subspace     dimension {self.subspace.shape[1]} of {self.subspace.shape[0]}")
        if seen.n_candidates:
            lines.append(f"candidates   {seen.n_tried:,} tried of {seen.n_candidates:,}")
        if seen.rows:
            lines.append(
                "rows         " + ", ".join(f"{step_name(step)} {n:,}" for step, n in seen.rows.items())
            )
        if seen.seconds:
            spent = (f"{step_name(step)} {seconds:.2f}" for step, seconds in seen.seconds.items())
            lines.append("seconds      " + ", ".join(spent))
        lines.extend(f"note         {note}" for note in seen.notes)
        if seen.advice:
            lines.append(f"next         {seen.advice}")
        return "\n".join(lines)

    def save(self, path: str | os.PathLike) -> None:
        """Write the result to `path` as safetensors; an existing file is replaced once all is written.

        `ShallowNetwork.load` reads the network from the same file. The schedule of the paper's algorithm is
        not kept; a note takes its place.
        """
        network = None
        if self.has_network:
            network = {name: getattr(self.network, name) for name in files.NAMES}
        arrays, data = _packed(self)
        # NumPy's scalars become Python's; an infinite bound is written as Infinity, which json reads back.
        files.write_result(path, network, arrays, json.dumps(data, default=lambda scalar: scalar.item()))

    @classmethod
    def load(cls, path: str | os.PathLike) -> LearnResult:
        """Read a result that `save` wrote; any other, damaged or altered file is refused in one sentence."""
        network, arrays, text = files.read_result(path)
        try:
            own = _NOTHING if network is None else ShallowNetwork(**network)
            result = cls(own, **_unpacked(arrays, json.loads(text)))
            _refuse_misfits(result)
            return result
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InputError(f"{path} does not hold a usable result: {error}") from error

    def report(self, path: str | os.PathLike) -> None:
        """Write a report of the run to `path`: one HTML file that needs no other (extra "report")."""
        from netlearn.report.page import write_report

        write_report(self, path)

    def __repr__(self) -> str:
        from netlearn.report.brief import brief

        return brief(self)

    def _repr_html_(self) -> str:
        from netlearn.report.card import card_html

        return card_html(self)


def named_outputs(target: str | tuple[str, ...], n_outputs: int) -> tuple[str, ...]:
    """Return a name for each output."""
    if not isinstance(target, str):
        if target:
            return target
        target = ""
    return (target or "y",) if n_outputs == 1 else tuple(f"y{index + 1}" for index in range(n_outputs))


def _packed(result: LearnResult) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Divide all but the network into arrays and what JSON can hold."""
    seen = asdict(result.diagnostics)
    arrays = {
        f"spectra.{index}.eigenvalues": spectrum.pop("eigenvalues")
        for index, spectrum in enumerate(seen["spectra"])
    }
    if result.subspace is not None:
        arrays["subspace"] = result.subspace
    if result.taught is not None:
        arrays["taught"] = result.taught
    if result.held_out is not None:
        arrays |= {"held_out.X": result.held_out.X, "held_out.y": result.held_out.y}
    if result.schedule is not None:
        made = result.schedule
        seen["notes"] += (
            f"learned by Algorithm 1 with a {made.origin} schedule for k = {made.n_hidden}, epsilon = "
            f"{made.epsilon:g}, R = {made.R:g}, failure_prob = {made.failure_prob:g}; files do not keep it",
        )
    data = {
        "status": result.status.name,
        "certificate": None if result.certificate is None else asdict(result.certificate),
        "diagnostics": seen,
        "names": result.names,
        "target": result.target,
        "message": result.message,
        "score": None if result.score is None else asdict(result.score),
        "recipe": None if result.recipe is None else asdict(result.recipe),
    }
    return arrays, data


def _unpacked(arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `_packed`: the fields of the result."""
    seen = data["diagnostics"]
    name = "spectra" if "spectra" in seen else "probes"  # as files of before call them
    seen["spectra"] = seen.pop(name)
    for index, spectrum in enumerate(seen["spectra"]):
        spectrum["eigenvalues"] = arrays[f"{name}.{index}.eigenvalues"]
    held_out = None
    if "held_out.X" in arrays:
        held_out = HeldOut(arrays["held_out.X"], arrays["held_out.y"])
    return {
        "certificate": _typed(Certificate | None, data["certificate"]),
        "status": Status[data["status"]],
        "subspace": arrays.get("subspace"),
        "diagnostics": _typed(Diagnostics, seen),
        "held_out": held_out,
        "names": _typed(tuple[str, ...], data["names"]),
        "message": _typed(str, data["message"]),
        "score": _typed(Score | None, data["score"]),
        "taught": arrays.get("taught"),
        "target": _typed(str | tuple[str, ...], data["target"]),
        "recipe": _typed(Recipe | None, data.get("recipe")),
    }


def _typed(kind: Any, value: Any) -> Any:
    """Return what JSON holds as the type that an annotation says, or raise a TypeError: a file is not to be trusted."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        kind = next((one for one in inner if isinstance(value, _in_json(one))), inner[0])
        return _typed(kind, value)
    if not _stands_for(kind, value):
        raise TypeError(f"{type(value).__name__} in place of {kind}")
    if origin is tuple:
        return tuple(_typed(inner[0], one) for one in value)
    if origin is dict:
        return {_typed(inner[0], name): _typed(inner[1], one) for name, one in value.items()}
    if is_dataclass(kind):
        kinds, made = get_type_hints(kind), cast(Callable, kind)
        return made(**{name: _typed(kinds[name], one) for name, one in value.items()})
    if kind is str:
        value.encode()  # half a surrogate pair is no text, and could not be written again
    return float(value) if kind is float else value


def _stands_for(kind: Any, value: object) -> bool:
    """Whether what JSON holds may stand for an annotated type; a truth value is no number."""
    return isinstance(value, _in_json(kind)) and (kind is bool or not isinstance(value, bool))


def _in_json(kind: Any) -> Any:
    """Return the types that stand for an annotated one where JSON was read."""
    if is_dataclass(kind):
        return dict
    stands = {float: int | float, tuple: list, dict: dict}
    return stands.get(get_origin(kind) or kind, kind)


def _refuse_misfits(result: LearnResult) -> None:
    """Refuse arrays of a file that do not belong to its network, and a certificate that cannot be repeated."""
    network, held_out, certificate = result.network, result.held_out, result.certificate
    if any(spectrum.eigenvalues.ndim != 1 for spectrum in result.diagnostics.spectra):
        raise InputError("eigenvalues must have one axis.")
    for own in () if certificate is None else (certificate, *certificate.per_output):
        if own.basis.law not in ("", *ASSUMPTIONS) or own.basis.method not in METHODS:
            raise InputError(f"{own.basis} is no basis of a certificate.")
        if not 0.0 < own.confidence < 1.0:
            raise InputError(f"a confidence must be in (0, 1), got {own.confidence}.")
    if result.taught is not None and result.taught.ndim != 1:
        raise InputError(f"the fingerprint of the rows has the shape {result.taught.shape}.")
    if not result.has_network:
        return
    d, outputs = network.n_features, network.linear.shape[:-1]
    if result.recipe is not None and result.recipe.n_features != d:
        raise InputError(f"the recipe makes {result.recipe.n_features} features, not {d}.")
    if result.subspace is not None and (result.subspace.ndim != 2 or len(result.subspace) != d):
        raise InputError(f"the subspace of {d} features has the shape {result.subspace.shape}.")
    if held_out is not None:
        X, y = held_out.X, held_out.y
        if X.ndim != 2 or X.shape[1] != d or y.shape != (len(X), *outputs):
            raise InputError(f"the rows held out have the shapes {X.shape} and {y.shape}.")
    if certificate is not None and len(certificate.per_output) not in (0, *outputs):
        raise InputError(f"there are certificates of {len(certificate.per_output)} outputs.")
