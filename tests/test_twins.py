"""Units that are nearly one, exactly one, or dead: told apart, merged, or left to the affine part, and named."""

import numpy as np
import pytest

from netlearn import ShallowNetwork, Status, learn, teachers
from netlearn.fit import ROUNDING

EPS = np.finfo(float).eps
D = 6


def rows(n, seed=0, d=D):
    return np.random.default_rng(1000 + seed).standard_normal((n, d))


def vectors(network):
    return network.coefficients[:, None] * np.column_stack([network.units, network.biases])


def unit_errors(true, found):
    """Distance of each unit, with its coefficient, from the nearest one found; in units of its length."""
    apart = np.linalg.norm(vectors(true)[:, None] - vectors(found)[None], axis=2)
    return apart.min(axis=1, initial=np.inf) / np.linalg.norm(vectors(true), axis=1)


def smallest_angle(network):
    cosines = np.abs(network.units @ network.units.T)[np.triu_indices(network.n_hidden, 1)]
    return np.arccos(np.minimum(cosines, 1.0)).min()


def told(result, words):
    return any(words in note for note in result.diagnostics.notes)


# Two units at an angle of t radians


def allowed(network, y):
    r"""Return the relative error of a unit that rounding may leave in twins of one sign, at an angle of t.

    Their sum is determined by all rows; their difference by the share t / pi of rows between the hyperplanes. There
    the labels show one of the two alone. Those rows are nearly orthogonal to it, with a component of size t along it,
    so that an error e of labels becomes e / t in its length. The fit ends at a mean square of `ROUNDING` of the
    labels' variance; at worst all of it sits on those rows, e = sd(y) sqrt(ROUNDING pi / t).
    """
    t = smallest_angle(network)
    return np.std(y) * np.sqrt(ROUNDING * np.pi / t) / t / np.abs(network.coefficients).min()


