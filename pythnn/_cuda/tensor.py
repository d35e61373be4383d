"""Where older pickles look for what is in :mod:`pythnn._tensor.device`."""

from .._tensor.device import _rebuild, _storage_from

__all__ = ["_rebuild", "_storage_from"]
