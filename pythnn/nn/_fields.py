"""Where older pickles look for what is in :mod:`pythnn.nn.object.fields`."""

from .object.fields import Fields

__all__ = ["Fields"]
