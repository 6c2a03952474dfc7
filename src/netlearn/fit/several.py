r"""Least squares for several outputs that share their units.

At units with output weights C_i of length 1, signs s_i of z_i = <q_i, (x,1)> / |q_i|, and kinks c_i, which are |z_i|
less an affine function, the residuals e_o(x) are to be met by

    <A_o, (x,1)>  +  sum_i C_io s_i(x) <D_i, (x,1)>  +  sum_i E_io c_i(x),      E_i orthogonal to C_i.

D_i turns and stretches the hyperplane, E_i turns the weights, and that it is orthogonal to C_i leaves their length to
D_i alone. Which affine function is taken off |z_i| makes no difference to the solution, as A has all of them; the right
one leaves little in common between E and A, even where hardly any row is on the far side of a unit.

E_i is written in the coordinates of an orthonormal basis of the complement of C_i, so the unknowns are an array of
shape (m + K, d + m): rows A_o, filled up with zeros, then rows (D_i, E_i). With m = 1 nothing is left of E, and this is
`NormalEquations`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from netlearn.backend import Array, as_like, namespace
from netlearn.backend.linalg import spd_solver
from netlearn.backend.rough import rough_products
from netlearn.fit.equations import Linearise, NormalEquations
from netlearn.fit.expected import Expected
from netlearn.fit.modulated import in_double, is_in_single, modulated, plus, taken
from netlearn.source import Source


class Complements:
    """Orthonormal coordinates of the complement of each of some unit vectors, by Householder's reflections.

    Parameters
    ----------
    C : array of shape (K, m)
        Rows of length 1.
    """

    def __init__(self, C: np.ndarray):
        mirror = C.copy()
        mirror[:, 0] += np.where(C[:, 0] < 0, -1.0, 1.0)
        self._mirror = mirror / np.linalg.norm(mirror, axis=1, keepdims=True)

    def _reflected(self, vectors):
        mirror = as_like(self._mirror, vectors)
        return vectors - 2.0 * mirror * namespace(vectors).vecdot(mirror, vectors)[:, None]

    def vectors(self, coordinates):
        """Return vectors of shape (K, m) from their coordinates, shape (K, m - 1)."""
        xp = namespace(coordinates)
        return self._reflected(
            xp.concat([0.0 * as_like(self._mirror[:, :1], coordinates), coordinates], axis=1)
        )

    def coordinates(self, vectors):
        """Return the coordinates of vectors of shape (K, m), projected onto the complements."""
        return self._reflected(vectors)[:, 1:]


class SeveralOutputs(NormalEquations):
    """The normal equations of all outputs at one point, as sums over the rows of a source with labels of shape (n, m).

    `loss` is the mean over rows and outputs; gradient and products are means over rows of sums over outputs.
    Cost: 4 N d (m + K) + 4 N K m operations for each product, 2 N (d (m + 2 K) + 2 K^2 + 2 K m) to build.

    Parameters
    ----------
    rows : Source
    linearise : callable
        Takes X, returns the values of shape (n, m), and 1, all signs s_i and all kinks c_i in an array of shape
        (n, 2 K + 1).
    free : array of shape (m + K, d + m)
    C : array of shape (K, m)
        Rows of length 1.
    penalty : array of shape (m + K,), optional
    at : array of shape (m + K, d + m), optional
        Needed with a penalty; E is zero there.
    """

    def __init__(
        self,
        rows: Source,
        linearise: Linearise,
        free: np.ndarray,
        C: np.ndarray,
        *,
        penalty: np.ndarray | None = None,
        at: np.ndarray | None = None,
        expected: Callable[[Array], Expected] | None = None,
    ):
        self._C, self._complements = C, Complements(C)
        self._K, self._m = C.shape
        self.per_row = self._m
        super().__init__(rows, linearise, free, penalty=penalty, at=at, expected=expected)
        self.loss /= self._m

    @property
    def _n_columns(self) -> int:
        return 2 * self._K + 1 + self._m

    def _terms(self, block, root=None, *, rough: bool = False):
        X, y = block
        with rough_products(allowed=rough and is_in_single(X), like=X):
            values, kept = self._linearised(X, root)
        e = y - values if root is None else (y - values) * root
        return e, namespace(X).sum(e * e), self._back(kept, as_like(e, X), X), kept

    def _forward(self, kept, D, X):
        m, q, d = self._m, self._m + self._K, self.rows.n_features
        one, s, kink = _parts(kept, self._K)
        linear = X @ D[:q, :d].T + D[:q, d]
        E = self._complements.vectors(D[m:q, d + 1 :])
        return one * linear[:, :m] + (s * linear[:, m:]) @ as_like(self._C, X) + kink @ E

    def _back(self, kept, e, X):
        return outer_of_several(kept, e, X, self._C, self._complements)

    def _whole(self, X):
        return X  # whose ones would meet E, too

    @cached_property
    def coupling(self) -> Array:
        """Mean of s_i s_j times <C_i, C_j>, where an affine row counts as a sign that is always 1 and a unit vector."""
        G = self._mean_gram(lambda X, kept: kept[:, : self._K + 1])
        C, xp = as_like(self._C, G), namespace(G)
        of_one = as_like(np.eye(self._m), G) * G[0, 0]
        mixed = C.T * G[:1, 1:]
        return xp.concat(
            [
                xp.concat([of_one, mixed], axis=1),
                xp.concat([mixed.T, G[1:, 1:] * (C @ C.T)], axis=1),
            ]
        )

    def preconditioner(self, damping: float) -> Callable:
        """Precondition E by the Gram matrix of the kinks, which have little in common with what other unknowns do."""
        m, d, turn = self._m, self.rows.n_features, self._complements
        planes = super().preconditioner(damping)
        kinks = self._mean_gram(lambda X, kept: _parts(kept, self._K)[2])
        inverse = spd_solver(plus(kinks, self.ridge(damping)[m:]))

        def precondition(r):
            xp = namespace(r)
            E = turn.coordinates(inverse(turn.vectors(r[m:, d + 1 :])))
            return xp.concat([planes(r[:, : d + 1]), xp.concat([r[:m, d + 1 :], E])], axis=1)

        return precondition

    def normal_matrix(self, *, single: bool = False) -> Array:
        """Return F^T F / N over the free entries, in the order of `free.ravel()`.

        An unknown changes the outputs in proportion to one vector, by one of (K + 1)(d + 1) + K functions of x:
        the entries of F^T F are those of the Gram matrix of the functions, times products of the vectors.
        Cost: N ((K + 1)(d + 1) + K)^2 operations, as for one output, and P^2.
        """
        K, m, r = self._K, self._m, self.rows.n_features
        free = self.free.astype(bool)
        functions = np.zeros(free.shape, dtype=int)
        functions[:m, : r + 1] = np.arange(r + 1)
        functions[m:, : r + 1] = np.arange(r + 1, (K + 1) * (r + 1)).reshape(K, r + 1)
        functions[m:, r + 1 :] = (K + 1) * (r + 1) + np.arange(K)[:, None]
        vectors = np.zeros((*free.shape, m))
        vectors[:m, : r + 1] = np.eye(m)[:, None, :]
        vectors[m:, : r + 1] = self._C[:, None, :]
        for j in range(m - 1):
            vectors[m:, r + 1 + j] = self._complements.vectors(np.tile(np.eye(m - 1)[j], (K, 1)))
        functions, vectors = functions[free], vectors[free]

        def features(X, kept):
            return namespace(X).concat([modulated(kept[:, : K + 1], X), _parts(kept, K)[2]], axis=1)

        gram = self._mean_gram(features, single)
        gram = taken(taken(gram, functions, axis=0), functions, axis=1)
        return gram * as_like(vectors @ vectors.T, gram)


def outer_of_several(kept, e, X, C: np.ndarray, complements: Complements):
    """Return F^T e summed over the rows of a block, in double precision."""
    xp, (K, m) = namespace(X), C.shape
    one, s, kink = _parts(kept, K)
    weights = xp.concat([one * e, s * (e @ as_like(C, X).T)], axis=1)
    E = xp.concat([as_like(np.zeros((m, m - 1)), X), complements.coordinates(kink.T @ e)])
    return in_double(xp.concat([weights.T @ X, xp.sum(weights, axis=0)[:, None], E], axis=1))


def _parts(kept, n_hidden: int):
    """Return 1, signs and kinks; columns that pad them are left out."""
    return kept[:, :1], kept[:, 1 : n_hidden + 1], kept[:, n_hidden + 1 : 2 * n_hidden + 1]
