r"""How steep a network is: Lipschitz constants of f(x) = c + W x + sum_i lambda_i |<u_i, x> + b_i|.

Wherever f has a derivative it is W + Lambda^T S U, with S a diagonal matrix of signs, rows lambda_i of Lambda and u_i
of U. Three bounds on its norm are valid for all x; the smallest of them is used:

    |W| + sum_i |lambda_i| |u_i|,
    |W| + |Lambda^T D^{-1}| |D U|   with D = diag |lambda_i|,     for one output |W| + sqrt(k) |diag(lambda) U|,
    the largest |W + Lambda^T S U| over all 2^k sign patterns, where these can be listed.
"""

import math

import numpy as np

from netlearn.network import ShallowNetwork

# Numbers that listing all sign patterns may take.
_MOST_LISTED = 2**22

Slopes = tuple[np.ndarray, np.ndarray, np.ndarray]


def lipschitz_constant(network: ShallowNetwork) -> float:
    """Return a constant L with |f(x) - f(x')| <= L |x - x'|, in Euclidean norms.

    Examples
    --------
    >>> eye = np.eye(12)
    >>> round(lipschitz_constant(ShallowNetwork(np.zeros(12), np.ones(12), eye)), 4)
    3.4641
    """
    return steepest(*parts(network))


def parts(network: ShallowNetwork) -> Slopes:
    """Return W of shape (m, d), Lambda of shape (k, m) and U of shape (k, d)."""
    k, m, d = network.n_hidden, network.n_outputs, network.n_features
    return network.linear.reshape(m, d), network.coefficients.reshape(k, m), network.units.reshape(k, d)


def steepest(W: np.ndarray, Lambda: np.ndarray, U: np.ndarray) -> float:
    """Return the smallest of the three constants; columns of W and U may be any orthonormal coordinates."""
    # Squares of huge labels' slopes would overflow.
    scale = max(float(np.max(np.abs(W))), float(np.max(np.abs(Lambda), initial=0.0))) or 1.0
    W, Lambda = W / scale, Lambda / scale
    size = np.linalg.norm(Lambda, axis=1)
    kept = size > 0
    Lambda, U, size = Lambda[kept], U[kept], size[kept]
    linear = float(np.linalg.norm(W, 2))
    if not len(size):
        return scale * linear
    by_sum = linear + float(size @ np.linalg.norm(U, axis=1))
    by_norm = linear + float(np.linalg.norm(Lambda / size[:, None], 2) * np.linalg.norm(size[:, None] * U, 2))
    return scale * min(by_sum, by_norm, _over_patterns(W, Lambda, U))


def _over_patterns(W: np.ndarray, Lambda: np.ndarray, U: np.ndarray) -> float:
    """Return the largest norm over all patterns of signs; infinity where these are too many."""
    k, (m, d) = len(Lambda), W.shape
    if 2.0 ** min(k, 99) * m * d > _MOST_LISTED:  # a float knows no 2^1024
        return math.inf
    signs = 1.0 - 2.0 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1)
    slopes = W + np.tensordot(signs, Lambda[:, :, None] * U[:, None, :], axes=1)
    return float(np.max(np.linalg.norm(slopes, 2, axis=(1, 2)) if m > 1 else np.linalg.norm(slopes, axis=2)))
