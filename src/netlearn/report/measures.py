"""The numbers that a report shows and that are not fields of the result: small functions of a `LearnResult`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netlearn.network import ShallowNetwork

if TYPE_CHECKING:
    from netlearn.result import LearnResult, MomentSpectrum

Array = NDArray[np.float64]


def feature_names(result: LearnResult) -> tuple[str, ...]:
    """Return the names of the features, or x1, x2, ... where none are known."""
    d = result.network.n_features if result.has_network else 0
    return result.names or tuple(f"x{index + 1}" for index in range(d))


def has_signal(result: LearnResult) -> bool:
    """Whether held-out rows show that the network has found something; if not, no unit or feature means anything."""
    if not result.has_network or result.status.name in ("NO_SIGNAL", "FAILED"):
        return False
    # Labels that do not vary leave nothing to be better than.
    score = result.score
    return score is None or score.r2 is None or score.beats_mean


def matrix_family(spectrum: MomentSpectrum) -> str:
    """Name the kind of matrix: by what was done to the labels, or by the paper's symbol."""
    return spectrum.name or f"M_{spectrum.order}"


def matrix_name(spectrum: MomentSpectrum) -> str:
    """Name the matrix; M_2 is the one that does not depend on the direction g."""
    if spectrum.name or spectrum.order == 2 or spectrum.direction is None:
        return matrix_family(spectrum)
    return f"{matrix_family(spectrum)}, g_{spectrum.direction + 1}"


@dataclass(frozen=True)
class HeldOutError:
    """Error on rows that took no part in learning.

    Attributes
    ----------
    rms : float
        Root mean square, of all the rows that the certificate rests on if there is one.
    n_rows : int
    relative : float or None
        In units of the standard deviation of the labels; None where that is zero or unknown.
    """

    rms: float
    n_rows: int
    relative: float | None


def held_out_error(result: LearnResult) -> HeldOutError | None:
    """Return the error on held-out rows; None if there is neither a certificate nor a row."""
    quality = fit_quality(result)
    if result.certificate is not None:
        rms, n_rows = result.certificate.empirical_error, result.certificate.n_val
    elif quality is not None:
        rms, n_rows = quality.rms, quality.n_rows
    else:
        return None
    return HeldOutError(rms, n_rows, rms / quality.spread if quality and quality.spread > 0 else None)


@dataclass(frozen=True)
class FitQuality:
    """Network against labels on the rows that travel with the result.

    Attributes
    ----------
    n_rows : int
    rms, largest : float
        Root mean square and largest magnitude of the errors.
    spread : float
        Standard deviation of the labels.
    """

    n_rows: int
    rms: float
    largest: float
    spread: float

    @property
    def r_squared(self) -> float | None:
        """1 - rms^2 / spread^2; None if the labels are all equal."""
        return 1 - (self.rms / self.spread) ** 2 if self.spread > 0 else None


def fit_quality(result: LearnResult) -> FitQuality | None:
    """Compare network and labels on `result.held_out`; None if either is missing.

    Of several outputs, squared errors and variances are summed.
    """
    each = output_qualities(result)
    if not each:
        return None
    rms, spread = math.hypot(*(own.rms for own in each)), math.hypot(*(own.spread for own in each))
    return FitQuality(each[0].n_rows, rms, max(own.largest for own in each), spread)


def output_qualities(result: LearnResult) -> list[FitQuality]:
    """Compare each output with its labels on `result.held_out`; none if network or rows are missing."""
    if not result.has_network or result.held_out is None:
        return []
    y = result.held_out.y
    errors = y - result.network(result.held_out.X)
    return [_quality(*columns) for columns in zip(_columns(y), _columns(errors), strict=True)]


def _columns(values: Array) -> Array:
    return values.reshape(len(values), -1).T


def _quality(y: Array, errors: Array) -> FitQuality:
    largest = float(np.max(np.abs(errors)))
    # Divided first: squares of very large or very small labels would leave float64.
    rms = largest * math.sqrt(np.mean((errors / largest) ** 2)) if largest > 0 else 0.0
    size = float(np.max(np.abs(y)))
    spread = size * float(np.std(y / size)) if size > 0 else 0.0
    return FitQuality(len(y), rms, largest, spread)


