"""Slow, obvious counterparts of a fit: the dense F by loops, and networks and rows to try it on."""

import numpy as np

from netlearn import teachers
from netlearn.fit import Params
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


def from_vectors(a, C):
    """The network with one output that has these vectors, the affine one first."""
    return Params(a[:1], a[1:], C)


# Networks of every kind, whether they have biases, and rows that determine them.
FAMILIES = {
    "one unit": (teachers.random(1, 12, 7), False, 300),
    "random": (teachers.random(4, 10, 0), False, 600),
    "positive": (teachers.positive(4, 10, 1), False, 600),
    "orthonormal": (teachers.orthonormal(4, 10, 2), False, 600),
    "biases": (teachers.random(4, 6, 3, biases=1.0), True, 600),
    "clustered": (teachers.clustered(4, 8, 4, angle=0.3), False, 1500),
    "hard plane": (teachers.hard_plane(4, 6, 5), False, 2000),
    "crowded": (teachers.random(6, 3, 6), False, 1000),
}


def standardised(network, n, seed):
    """The rows with labels of mean zero and unit variance, as a fit expects them, and that network."""
    centre, scale = network.mean(), np.sqrt(network.variance())
    rows = planted(network, n, seed)
    target = Params.from_network(network)
    a = target.a / scale
    a[0, -1] -= centre / scale
    return ArraySource(rows.X, (rows.y - centre) / scale), from_vectors(a, target.C).to_network()
