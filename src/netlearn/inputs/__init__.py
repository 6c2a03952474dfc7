"""What is checked and measured of rows before anything is learned from them.

`standardiser` brings rows to N(0, I) and labels to unit variance and back, by the maps of `whitening`, the tests of
`normality` and the scale of `labels`. `outliers` finds rows far outside all others, `duplicates` rows that are copies.
"""

from netlearn.inputs.standardiser import Standardiser, standardise

__all__ = ["Standardiser", "standardise"]
