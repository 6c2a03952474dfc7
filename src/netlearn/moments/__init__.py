"""Moments: from blocks of (X, y) to the matrices M_ell^g and the linear part.

`polynomials` holds the Hermite polynomials and the coefficients of the absolute value, `contraction` the
closed form that replaces the d**ell Hermite tensor by a weighted Gram matrix, `sums` the mergeable sum over
rows, and `estimates` reads matrices and error bars off it.
"""

from netlearn.moments.estimates import Moments
from netlearn.moments.polynomials import abs_hermite_coefficient, hermite
from netlearn.moments.sums import MomentSum, moment_matrices

__all__ = ["MomentSum", "Moments", "abs_hermite_coefficient", "hermite", "moment_matrices"]
