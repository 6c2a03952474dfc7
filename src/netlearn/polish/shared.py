"""A network with several outputs in the coordinates of the polish: shared hyperplanes, and weights of length 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.network import ShallowNetwork
from netlearn.polish.iterate import Iterate
from netlearn.polish.shared_system import Complements, SharedSystem, free_shared, outer_shared
from netlearn.polish.system import plus
from netlearn.source import Source
from netlearn.source.arrays import over_blocks

# Ridge of the normal equations for hyperplanes that coincide, relative to their trace. Elsewhere it is refined away, as
# are the digits that the equations lose.
_RIDGE, _N_SOLVES = 1e-13, 3
# Length of a unit that no output uses: so small that only its signs matter.
_UNUSED = 1e-9


@dataclass(frozen=True)
class SharedIterate:
    r"""The network f_o(x) = <A_o, (x,1)> + sum_i C_io |<q_i, (x,1)>| with outputs o = 1, ..., m.

    Where no sign changes, a unit adds its sign times the matrix C_i q_i^T to the linear map that the network is. The
    matrix has rank one, and C_i has length 1: how much a unit does is the length of q_i.

    Parameters
    ----------
    affine : array of shape (m, d + 1)
    planes : array of shape (K, d + 1)
        q; the last column holds the biases.
    C : array of shape (K, m)
        Rows of length 1.
    """

    affine: np.ndarray
    planes: np.ndarray
    C: np.ndarray

    @classmethod
    def from_planes(cls, planes: np.ndarray, rows: Source) -> SharedIterate:
        """Give hyperplanes, of any length, the weights with which they fit the labels best.

        Linear least squares with the features (x,1) and |<q_i, (x,1)>| / |q_i|, by normal equations and iterative
        refinement. Cost: four readings of the rows and N (d + K)^2 operations.
        """
        planes = _unit_rows(planes)

        def features(X):
            xp, q = namespace(X), as_like(planes, X)
            sizes = xp.abs(X @ q[:, :-1].T + q[:, -1])
            return xp.concat([X, xp.ones_like(X[:, :1]), sizes], axis=1)

        def gram(block):
            F = features(block[0])
            return to_numpy(F.T @ F)

        def gradient(block):
            F = features(block[0])
            return to_numpy(F.T @ (block[1] - F @ as_like(weights, F)))

        d, K = rows.n_features, len(planes)
        matrix = sum(over_blocks(gram, rows, d + K))
        solve = spd_solver(plus(matrix, _RIDGE * np.trace(matrix)))
        weights = np.zeros((d + 1 + K, rows.head(1).in_memory().y.shape[1]))
        for _ in range(_N_SOLVES):
            weights = weights + solve(sum(over_blocks(gradient, rows, d + K)))
        C = weights[d + 1 :]
        length = np.linalg.norm(C, axis=1, keepdims=True)
        C = np.where(length > 0, C / np.where(length > 0, length, 1.0), np.eye(C.shape[1])[0])
        return cls(weights[: d + 1].T.copy(), np.maximum(length, _UNUSED) * planes, C)

    @property
    def n_hidden(self) -> int:
        """Number of units K."""
        return len(self.planes)

    @property
    def n_outputs(self) -> int:
        """Number of outputs m."""
        return len(self.affine)

    @property
    def has_biases(self) -> bool:
        """Whether any unit has one."""
        return bool(np.any(self.planes[:, -1]))

    def span(self) -> np.ndarray:
        """Return an orthonormal basis of a space that holds all units, shape (d, min(K, d))."""
        return np.linalg.qr(self.planes[:, :-1].T)[0]

    def linearise(self, X):
        r"""Return f on the rows of X, shape (n, m), and 1, signs and kinks of the units, shape (n, 2 K + 1).

        The kink of a unit is |z| less its affine part under N(0, I), for z = <q, (x,1)> / |q|.
        """
        xp = namespace(X)
        A, q = as_like(self.affine, X), as_like(_unit_rows(self.planes), X)
        weights = as_like(np.linalg.norm(self.planes, axis=1, keepdims=True) * self.C, X)
        slope, offset = (as_like(part, X) for part in self._affine_parts())
        z = X @ q[:, :-1].T + q[:, -1]
        sizes = xp.abs(z)
        values = X @ A[:, :-1].T + A[:, -1] + sizes @ weights
        return values, xp.concat([xp.ones_like(X[:, :1]), xp.sign(z), sizes - slope * z - offset], axis=1)

    def _affine_parts(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return slope and offset of |z| for z = <q, (x,1)> / |q| and x ~ N(0, I), one of each per unit.

        |z + b| with z ~ N(0, 1) is s (z + b) + 2 phi(b), s = 2 Phi(b) - 1, and a rest that is orthogonal to 1 and z.
        """
        q = _unit_rows(self.planes)
        length = np.linalg.norm(q[:, :-1], axis=1)
        b = np.clip(q[:, -1] / np.maximum(length, np.finfo(float).tiny), -1e3, 1e3)
        return 2 * ndtr(b) - 1, 2 * length * np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)

    def free(self, biases: bool) -> np.ndarray:
        """Return the mask of unknowns of a step from here, in which biases may move or not."""
        return free_shared(self.n_outputs, self.n_hidden, self.planes.shape[1] - 1, biases)

    def system(self, rows: Source, biases: bool) -> SharedSystem:
        """Return the least-squares problem of a step from here."""
        return SharedSystem(rows, self.linearise, self.free(biases), self.C)

    def sums(self, X, y) -> tuple[float, np.ndarray]:
        """Return the sums over some rows that a system has the means of; that of squares is a mean over outputs."""
        values, kept = self.linearise(X)
        e = y - values
        gradient = outer_shared(kept, e, X, self.C, Complements(self.C))
        return float((e * e).sum()) / self.n_outputs, to_numpy(gradient)

    def moved(self, step: np.ndarray) -> SharedIterate:
        r"""Return the iterate after a step (A, D, E) of `SharedSystem`.

        The step takes C_i q_i^T to C_i (q_i + D_i)^T + E_i q_i^T / |q_i|, and the affine part of what E does off A. The
        unit becomes the nearest matrix of rank one: with E_i = |E_i| e_i that is

            (cos t C_i + sin t e_i) (cos t a + sin t b)^T,    tan 2t = 2 <a, b> / (|a|^2 - |b|^2),

        a = q_i + D_i and b = |E_i| q_i / |q_i|. So no unit grows by more than its step, however small it was. A unit
        keeps the orientation of its pattern: if the new q_i points away from the old one, it is its weights that have
        changed sign.
        """
        m, width = self.affine.shape
        E = Complements(self.C).vectors(step[m:, width:])
        length = np.linalg.norm(E, axis=1, keepdims=True)
        unit = _unit_rows(self.planes)
        a, b = self.planes + step[m:, :width], length * unit
        t = 0.5 * np.arctan2(2 * _dots(a, b), _dots(a, a) - _dots(b, b))
        q, C = np.cos(t) * a + np.sin(t) * b, np.cos(t) * self.C + np.sin(t) * _unit_rows(E)
        turned = np.where(_dots(q, self.planes) < 0, -1.0, 1.0)
        slope, offset = self._affine_parts()
        affine = self.affine + step[:m, :width] - E.T @ (slope[:, None] * unit)
        affine[:, -1] -= offset @ E
        return SharedIterate(affine, turned * q, turned * _unit_rows(C))

    def keep(self, units: np.ndarray) -> SharedIterate:
        """Return the iterate with only the given units (indices or mask), the affine part unchanged."""
        return SharedIterate(self.affine, self.planes[units], self.C[units])

    def mixed(self, v: np.ndarray) -> Iterate:
        """Return the network with the one output <v, f>."""
        weights = self.C @ v
        return Iterate(np.vstack([v @ self.affine, np.abs(weights)[:, None] * self.planes]), np.sign(weights))

    def to_network(self) -> ShallowNetwork:
        """Return the network in canonical form."""
        A, q = self.affine, self.planes
        return ShallowNetwork(A[:, :-1], self.C, q[:, :-1], q[:, -1], A[:, -1])


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)[:, None]


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return the rows with length 1; rows of zeros stay what they are."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)
