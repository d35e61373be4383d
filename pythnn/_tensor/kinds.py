"""The element types of tensors, and the C functions that go with each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._library import ffi, lib, native, own

__all__ = [
    "DTYPES",
    "DTYPE_NAMES",
    "KINDS",
    "Array",
    "Kind",
    "array_address",
    "kind_of_dtype",
]

Array = NDArray[Any]
_ADDRESS = ffi.typeof("void *")


def array_address(array: Array) -> int:
    """The address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


class _Functions(dict[str, Any]):
    """C functions whose names begin alike, by the rest of the name; each is found when needed."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self.prefix = prefix

    def __missing__(self, name: str) -> Any:
        found = self[name] = getattr(lib, self.prefix + name)
        return found


class Kind:
    """An element type: its names, and the C functions of its tensors."""

    def __init__(self, index: int, name: str, dtype: DTypeLike) -> None:
        self.index = index
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.itemsize = self.dtype.itemsize
        self.pointer = ffi.typeof(f"TH{name}Tensor *")
        self.storage_pointer = ffi.typeof(f"TH{name}Storage *")
        self.functions = _Functions(f"TH{name}Tensor_")

    def call(self, function: str, *arguments: Any) -> Any:
        """Calls ``TH<name>Tensor_<function>``."""
        return self.functions[function](*arguments)

    def new(self, shape: Sequence[int]) -> Any:
        """A C tensor with memory of its own; () for an empty one."""
        sizes = list(shape) or ffi.NULL
        return own(self.pointer, native.pythnn_ownTensor, self.index, len(shape), sizes)

    def new_view(self, tensor: Any) -> Any:
        """A C tensor that is the same view as another."""
        return own(self.pointer, native.pythnn_ownView, self.index, tensor)

    def new_storage(self, size: int) -> Any:
        """A C storage."""
        return own(self.storage_pointer, native.pythnn_ownStorage, self.index, size)

    def new_array_storage(self, array: Array, size: int) -> Any:
        """A C storage over an array's memory, with a reference to the array."""
        data = ffi.cast(_ADDRESS, array_address(array))
        create, owner = native.pythnn_ownArrayStorage, ffi.cast(_ADDRESS, id(array))
        return own(self.storage_pointer, create, self.index, data, size, owner)

    def hold_storage(self, storage: Any) -> Any:
        """A reference to a C storage."""
        create = native.pythnn_ownStorageReference
        return own(self.storage_pointer, create, self.index, storage)


KINDS = (
    Kind(0, "Float", np.float32),
    Kind(1, "Double", np.float64),
    Kind(2, "Long", np.int64),
    Kind(3, "Int", np.int32),
)
DTYPES = tuple(kind.dtype for kind in KINDS)
DTYPE_NAMES = "float32, float64, int64 or int32"


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind | None:
    """The kind with this dtype in native byte order, or None."""
    for kind in KINDS:
        if dtype is kind.dtype or dtype == kind.dtype:
            return kind
    return None
