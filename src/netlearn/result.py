"""What every learner returns: the network, how sure it is, how the run ended, what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from netlearn.certify import Certificate
from netlearn.network import ShallowNetwork

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
        Estimated standard deviation of the label noise; None where none was estimated.
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
    """

    network: ShallowNetwork | None
    certificate: Certificate | None
    status: Status
    subspace: np.ndarray | None = None
    schedule: Schedule | None = None
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    @property
    def success(self) -> bool:
        """Whether the error is certified, or the network recovered to rounding level."""
        return self.status in (Status.CERTIFIED, Status.RECOVERED)

    def summary(self) -> str:
        """Return a short text card: status, network, certificate, subspace, cost."""
        seen = self.diagnostics
        lines = [f"status       {self.status.name}: {self.status.value}"]
        if self.network is not None:
            lines.append(
                f"network      {self.network.n_hidden} neurons in {self.network.n_features} dimensions"
            )
        if self.certificate is not None:
            c = self.certificate
            lines.append(
                f"certificate  error <= {c.error_bound:.4g} with confidence {c.confidence:.4g} "
                f"({c.method}, {c.n_val:,} fresh rows, empirical {c.empirical_error:.4g})"
            )
            lines.extend(f"             assumes {assumption}" for assumption in c.assumptions)
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
