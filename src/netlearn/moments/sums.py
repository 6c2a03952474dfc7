r"""The sum over rows behind every moment, and what is read off it.

Row i of the sample belongs to group i mod 16, and everything is summed per group. The groups serve two
ends at no extra product: their spread gives every entry its standard error, the even and the odd ones are
the two halves of the noise floor, and the two add up to the whole. As membership follows from the
row's index alone, the way rows are cut into blocks changes the last digits only.

Left out: per-entry second moments over rows. They would give sharper error bars, but need a second weighted
Gram matrix, of squares, at every order, and so double the time; groups cost memory instead.
"""

from netlearn.backend import namespace, real_array
from netlearn.errors import InputError
from netlearn.moments.checks import checked_orders, unit_directions
from netlearn.moments.contraction import add_rows
from netlearn.moments.estimates import estimate
from netlearn.source.blocks import block_slices, mapped

# Even, so that groups of equal parity make two halves. Sixteen leave 15 degrees of freedom to an error bar,
# which is then itself known to 18 % and can support small error probabilities: at 1e-9 Student's quantile is
# 13 standard errors, where eight groups would need 40. Memory is proportional to the number.
N_GROUPS = 16


class MomentSum:
    r"""Sum over rows: all orders ell and all directions g in one pass over blocks.

    A new MomentSum is the zero, `add` takes a block in, `finalize` reads the estimates off. Lemma 2.3 with the
    contraction of `netlearn.moments.contraction`, zero biases assumed.

    Departs from the paper: sums are kept in sixteen groups of rows instead of one, for error bars and the
    noise floor; y is used as it comes, and so is x.
    Cost: 3/2 N d**2 operations per direction and order; memory 128 d**2 bytes per direction and order. M_2
    does not depend on g, so when directions are many and orders few, give order 2 a sum of its own with one
    direction.

    Parameters
    ----------
    directions : array of shape (n_directions, d)
        The vectors g, of unit length. Sums live in their library and on their device, in float64 whatever
        the blocks' precision; blocks are moved there.
    orders : iterable of int
        The Hermite degrees ell, even and at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> from netlearn.moments import MomentSum
    >>> X = np.random.default_rng(0).standard_normal((1000, 3))
    >>> total = MomentSum(np.eye(3)[:1], orders=(2, 4))
    >>> for rows in (slice(0, 300), slice(300, 1000)):
    ...     total.add(X[rows], np.abs(X[rows, 0]))
    >>> moments = total.finalize()
    >>> moments.count, moments.matrices.shape
    (1000, (1, 2, 3, 3))
    """

    def __init__(self, directions, orders):
        self.directions = unit_directions(directions)
        self.orders = checked_orders(orders)
        xp = namespace(self.directions)
        n_directions, d = self.directions.shape
        matrices = (n_directions, len(self.orders))
        shapes = {
            "count": (),
            "y": (),
            "yx": (d,),
            "gram": (*matrices, d, d),
            "cross": (*matrices, d),
            "ends": (*matrices, 2),
        }
        self._sums = {
            name: xp.zeros((N_GROUPS, *shape), dtype=xp.float64, device=self.directions.device)
            for name, shape in shapes.items()
        }

    @property
    def n_features(self):
        """Number of columns d a block must have."""
        return self.directions.shape[1]

    @property
    def count(self):
        """Number of rows added so far."""
        return int(namespace(self.directions).sum(self._sums["count"]))

    def add(self, X, y):
        """Add a block of rows. A block that is refused leaves the sum as it was.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
        """
        X = real_array("X", X, ndim=2, like=self.directions)
        y = real_array("y", y, ndim=1, like=self.directions)
        if X.shape[1] != self.n_features:
            raise InputError(
                f"X has {X.shape[1]} columns, but this MomentSum was started with {self.n_features}. "
                f"Pass {self.n_features} columns, or start a new MomentSum."
            )
        if y.shape[0] != X.shape[0]:
            raise InputError(
                f"y must have one entry per row of X; got {y.shape[0]} entries and {X.shape[0]} rows."
            )
        n_before = self.count

        def add_to_group(group):
            first = (group - n_before) % N_GROUPS
            if first < X.shape[0]:
                self._add_to_group(group, X[first::N_GROUPS, :], y[first::N_GROUPS])

        for _ in mapped(add_to_group, range(N_GROUPS), X):
            pass

    def _add_to_group(self, group, X, y):
        xp = namespace(X)
        sums = {name: array[group, ...] for name, array in self._sums.items()}
        # A tile shares the cache with its weighted copy.
        for tile in block_slices(X.shape[0], 2 * self.n_features, like=X):
            # Every order reads the tile again: a copy without gaps, in float64, pays for itself.
            X_tile, y_tile = xp.astype(X[tile, :], xp.float64), xp.astype(y[tile], xp.float64)
            sums["count"] += y_tile.shape[0]
            sums["y"] += xp.sum(y_tile)
            sums["yx"] += y_tile @ X_tile
            for i in range(self.directions.shape[0]):
                of_direction = [sums[name][i, ...] for name in ("gram", "cross", "ends")]
                add_rows(X_tile, y_tile, self.directions[i, :], self.orders, *of_direction)

    def finalize(self):
        """Estimates and their standard errors from the rows added so far; the sum can go on growing.

        Returns
        -------
        moments : Moments
        """
        if self.count == 0:
            raise InputError("A MomentSum needs at least 1 row before it can be finalized; got none.")
        return estimate(self.directions, self.orders, self._sums)


def moment_matrices(X, y, g, orders):
    r"""Estimates of M_ell^g = sum_i lambda_i <u_i, g>^(ell-2) u_i u_i^T from rows in memory.

    Lemma 2.3 contracted along `g`: the mean over rows of y H_ell(x)(g, ..., g, :, :) / c_ell, for
    x ~ N(0, I) and a network without biases. Use `MomentSum` for streams, several directions, error bars
    and the linear part.
    Cost: 3/2 N d**2 operations per order.

    Parameters
    ----------
    X : array of shape (N, d)
    y : array of shape (N,)
    g : array of shape (d,)
        Direction of contraction, of unit length.
    orders : iterable of L int
        The Hermite degrees ell, even and at least 2.

    Returns
    -------
    matrices : array of shape (L, d, d)
        In the library and on the device of `X`, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from netlearn.moments import moment_matrices
    >>> X = np.random.default_rng(0).standard_normal((100_000, 2))
    >>> M_2, M_4 = moment_matrices(X, np.abs(X[:, 0]), g=np.array([1.0, 0.0]), orders=(2, 4))
    >>> np.round(M_2, 1) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    X = real_array("X", X, ndim=2)
    g = real_array("g", g, ndim=1, like=X)
    total = MomentSum(g[None, :], orders)
    total.add(X, y)
    return total.finalize().matrices[0, ...]
