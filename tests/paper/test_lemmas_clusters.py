"""Section 4.1: Proposition 4.1 and Lemma 4.2 on planted networks, with the constants of `Schedule`."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.paper import clusters, is_good_direction
from tests.reference.population import random_direction, towards

K, D = 6, 5
DELTA, TAU, XI = 1e-4, 0.05, 1e-3


def planted(teacher, seed):
    """A network with tight groups, and a g that meets the lower side of Lemma 2.4 with c = 1/8.

    The groups are closer than Delta, so that clusters have several members.
    """
    rng = np.random.default_rng(seed)
    network = teacher(K, D, rng, angle=DELTA / 4, radius=2.0)
    while True:
        g = random_direction(rng, D)
        if is_good_direction(network.units, g, upper=np.inf):
            return network, g, rng


cases = pytest.mark.parametrize(
    ("teacher", "seed"),
    [(teacher, seed) for teacher in (teachers.clustered, teachers.cancelling) for seed in range(10)],
)


@cases
def test_proposition_4_1(teacher, seed):
    network, g, _ = planted(teacher, seed)
    units, lam = towards(network.units, g), network.coefficients
    parts = clusters(network, g, DELTA, TAU)
    assert max(map(len, parts.members)) > 1
    for members, weight in zip(parts.members, parts.weights, strict=True):
        inside = list(members)
        projectors = np.einsum("i,ia,ib->ab", lam[inside], units[inside], units[inside])
        for leader in inside:
            # How close a cluster is (section 4.1, from Lemma 2.4), then the proposition that follows.
            assert np.all(
                np.linalg.norm(units[inside] - units[leader], axis=1) <= 8 * K**3 * np.sqrt(D) * DELTA
            )
            gap = np.linalg.norm(weight * np.outer(units[leader], units[leader]) - projectors, 2)
            assert gap <= 16 * K**3 * np.sqrt(D) * DELTA * np.abs(lam).sum()


def chain(last=0.999):
    """Units along a line, as far apart as Lemma 2.4 allows for their z: the worst case of Proposition 4.1.

    <v, g> is the least that the lemma lets it be, so steps of Delta in z are steps of 8 k^2 sqrt(d) Delta along v.
    All weight but a little is on the last unit, the farthest from the first.
    """
    low = 1 / (8 * np.sqrt(D) * K**2) * (1 + 1e-3)
    g = np.eye(D)[0]
    v = np.zeros(D)
    v[:2] = low, np.sqrt(1 - low**2)
    u = np.zeros(D)
    u[0], u[1] = np.sqrt(1 - low**2) * 0.6, -low * 0.6  # orthogonal to v, and at 0.6 along g
    u[2] = np.sqrt(1 - u @ u)
    units = u + 1e-8 * np.arange(K)[:, None] * v
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    weights = np.r_[np.full(K - 1, (1 - last) / (K - 1)), last]
    return ShallowNetwork(np.zeros(D), weights, units), g, 1e-8 * low * (1 + 1e-2)


def test_proposition_4_1_near_its_bound():
    # The clusters of the tests above are five orders of magnitude tighter than the bound. Here the distance of the
    # ends is (k - 1)/k = 0.83 of it, and the matrices', where the triangle inequality loses 2, (k - 1)/(2k) = 0.42.
    network, g, Delta = chain()
    assert is_good_direction(network.units, g, upper=np.inf)
    assert not is_good_direction(network.units, g, lower=0.126, upper=np.inf)
    parts = clusters(network, g, Delta, TAU)
    assert [sorted(members) for members in parts.members] == [list(range(K))]
    first, end = network.units[parts.leaders[0]], network.units[np.argmax(network.coefficients)]
    scale = 8 * K**3 * np.sqrt(D) * Delta
    assert 0.8 * scale <= np.linalg.norm(first - end) <= scale
    isolated = np.einsum("i,ia,ib->ab", network.coefficients, network.units, network.units)
    gap = np.linalg.norm(parts.weights[0] * np.outer(first, first) - isolated, 2)
    assert 0.4 * 2 * scale <= gap <= 2 * scale
    # Negative control: at a smaller scale the chain falls apart.
    assert len(clusters(network, g, 0.95 * Delta, TAU).members) == K


@cases
def test_lemma_4_2(teacher, seed):
    network, g, rng = planted(teacher, seed)
    lam, units = network.coefficients, towards(network.units, g)
    parts = clusters(network, g, DELTA, TAU)
    leaders = units[[parts.leaders[j] for j in parts.big]]
    # The worst allowed estimates: every weight off by xi, every direction by just under xi.
    off = rng.standard_normal(leaders.shape)
    off -= np.sum(off * leaders, axis=1, keepdims=True) * leaders
    u_hat = leaders + 0.99 * XI * off / np.linalg.norm(off, axis=1, keepdims=True)
    u_hat /= np.linalg.norm(u_hat, axis=1, keepdims=True)
    lam_hat = parts.weights[list(parts.big)] + XI * rng.choice([-1.0, 1.0], len(parts.big))
    estimate = ShallowNetwork(np.zeros(D), lam_hat, u_hat)
    target = ShallowNetwork(np.zeros(D), lam, network.units)
    spread = max(np.linalg.norm(units[list(m)] - units[m[0]], axis=1).max() for m in parts.members)
    small = np.abs(np.delete(parts.weights, parts.big)).sum()
    # The proof's own sum, then the printed right-hand side with constant 1.
    bound = np.abs(lam).sum() * (spread + XI) + len(parts.big) * XI + small
    assert target.distance(estimate) <= bound
    assert bound <= np.abs(lam).sum() * (8 * K**3 * np.sqrt(D) * DELTA + XI) + K * (XI + TAU)


def test_pairs_that_cancel_need_not_be_learned():
    # J_big is what Lemma 4.2 asks to learn: a cancelling pair is not in it, and leaving it out costs little.
    network, g, _ = planted(teachers.cancelling, 3)
    parts = clusters(network, g, DELTA, TAU)
    assert parts.big == ()
    nothing = ShallowNetwork(network.linear, np.zeros(0), np.zeros((0, D)))
    assert network.distance(nothing) <= np.abs(network.coefficients).sum() * DELTA + K * TAU
    # Negative control: near-duplicates whose weights agree in sign are big, and leaving them out costs much.
    network, g, _ = planted(teachers.clustered, 3)
    assert clusters(network, g, DELTA, TAU).big
    nothing = ShallowNetwork(network.linear, np.zeros(0), np.zeros((0, D)))
    assert network.distance(nothing) > 0.1
