"""What is measured of rows before anything is learned from them.

What is refused is said elsewhere: an array by itself in `backend.checks`, rows with their labels and weights in
`source.samples`, columns of a table in `source.problems`.

`standardiser` brings rows to N(0, I) and labels to unit variance and back, by the maps of `whitening`, the tests of
`normality` and the scale of `labels`. `outliers` finds rows far outside all others, `duplicates` rows that are copies.
"""

from netlearn.inputs.standardiser import Standardiser, standardise

__all__ = ["Standardiser", "standardise"]
