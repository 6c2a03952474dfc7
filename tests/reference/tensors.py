"""Slow, obvious twins: full Hermite tensors, d**ell entries each, for d <= 4 and ell <= 8."""

import math
from itertools import product

import numpy as np
from numpy.polynomial import hermite_e


def multiplicities(d, ell):
    """ell_j of every multi-index (i_1, ..., i_ell), in C order: an array of shape (d**ell, d)."""
    return np.array([[index.count(j) for j in range(d)] for index in product(range(d), repeat=ell)])


def hermite_tensor_sum(X, y, ell):
    """sum_i y_i H_ell(x_i), where entry (i_1, ..., i_ell) of H_ell(x) is prod_j He_{ell_j}(x_j)."""
    d = X.shape[1]
    He = np.stack([hermite_e.hermeval(X, np.eye(ell + 1)[m]) for m in range(ell + 1)], axis=-1)
    # Entries with the same multiplicities are equal: each distinct one is summed once and put in its places.
    distinct, places = np.unique(multiplicities(d, ell), axis=0, return_inverse=True)
    sums = [y @ np.prod([He[:, j, row[j]] for j in range(d)], axis=0) for row in distinct]
    return np.array(sums)[places.ravel()].reshape([d] * ell)


def contract(tensor, g):
    """The tensor with g put into all slots but the last two."""
    while tensor.ndim > 2:
        tensor = np.tensordot(g, tensor, axes=1)
    return tensor


def moment_tensor(lam, units, ell):
    """T_ell = sum_i lambda_i u_i^{(x) ell}, the population value."""
    total = np.zeros([units.shape[1]] * ell)
    for coefficient, u in zip(lam, units, strict=True):
        power = np.array(coefficient)
        for _ in range(ell):
            power = np.multiply.outer(power, u)
        total += power
    return total


def paper_C(ell):
    """C_ell of Lemma 2.3, as printed."""
    He_at_0 = [float(hermite_e.hermeval(0.0, np.eye(ell + 1)[m])) for m in range(ell + 1)]
    return (He_at_0[ell] + ell * He_at_0[ell - 2]) / math.sqrt(2 * math.pi * math.factorial(ell))


def paper_moment_matrix(X, y, g, ell, *, as_printed=False):
    """M_ell_hat^g = (1 / (2 C_ell N)) sum_i y_i S_ell(x_i)(g, ..., g, :, :).

    S_ell = H_ell / sqrt(ell!). With `as_printed` the entries carry prod_j 1/sqrt(ell_j!) instead: the
    misprint.
    """
    d = X.shape[1]
    mean = hermite_tensor_sum(X, y, ell) / len(y)
    if as_printed:
        factors = [math.prod(math.factorial(m) for m in row) for row in multiplicities(d, ell)]
        S_mean = mean / np.sqrt(np.array(factors, dtype=float)).reshape(mean.shape)
    else:
        S_mean = mean / math.sqrt(math.factorial(ell))
    return contract(S_mean / (2 * paper_C(ell)), g)
