"""Networks with several outputs, rows of them, and the dense matrix of their least squares built by loops."""

import numpy as np
from scipy import stats

from netlearn import ShallowNetwork
from netlearn.fit.several import Complements
from netlearn.source import ArraySource


def network(k, d, m, seed, biases=0.5):
    """A random network, units of norm one."""
    rng = np.random.default_rng(seed)
    units = rng.standard_normal((k, d))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    b = biases * rng.standard_normal(k)
    return ShallowNetwork(
        rng.standard_normal((m, d)), rng.standard_normal((k, m)), units, b, rng.standard_normal(m)
    )


def planted(f, n, seed, noise=0.0):
    """Rows from N(0, I) with the network's labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, f.n_features))
    return ArraySource(X, f(X) + noise * rng.standard_normal((n, f.n_outputs)))


def dense(rows, at):
    """F of shape (n, m, (m + K)(d + m)) and the residuals of shape (n, m), entry by entry."""
    K, m = at.C.shape
    d = rows.n_features
    bases = [Complements(at.C).vectors(np.tile(row, (K, 1))) for row in np.eye(m - 1)]
    F, e = np.zeros((rows.n_rows, m, m + K, d + m)), np.array(rows.y)
    for n, x in enumerate(rows.X):
        tilde = np.append(x, 1.0)
        for o in range(m):
            e[n, o] -= at.affine[o] @ tilde
            F[n, o, o, : d + 1] = tilde
            for i in range(K):
                q = at.planes[i]
                z = q @ tilde / np.linalg.norm(q)
                e[n, o] -= at.C[i, o] * abs(q @ tilde)
                F[n, o, m + i, : d + 1] = at.C[i, o] * np.sign(z) * tilde
                for j in range(m - 1):
                    F[n, o, m + i, d + 1 + j] = kink(z, q) * bases[j][i, o]
    return F.reshape(rows.n_rows, m, -1), e


def kink(z, q):
    """|z| less its affine part under N(0, I), where z = <q, (x,1)> / |q|."""
    length = np.linalg.norm(q[:-1])
    b = q[-1] / length
    slope = 2 * stats.norm.cdf(b) - 1
    return abs(z) - slope * z - 2 * length / np.linalg.norm(q) * stats.norm.pdf(b)
