r"""Certificates: what rows that took no part in learning prove about a network.

Two statements, each with the same confidence. The *share* (`netlearn.certify.share`): at most so many of all new rows
have an error above the tolerance; nothing is assumed but that rows are independent draws from one distribution. The *L2
bound* (`netlearn.certify.envelope`): the root mean square error, where the inputs' distribution and a slope of the
target are assumed; elsewhere it is infinite, and `why_no_bound` says why.

With several outputs the error of a row is the Euclidean length of its vector of errors.

**Noise.** With labels f(x) + noise, the noise Gaussian of standard deviation at most s, |y - f_hat(x)| is a function of
x and the noise together with slope sqrt(L^2 + s^2), and the bound is about the error of predictions, noise included.
The n errors limit s from above: given x, their sum of squares is at least s^2 times a chi^2 variable with n degrees of
freedom, in distribution. **Rounded labels** differ from f(x) by half a step at most, which is added to every error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2, norm

from netlearn.backend import to_numpy
from netlearn.certify.envelope import envelope_bound, root_mean_square_bound
from netlearn.certify.law import ASSUMPTIONS, BOX, NORMAL, STANDARD, Spread, slope_in_normal
from netlearn.certify.share import share_beyond
from netlearn.certify.slope import Slopes, parts
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.source import ArraySource, Source

STEEPNESS = 2.0
"""How many times as steep as the network the target may be, where nobody has said how steep it is."""
METHODS = {"envelope": "all errors of the fresh rows", "mean": "their root mean square"}
"""What each method computes the L2 bound from."""
# Probability with which errors contradict an assumption that holds; and the rounding of an error, in units of labels.
_NEXT_TO_NEVER, _DIGITS = 1e-9, 1e-12
# Part of the failure probability spent on upper limits of the inputs' spread, and likewise of the noise.
_FOR_LIMITS = 0.05
_ROWS = "the rows are independent draws from one distribution and took no part in learning"


@dataclass(frozen=True)
class Basis:
    """What an L2 bound is to rest on besides the rows; kept with a certificate so that it can be repeated.

    Attributes
    ----------
    law : str
        Distribution of the inputs: "N(0, I)", "normal", "box", or empty where none is assumed.
    target_lipschitz : float or None
        A Lipschitz constant of the target in Euclidean norms; None stands for `STEEPNESS` times the network's.
    noisy : bool
        Whether the labels may have Gaussian noise.
    rounding : float
        Largest difference between a label and the target's value that rounding makes.
    wrong_share : float
        Share of the fresh rows, the worst ones, that the tolerance leaves out because labels may be wrong.
    method : {"envelope", "mean"}
        Whether the bound uses all errors, or their root mean square alone.
    """

    law: str = ""
    target_lipschitz: float | None = None
    noisy: bool = False
    rounding: float = 0.0
    wrong_share: float = 0.0
    method: str = "envelope"


NO_BASIS = Basis()
"""Nothing is assumed: there is a share and no L2 bound."""


@dataclass(frozen=True)
class Certificate:
    """Two statements about a network, each true with probability `confidence` over the fresh rows.

    Attributes
    ----------
    share : float
        At most this share of new rows has an error |y - f_hat(x)| above `tolerance`.
    tolerance : float
        The largest error of the fresh rows; with a `wrong_share`, the largest that is left when so many are taken out.
    error_bound : float
        Upper bound on the root mean square error, label noise included; infinite where nothing proves one.
    confidence : float
        One minus the failure probability, of each of the two statements.
    n_val : int
        Number of fresh rows the share rests on.
    empirical_error : float
        Root mean square error over these rows.
    assumptions : tuple of str
        What must hold for the statements to be true; the first is all that the share needs.
    n_bound : int
        Number of fresh rows the L2 bound rests on; 0 where there is none.
    why_no_bound : str
        Why the L2 bound is infinite; empty where it is not.
    moved : float
        Part of the bound by which the network was moved, in closed form, after it had been certified.
    basis : Basis
        What `recheck` needs to certify other rows in the same way.
    per_output : tuple of Certificate
        With several outputs m, one for each, at the m-th part of the failure probability: all hold together with the
        confidence of the whole.
    """

    share: float
    tolerance: float
    error_bound: float
    confidence: float
    n_val: int
    empirical_error: float
    assumptions: tuple[str, ...]
    n_bound: int = 0
    why_no_bound: str = ""
    moved: float = 0.0
    basis: Basis = NO_BASIS
    per_output: tuple[Certificate, ...] = ()

    def __repr__(self) -> str:
        outputs = f", per_output={len(self.per_output)} certificates" if self.per_output else ""
        return (
            f"Certificate(share={self.share:.4g}, tolerance={self.tolerance:.4g}, error_bound={self.error_bound:.4g}, "
            f"confidence={self.confidence:.10g}, n_val={self.n_val}{outputs})"
        )

    def recheck(self, network: ShallowNetwork, X: np.ndarray, y: np.ndarray) -> Certificate:
        """Certify `network` anew on other rows, on the same basis and with the same confidence."""
        return certify(network, X, y, failure_prob=1.0 - self.confidence, basis=self.basis)


def certify(
    network: ShallowNetwork,
    X: np.ndarray,
    y: np.ndarray,
    *,
    failure_prob: float,
    basis: Basis = NO_BASIS,
) -> Certificate:
    """Say what rows that took no part in learning prove about a network.

    Parameters
    ----------
    network : ShallowNetwork
        The estimate f_hat.
    X : array of shape (n, d)
        Fresh inputs.
    y : array of shape (n,), or (n, m) for a network with m outputs
        Their labels.
    failure_prob : float
        Probability, over the rows, with which each statement may be false.
    basis : Basis
        What an L2 bound may assume; by default nothing, and there is none.

    Returns
    -------
    Certificate
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    outputs = network.linear.shape[:-1]
    if X.ndim != 2 or y.shape != (*X.shape[:1], *outputs) or len(y) == 0:
        raise InputError(
            f'"X" and "y" of certify must have shapes (n, d) and {"(n, m)" if outputs else "(n,)"} with n >= 1'
            f"{f' and m = {outputs[0]}' if outputs else ''}, got {X.shape} and {y.shape}."
        )
    return certify_rows(network, ArraySource(X, y), failure_prob=failure_prob, basis=basis)


