"""The graph of a value, as parts: all is looked at, and refused, before a byte is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._plain import is_ndarray
from .._tensor import Storage, Tensor, is_on_device, on_host
from ._errors import T7Error
from ._format import CLASS_PAYLOADS, CLASS_VERSIONS, Tag, cpu_type_name
from ._memory import Region, regions_of, storable
from ._values import TdsHash, TdsVec, TorchFunction, TorchObject, TorchStorage

__all__ = [
    "FunctionPart",
    "HashPart",
    "ObjectPart",
    "Part",
    "StoragePart",
    "TablePart",
    "TensorPart",
    "VecPart",
    "collect",
]

Array = NDArray[Any]

_LISTS = {"DoubleStorage": np.float64, "LongStorage": np.int64}  # nn's, which need not be loaded


class Part:
    """Something with an identity. ``children`` are the values that follow it in the file."""

    tag = Tag.OBJECT

    def __init__(self, children: list[Any]) -> None:
        self.children = children
        self.index = 0  # 0 until it is written
        self.uses = 0
        self.parent: Part | None = None
        self.place = 0  # which child of the parent it is


class TablePart(Part):
    """A table: keys and values in turn."""

    tag = Tag.TABLE

    def __init__(self, children: list[Any]) -> None:
        super().__init__(children)
        self.is_list = False


class HashPart(TablePart):
    """A ``tds.Hash``."""

    tag = Tag.OBJECT

    def __init__(self, table: TdsHash) -> None:
        super().__init__(_entries(table))
        self.long_count = table.long_count


class VecPart(Part):
    """A ``tds.Vec``."""

    def __init__(self, vec: TdsVec) -> None:
        super().__init__(list(vec))
        self.long_count = vec.long_count


class FunctionPart(Part):
    """A function."""

    def __init__(self, function: TorchFunction) -> None:
        super().__init__([function.upvalues])
        self.function = function


class ObjectPart(Part):
    """An object of a class."""

    def __init__(self, name: str, version: int, payload: list[Any]) -> None:
        super().__init__(payload)
        self.name = name
        self.version = version


class StoragePart(Part):
    """A storage. ``same`` is the part that is written for all of one region."""

    def __init__(self, array: Array) -> None:
        super().__init__([])
        self.array = array
        self.same = self


class TensorPart(Part):
    """A tensor; the storage is added to ``children`` when all are known."""

    def __init__(self, array: Array) -> None:
        super().__init__([None])
        self.array = array
        self.shape: list[int] = []
        self.strides: list[int] = []
        self.start = 0  # counted from 0

    def place_in(self, storage: StoragePart, region: Region) -> None:
        """Says where the elements are."""
        item = self.array.itemsize
        self.children = [storage]
        self.shape = list(self.array.shape)
        self.strides = [max(stride // item, 0) for stride in self.array.strides]
        self.start = (self.array.__array_interface__["data"][0] - region.start) // item


def collect(root: Any) -> Any:
    """The root: a scalar, or a Part with all that hangs on it.

    Raises T7Error, saying where, for what .t7 files cannot hold.
    """
    return _Collector().run(root)


class _Collector:
    def __init__(self) -> None:
        self.known: dict[int, Part] = {}
        self.kept: list[Any] = []  # so that no id is given twice
        self.pending: list[Part] = []
        self.tensors: list[TensorPart] = []
        self.storages: list[StoragePart] = []
        self.fetched: dict[Storage, Array] = {}

    def run(self, root: Any) -> Any:
        holder = Part([root])
        self.pending.append(holder)
        while self.pending:
            part = self.pending.pop()
            for i, child in enumerate(part.children):
                try:
                    part.children[i] = self._resolve(child, part, i)
                except T7Error as error:
                    raise T7Error(f"{_path(part, i)}: {error}") from None
        self._place()
        return holder.children[0]

    def _resolve(self, value: Any, parent: Part, i: int) -> Any:
        """A scalar as it is written, or a Part."""
        if value is None or isinstance(value, (bool, np.bool_)):
            return value if value is None else bool(value)
        if isinstance(value, (int, float, np.integer, np.floating)):
            return _double(value)
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        part = self.known.get(id(value))
        if part is None:
            part = self._part(value)
            part.parent, part.place = parent, i
            self.known[id(value)] = part
            self.kept.append(value)
            self.pending.append(part)
        part.uses += 1
        return part

    def _part(self, value: Any) -> Part:
        if isinstance(value, list) and type(value).__name__ in _LISTS:
            value = _storage_of(value, _LISTS[type(value).__name__])
        if isinstance(value, TdsVec):
            return VecPart(value)
        if isinstance(value, (list, tuple)):
            table = TablePart(_entries(dict(enumerate(value, 1))))
            table.is_list = True
            return table
        if isinstance(value, TdsHash):
            return HashPart(value)
        if isinstance(value, Mapping):
            return TablePart(_entries(value))
        if isinstance(value, Tensor):
            value = self._fetched(value) if value.is_cuda else value.numpy()
        elif is_on_device(value):
            value = value.get() if hasattr(value, "get") else on_host(value)
        if is_ndarray(value):
            tensor = TensorPart(storable(value))
            self.tensors.append(tensor)
            return tensor
        if isinstance(value, Storage):
            value = TorchStorage(self._elements(value))
        if isinstance(value, TorchStorage):
            storage = StoragePart(np.ascontiguousarray(storable(value.data)))
            self.storages.append(storage)
            return storage
        if isinstance(value, TorchFunction):
            return FunctionPart(value)
        if isinstance(value, TorchObject):
            payload = [*value.header, value.fields][: CLASS_PAYLOADS.get(value.torch_class, 1)]
            return ObjectPart(value.torch_class, value.version, payload)
        if hasattr(value, "_to_fields"):
            return _module(value)
        raise T7Error(f"a value of type {type(value).__name__} cannot be saved in a .t7 file")

    def _elements(self, storage: Storage) -> Array:
        """The elements of a storage, fetched from a device once."""
        found = self.fetched.get(storage)
        if found is None:
            found = self.fetched[storage] = storage.numpy()
        return found

    def _fetched(self, tensor: Tensor) -> Array:
        """The array for a tensor on a device; those that share a storage share memory."""
        if tensor.storage is None or not tensor.size:
            return np.empty(0, tensor.dtype)
        elements = self._elements(tensor.storage)
        steps = [stride * elements.itemsize for stride in tensor.strides]
        start = tensor.storage_offset * elements.itemsize
        array: Array = np.ndarray(tensor.shape, tensor.dtype, elements, start, steps)
        return array

    def _place(self) -> None:
        """Gives tensors and storages that share memory one storage."""
        tensors = [tensor for tensor in self.tensors if tensor.array.size]
        storages = [storage for storage in self.storages if storage.array.size]
        arrays = [tensor.array for tensor in tensors] + [storage.array for storage in storages]
        regions = regions_of(arrays)
        written: dict[int, StoragePart] = {}
        for storage, region in zip(storages, regions[len(tensors) :], strict=True):
            if region.size == storage.array.size:
                storage.same = written.setdefault(id(region), storage)
        for tensor, region in zip(tensors, regions, strict=False):
            if id(region) not in written:
                written[id(region)] = StoragePart(region.elements())
            tensor.place_in(written[id(region)], region)


def _storage_of(value: list[Any], dtype: Any) -> TorchStorage:
    """The storage of a list that stands for one in Lua."""
    try:
        return TorchStorage(np.array(value, dtype))
    except (OverflowError, TypeError, ValueError) as error:
        raise T7Error(f"a {type(value).__name__} holds what is no such number: {error}") from None


def _module(module: Any) -> ObjectPart:
    """An object of :mod:`pythnn.nn`."""
    name, fields = module.typename(), dict(module._to_fields())
    if isinstance(fields.get("_type"), str):
        fields["_type"] = cpu_type_name(fields["_type"])
    payload: list[Any] = [fields]
    if CLASS_PAYLOADS.get(name) == 2:
        payload = [[fields.get("_type", ""), fields.get("device", 1)], fields]
    return ObjectPart(name, CLASS_VERSIONS.get(name, 1), payload)


def _double(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if isinstance(value, (int, np.integer)) and (math.isinf(number) or int(number) != value):
        raise T7Error(f"the int {value} is no double, and Lua has no other numbers")
    return number


def _entries(table: Mapping[Any, Any]) -> list[Any]:
    """Keys and values in turn; None stands for no entry, as nil in Lua."""
    entries = []
    for key, value in table.items():
        if key is None or (isinstance(key, (float, np.floating)) and math.isnan(key)):
            raise T7Error(f"{key} cannot be a key of a table")
        if value is not None:
            entries += [key, value]
    return entries


def _path(part: Part, i: int) -> str:
    """How to get to the child of a part, in Python's notation."""
    path = ""
    while part.parent is not None:
        if isinstance(part, TablePart):
            path = _entry(part, i) + path
        elif isinstance(part, VecPart):
            path = f"[{i}]{path}"
        elif isinstance(part, FunctionPart):
            path = f".upvalues{path}"
        part, i = part.parent, part.place
    return f"value{path}"


def _entry(table: TablePart, i: int) -> str:
    if i % 2 == 0:
        return ", a key"
    key = table.children[i - 1]
    if isinstance(key, bytes):
        return f"[{key.decode('utf-8', 'replace')!r}]"
    if isinstance(key, float) and key.is_integer():
        return f"[{int(key) - table.is_list}]"
    return f"[{key!r}]"
