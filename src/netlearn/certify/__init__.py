"""Room 6, CERTIFY: how large the error can be, from rows that no other room has seen."""

from netlearn.certify.bernstein import bernstein_bound
from netlearn.certify.certificate import Certificate, certify, lipschitz_constant
from netlearn.certify.lipschitz import (
    certification_rows,
    log10_validation_rows,
    mean_square_bound,
    validation_rows,
)

__all__ = [
    "Certificate",
    "bernstein_bound",
    "certification_rows",
    "certify",
    "lipschitz_constant",
    "log10_validation_rows",
    "mean_square_bound",
    "validation_rows",
]
