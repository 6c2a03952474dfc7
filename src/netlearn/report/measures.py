"""The numbers that a report shows and that are not fields of the result: small functions of a `LearnResult`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import erf

from netlearn.network import ShallowNetwork
from netlearn.network.ramps import Ramps
from netlearn.network.sensitivity import SobolIndices, sobol

if TYPE_CHECKING:
    from netlearn.result import LearnResult, Probe

Array = NDArray[np.float64]

# Of the directions that matter, those whose share of the variance is computed: each costs k^2 integrals.
_MEASURED_DIRECTIONS = 8
# Below this many rows for each direction their covariance says too little to whiten with.
_ROWS_PER_DIRECTION = 3
# A direction that explains this much of the network needs no second one beside it.
_ENOUGH_ALONE = 0.99


def feature_names(result: LearnResult) -> tuple[str, ...]:
    """Return the names of the features, or x1, x2, ... where none are known."""
    d = 0 if result.network is None else result.network.n_features
    return result.names or tuple(f"x{index + 1}" for index in range(d))


def probe_family(probe: Probe) -> str:
    """Name the kind of matrix: by what was done to the labels, or by the paper's symbol."""
    return probe.name or f"M_{probe.order}"


def probe_name(probe: Probe) -> str:
    """Name the matrix; M_2 is the one that does not depend on the direction g."""
    directed = not probe.name and probe.order > 2 and probe.direction is not None
    return f"{probe_family(probe)}, g_{probe.direction + 1}" if directed else probe_family(probe)


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
    if result.network is None or result.held_out is None:
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


def leading_features(result: LearnResult, vector: Array, count: int = 3) -> list[tuple[str, float]]:
    """Return names and entries of the features that move <vector, x> most, in units of their spread.

    Those that do not move it are left out.
    """
    names, effect = feature_names(result), np.abs(vector) * feature_spreads(result)
    order = np.argsort(-effect, kind="stable")[:count]
    return [(names[index], float(vector[index])) for index in order if effect[index] > 0]


@dataclass(frozen=True)
class Directions:
    """The directions of the input that the network responds to, those that matter most first.

    f depends on x through r coordinates s = axes^T x - offset alone. Over the held-out rows these are
    uncorrelated with mean 0 and variance 1, if there are rows enough to see that.

    Attributes
    ----------
    axes : array of shape (d, r)
    offset : array of shape (r,)
    network : ShallowNetwork
        f as a function of s.
    shares : array of shape (min(r, 8),)
        Var E[f | s_j] / Var f for s ~ N(0, I): what a direction explains alone; decreasing. Variances are summed over
        outputs, each in units of the size of its own parameters.
    n_shown : int
        1 if the first explains the network (almost) alone, else 2.
    joint_share : float
        What the shown ones explain together.
    """

    axes: Array
    offset: Array
    network: ShallowNetwork
    shares: Array
    n_shown: int
    joint_share: float

    def coordinates(self, X: Array) -> Array:
        """Return s, shape (n, r), for the rows of X."""
        return X @ self.axes - self.offset

    def expected(self, S: Array) -> Array:
        r"""Return E[f | the leading coordinates], shape (n,) or (n, outputs), for S of shape (n, number given).

        Given these, <u_i, s> + b_i is normal with some mean p and deviation q, and
        E|p + q z| = q sqrt(2/pi) exp(-p^2 / (2 q^2)) + p erf(p / (q sqrt(2))).
        """
        f, m = self.network, S.shape[1]
        p = S @ f.units[:, :m].T + f.biases
        q = np.linalg.norm(f.units[:, m:], axis=1)
        ratio = p / np.maximum(q, 1e-12)  # a unit without a part outside: the formula's limit is |p|
        folded = q * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + p * erf(ratio / math.sqrt(2))
        return S @ f.linear[..., :m].T + folded @ f.coefficients + f.intercept


