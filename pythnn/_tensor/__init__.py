"""Tensors in the memory of the host and of devices: one protocol, two memories."""

from .host import (
    DTYPES,
    KINDS,
    Array,
    Kind,
    Storage,
    Tensor,
    _rebuild,
    _storage_from,
    _strided,
    array_address,
    array_module,
    dense_strides,
    is_on_device,
    kind_of_dtype,
    on_host,
)

__all__ = [
    "DTYPES",
    "KINDS",
    "Array",
    "Kind",
    "Storage",
    "Tensor",
    "_rebuild",
    "_storage_from",
    "_strided",
    "array_address",
    "array_module",
    "dense_strides",
    "is_on_device",
    "kind_of_dtype",
    "on_host",
]
