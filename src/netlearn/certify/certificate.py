r"""Certificates: an upper bound on ||f - f_hat|| in L2(gamma) that rests on fresh rows alone.

With several outputs F = f - f_hat is a vector, and both inequalities hold for its length as they stand. Bernstein's is
about |F(x)|^2. Lemma 2.5 takes from F only that |F|^2 has the gradient 2 J^T F, of length at most 2 L |F| where L is a
Lipschitz constant of F in Euclidean norms.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from netlearn.certify.bernstein import HEADROOM, bernstein_bound
from netlearn.certify.lipschitz import mean_square_bound
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork


def lipschitz_constant(network: ShallowNetwork) -> float:
    """Return |w| + sum_i |lambda_i|, a Lipschitz constant of the network because its units have norm one.

    With several outputs lambda_i is a vector, w a matrix and |w| its largest singular value.
    """
    w, lam = network.linear, network.coefficients.reshape(network.n_hidden, network.n_outputs)
    # Squares of huge labels' slopes would overflow.
    largest = max(float(np.max(np.abs(w))), float(np.max(np.abs(lam), initial=0.0))) or 1.0
    return largest * float(np.linalg.norm(w / largest, 2) + np.linalg.norm(lam / largest, axis=1).sum())


def _bound_lipschitz(
    network: ShallowNetwork,
    squares: np.ndarray,
    scale: float,
    failure_prob: float,
    *,
    target_lipschitz: float,
) -> tuple[float, tuple[str, ...]]:
    """Lemma 2.5 for F = f - f_hat, whose Lipschitz constants add up."""
    lipschitz = (target_lipschitz + lipschitz_constant(network)) / scale
    bound = mean_square_bound(float(np.mean(squares)), len(squares), lipschitz, failure_prob)
    assumptions = (
        "the rows are independent draws from N(0, I) and took no part in learning",
        "the labels are the values f(x) of the target, without noise",
        f"the target f is {target_lipschitz:.6g}-Lipschitz",
    )
    return scale * math.sqrt(bound), assumptions


def _bound_bernstein(
    network: ShallowNetwork, squares: np.ndarray, scale: float, failure_prob: float
) -> tuple[float, tuple[str, ...]]:
    """Apply the empirical Bernstein inequality to the squared errors, which are bounded by assumption."""
    bound = bernstein_bound(squares, failure_prob)
    largest = scale * math.sqrt(np.max(squares))
    assumptions = (
        "the rows are independent draws from the inputs' distribution and took no part in learning",
        f"no error |y - f_hat(x)|, label noise included, exceeds {HEADROOM * largest:.3g}, twice the largest seen",
    )
    return scale * math.sqrt(bound), assumptions


_METHODS = {"lipschitz": _bound_lipschitz, "bernstein": _bound_bernstein}
CONSTANTS = {"lipschitz": {"target_lipschitz"}, "bernstein": set()}
"""What each method needs to know besides the rows."""


@dataclass(frozen=True)
class Certificate:
    """With probability `confidence` over the rows, ||f - f_hat|| in L2(gamma) is at most `error_bound`.

    Attributes
    ----------
    error_bound : float
        Upper bound on the root mean square error under N(0, I); infinite if the rows were too few. With several outputs
        it is about the length of the vector of their errors.
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
    per_output : tuple of Certificate
        With several outputs m, one for each, at the m-th part of the failure probability: all hold together with the
        confidence of the whole.
    """

    error_bound: float
    confidence: float
    n_val: int
    empirical_error: float
    method: str
    assumptions: tuple[str, ...]
    constants: dict[str, float]
    per_output: tuple["Certificate", ...] = ()

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
    y : array of shape (n,), or (n, m) for a network with m outputs
        Their labels f(x).
    failure_prob : float
        Probability, over the rows, with which the error may exceed the bound.
    method : {"lipschitz", "bernstein"}
        Which inequality to use: the rigorous one for Lipschitz targets on Gaussian inputs, or the sharper
        one that assumes bounded errors, on any inputs.
    **constants : float
        "lipschitz" needs ``target_lipschitz``, a Lipschitz constant of the target f in Euclidean norms.

    Returns
    -------
    Certificate
    """
    if method not in _METHODS:
        raise InputError(f'"method" of certify must be one of {sorted(_METHODS)}, got {method!r}.')
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    outputs = network.linear.shape[:-1]
    if X.ndim != 2 or y.shape != (*X.shape[:1], *outputs) or len(y) == 0:
        raise InputError(
            f'"X" and "y" of certify must have shapes (n, d) and {"(n, m)" if outputs else "(n,)"} with n >= 1'
            f"{f' and m = {outputs[0]}' if outputs else ''}, got {X.shape} and {y.shape}."
        )
    errors = y - network(X)
    if not np.all(np.isfinite(errors)):
        raise InputError('"X" and "y" of certify must be finite, got NaN or infinity.')
    joint = _certificate(network, errors, failure_prob, method, constants)
    if not outputs:
        return joint
    m = len(errors.T)
    together = (
        f"this is one of {m} bounds, each but for a probability of {failure_prob / m:.3g}: all hold together with "
        f"confidence {1.0 - failure_prob:.6g}",
    )
    each = [
        _certificate(_output(network, o), errors[:, o], failure_prob / m, method, constants) for o in range(m)
    ]
    return replace(
        joint, per_output=tuple(replace(own, assumptions=own.assumptions + together) for own in each)
    )


def _output(network: ShallowNetwork, o: int) -> ShallowNetwork:
    """Return the network of one output."""
    return ShallowNetwork(
        network.linear[o], network.coefficients[:, o], network.units, network.biases, network.intercept[o]
    )


def _certificate(
    network: ShallowNetwork, errors: np.ndarray, failure_prob: float, method: str, constants: dict[str, float]
) -> Certificate:
    # In units of the largest error, so that tiny ones do not underflow when squared.
    scale = float(np.max(np.abs(errors))) or 1.0
    squares = np.sum((errors.reshape(len(errors), -1) / scale) ** 2, axis=1)
    bound, assumptions = _METHODS[method](network, squares, scale, failure_prob, **constants)
    return Certificate(
        error_bound=bound,
        confidence=1.0 - failure_prob,
        n_val=len(errors),
        empirical_error=scale * math.sqrt(np.mean(squares)),
        method=method,
        assumptions=assumptions,
        constants=dict(constants),
    )
