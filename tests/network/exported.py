"""Networks of every shape that an export meets, and their values by the definition."""

import numpy as np

from netlearn import ShallowNetwork, teachers

rng = np.random.default_rng(20)

NETWORKS = {
    "one output": teachers.random(5, 4, 0, biases=1.0),
    "linear part beside": ShallowNetwork(
        rng.normal(size=4), rng.normal(size=3), rng.normal(size=(3, 4)), rng.normal(size=3), -0.7
    ),
    "wide": ShallowNetwork.from_relu(
        rng.normal(size=(30, 10)), rng.normal(size=30), rng.normal(size=30), 0.3
    ),
    "three outputs": ShallowNetwork.from_relu(
        rng.normal(size=(6, 4)), rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    ),
    "three outputs, linear part beside": ShallowNetwork(
        rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), rng.normal(size=(2, 4))
    ),
    "more outputs than inputs": ShallowNetwork(
        rng.normal(size=(10, 4)),
        rng.normal(size=(20, 10)),
        rng.normal(size=(20, 4)),
        rng.normal(size=20),
        rng.normal(size=10),
    ),
    "no units": ShallowNetwork([1.0, 2.0], [], np.zeros((0, 2)), None, 3.0),
    "constant": ShallowNetwork([0.0, 0.0], [], np.zeros((0, 2)), None, 3.0),
    "three constants": ShallowNetwork(np.zeros((3, 2)), np.zeros((0, 3)), np.zeros((0, 2)), None, [1, 2, 3]),
}


def rows(network, dtype="float64"):
    return np.random.default_rng(7).normal(size=(200, network.n_features)).astype(dtype)


def values(f, X):
    """The definition, one unit at a time, with the output axis kept."""
    w, lam = f.linear.reshape(f.n_outputs, -1), f.coefficients.reshape(f.n_hidden, f.n_outputs)
    total = X @ w.T + f.intercept
    for i in range(f.n_hidden):
        total = total + np.outer(np.abs(X @ f.units[i] + f.biases[i]), lam[i])
    return total