@pytest.mark.parametrize(
    ("d", "seed", "n_rows"),
    [
        (4, 1, 50_000),
        (4, 2, 50_000),  # 18 rows tell these two apart
        (6, 1, 100_000),
    ],
)
def test_twins_of_one_sign_are_told_apart(d, seed, n_rows):
    network = teachers.clustered(4, d, seed, angle=1e-3)
    assert 3e-4 < smallest_angle(network) < 3e-3
    X = rows(n_rows, seed, d)
    y = network(X)
    result = learn(X, y, n_hidden=4, biases=False, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 4
    assert unit_errors(network, result.network).max() < allowed(network, y) < 1e-6
    # Taken for one unit, the pair would be wrong by half its length.
    assert unit_errors(network, _merged(network)).max() > 0.5


@pytest.mark.parametrize("seed", range(6))
def test_twins_that_few_rows_tell_apart_are_recovered_or_said_not_to_be(seed):
    # About seven rows lie between the hyperplanes of a pair: enough for some pairs' five parameters, not for all.
    network = teachers.clustered(4, 4, seed, angle=1e-3)
    X = rows(15_000, seed, 4)
    y = network(X)
    result = learn(X, y, n_hidden=4, biases=False, holdout=0.02, rng=0)
    right = unit_errors(network, result.network).max() < allowed(network, y)
    assert right or result.status is Status.TOO_FEW_ROWS
    named = ("do not determine them", "is missing", "are not reproduced")
    assert (result.status is Status.TOO_FEW_ROWS) == any(told(result, words) for words in named)
    # Whether the pair was found or not, the bound holds.
    assert result.network.distance(network) <= result.certificate.error_bound


def _merged(network):
    """Return the network with its closest two units made one."""
    cosines = np.abs(network.units @ network.units.T) - 2 * np.eye(network.n_hidden)
    i, j = np.unravel_index(cosines.argmax(), cosines.shape)
    lam = network.coefficients.copy()
    lam[i], lam[j] = lam[i] + lam[j], 0.0
    return ShallowNetwork(network.linear, lam, network.units, network.biases, network.intercept)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_twins_of_opposite_signs_are_told_apart(seed):
    r"""All that is left of such a pair is of size t, and so are the labels.

    They are differences of numbers of size |lambda|, so their rounding is a few eps |lambda|, and by the argument above
    the length of a unit comes out to a few eps / t of itself. A thousand of these are allowed.
    """
    network = teachers.cancelling(4, D, seed, angle=1e-3)
    X = rows(50_000, seed)
    y = network(X)
    assert np.std(y) < 5e-3 * np.abs(network.coefficients).max()
    # With a quarter of the rows held out, five of those that are left tell the pair of seeds 1 and 2 apart.
    result = learn(X, y, n_hidden=4, biases=False, holdout=0.02, rng=0)
    assert result.status is Status.RECOVERED
    assert unit_errors(network, result.network).max() < 1000 * EPS / smallest_angle(network)


# Units too many: duplicates, and dead ones


def with_duplicate(seed, biases):
    network = teachers.random(4, D, seed, biases=biases)
    W, mu, b, _ = network.to_relu()

    def labels(X):  # the first unit twice, with different lengths and weights
        relus = np.maximum(X @ np.vstack([W, 2.5 * W[:1]]).T + np.append(b, 2.5 * b[0]), 0)
        return relus @ np.append(mu, -0.3 * mu[0])

    return labels, ShallowNetwork.from_relu(W, np.append(0.25 * mu[0], mu[1:]), b)


@pytest.mark.parametrize("biases", [0.0, 0.5])
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_exact_duplicates_are_one_unit(seed, biases):
    labels, merged = with_duplicate(seed, biases)
    X = rows(2_000, seed)
    np.testing.assert_allclose(labels(X), merged(X), atol=1e-13)
    result = learn(X, labels(X), n_hidden=5, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 4
    assert unit_errors(merged, result.network).max() < 1e-10
    assert told(result, "1 of the 5 units asked for are not seen")
    assert told(result, "double another one")


@pytest.mark.parametrize("n_asked", [5, 7])
@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("seed", [1, 4, 5])
def test_units_that_are_asked_for_and_not_there_are_not_invented(seed, outputs, n_asked):
    # Seeds 1 and 4 without outputs: a unit of weight 1e-13 was left, and a pair that six rows told apart.
    rng = np.random.default_rng(seed)
    weights, mu = rng.standard_normal((4, 8)), rng.standard_normal((4, outputs) if outputs else 4)
    network = ShallowNetwork.from_relu(weights, mu, 0.5 * rng.standard_normal(4))
    if outputs is None:
        network = teachers.random(4, 8, seed)
    X = np.random.default_rng(seed).standard_normal((3_000, 8))
    result = learn(X, network(X), n_hidden=n_asked, rng=seed)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 4
    assert told(result, f"{n_asked - 4} of the {n_asked} units asked for are not seen")


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("asked", [5, "auto"])
def test_dead_units_are_left_to_the_affine_part(side, asked):
    r"""At eight times its length from the origin a unit bends once in 10^15 rows.

    On one side of it the ReLU is zero, on the other affine; the network that is found has that in its affine part.
    """
    rng = np.random.default_rng(3)
    alive = teachers.random(4, D, 3)
    w = 2.0 * rng.standard_normal(D)
    dead = ShallowNetwork.from_relu(w[None], [1.5], [side * 8.0 * np.linalg.norm(w)])
    network = alive + dead
    X = rows(3_000, 3)
    assert np.all(np.sign(X @ w + side * 8.0 * np.linalg.norm(w)) == side)
    result = learn(X, network(X), n_hidden=asked, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 4
    assert unit_errors(alive, result.network).max() < 1e-10
    active = 1.5 if side > 0 else 0.0
    np.testing.assert_allclose(result.network.linear, alive.linear + active * w, atol=1e-10)
    assert told(result, "1 of the 5 units asked for are not seen: they switch on no row") == (asked == 5)