def certify_rows(
    network: ShallowNetwork, *rows: Source, failure_prob: float, basis: Basis = NO_BASIS
) -> Certificate:
    """Do the same with the rows of one or more sources, read in blocks."""
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f'"failure_prob" must be in (0, 1), got {failure_prob}.')
    if basis.method not in METHODS:
        raise InputError(f'"method" of a basis must be one of {sorted(METHODS)}, got {basis.method!r}.')
    errors, spread, largest_label = _measured(network, rows, basis)
    if not np.all(np.isfinite(errors)):
        raise InputError('"X" and "y" of certify must be finite, got NaN or infinity.')
    W, Lambda, U = slopes = parts(network)
    step = _DIGITS * largest_label  # by which rounding may move an error
    joint = _certificate(slopes, errors, spread, failure_prob, basis, step)
    if network.linear.ndim == 1:
        return joint
    m, each = network.n_outputs, []
    together = f"this is one of {m} statements that hold together with confidence {1.0 - failure_prob:.6g}"
    for o in range(m):
        of_output = replace(spread, along=np.delete(spread.along, [i for i in range(m) if i != o], axis=1))
        slopes = W[o : o + 1], Lambda[:, o : o + 1], U
        own = _certificate(slopes, errors[:, o : o + 1], of_output, failure_prob / m, basis, step)
        each.append(replace(own, assumptions=(*own.assumptions, together)))
    return replace(joint, per_output=tuple(each))


def _measured(
    network: ShallowNetwork, sources: Sequence[Source], basis: Basis
) -> tuple[np.ndarray, Spread, float]:
    """Return the errors, shape (n, m), the spread of the rows as far as `basis` needs it, and the largest label."""
    W, _, U = parts(network)
    vectors, d = np.vstack([W, U]), network.n_features
    errors, along, low, high = [], [], np.full(d, np.inf), np.full(d, -np.inf)
    total, squares, largest_label = np.zeros(d), np.zeros((d, d)), 0.0
    with_covariance = basis.law == NORMAL and basis.target_lipschitz is not None
    for block in (block for rows in sources for block in rows.blocks(len(vectors))):
        X, y = map(to_numpy, block)
        errors.append((y - network(X)).reshape(len(X), -1))
        largest_label = max(largest_label, float(np.max(np.abs(y), initial=0.0)))
        if basis.law == NORMAL:
            along.append(X @ vectors.T)
        elif basis.law == BOX:
            low, high = np.minimum(low, X.min(axis=0)), np.maximum(high, X.max(axis=0))
        if with_covariance:
            total, squares = total + X.sum(axis=0), squares + X.T @ X
    n = sum(map(len, errors))
    largest = math.inf
    if with_covariance and n > 1:
        covariance = (squares - np.outer(total, total) / n) / (n - 1)
        largest = math.sqrt(max(np.linalg.eigvalsh(covariance)[-1], 0.0))
    projected = np.concatenate(along) if along else np.zeros((n, len(vectors)))
    return np.concatenate(errors), Spread(n, projected, high - low, largest), largest_label


