r"""The contracted Hermite tensor as a weighted Gram matrix.

With |g| = 1, s = <g, x> and m = ell - 2,

    H_ell(x)(g, ..., g, :, :)
        =  He_m(s) (x x^T - I)  -  m He_{m-1}(s) (x g^T + g x^T)  +  m (m-1) He_{m-2}(s) g g^T.

In the scale h_m = He_m / sqrt(m!), and with r_ell = sqrt(m!) / c_ell (`noise_gain`), one row's estimate of
M_ell^g is

    y r_ell [ h_m(s) (x x^T - I)  -  sqrt(m) h_{m-1}(s) (x g^T + g x^T)  +  sqrt(m (m-1)) h_{m-2}(s) g g^T ].

Its sum over rows needs three sums only, which `add_rows` collects and `assemble` puts together:

    gram = sum y h_m(s) x x^T,    cross = sum y h_{m-1}(s) x,    ends = (sum y h_m(s), sum y h_{m-2}(s)).
"""

import math

from netlearn.backend import namespace
from netlearn.moments.polynomials import noise_gain, normalised_hermite


def add_rows(X, y, g, orders, gram, cross, ends):
    r"""Add the share of some rows to the three sums of every order, in place.

    One tile's share of Lemma 2.3. The d**ell tensor is never formed, and all orders share s and one
    recurrence. A Gram matrix is symmetric, so only the blocks on and above the diagonal of a 2 x 2
    partition are computed: 3/4 of the products, at the speed of plain matrix multiplication and for weights
    of either sign (a rank-k update would need them split by sign).
    Cost: 3/2 n d**2 operations per order; the call is meant for tiles that stay in cache with their
    weighted copy.

    Parameters
    ----------
    X : array of shape (n, d), float64
    y : array of shape (n,), float64
    g : array of shape (d,), float64, unit length
    orders : sequence of L even integers >= 2
    gram : array of shape (L, d, d)
        Updated except for the block below the diagonal, which `assemble` fills by symmetry.
    cross : array of shape (L, d)
    ends : array of shape (L, 2)
    """
    xp = namespace(X, y, g)
    degrees = [ell - 2 for ell in orders]
    yh = y * normalised_hermite(max(degrees), X @ g)
    half = (X.shape[1] + 1) // 2
    for index, m in enumerate(degrees):
        weighted = yh[m, :, None] * X
        gram[index, :half, :] += X[:, :half].T @ weighted
        gram[index, half:, half:] += X[:, half:].T @ weighted[:, half:]

    def rows_of_degree(shift):
        # Below degree 0 the polynomial is 0; any finite stand-in serves, as `assemble` multiplies it by 0.
        return xp.stack([yh[max(m - shift, 0), :] for m in degrees])

    cross += rows_of_degree(1) @ X
    ends[:, 0] += xp.sum(rows_of_degree(0), axis=1)
    ends[:, 1] += xp.sum(rows_of_degree(2), axis=1)


def assemble(gram, cross, ends, directions, orders):
    r"""Put the three sums together: per direction and order, the sum over rows of the estimates of M_ell^g.

    Departs from the paper: the sums are divided by c_ell but not by the number of rows, so that sums over
    different rows still add up. The result is symmetric to the last bit.
    Cost: O(d**2) per matrix.

    Parameters
    ----------
    gram : array of shape (n_directions, L, d, d)
    cross : array of shape (n_directions, L, d)
    ends : array of shape (n_directions, L, 2)
    directions : array of shape (n_directions, d)
    orders : sequence of L even integers >= 2

    Returns
    -------
    sums : array of shape (n_directions, L, d, d)
    """
    xp = namespace(gram, cross, ends, directions)
    d = directions.shape[1]
    half = (d + 1) // 2

    def per_order(factor):
        factors = [factor(ell - 2) for ell in orders]
        return xp.asarray(factors, dtype=gram.dtype, device=gram.device)[:, None, None]

    sums = xp.asarray(gram, copy=True)
    sums[..., half:, :half] = xp.matrix_transpose(gram[..., :half, half:])
    sums -= ends[..., 0, None, None] * xp.eye(d, dtype=gram.dtype, device=gram.device)

    g = directions[:, None, None, :]
    x_gT = cross[..., None] * g
    sums -= per_order(math.sqrt) * (x_gT + xp.matrix_transpose(x_gT))
    sums += (
        per_order(lambda m: math.sqrt(m * (m - 1))) * ends[..., 1, None, None] * (xp.matrix_transpose(g) * g)
    )
    sums *= per_order(lambda m: noise_gain(m + 2))
    return (sums + xp.matrix_transpose(sums)) / 2
