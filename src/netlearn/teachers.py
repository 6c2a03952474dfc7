r"""Planted networks: the truths that learners are tried on.

Each function takes `n_hidden`, `n_features` and `rng` (None, a seed or a NumPy generator) and returns a
`ShallowNetwork`; equal seeds give equal networks. `radius` rescales the whole network so that
sum_i |lambda_i| equals it.
"""

import numpy as np
from numpy.typing import NDArray

from netlearn.errors import InputError
from netlearn.network import ShallowNetwork

__all__ = ["cancelling", "clustered", "hard_plane", "orthonormal", "positive", "random"]

Array = NDArray[np.float64]
Seed = None | int | np.random.Generator


def random(
    n_hidden: int,
    n_features: int,
    rng: Seed = None,
    *,
    biases: float = 0.0,
    dimension: int | None = None,
    spread: float | None = None,
    radius: float | None = None,
) -> ShallowNetwork:
    """Draw sum_i mu_i relu(<u_i, x> + b_i) with u_i uniform on the sphere and signs of mu_i by coin flips.

    Parameters
    ----------
    n_hidden, n_features : int
    rng : None, int or numpy Generator
    biases : float
        Standard deviation of the b_i, which are normal around zero.
    dimension : int, optional
        Confine the units to a random subspace of this dimension.
    spread : float, optional
        Ratio of the largest to the smallest |mu_i|, spaced geometrically. Left out: |mu_i| uniform on
        (0.5, 1.5).
    radius : float, optional

    Returns
    -------
    ShallowNetwork
    """
    return _relus(n_hidden, n_features, rng, (-1.0, 1.0), biases, dimension, spread, radius)


def positive(
    n_hidden: int,
    n_features: int,
    rng: Seed = None,
    *,
    biases: float = 0.0,
    dimension: int | None = None,
    spread: float | None = None,
    radius: float | None = None,
) -> ShallowNetwork:
    """Draw as `random` does, with all mu_i > 0: no two units can cancel."""
    return _relus(n_hidden, n_features, rng, (1.0, 1.0), biases, dimension, spread, radius)


def orthonormal(
    n_hidden: int, n_features: int, rng: Seed = None, *, radius: float | None = None
) -> ShallowNetwork:
    """Draw sum_i relu(<u_i, x>) with orthonormal u_i, on which gradient descent meets spurious minima.

    Parameters
    ----------
    n_hidden, n_features : int
        `n_hidden` <= `n_features`.
    rng : None, int or numpy Generator
    radius : float, optional

    Returns
    -------
    ShallowNetwork
    """
    k, d, generator = _sizes(n_hidden, n_features, rng)
    if k > d:
        raise InputError(f'"n_hidden" of orthonormal must be at most n_features = {d}, got {k}.')
    return _with_radius(ShallowNetwork.from_relu(_frame(d, k, generator).T, np.ones(k)), radius)


def clustered(
    n_hidden: int,
    n_features: int,
    rng: Seed = None,
    *,
    angle: float = 0.05,
    size: int = 2,
    radius: float | None = None,
) -> ShallowNetwork:
    """Draw units in tight groups whose weights agree in sign: near-duplicates, hard to tell apart.

    Parameters
    ----------
    n_hidden, n_features : int
        `n_features` >= 2. The last group is smaller when `size` does not divide `n_hidden`.
    rng : None, int or numpy Generator
    angle : float
        Angle in radians between each unit and the centre of its group.
    size : int
        Units per group.
    radius : float, optional

    Returns
    -------
    ShallowNetwork
    """
    if size < 1:
        raise InputError(f'"size" of clustered must be at least 1, got {size}.')
    return _groups(n_hidden, n_features, rng, angle, size, (1.0,) * size, radius)


def cancelling(
    n_hidden: int, n_features: int, rng: Seed = None, *, angle: float = 0.05, radius: float | None = None
) -> ShallowNetwork:
    """Draw near pairs of units with weights of opposite sign: large coefficients, small function.

    Parameters
    ----------
    n_hidden, n_features : int
        `n_features` >= 2. The last unit stays alone when `n_hidden` is odd.
    rng : None, int or numpy Generator
    angle : float
        Angle in radians between each unit and the centre of its pair.
    radius : float, optional

    Returns
    -------
    ShallowNetwork
    """
    return _groups(n_hidden, n_features, rng, angle, 2, (1.0, -1.0), radius)


