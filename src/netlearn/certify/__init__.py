"""Room 6, CERTIFY: how large the error can be, from rows that no other room has seen."""

from netlearn.certify.bernstein import bernstein_bound
from netlearn.certify.certificate import Certificate, certify, lipschitz_constant
from netlearn.certify.lipschitz import mean_square_bound

__all__ = [
    "Certificate",
    "bernstein_bound",
    "certify",
    "lipschitz_constant",
    "mean_square_bound",
]
