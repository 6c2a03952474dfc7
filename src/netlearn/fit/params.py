"""A network in the coordinates in which it is fitted: a hyperplane for each unit, and weights of length 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from netlearn.backend import as_like, namespace, to_numpy
from netlearn.backend.linalg import spd_solver
from netlearn.fit.equations import Linearise, NormalEquations
from netlearn.fit.expected import Expected
from netlearn.fit.modulated import in_double, outer, plus
from netlearn.fit.several import Complements, SeveralOutputs, outer_of_several
from netlearn.fit.shape import Shape
from netlearn.network import ShallowNetwork
from netlearn.source import Source
from netlearn.source.blocks import over_blocks

# Ridge of the normal equations for hyperplanes that coincide, relative to their trace. Elsewhere it is refined away, as
# are the digits that the equations lose.
_RIDGE, _N_SOLVES = 1e-13, 3
# Length of a unit that adds nothing yet: so small that only its signs matter.
_UNUSED = 1e-9


@dataclass(frozen=True)
class Params:
    r"""The network f_o(x) = <A_o, (x,1)> + sum_i C_io |<q_i, (x,1)>| with outputs o = 1, ..., m.

    Where no <q_i, (x,1)> changes sign, a unit adds its sign times the matrix C_i q_i^T to the linear map that the
    network is there. The matrix has rank one, and C_i has length 1: how much a unit does is the length of q_i. With one
    output C_i is 1 or -1, and f is linear in A and all q together, f(x) = sum_j m_j(x) <a_j, (x,1)> with a = (A, q) and
    the modulators m_0 = 1 and m_i = C_i sign <q_i, (x,1)>.

    Parameters
    ----------
    affine : array of shape (m, d + 1)
        The last column holds the intercepts.
    planes : array of shape (K, d + 1)
        q; the last column holds the biases.
    C : array of shape (K, m)
        Rows of length 1.
    """

    affine: np.ndarray
    planes: np.ndarray
    C: np.ndarray

    @classmethod
    def from_planes(cls, planes: np.ndarray, C: np.ndarray | None = None) -> Params:
        """Start from hyperplanes <q_i, (x,1)> = 0, with units so small that only their signs matter.

        Parameters
        ----------
        planes : array of shape (K, d + 1)
        C : array of shape (K, m), optional
            Weights of several outputs, of any length.
        """
        C = np.ones((len(planes), 1)) if C is None else unit_rows(C)
        length = np.linalg.norm(planes, axis=1, keepdims=True)
        return cls(np.zeros((C.shape[1], planes.shape[1])), _UNUSED * planes / length, C)

    @classmethod
    def affine_only(cls, affine: np.ndarray) -> Params:
        """Return the network without units."""
        return cls(affine, np.zeros((0, affine.shape[1])), np.zeros((0, len(affine))))

    @classmethod
    def from_network(cls, network: ShallowNetwork) -> Params:
        """Take over a network."""
        weights = network.coefficients.reshape(network.n_hidden, network.n_outputs)
        length = np.linalg.norm(weights, axis=1, keepdims=True)
        linear = network.linear.reshape(network.n_outputs, network.n_features)
        affine = np.column_stack([linear, np.reshape(network.intercept, -1)])
        return cls(affine, length * np.column_stack([network.units, network.biases]), unit_rows(weights))

    @classmethod
    def fitted(cls, planes: np.ndarray, rows: Source) -> Params:
        """Give hyperplanes, of any length, the weights with which they fit the labels of several outputs best.

        Linear least squares with the features (x,1) and |<q_i, (x,1)>| / |q_i|, by normal equations and iterative
        refinement. Cost: four readings of the rows and N (d + K)^2 operations.
        """
        planes = unit_rows(planes)

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
    def n_features(self) -> int:
        """Number of features d."""
        return self.planes.shape[1] - 1

    @property
    def n_outputs(self) -> int:
        """Number of outputs m."""
        return len(self.affine)

    @property
    def has_biases(self) -> bool:
        """Whether any unit has one."""
        return bool(np.any(self.planes[:, -1]))

    @property
    def a(self) -> np.ndarray:
        """All vectors of a network with one output, the affine one first; shape (K + 1, d + 1)."""
        return np.vstack([self.affine, self.planes])

    def shape(self, biases: bool) -> Shape:
        """Return the shape of a network like this whose units have biases, or none."""
        return Shape(self.n_hidden, self.n_features, self.n_outputs, biases)

    def linearise(self, X):
        r"""Return f on the rows of X, and what a step changes it by.

        With one output the values have shape (n,), and beside them are the modulators, shape (n, K + 1). With several
        they have shape (n, m), and beside them are 1, signs and kinks of the units, shape (n, 2 K + 1): the kink of a
        unit is |z| less its affine part under N(0, I), for z = <q, (x,1)> / |q|.
        """
        if self.n_outputs == 1:
            return self._on(X)(X)
        xp = namespace(X)
        A, q = as_like(self.affine, X), as_like(unit_rows(self.planes), X)
        weights = as_like(np.linalg.norm(self.planes, axis=1, keepdims=True) * self.C, X)
        slope, offset = (as_like(part, X) for part in self._affine_parts())
        z = X @ q[:, :-1].T + q[:, -1]
        sizes = xp.abs(z)
        values = X @ A[:, :-1].T + A[:, -1] + sizes @ weights
        return values, xp.concat([xp.ones_like(X[:, :1]), xp.sign(z), sizes - slope * z - offset], axis=1)

    def _on(self, like) -> Linearise:
        """Return `linearise` of one output for blocks where an array is, with the vectors moved there once for all.

        In double precision, which blocks may have though the rows that they come from have not. With C_i q_i in place
        of q_i the signs are the modulators at once; rows are many, and every reading of z counts.
        """
        double = in_double(like)
        vectors = as_like(np.vstack([self.affine, self.C * self.planes]), double)
        signs = as_like(np.append(0.0, self.C), double)

        def linearise(X):
            xp, a = namespace(X), as_like(vectors, X)
            z = X @ a[:, :-1].T + a[:, -1]
            m = xp.sign(z)
            m[:, 0] = 1.0
            return xp.abs(z) @ as_like(signs, X) + z[:, 0], m

        return linearise

    def signs(self, X):
        """Return the sign of each unit on the rows of X, up to one for the whole unit; shape (n, K)."""
        return self.linearise(X)[1][:, 1 : self.n_hidden + 1]

    def residual(self, X, y):
        """Return y minus the network's values."""
        return y - self.linearise(X)[0]

    def _affine_parts(self) -> tuple[np.ndarray, np.ndarray]:
        r"""Return slope and offset of |z| for z = <q, (x,1)> / |q| and x ~ N(0, I), one of each per unit.

        |z + b| with z ~ N(0, 1) is s (z + b) + 2 phi(b), s = 2 Phi(b) - 1, and a rest that is orthogonal to 1 and z.
        """
        q = unit_rows(self.planes)
        length = np.linalg.norm(q[:, :-1], axis=1)
        b = np.clip(q[:, -1] / np.maximum(length, np.finfo(float).tiny), -1e3, 1e3)
        return 2 * ndtr(b) - 1, 2 * length * np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)

    def kink_strengths(self) -> np.ndarray:
        r"""Return what each unit adds that no affine function could, as a root mean square under N(0, I).

        For |z + b| with z ~ N(0,1): E|z+b|^2 = 1 + b^2, E|z+b| = 2 phi(b) + b s and E z|z+b| = s with
        s = 2 Phi(b) - 1; the part outside the affine functions has variance 1 + b^2 - (2 phi + b s)^2 - s^2.
        """
        length = np.linalg.norm(self.planes[:, :-1], axis=1)
        b = self.planes[:, -1] / np.maximum(length, np.finfo(float).tiny)
        b = np.clip(b, -1e3, 1e3)
        phi = np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
        s = 2 * ndtr(b) - 1
        return length * np.sqrt(np.maximum(1 + b**2 - (2 * phi + b * s) ** 2 - s**2, 0.0))

    def equations(self, rows: Source, biases: bool, penalty: np.ndarray | None = None) -> NormalEquations:
        """Return the least-squares problem of a step from here.

        Parameters
        ----------
        rows : Source
        biases : bool
            Whether biases may move.
        penalty : array of shape (m + K,), optional
            Weights of the squared lengths of all vectors after the step, one for each.
        """
        free, expected = self.shape(biases).free(), self._expected
        if self.n_outputs == 1:
            linearise = self._on(rows.like)
            return NormalEquations(rows, linearise, free, penalty=penalty, at=self.a, expected=expected)
        unturned = np.zeros((len(free), self.n_outputs - 1))
        at = np.hstack([np.vstack([self.affine, self.planes]), unturned])
        return SeveralOutputs(rows, self.linearise, free, self.C, penalty=penalty, at=at, expected=expected)

    def _expected(self, like) -> Expected:
        """Return the matrix that a step is expected to have; the affine part is a unit without a direction."""
        constant = np.eye(self.n_features + 1)[-1]
        planes = np.vstack([np.tile(constant, (self.n_outputs, 1)), self.planes])
        return Expected(planes, np.vstack([np.eye(self.n_outputs), self.C]), like)

    def sums(self, X, y) -> tuple[float, np.ndarray]:
        """Return the sums over some rows that the equations have the means of: of e^2, and of F^T e for all entries.

        That of squares is a mean over outputs.
        """
        values, kept = self.linearise(X)
        e = y - values
        if self.n_outputs == 1:
            return float(e @ e), to_numpy(outer(kept, as_like(e, X), X))
        gradient = outer_of_several(kept, e, X, self.C, Complements(self.C))
        return float(namespace(e).sum(e * e)) / self.n_outputs, to_numpy(gradient)

    def moved(self, step: np.ndarray) -> Params:
        r"""Return the network after a step (A, D, E), shape (m + K, d + m); with one output there is no E.

        The step takes C_i q_i^T to C_i (q_i + D_i)^T + E_i q_i^T / |q_i|, and the affine part of what E does off A. The
        unit becomes the nearest matrix of rank one: with E_i = |E_i| e_i that is

            (cos t C_i + sin t e_i) (cos t a + sin t b)^T,    tan 2t = 2 <a, b> / (|a|^2 - |b|^2),

        a = q_i + D_i and b = |E_i| q_i / |q_i|. So no unit grows by more than its step, however small it was. A unit
        keeps the orientation of its pattern: if the new q_i points away from the old one, it is its weights that have
        changed sign.
        """
        m, width = self.affine.shape
        a = self.planes + step[m:, :width]
        affine = self.affine + step[:m, :width]
        if m == 1:
            return Params(affine, a, np.where(dots(a, self.planes) < 0, -1.0, 1.0) * self.C)
        E = Complements(self.C).vectors(step[m:, width:])
        length = np.linalg.norm(E, axis=1, keepdims=True)
        unit = unit_rows(self.planes)
        b = length * unit
        t = 0.5 * np.arctan2(2 * dots(a, b), dots(a, a) - dots(b, b))
        q, C = np.cos(t) * a + np.sin(t) * b, np.cos(t) * self.C + np.sin(t) * unit_rows(E)
        turned = np.where(dots(q, self.planes) < 0, -1.0, 1.0)
        slope, offset = self._affine_parts()
        affine -= E.T @ (slope[:, None] * unit)
        affine[:, -1] -= offset @ E
        return Params(affine, turned * q, turned * unit_rows(C))

    def keep(self, units: np.ndarray) -> Params:
        """Return the network with only the given units (indices or mask), the affine part unchanged."""
        return Params(self.affine, self.planes[units], self.C[units])

    def filled(self, n_hidden: int) -> Params:
        """Return the network with so many units, the new ones zero."""
        n_new = n_hidden - self.n_hidden
        nothing = np.zeros((n_new, self.planes.shape[1]))
        return self.joined(Params(np.zeros_like(self.affine), nothing, np.ones((n_new, self.n_outputs))))

    def joined(self, other: Params) -> Params:
        """Return the sum of both functions."""
        return Params(
            self.affine + other.affine,
            np.vstack([self.planes, other.planes]),
            np.vstack([self.C, other.C]),
        )

    def scaled(self, factor: float) -> Params:
        """Return the network times a positive number."""
        return Params(factor * self.affine, factor * self.planes, self.C)

    def mixed(self, v: np.ndarray) -> Params:
        """Return the network with the one output <v, f>."""
        weights = (self.C @ v)[:, None]
        return Params((v @ self.affine)[None], np.abs(weights) * self.planes, np.sign(weights))

    def in_coordinates(self, V: np.ndarray) -> Params:
        """Return the network x -> f(V^T x) for a matrix V of shape (p, d)."""

        def lifted(vectors):
            return np.hstack([vectors[:, :-1] @ V.T, vectors[:, -1:]])

        return Params(lifted(self.affine), lifted(self.planes), self.C)

    def without_biases(self) -> Params:
        """Return the network with the biases of its units taken off."""
        planes = self.planes.copy()
        planes[:, -1] = 0.0
        return Params(self.affine, planes, self.C)

    def to_network(self) -> ShallowNetwork:
        """Return the network in canonical form."""
        A, q = self.affine, self.planes
        if self.n_outputs == 1:
            return ShallowNetwork(A[0, :-1], self.C[:, 0], q[:, :-1], q[:, -1], A[0, -1])
        return ShallowNetwork(A[:, :-1], self.C, q[:, :-1], q[:, -1], A[:, -1])


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the inner product of each row of a with that of b, as a column."""
    return np.einsum("ij,ij->i", a, b)[:, None]


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return the rows with length 1; rows of zeros stay what they are."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)
