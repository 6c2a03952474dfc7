"""Samples: whatever holds rows (x, y), given out in blocks that can be read again and again."""

from netlearn.source.arrays import ArraySource, Source

__all__ = ["ArraySource", "Source"]
