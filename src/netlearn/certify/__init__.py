"""Certify: what rows that took no part in learning prove about a network."""

from netlearn.certify.certificate import (
    STEEPNESS,
    Basis,
    Certificate,
    certify,
    certify_rows,
    moved_by,
    without_bound,
)
from netlearn.certify.envelope import envelope_bound, root_mean_square_bound
from netlearn.certify.law import recognised
from netlearn.certify.lipschitz import mean_square_bound
from netlearn.certify.score import Score, linear_signal, scored
from netlearn.certify.share import LARGEST_SHARE, rows_for_share, share_beyond
from netlearn.certify.slope import lipschitz_constant

__all__ = [
    "LARGEST_SHARE",
    "STEEPNESS",
    "Basis",
    "Certificate",
    "Score",
    "certify",
    "certify_rows",
    "envelope_bound",
    "linear_signal",
    "lipschitz_constant",
    "mean_square_bound",
    "moved_by",
    "recognised",
    "root_mean_square_bound",
    "rows_for_share",
    "scored",
    "share_beyond",
    "without_bound",
]