def _certificate(
    slopes: Slopes, errors: np.ndarray, spread: Spread, failure_prob: float, basis: Basis, step: float
) -> Certificate:
    n = len(errors)
    scale = _largest(errors)
    sizes = scale * np.linalg.norm(errors / scale, axis=1)
    n_beyond = math.ceil(basis.wrong_share * n)
    share = share_beyond(n, failure_prob, n_beyond)
    bound, assumptions, why = _error_bound(slopes, errors, sizes, spread, failure_prob, basis, step)
    return Certificate(
        share=share,
        tolerance=float(np.sort(sizes)[max(n - 1 - n_beyond, 0)]),
        error_bound=bound,
        confidence=1.0 - failure_prob,
        n_val=n,
        empirical_error=_root_mean_square(sizes),
        assumptions=(_ROWS, *assumptions),
        n_bound=0 if why else n,
        why_no_bound=why,
        basis=basis,
    )


def _error_bound(
    slopes: Slopes,
    errors: np.ndarray,
    sizes: np.ndarray,
    spread: Spread,
    failure_prob: float,
    basis: Basis,
    step: float,
) -> tuple[float, tuple[str, ...], str]:
    """Return the L2 bound, what it assumes besides independent rows, and why there is none where it is infinite."""
    if not basis.law:
        why = "the inputs are not known to be Gaussian or uniform on a box, and without that no L2 error can be bounded"
        return math.inf, (), why
    if basis.wrong_share:
        return math.inf, (), "some labels are taken to be wrong, and an L2 error would count them"
    for_spread = 0.0 if basis.law == STANDARD else _FOR_LIMITS
    own, in_normal = slope_in_normal(basis.law, spread, slopes, for_spread * failure_prob)
    given = basis.target_lipschitz
    slope = own + (STEEPNESS * own if given is None else in_normal(given))
    steep = f"{STEEPNESS:g} times as steep as the network" if given is None else f"steeper than {given:.6g}"
    target = f"the function behind the labels is {'at most' if given is None else 'no'} {steep}"
    noise = 0.0
    if basis.noisy:
        noise = _FOR_LIMITS
        slope = math.hypot(slope, _noise_limit(errors, noise * failure_prob))
    if not math.isfinite(slope):
        return math.inf, (), f"{len(sizes)} fresh rows are too few to limit the spread of the inputs"
    if _vary_more(errors, slope, 2 * (basis.rounding + step)):
        return (
            math.inf,
            (),
            "held-out errors vary more than they could if the target were no steeper than assumed",
        )
    labels = "the labels are that function's values" + (", rounded" if basis.rounding else "")
    if basis.noisy:
        labels += ", with Gaussian noise or without"
    rest = (1.0 - for_spread - noise) * failure_prob
    if basis.method == "mean":
        root = _root_mean_square(sizes) + basis.rounding
        bound = root_mean_square_bound(root, len(sizes), slope, rest)
    else:
        bound = envelope_bound(sizes + basis.rounding, slope, rest)
    return bound, (ASSUMPTIONS[basis.law], target, labels), ""


def _vary_more(errors: np.ndarray, slope: float, step: float) -> bool:
    """Whether errors have a range that those of a function with this slope have with next to no probability.

    A function of standard normal inputs with slope L is further than L t from its median with probability 2 Phi(-t) at
    most.
    """
    t = -float(norm.ppf(_NEXT_TO_NEVER / (2 * len(errors))))
    return float(np.max(np.ptp(errors, axis=0))) > 2 * slope * t + step


def _noise_limit(errors: np.ndarray, failure_prob: float) -> float:
    """Return an upper limit of the noise's largest standard deviation in any direction of the outputs."""
    scale = _largest(errors)
    return scale * float(np.linalg.norm(errors / scale, 2)) / math.sqrt(chi2.ppf(failure_prob, len(errors)))


def _largest(errors: np.ndarray) -> float:
    """Return the unit in which errors are squared, so that tiny ones do not underflow and huge ones not overflow."""
    return float(np.max(np.abs(errors))) or 1.0


def _root_mean_square(sizes: np.ndarray) -> float:
    scale = _largest(sizes)
    return scale * math.sqrt(np.mean((sizes / scale) ** 2))


def moved_by(certificate: Certificate, distance: float) -> Certificate:
    """Return what an L2 bound says of a network at this distance from the one that was certified."""
    return replace(certificate, error_bound=certificate.error_bound + distance, moved=distance)


def without_bound(certificate: Certificate, why: str) -> Certificate:
    """Return the certificate without an L2 bound."""
    each = tuple(without_bound(own, why) for own in certificate.per_output)
    return replace(certificate, error_bound=math.inf, n_bound=0, why_no_bound=why, moved=0.0, per_output=each)
