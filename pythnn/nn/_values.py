"""The name that pickles of before know :mod:`pythnn.nn.object.values` by."""

from .object.values import DoubleStorage, LongStorage

__all__ = ["DoubleStorage", "LongStorage"]
