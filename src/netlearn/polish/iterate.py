"""A network in the coordinates of the polish: one vector per unit, and the sign of its coefficient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.network import ShallowNetwork
from netlearn.polish.system import ModulatedSystem, outer
from netlearn.source import Source


def free_entries(n_hidden: int, n_features: int, biases: bool) -> np.ndarray:
    """Return the mask of unknowns: without biases only the intercept lives in the last column."""
    free = np.ones((n_hidden + 1, n_features + 1))
    free[1:, -1] = float(biases)
    return free


@dataclass(frozen=True)
class Iterate:
    r"""The network f(x) = <a_0, (x,1)> + sum_i sigma_i |<a_i, (x,1)>|.

    With a_i = lambda_i (u_i, b_i) up to sign. On a region where no <a_i, (x,1)> changes sign, f is *linear*
    in all of a = (a_0, ..., a_K): f(x) = sum_j m_j(x) <a_j, (x,1)> with the modulators m_0 = 1 and
    m_i = sigma_i sign <a_i, (x,1)>. That is what the polish solves for.

    Parameters
    ----------
    a : array of shape (K + 1, d + 1)
        Row 0 is the affine part; the last column holds intercept and biases.
    sigma : array of shape (K,)
        Signs of the coefficients lambda_i.
    """

    a: np.ndarray
    sigma: np.ndarray

    @classmethod
    def from_planes(cls, planes: np.ndarray) -> Iterate:
        """Start from hyperplanes <q_i, (x,1)> = 0, with coefficients so small that only the signs matter."""
        K, width = planes.shape
        a = np.zeros((K + 1, width))
        a[1:] = 1e-9 * planes / np.linalg.norm(planes, axis=1, keepdims=True)
        return cls(a, np.ones(K))

    @classmethod
    def from_atoms(cls, planes: np.ndarray, weights: np.ndarray) -> Iterate:
        """Take over the sum of weights times |<q_i, (x,1)>|, without affine part."""
        a = np.vstack([np.zeros((1, planes.shape[1])), np.abs(weights)[:, None] * planes])
        return cls(a, np.sign(weights))

    @classmethod
    def from_network(cls, network: ShallowNetwork) -> Iterate:
        """Take over a network with one output."""
        lam = network.coefficients
        a = np.zeros((network.n_hidden + 1, network.n_features + 1))
        a[0, :-1], a[0, -1] = network.linear, network.intercept
        a[1:, :-1] = np.abs(lam)[:, None] * network.units
        a[1:, -1] = np.abs(lam) * network.biases
        return cls(a, np.sign(lam))

    @property
    def n_hidden(self) -> int:
        """Number of units K."""
        return len(self.sigma)

    @property
    def has_biases(self) -> bool:
        """Whether any unit has one."""
        return bool(np.any(self.a[1:, -1]))

    def span(self) -> np.ndarray:
        """Return an orthonormal basis of a space that holds all units, shape (d, min(K, d))."""
        return np.linalg.qr(self.a[1:, :-1].T)[0]

    def linearise(self, X):
        """Return f on the rows of X, shape (n,), and the modulators, shape (n, K + 1), as arrays like X."""
        xp, a = namespace(X), as_like(self.a, X)
        z = X @ a[:, :-1].T + a[:, -1]
        m = xp.sign(z)
        m[:, 1:] *= as_like(self.sigma, X)
        m[:, 0] = 1.0
        return xp.vecdot(m, z), m

    def free(self, biases: bool) -> np.ndarray:
        """Return the mask of unknowns of a step from here, in which biases may move or not."""
        return free_entries(self.n_hidden, self.a.shape[1] - 1, biases)

    def system(self, rows: Source, biases: bool) -> ModulatedSystem:
        """Return the least-squares problem of a step from here."""
        return ModulatedSystem(rows, self.linearise, self.free(biases))

    def sums(self, X, y) -> tuple[float, np.ndarray]:
        """Return the sums over some rows that a system has the means of: of e^2, and of F^T e for all entries."""
        values, m = self.linearise(X)
        e = y - values
        return float(e @ e), to_numpy(outer(m, as_like(e, X), X))

    def moved(self, step: np.ndarray) -> Iterate:
        r"""Return the iterate at a + step.

        A unit keeps the orientation of its pattern: if the new a_i points away from the old one, it is
        its coefficient that has changed sign.
        """
        a = self.a + step
        turned = np.einsum("ij,ij->i", a[1:], self.a[1:]) < 0
        return Iterate(a, np.where(turned, -self.sigma, self.sigma))

    def keep(self, units: np.ndarray) -> Iterate:
        """Return the iterate with only the given units (indices or mask), the affine part unchanged."""
        return Iterate(np.vstack([self.a[:1], self.a[1:][units]]), self.sigma[units])

    def filled(self, n_hidden: int) -> Iterate:
        """Return the iterate with so many units, the new ones zero."""
        n_new = n_hidden - self.n_hidden
        return self.joined(Iterate(np.zeros((1 + n_new, self.a.shape[1])), np.ones(n_new)))

    def joined(self, other: Iterate) -> Iterate:
        """Return the sum of both functions."""
        a = np.vstack([self.a[:1] + other.a[:1], self.a[1:], other.a[1:]])
        return Iterate(a, np.concatenate([self.sigma, other.sigma]))

    def to_network(self) -> ShallowNetwork:
        """Return the network in canonical form."""
        a = self.a
        return ShallowNetwork(a[0, :-1], self.sigma, a[1:, :-1], a[1:, -1], a[0, -1])
