"""Results as people get them, one for each headline: columns with names and units, learned from few thousand rows."""

from dataclasses import replace

import numpy as np

from netlearn import learn, teachers

HOUSES = ("income", "rooms", "age", "distance_km", "floor")
_MEANS = np.array([48_000.0, 4.2, 31.0, 12.0, 2.0])
_SPREADS = np.array([14_000.0, 1.3, 17.0, 6.0, 1.6])


def houses(n, rng):
    """Rows of a table in raw units, and prices with kinks in income, distance and age."""
    Z = rng.standard_normal((n, 5))
    relu = lambda t: np.maximum(t, 0.0)  # noqa: E731
    price = 210.0 + 55.0 * relu(Z[:, 0] + 0.4 * Z[:, 1] - 0.3) + 18.0 * Z[:, 1] - 30.0 * relu(Z[:, 3] + 0.5)
    return Z * _SPREADS + _MEANS, price


def recovered():
    rng = np.random.default_rng(0)
    target = teachers.random(3, 6, rng, biases=0.5)
    X = rng.standard_normal((2_000, 6))
    names = ("load", "span", "width", "depth", "modulus", "temperature")
    return replace(learn(X, target(X), rng=0), names=names, target="stress")


def certified():
    rng = np.random.default_rng(1)
    target = teachers.random(2, 4, rng, biases=0.5)
    X = rng.standard_normal((4_000, 4))
    y = target(X) + 0.05 * rng.standard_normal(4_000)
    return replace(learn(X, y, epsilon=0.6, rng=0), names=("wind", "sun", "hour", "demand"), target="load_MW")


def useful():
    rng = np.random.default_rng(2)
    X, price = houses(3_000, rng)
    result = learn(X, price + 20.0 * rng.standard_normal(3_000), epsilon=2.0, rng=0)
    return replace(result, names=HOUSES, target="price")


def nothing():
    rng = np.random.default_rng(3)
    X, _ = houses(1_500, rng)
    return replace(learn(X, rng.standard_normal(1_500), rng=0), names=HOUSES, target="luck")


def linear():
    rng = np.random.default_rng(4)
    X, _ = houses(1_000, rng)
    y = 3.0 + X / _SPREADS @ [1.0, 0.5, 0.0, -0.25, 0.0] + 0.3 * rng.standard_normal(1_000)
    return replace(learn(X, y, rng=0), names=HOUSES, target="rent")


def two_outputs():
    rng = np.random.default_rng(5)
    X, price = houses(3_000, rng)
    Y = np.column_stack([price, 0.004 * X[:, 0] + 0.02 * price]) + rng.standard_normal((3_000, 2)) * [
        20.0,
        4.0,
    ]
    return replace(learn(X, Y, rng=0), names=HOUSES, target=("price", "rent"))


HEADLINES = {"recovered": recovered, "certified": certified, "useful": useful, "nothing": nothing}
EVERY = {**HEADLINES, "linear": linear, "two outputs": two_outputs}
