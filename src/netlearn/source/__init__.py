"""Samples: whatever holds rows (x, y), given out in blocks that can be read again and again.

`blocks` has the protocols that all of these follow, and the sums over rows that everything else is built on.
"""

from netlearn.source.arrays import ArraySource
from netlearn.source.blocks import Source
from netlearn.source.device import OnDevice
from netlearn.source.files import FileSource
from netlearn.source.oracle import Oracle, OracleError

__all__ = ["ArraySource", "FileSource", "OnDevice", "Oracle", "OracleError", "Source"]
