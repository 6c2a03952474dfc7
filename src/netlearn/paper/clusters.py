"""Clusters of neurons along a contraction direction (section 4.1): the analysis, made visible."""

from dataclasses import dataclass

import numpy as np

from netlearn.network import ShallowNetwork


@dataclass(frozen=True)
class Clusters:
    """The partition I_1, ..., I_m of the neurons and what the analysis keeps of it.

    Attributes
    ----------
    projections : array of shape (k,)
        z_i = |<u_i, g>| for each neuron of the network, in the network's order.
    members : tuple of tuple of int
        The neurons of each interval I_j, by increasing z; intervals by increasing z too.
    weights : array of shape (m,)
        lambda_bar_j, the sum of the output weights in I_j.
    leaders : tuple of int
        i*_j, the left endpoint of each interval: its neuron of smallest z.
    big : tuple of int
        J_big, the intervals (counted from 0) with |lambda_bar_j| > tau: those that must be learned.
    """

    projections: np.ndarray
    members: tuple[tuple[int, ...], ...]
    weights: np.ndarray
    leaders: tuple[int, ...]
    big: tuple[int, ...]


def clusters(network: ShallowNetwork, g: np.ndarray, Delta: float, tau: float) -> Clusters:
    """Partition the neurons of a known network at scale `Delta` along `g` (section 4.1).

    Neighbours in the order of z_i = |<u_i, g>| belong to one interval if and only if they are at most Delta
    apart. The absolute value is the paper's convention 0 <= z_1 <= ... <= z_k: u_i and -u_i are the same
    neuron. The algorithm never sees this partition; tests and plots do.

    Parameters
    ----------
    network : ShallowNetwork
        The target.
    g : array of shape (d,)
        Contraction direction, of unit norm.
    Delta : float
        Clustering scale.
    tau : float
        Smallest cluster weight that must be learned.
    """
    z = np.abs(network.units @ g)
    order = np.argsort(z, kind="stable")
    cuts = np.flatnonzero(np.diff(z[order]) > Delta) + 1
    members = tuple(tuple(part.tolist()) for part in np.split(order, cuts) if part.size)
    weights = np.array([network.coefficients[list(part)].sum() for part in members])
    return Clusters(
        projections=z,
        members=members,
        weights=weights,
        leaders=tuple(part[0] for part in members),
        big=tuple(np.flatnonzero(np.abs(weights) > tau).tolist()),
    )