def leading_directions(result: LearnResult) -> Directions | None:
    """Order the directions that matter by what they explain; None without rows, or for a constant network.

    Units and linear part span what f sees. There the held-out rows are whitened, and the directions are the
    eigenvectors of E[grad f grad f^T] over these rows (the active subspace), sorted by the variance that each
    explains alone.
    """
    if result.network is None or result.held_out is None:
        return None
    X, spreads = result.held_out.X, feature_spreads(result)
    scale, centre = np.where(spreads > 0, spreads, 1.0), X.mean(axis=0)
    f, size = _in_own_units(_standardised(result.network, scale, centre))
    if not np.any(f.linear) and not f.n_hidden:
        return None
    # A linear part at rounding level beside the units adds no direction.
    seen = np.vstack([f.units, f.linear.reshape(-1, f.n_features)])
    _, strengths, basis = np.linalg.svd(seen, full_matrices=False)
    B = basis[strengths > 1e-9 * strengths[0]].T
    r = B.shape[1]
    T = (X - centre) / scale @ B
    L = np.eye(r)
    if len(X) >= _ROWS_PER_DIRECTION * r:
        covariance = np.cov(T, rowvar=False).reshape(r, r)
        if np.linalg.eigvalsh(covariance)[0] > 1e-12 * np.trace(covariance):
            L = np.linalg.cholesky(covariance)
    g = f.precompose(B @ L)
    gradients = _gradients(g, solve_triangular(L, T.T, lower=True).T)
    Q = np.linalg.eigh(gradients.T @ gradients)[1][:, ::-1]
    ramps = Ramps.of(g.precompose(Q))
    total = ramps.variance_given(slice(None))[0].sum()
    if not total > 0:
        return None
    n_measured = min(r, _MEASURED_DIRECTIONS)
    shares = np.array([_share(ramps, [index], total) for index in range(n_measured)])
    order = np.concatenate([np.argsort(-shares, kind="stable"), np.arange(n_measured, r)])
    n_shown = 1 if r == 1 or shares[order[0]] >= _ENOUGH_ALONE else 2
    joint = _share(ramps, order[:n_shown], total)
    axes = B @ solve_triangular(L, Q[:, order], lower=True, trans="T") / scale[:, None]
    # The sign of an eigenvector means nothing: the largest entry is positive, as for units.
    side = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(r)])
    return Directions(
        side * axes,
        centre @ (side * axes),
        _scaled(g.precompose(side * Q[:, order]), size),
        shares[order[:n_measured]],
        n_shown,
        joint,
    )


def _standardised(f: ShallowNetwork, scale: Array, centre: Array) -> ShallowNetwork:
    """Return z -> f(scale * z + centre), as `precompose` would with a diagonal matrix, which may be huge."""
    return ShallowNetwork(
        f.linear * scale,
        f.coefficients,
        f.units * scale,
        f.biases + f.units @ centre,
        f.intercept + f.linear @ centre,
    )


def _in_own_units(f: ShallowNetwork) -> tuple[ShallowNetwork, Array]:
    """Return the network with each output in units of the size of its parameters, and these; y's own play no part."""
    size = np.abs(f.linear).sum(axis=-1) + np.abs(f.coefficients).sum(axis=0)
    size = np.where(size > 0, size, 1.0)
    return _scaled(f, 1 / size), size


def _scaled(f: ShallowNetwork, factors: Array) -> ShallowNetwork:
    """Return the network with each output multiplied by its factor."""
    linear = (factors * f.linear.T).T
    return ShallowNetwork(linear, factors * f.coefficients, f.units, f.biases, factors * f.intercept)


def _gradients(f: ShallowNetwork, X: Array) -> Array:
    """Return the gradients of all outputs at all rows, shape (n * outputs, d)."""
    signs = np.sign(X @ f.units.T + f.biases)
    lam = f.coefficients.reshape(f.n_hidden, f.n_outputs)
    bends = np.einsum("nk,km,kd->nmd", signs, lam, f.units, optimize=True)
    return (bends + f.linear.reshape(-1, f.n_features)).reshape(-1, f.n_features)


def _share(ramps: Ramps, kept: Array | list[int], total: float) -> float:
    mask = np.zeros(ramps.units.shape[1], dtype=bool)
    mask[kept] = True
    return float(np.clip(ramps.variance_given(mask)[0].sum() / total, 0.0, 1.0))


@dataclass(frozen=True)
class Sensitivity:
    """The features that move the network most, with their Sobol indices.

    Attributes
    ----------
    features : list of int
        Columns of X, by decreasing total index; of several outputs by the largest.
    indices : SobolIndices
        Of these features, for independent normal ones with the means and spreads of the held-out rows.
    """

    features: list[int]
    indices: SobolIndices


def sensitivity(result: LearnResult, count: int = 12) -> Sensitivity | None:
    r"""Return the Sobol indices of the features that matter; None without rows, or for a constant network.

    These are the ones of the largest mean of (d_j f)^2, which bounds the variance that is lost without feature j
    (Poincare's inequality), over the variance of f. Cost: O(k^2) pair integrals for each.
    """
    if result.network is None or result.held_out is None:
        return None
    X, spreads = result.held_out.X, feature_spreads(result)
    f, _ = _in_own_units(_standardised(result.network, spreads, X.mean(axis=0)))
    variance = np.reshape(f.variance(), -1)
    if not np.any(variance > 0):
        return None
    slopes = _gradients(f, (X - X.mean(axis=0)) / np.where(spreads > 0, spreads, 1.0))
    squares = np.mean(slopes.reshape(len(X), f.n_outputs, -1) ** 2, axis=0)
    bounds = np.max(squares / np.where(variance > 0, variance, np.inf)[:, None], axis=0)
    leading = np.argsort(-bounds, kind="stable")[:count]
    found = sobol(f, leading)
    order = np.argsort(-np.max([own.total for own in found.per_output or (found,)], axis=0), kind="stable")
    return Sensitivity(leading[order].tolist(), _taken(found, order))


def _taken(indices: SobolIndices, order: Array) -> SobolIndices:
    each = tuple(_taken(own, order) for own in indices.per_output)
    return SobolIndices(indices.first_order[order], indices.total[order], each)
