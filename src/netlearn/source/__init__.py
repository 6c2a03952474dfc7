"""Samples: whatever holds rows (x, y), given out in blocks that can be read again and again."""

from netlearn.source.arrays import ArraySource, Source
from netlearn.source.device import OnDevice
from netlearn.source.files import FileSource
from netlearn.source.oracle import Oracle, OracleError

__all__ = ["ArraySource", "FileSource", "OnDevice", "Oracle", "OracleError", "Source"]
