"""Tensors in the memory of the host and of devices: one protocol, two memories."""

from .host import Tensor, _rebuild, array_module, is_on_device, on_host
from .kinds import DTYPES, KINDS, Array, Kind, array_address, kind_of_dtype
from .noting import current
from .storage import Storage, _storage_from, dense_strides, strided

__all__ = [
    "DTYPES",
    "KINDS",
    "Array",
    "Kind",
    "Storage",
    "Tensor",
    "_rebuild",
    "_storage_from",
    "array_address",
    "array_module",
    "current",
    "dense_strides",
    "is_on_device",
    "kind_of_dtype",
    "on_host",
    "strided",
]
