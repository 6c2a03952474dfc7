r"""Probabilists' Hermite polynomials and the Hermite coefficients of the absolute value.

Two scalings appear. He_m is the paper's polynomial, E[He_m(z)^2] = m!; it grows like sqrt(m!) and leaves
float64 near m = 300. The sums over rows use h_m = He_m / sqrt(m!), which has unit variance at every degree,
so neither the weights of a row nor their sums ever meet that limit.
"""

import math
from operator import index

from netlearn.backend import namespace
from netlearn.errors import InputError

# (ell - 3)!! is the growing factor of c_ell, and 299!! is the last odd double factorial below 1.8e308.
LARGEST_COEFFICIENT_ORDER = 302


def hermite(m, z):
    r"""Probabilists' Hermite polynomial He_m at the points `z`.

    By the recurrence He_{j+1}(z) = z He_j(z) - j He_{j-1}(z), He_0 = 1, He_{-1} = 0, which is exact on
    integers as long as they fit. Cost: O(m) operations per point.

    Parameters
    ----------
    m : int
        Degree, at least 0.
    z : array of any shape, or number

    Returns
    -------
    He : array of the shape of `z`, or number
    """
    if index(m) < 0:
        raise InputError(f"m, the degree of a Hermite polynomial, must be an integer >= 0; got {m}.")
    He, previous = z * 0 + 1, z * 0
    for j in range(m):
        He, previous = z * He - j * previous, He
    return He


def normalised_hermite(degree, z):
    r"""All h_m = He_m / sqrt(m!), m = 0, ..., `degree`, from one recurrence.

        sqrt(m+1) h_{m+1}(z) = z h_m(z) - sqrt(m) h_{m-1}(z),    E[h_m(z)^2] = 1 for z ~ N(0, 1).

    Parameters
    ----------
    degree : int
    z : array of shape (n,)

    Returns
    -------
    h : array of shape (degree + 1, n)
    """
    xp = namespace(z)
    h = [xp.ones_like(z), z]
    for m in range(1, degree):
        h.append((z * h[m] - math.sqrt(m) * h[m - 1]) / math.sqrt(m + 1))
    return xp.stack(h[: degree + 1])


def abs_hermite_coefficient(ell):
    r"""c_ell = E|z| He_ell(z), z ~ N(0, 1): the factor between E[y H_ell(x)] and T_ell.

    For y = <w, x> + sum_i lambda_i |<u_i, x>| and the tensor H_ell of entries prod_j He_{ell_j}(x_j),

        E[y H_ell(x)] = c_ell sum_i lambda_i u_i^{(x) ell}    for even ell >= 2        (Lemma 2.3),
        c_ell = sqrt(2/pi) (-1)^{ell/2+1} (ell-3)!!,  (-1)!! = 1,    and    c_0 = sqrt(2/pi).

    Departs from the paper in scale only: its C_ell = (He_ell(0) + ell He_{ell-2}(0)) / sqrt(2 pi ell!)
    belongs to the normalised tensor S_ell = H_ell / sqrt(ell!), and c_ell = 2 C_ell sqrt(ell!). The uniform
    factor 1/sqrt(ell!) is meant: with the printed factor prod_j 1/sqrt(ell_j!) the lemma fails already at
    ell = 2.

    Parameters
    ----------
    ell : int
        Zero or even, at most 302, beyond which c_ell leaves float64.

    Returns
    -------
    c_ell : float

    Examples
    --------
    >>> from netlearn.moments import abs_hermite_coefficient
    >>> [round(abs_hermite_coefficient(ell), 4) for ell in (0, 2, 4, 6, 8)]
    [0.7979, 0.7979, -0.7979, 2.3937, -11.9683]
    """
    if index(ell) < 0 or ell % 2:
        raise InputError(
            f"ell must be an even integer >= 0; got {ell}. The odd Hermite coefficients of |z| vanish."
        )
    if ell > LARGEST_COEFFICIENT_ORDER:
        raise InputError(
            f"ell must be at most {LARGEST_COEFFICIENT_ORDER}; got {ell}, where c_ell overflows float64."
        )
    if ell == 0:
        return math.sqrt(2 / math.pi)
    sign = 1 if ell % 4 == 2 else -1
    return sign * math.sqrt(2 / math.pi) * math.prod(range(ell - 3, 1, -2))


def noise_gain(ell):
    r"""r_ell = sqrt((ell-2)!) / c_ell, which turns h_{ell-2} into the weight of a row in M_ell_hat.

    Both (ell-2)! and c_ell overflow; their ratio does not. With m = ell - 2 and m! = m!! (m-1)!!,

        |r_ell| = sqrt( (pi/2) prod_{j=1}^{m/2} 2j / (2j-1) )  ~  (pi/2)^{1/2} (pi m / 2)^{1/4},

    with the sign (-1)^{m/2} of c_ell. As h_m has unit variance, |r_ell| is how the noise of an estimated
    M_ell grows with ell: like ell^{1/4} only.

    Parameters
    ----------
    ell : int
        Even, at least 2.

    Returns
    -------
    r_ell : float
    """
    m = ell - 2
    ratio = math.prod(2 * j / (2 * j - 1) for j in range(1, m // 2 + 1))
    return (-1) ** (m // 2) * math.sqrt(math.pi / 2 * ratio)
