"""Below all rooms: which array library the inputs belong to, the check every input array passes, threads.

Mathematics in the rooms is written once, against the namespace ``xp`` of the arrays it is given. NumPy is
the reference; torch arrays stay torch arrays, on the device they came on.
"""

from netlearn.backend.arrays import Array, as_like, namespace, to_numpy
from netlearn.backend.checks import real_array, refuse_infinite, refuse_masked

__all__ = ["Array", "as_like", "namespace", "real_array", "refuse_infinite", "refuse_masked", "to_numpy"]
