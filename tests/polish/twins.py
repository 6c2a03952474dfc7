"""Slow, obvious counterparts of the polish: the dense F by loops, and rows to try it on."""

import numpy as np

from netlearn.source import ArraySource


def dense(X, y, linearise):
    """F of shape (n, q (d + 1)) with entry m_j(x) (x,1)_i, and the residuals e, row by row."""
    F, e = [], []
    for x, label in zip(X, y, strict=True):
        values, m = linearise(x[None, :])
        F.append([m_j * x_i for m_j in m[0] for x_i in (*x, 1.0)])
        e.append(label - values[0])
    return np.array(F), np.array(e)


def planted(network, n, seed, noise=0.0):
    """Rows from N(0, I) with the network's labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, network.n_features))
    return ArraySource(X, network(X) + noise * rng.standard_normal(n))
