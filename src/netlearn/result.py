"""What every learner returns: the network, how sure it is, how the run ended, what was seen on the way."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from netlearn.certify.certificate import CONSTANTS, Certificate
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork, files
from netlearn.source.recipe import Recipe

if TYPE_CHECKING:
    from netlearn.paper.schedule import Schedule


class Status(Enum):
    """How a run ended; the value is the message: what was seen, likely causes, what to try."""

    CERTIFIED = "The error is at most the certificate's bound, with its confidence and under its assumptions."
    RECOVERED = (
        "The network reproduces labels it has not seen to rounding level: its parameters are the target's."
    )
    NOISE_LIMITED = (
        "The residual looks like label noise: it does not shrink with a larger network. "
        "The error of the network itself falls with more rows."
    )
    NOT_A_SMALL_NETWORK = (
        "No network of the allowed size explains the labels. Either the target is not such a network, or it "
        "has more neurons than allowed: allow more neurons, or check inputs and labels."
    )
    TOO_FEW_ROWS = (
        "The rows do not carry enough information: the moments stay below their noise, or the certificate "
        "needs more rows. Give more rows, or ask for a larger epsilon."
    )
    OUT_OF_TIME = (
        "The time limit ended the run; this is the best network so far, not certified. Allow more time."
    )
    FAILED = (
        "Fail, in the sense of Algorithm 1: no candidate passed validation with a certified error. Either "
        "the target is not a network of at most k neurons with sum |lambda_i| <= R, or the moments were too "
        "noisy to show its subspace: raise k or R, or give more rows."
    )


@dataclass(frozen=True)
class Probe:
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
    probes : tuple of Probe
        One for each moment matrix.
    rows : dict
        Rows drawn by each room.
    seconds : dict
        Wall-clock time of each room.
    n_candidates : int
        Length of the search, known before it started.
    n_tried : int
        Position at which it ended.
    trace : tuple of float
        Mean square of the fit after each round of the polish, in units of the label variance.
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
    """

    probes: tuple[Probe, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    n_candidates: int = 0
    n_tried: int = 0
    trace: tuple[float, ...] = ()
    noise_level: float | None = None
    excess_error: float | None = None
    departure: float | None = None
    notes: tuple[str, ...] = ()


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
    def first(cls, X: np.ndarray, y: np.ndarray) -> HeldOut:
        """Copy the first 1,000 rows, or fewer of them where they are very long."""
        n = min(_HELD_OUT_ROWS, max(1, _HELD_OUT_NUMBERS // X.shape[1]))
        return cls(np.array(X[:n], dtype=float), np.array(y[:n], dtype=float))


@dataclass(frozen=True)
class LearnResult:
    """The answer of a learner.

    Attributes
    ----------
    network : ShallowNetwork or None
        The estimate; None if the run found none.
    certificate : Certificate or None
        Upper bound on its error, from rows that took no part in learning it.
    status : Status
        How the run ended.
    subspace : array of shape (d, r), or None
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
    recipe : Recipe or None
        What was done to the columns of a table before learning, and is done before predicting; None for arrays.
    """

    network: ShallowNetwork | None
    certificate: Certificate | None
    status: Status
    subspace: np.ndarray | None = None
    schedule: Schedule | None = None
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    held_out: HeldOut | None = None
    names: tuple[str, ...] = ()
    target: str | tuple[str, ...] = ""
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        if self.names and self.network is not None and len(self.names) != self.network.n_features:
            raise InputError(
                f'"names" of a result must be empty or name all {self.network.n_features} features, '
                f"got {len(self.names)} names."
            )
        n_outputs = None if self.network is None else self.network.n_outputs
        if not isinstance(self.target, str) and len(self.target) != n_outputs is not None:
            raise InputError(
                f'"target" of a result must be one name, or name all {n_outputs} outputs, got {len(self.target)} names.'
            )

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs: the target's, or y, or y1, y2, ... for several without names."""
        return () if self.network is None else named_outputs(self.target, self.network.n_outputs)

    @property
    def success(self) -> bool:
        """Whether the error is certified, or the network recovered to rounding level."""
        return self.status in (Status.CERTIFIED, Status.RECOVERED)

    def summary(self) -> str:
        """Return a short text card: status, network, certificate, subspace, cost."""
        seen = self.diagnostics
        lines = [f"status       {self.status.name}: {self.status.value}"]
        if self.network is not None:
            f = self.network
            outputs = "" if f.n_outputs == 1 else f", {f.n_outputs} outputs"
            lines.append(f"network      {f.n_hidden} neurons in {f.n_features} dimensions{outputs}")
        if self.certificate is not None:
            c = self.certificate
            lines.append(
                f"certificate  error <= {c.error_bound:.4g} with confidence {c.confidence:.4g} "
                f"({c.method}, {c.n_val:,} fresh rows, empirical {c.empirical_error:.4g})"
            )
            lines.extend(f"             assumes {assumption}" for assumption in c.assumptions)
            if c.per_output:
                bounds = [own.error_bound for own in c.per_output]
                lines.append(
                    f"each output  error <= {min(bounds):.4g} to {max(bounds):.4g}, all with confidence "
                    f"{c.confidence:.4g}; {self.output_names[int(np.argmax(bounds))]} has the largest"
                )
        if self.subspace is not None:
            lines.append(f"subspace     dimension {self.subspace.shape[1]} of {self.subspace.shape[0]}")
        if seen.n_candidates:
            lines.append(f"candidates   {seen.n_tried:,} tried of {seen.n_candidates:,}")
        if seen.rows:
            lines.append("rows         " + ", ".join(f"{room} {n:,}" for room, n in seen.rows.items()))
        if seen.seconds:
            lines.append("seconds      " + ", ".join(f"{room} {s:.2f}" for room, s in seen.seconds.items()))
        lines.extend(f"note         {note}" for note in seen.notes)
        return "\n".join(lines)

    def save(self, path: str | os.PathLike) -> None:
        """Write the result to `path` as safetensors; an existing file is replaced once all is written.

        `ShallowNetwork.load` reads the network from the same file. The schedule of the paper's algorithm is
        not kept; a note takes its place.
        """
        network = None
        if self.network is not None:
            network = {name: getattr(self.network, name) for name in files.NAMES}
        arrays, data = _packed(self)
        # NumPy's scalars become Python's; an infinite bound is written as Infinity, which json reads back.
        files.write_result(path, network, arrays, json.dumps(data, default=lambda scalar: scalar.item()))

    @classmethod
    def load(cls, path: str | os.PathLike) -> LearnResult:
        """Read a result that `save` wrote; any other, damaged or altered file is refused in one sentence."""
        network, arrays, text = files.read_result(path)
        try:
            own = None if network is None else ShallowNetwork(**network)
            result = cls(own, **_unpacked(arrays, json.loads(text)))
            _refuse_misfits(result)
            return result
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise InputError(f"{path} does not hold a usable result: {error}") from error

    def report(self, path: str | os.PathLike) -> None:
        """Write a report of the run to `path`: one HTML file that needs no other (extra "report")."""
        from netlearn.report.page import write_report

        write_report(self, path)

    def _repr_html_(self) -> str:
        from netlearn.report.card import card_html

        return card_html(self)


def named_outputs(target: str | tuple[str, ...], n_outputs: int) -> tuple[str, ...]:
    """Return a name for each output."""
    if target and not isinstance(target, str):
        return target
    return (target or "y",) if n_outputs == 1 else tuple(f"y{index + 1}" for index in range(n_outputs))


def _packed(result: LearnResult) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Divide all but the network into arrays and what JSON can hold."""
    seen = asdict(result.diagnostics)
    arrays = {
        f"probes.{index}.eigenvalues": probe.pop("eigenvalues") for index, probe in enumerate(seen["probes"])
    }
    if result.subspace is not None:
        arrays["subspace"] = result.subspace
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
        "recipe": None if result.recipe is None else asdict(result.recipe),
    }
    return arrays, data


def _unpacked(arrays: Mapping[str, np.ndarray], data: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `_packed`: the fields of the result."""
    seen = data["diagnostics"]
    for index, probe in enumerate(seen["probes"]):
        probe["eigenvalues"] = arrays[f"probes.{index}.eigenvalues"]
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
        "target": _typed(str | tuple[str, ...], data["target"]),
        "recipe": _typed(Recipe | None, data.get("recipe")),
    }


def _typed(kind: Any, value: Any) -> Any:
    """Return what JSON holds as the type that an annotation says, or raise a TypeError: a file is not to be trusted."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        kind = next((one for one in inner if isinstance(value, _in_json(one))), inner[0])
        return _typed(kind, value)
    if not isinstance(value, _in_json(kind)) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{type(value).__name__} in place of {kind}")
    if origin is tuple:
        return tuple(_typed(inner[0], one) for one in value)
    if origin is dict:
        return {_typed(inner[0], name): _typed(inner[1], one) for name, one in value.items()}
    if is_dataclass(kind):
        kinds = get_type_hints(kind)
        return kind(**{name: _typed(kinds[name], one) for name, one in value.items()})
    if kind is str:
        value.encode()  # half a surrogate pair is no text, and could not be written again
    return float(value) if kind is float else value


def _in_json(kind: Any) -> Any:
    """Return the types that stand for an annotated one where JSON was read."""
    if is_dataclass(kind):
        return dict
    stands = {float: int | float, tuple: list, dict: dict}
    return stands.get(get_origin(kind) or kind, kind)


def _refuse_misfits(result: LearnResult) -> None:
    """Refuse arrays of a file that do not belong to its network, and a certificate that cannot be repeated."""
    network, held_out, certificate = result.network, result.held_out, result.certificate
    if any(probe.eigenvalues.ndim != 1 for probe in result.diagnostics.probes):
        raise InputError("eigenvalues must have one axis.")
    if certificate is not None and set(certificate.constants) != CONSTANTS.get(certificate.method):
        raise InputError(f"{certificate.constants} are not the constants of {certificate.method!r}.")
    if network is None:
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
