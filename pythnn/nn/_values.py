"""Where older pickles look for what is in :mod:`pythnn.nn.object.values`."""

from .object.values import DoubleStorage, LongStorage

__all__ = ["DoubleStorage", "LongStorage"]
