"""The name that pickles of before know :mod:`pythnn.nn.object.fields` by."""

from .object.fields import Fields

__all__ = ["Fields"]