def is_met_to_rounding(result: LearnResult) -> bool:
    """Whether held-out labels are met as closely as rounding allows."""
    return result.status.name in ("RECOVERED", "REPRODUCED")


def spread_below_bound(result: LearnResult) -> float | None:
    """Return the spread of the labels where the proved bound exceeds it, and so says nothing; else None.

    Several outputs, each in its own units, have no spread to compare with.
    """
    certificate, each = result.certificate, output_qualities(result)
    if certificate is None or len(each) != 1 or not math.isfinite(certificate.error_bound):
        return None
    spread = each[0].spread
    return spread if 0.0 < spread < certificate.error_bound else None


def worst_outputs(result: LearnResult) -> list[int]:
    """Return the outputs by their error on held-out rows in units of the spread of their labels, worst first."""

    def share(own: FitQuality) -> float:
        if own.spread > 0:
            return own.rms / own.spread
        return math.inf if own.rms > 0 else 0.0

    shares = [share(own) for own in output_qualities(result)]
    return sorted(range(len(shares)), key=lambda output: -shares[output])


def coefficient_sizes(network: ShallowNetwork) -> Array:
    """Return the coefficients lambda_i, shape (k,); with several outputs their norms."""
    lam = network.coefficients
    return lam if lam.ndim == 1 else np.linalg.norm(lam, axis=1)


def nearest_angles(network: ShallowNetwork) -> Array:
    """Return the angle from each unit to the line of the nearest other, in degrees, shape (k,).

    Between 0 and 90, as u and -u make the same kink; not a number for a unit without others. Through the sine of
    half the angle, which keeps its digits for units that almost agree. Cost: O(k^2 d).
    """
    U = network.units
    if len(U) < 2:
        return np.full(len(U), math.nan)
    cosines = U @ U.T
    np.fill_diagonal(cosines, 0.0)
    nearest = np.argmax(np.abs(cosines), axis=1)
    side = np.where(cosines[np.arange(len(U)), nearest] < 0, -1.0, 1.0)
    chords = np.linalg.norm(U - side[:, None] * U[nearest], axis=1)
    return np.degrees(2 * np.arcsin(chords / 2))


def feature_spreads(result: LearnResult) -> Array:
    """Return the standard deviations of the features over the held-out rows; ones where there are no two rows."""
    if result.held_out is None or len(result.held_out.X) < 2:
        return np.ones(result.network.n_features)
    return np.std(result.held_out.X, axis=0)


@dataclass(frozen=True)
class Baseline:
    """The share of the labels' variance that something explains on held-out rows.

    Attributes
    ----------
    key, label : str
    r2 : float
    """

    key: str
    label: str
    r2: float


def baselines(result: LearnResult) -> list[Baseline]:
    """Return R^2 of the network, of a linear fit, of the mean, and the limit that noise sets; none without a score."""
    score = result.score
    if score is None or score.r2 is None:
        return []
    found = [("r2", "this network", score.r2)]
    if score.r2_linear is not None:
        found.append(("r2-linear", "linear fit", score.r2_linear))
    if score.r2_mean is not None:
        found.append(("r2-mean", "always the mean", score.r2_mean))
    limit = noise_limit(result)
    if limit is not None:
        found.append(("r2-limit", "noise limit, about", limit))
    return [Baseline(*one) for one in found]


def noise_limit(result: LearnResult) -> float | None:
    """Estimate the R^2 that no model can beat, from the noise in the labels; None where none was estimated.

    The variance of the labels is the one that the score's R^2 refers to, rmse^2 / (1 - R^2). A residual that more
    units would reduce is no noise, and several outputs have one noise level together.
    """
    score, noise = result.score, result.diagnostics.noise_level
    if score is None or score.r2 is None or noise is None or score.r2_each or not score.rmse > 0.0:
        return None
    if result.status.name not in ("NOISE_LIMITED", "CERTIFIED") or not score.r2 < 1.0:
        return None
    limit = 1.0 - (1.0 - score.r2) * (noise / score.rmse) ** 2
    # Both are estimates from other rows: the network does not beat the limit, whatever chance says.
    return max(limit, score.r2)
