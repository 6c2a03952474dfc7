"""Certificates: an upper bound on ||f - f_hat|| in L2(gamma) that rests on fresh rows alone."""

import math
from dataclasses import dataclass

import numpy as np

from netlearn.certify.bernstein import HEADROOM, bernstein_bound
from netlearn.certify.lipschitz import mean_square_bound
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork


def lipschitz_constant(network: ShallowNetwork) -> float:
    """Return |w| + sum_i |lambda_i|, a Lipschitz constant of the network because its units have norm one."""
    largest = float(np.max(np.abs(network.linear))) or 1.0  # squares of huge labels' slopes would overflow
    return largest * float(np.linalg.norm(network.linear / largest)) + float(
        np.abs(network.coefficients).sum()
    )


def _bound_lipschitz(
    network: ShallowNetwork, errors: np.ndarray, failure_prob: float, *, target_lipschitz: float
) -> tuple[float, tuple[str, ...]]:
    """Lemma 2.5 for F = f - f_hat, whose Lipschitz constants add up."""
    scale = float(np.max(np.abs(errors))) or 1.0
    lipschitz = (target_lipschitz + lipschitz_constant(network)) / scale
    bound = mean_square_bound(float(np.mean((errors / scale) ** 2)), len(errors), lipschitz, failure_prob)
    assumptions = (
        "the rows are independent draws from N(0, I) and took no part in learning",
        "the labels are the values f(x) of the target, without noise",
        f"the target f is {target_lipschitz:.6g}-Lipschitz",
    )
    return scale * math.sqrt(bound), assumptions


def _bound_bernstein(
    network: ShallowNetwork, errors: np.ndarray, failure_prob: float
) -> tuple[float, tuple[str, ...]]:
    """Apply the empirical Bernstein inequality to the squared errors, which are bounded by assumption."""
    scale = float(np.max(np.abs(errors))) or 1.0
    bound = bernstein_bound((errors / scale) ** 2, failure_prob)
    assumptions = (
        "the rows are independent draws from the inputs' distribution and took no part in learning",
        f"no error |y - f_hat(x)|, label noise included, exceeds {HEADROOM * scale:.3g}, twice the largest seen",
    )
    return scale * math.sqrt(bound), assumptions


_METHODS = {"lipschitz": _bound_lipschitz, "bernstein": _bound_bernstein}


@dataclass(frozen=True)
class Certificate:
    """With probability `confidence` over the rows, ||f - f_hat|| in L2(gamma) is at most `error_bound`.

    Attributes
    ----------
    error_bound : float
        Upper bound on the root mean square error under N(0, I); infinite if the rows were too few.
    confidence : float
        One minus the failure probability.
    n_val : int
        Number of rows the bound rests on.
    empirical_error : float
        Root mean square error over these rows.
    method : str
        The inequality used: "lipschitz" is Lemma 2.5 (`netlearn.certify.lipschitz`), "bernstein" the
        empirical Bernstein bound (`netlearn.certify.bernstein`).
    assumptions : tuple of str
        What must hold for the statement to be true; the rows cannot show it.
    constants : dict
        The numbers the method needs besides the rows, so that `recheck` can be repeated by anyone.
    """

    error_bound: float
    confidence: float
    n_val: int
    empirical_error: float
    method: str
    assumptions: tuple[str, ...]
    constants: dict[str, float]

    def recheck(self, network: ShallowNetwork, X: np.ndarray, y: np.ndarray) -> "Certificate":
        """Certify `network` anew on other rows, by the same method, constants and confidence."""
        return certify(
            network, X, y, failure_prob=1.0 - self.confidence, method=self.method, **self.constants
        )


def certify(
    network: ShallowNetwork,
    X: np.ndarray,
    y: np.ndarray,
    *,
    failure_prob: float,
    method: str = "lipschitz",
    **constants: float,
) -> Certificate:
    """Bound the error of `network` from rows that took no part in learning it.

    Parameters
    ----------
    network : ShallowNetwork
        The estimate f_hat.
    X : array of shape (n, d)
        Fresh inputs.
    y : array of shape (n,)
        Their labels f(x).
    failure_prob : float
        Probability, over the rows, with which the error may exceed the bound.
    method : {"lipschitz", "bernstein"}
        Which inequality to use: the rigorous one for Lipschitz targets on Gaussian inputs, or the sharper
        one that assumes bounded errors, on any inputs.
    **constants : float
        "lipschitz" needs ``target_lipschitz``, a Lipschitz constant of the target f.

    Returns
    -------
    Certificate
    """
    if method not in _METHODS:
        raise InputError(f'"method" of certify must be one of {sorted(_METHODS)}, got {method!r}.')
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if X.ndim != 2 or y.shape != X.shape[:1] or len(y) == 0:
        raise InputError(
            '"X" and "y" of certify must have shapes (n, d) and (n,) with n >= 1, '
            f"got {X.shape} and {y.shape}."
        )
    errors = y - network(X)
    if not np.all(np.isfinite(errors)):
        raise InputError('"X" and "y" of certify must be finite, got NaN or infinity.')
    bound, assumptions = _METHODS[method](network, errors, failure_prob, **constants)
    scale = float(np.max(np.abs(errors))) or 1.0
    return Certificate(
        error_bound=bound,
        confidence=1.0 - failure_prob,
        n_val=len(y),
        empirical_error=scale * math.sqrt(np.mean((errors / scale) ** 2)),
        method=method,
        assumptions=assumptions,
        constants=dict(constants),
    )