def hard_plane(
    n_hidden: int, n_features: int, rng: Seed = None, *, planes: int = 1, radius: float = 1.0
) -> ShallowNetwork:
    r"""Draw sum_j (-1)^j |<u_j, x>| / k with u_j = cos(pi j / k) v + sin(pi j / k) w in a random plane.

    The instance behind the lower bound d^Omega(k) for correlational queries: for even k all moments below
    order k vanish, sum_j lambda_j u_j^{(x) ell} = 0 for even ell < k. There is no linear part.

    Parameters
    ----------
    n_hidden, n_features : int
        `n_hidden` divisible by `planes`, 2 `planes` <= `n_features`.
    rng : None, int or numpy Generator
    planes : int
        Number of mutually orthogonal planes that share the units evenly.
    radius : float
        sum_j |lambda_j|.

    Returns
    -------
    ShallowNetwork
    """
    k, d, generator = _sizes(n_hidden, n_features, rng)
    if planes < 1 or k % planes or 2 * planes > d:
        raise InputError(
            f'"planes" of hard_plane must divide n_hidden = {k} and be at most n_features / 2 = {d / 2:g}, '
            f"got {planes}."
        )
    in_plane = k // planes
    angles = np.pi * np.arange(in_plane) / in_plane
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    frame = _frame(d, 2 * planes, generator).T.reshape(planes, 2, d)
    signs = (-1.0) ** np.arange(in_plane)
    network = ShallowNetwork(np.zeros(d), np.tile(signs, planes), np.concatenate(circle @ frame))
    return _with_radius(network, radius)


def _relus(n_hidden, n_features, rng, sides, biases, dimension, spread, radius):
    k, d, generator = _sizes(n_hidden, n_features, rng)
    if not biases >= 0:
        raise InputError(f'"biases" must be a standard deviation >= 0, got {biases}.')
    if dimension is not None and not 1 <= dimension <= d:
        raise InputError(f'"dimension" must lie between 1 and n_features = {d}, got {dimension}.')
    if spread is not None and not spread >= 1:
        raise InputError(f'"spread" must be a ratio >= 1, got {spread}.')
    units = _directions(k, dimension or d, generator)
    if dimension is not None:
        units = units @ _frame(d, dimension, generator).T
    size = generator.uniform(0.5, 1.5, k) if spread is None else np.geomspace(1.0, 1.0 / spread, k)
    weights = generator.choice(sides, k) * size
    return _with_radius(
        ShallowNetwork.from_relu(units, weights, biases * generator.standard_normal(k)), radius
    )


def _groups(n_hidden, n_features, rng, angle, size, pattern, radius):
    k, d, generator = _sizes(n_hidden, n_features, rng)
    if d < 2:
        raise InputError(f'"n_features" must be at least 2 for units at an angle, got {d}.')
    if not 0 < angle < np.pi / 2:
        raise InputError(f'"angle" must lie between 0 and pi / 2, got {angle}.')
    n_groups = -(-k // size)
    centres = np.repeat(_directions(n_groups, d, generator), size, axis=0)[:k]
    aside = generator.standard_normal((k, d))
    aside -= np.sum(aside * centres, axis=1, keepdims=True) * centres
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    units = np.cos(angle) * centres + np.sin(angle) * aside
    # One size per group, so that the members of a cancelling pair balance.
    sides = generator.choice((-1.0, 1.0), n_groups) * generator.uniform(0.5, 1.5, n_groups)
    weights = (sides[:, None] * np.array(pattern)).ravel()[:k]
    return _with_radius(ShallowNetwork.from_relu(units, weights), radius)


def _sizes(n_hidden: int, n_features: int, rng: Seed) -> tuple[int, int, np.random.Generator]:
    for name, value in (("n_hidden", n_hidden), ("n_features", n_features)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f'"{name}" must be an integer >= 1, got {value!r}.')
    return int(n_hidden), int(n_features), np.random.default_rng(rng)


def _directions(count: int, d: int, generator: np.random.Generator) -> Array:
    """Rows uniform on the unit sphere."""
    rows = generator.standard_normal((count, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _frame(d: int, count: int, generator: np.random.Generator) -> Array:
    """Orthonormal columns spanning a uniformly random subspace."""
    return np.linalg.qr(generator.standard_normal((d, count)))[0]


def _with_radius(network: ShallowNetwork, radius: float | None) -> ShallowNetwork:
    if radius is None:
        return network
    if not 0 < radius < np.inf:
        raise InputError(f'"radius" must be a positive number, got {radius}.')
    return network * float(radius / np.abs(network.coefficients).sum())
