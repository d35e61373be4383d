"""The name that pickles of before know :mod:`pythnn._tensor.device` by."""

from .._tensor.device import _rebuild, _storage_from

__all__ = ["_rebuild", "_storage_from"]
