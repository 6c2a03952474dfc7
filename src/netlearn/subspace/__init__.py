"""Subspace: from moment matrices to the space V that holds the units (Algorithm 1, lines 4 and 5).

`projectors` cuts the eigenvalues of each M_ell_hat at eta' and joins the eigenspaces at nu, `noise`
measures from the two halves of the sample how large those cuts must be, `angles` compares subspaces.
"""

from netlearn.subspace.angles import sine
from netlearn.subspace.noise import noise_floor
from netlearn.subspace.projectors import eigenprojector, joint_span

__all__ = ["eigenprojector", "joint_span", "noise_floor", "sine"]
