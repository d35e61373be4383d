"""Tensors in the memory of CUDA devices."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._cuda import cupy
from .._cuda.arrays import DeviceArray, look_at
from .._cuda.state import DeviceState, state_of
from .._errors import THNNArgumentError, THNNError
from .._overlap import overlaps_itself
from .host import Tensor, is_on_device
from .kinds import DTYPES, KINDS, Array, Kind, kind_of_dtype
from .layouts import LAYOUTS
from .storage import Storage, dense_strides

__all__ = ["CudaStorage", "CudaTensor"]

_NAMES = ("Cuda", "CudaDouble", "CudaLong", "CudaInt")


def _device_index(function: str, position: int, device: str | None) -> int:
    """The number in "cuda:1"; that of CuPy's current device for "cuda"."""
    found = re.fullmatch(r"cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if found is None:
        raise THNNArgumentError.expected(
            function, position, "device", "'cpu', 'cuda' or 'cuda:<number>'", repr(device)
        )
    return cupy.current_device() if found[1] is None else int(found[1])


def _call(kind: int, device: int, function: str, *arguments: Any) -> Any:
    """Calls ``TH<name>_<function>`` with this thread's state, such as Tensor_fill."""
    state = state_of(device)
    name = f"TH{_NAMES[kind]}{function}"
    if hasattr(state.package.native, f"call_{name}"):
        return state.package.call(name, state.c, *arguments)
    return state.package.value(name, state.c, *arguments)


def _own(kind: int, state: DeviceState, what: str, create: str, *arguments: Any) -> Any:
    """A C tensor or storage."""
    pointer = f"TH{_NAMES[kind]}{what} *"
    made = getattr(state.package.native, f"pythnn_ownCuda{create}")
    return state.package.own(pointer, made, state.c, kind, *arguments)


def _new_storage(kind: int, device: int, size: int) -> Any:
    return _own(kind, state_of(device), "Storage", "Storage", size)


def _strided(
    kind: int, device: int, storage: Any, offset: int, shape: Sequence[int], strides: Sequence[int]
) -> Any:
    """A C tensor over a storage."""
    state = state_of(device)
    sizes, steps = list(shape), list(strides) or state.package.ffi.NULL
    return _own(kind, state, "Tensor", "Tensor", storage, offset, len(sizes), sizes, steps)


def _new(kind: int, device: int, shape: Sequence[int]) -> Any:
    """A C tensor with memory of its own; () for an empty one."""
    if not shape:
        return _strided(kind, device, state_of(device).package.ffi.NULL, 0, (), ())
    size = int(np.prod(shape, dtype=object))
    if size >= 2**60:
        raise THNNError(f"not enough memory: a tensor of {size} elements is too large")
    storage = _new_storage(kind, device, size)
    return _strided(kind, device, storage, 0, shape, dense_strides(shape))


class CudaStorage(Storage):
    """The memory that tensors on a device share: see :attr:`Tensor.storage`."""

    __slots__ = ("_device",)

    _device: int

    @classmethod
    def over(cls, pointer: Any, kind: int, device: int) -> CudaStorage:
        """The object for a C storage: the same one as long as somebody has it."""
        state = state_of(device)
        address = int(state.package.ffi.cast("intptr_t", pointer))
        known = _known_storages.get(address)
        if known is not None:
            return known
        self: CudaStorage = object.__new__(cls)
        self._kind, self._device = kind, device
        self._c = _own(kind, state, "Storage", "StorageReference", pointer)
        return _known_storages.setdefault(address, self)

    @property
    def device(self) -> str:
        """Where the memory is: "cuda:0" and so on."""
        return f"cuda:{self._device}"

    def tensor(self) -> CudaTensor:
        """All elements as a one-dimensional tensor."""
        pointer = _strided(self._kind, self._device, self._c, 0, (self.size,), (1,))
        return CudaTensor.over(pointer, self._kind, self._device)

    def numpy(self) -> Array:
        """All elements, copied to the CPU's memory."""
        return self.tensor().host_array()

    def __deepcopy__(self, memo: dict[int, Any]) -> CudaStorage:
        return _storage_from(self._kind, self._device, self.tensor())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_storage_from, (self._kind, self._device, self.numpy()))


_known_storages: weakref.WeakValueDictionary[int, CudaStorage] = weakref.WeakValueDictionary()


def _storage_from(kind: int, device: int, elements: Any) -> CudaStorage:
    storage = CudaStorage.over(_new_storage(kind, device, elements.size), kind, device)
    if elements.size:
        storage.tensor().copy_from(elements)
    return storage


class CudaTensor(Tensor):
    """A :class:`pythnn.Tensor` on a device; made by ``Tensor(cupy_array)`` or :meth:`Tensor.to`.

    Work on it is queued, on CuPy's current stream where CuPy is imported. What needs its elements
    (:meth:`tolist`, printing, :meth:`cpu`) waits for the device.
    """

    __slots__ = ("_device",)

    _device: int
    is_cuda = True

    def __init__(
        self,
        source: ArrayLike | Tensor | None = None,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> None:
        if source is not None and not is_on_device(source):
            source = Tensor(source, dtype=dtype)
        elif source is not None and not isinstance(source, CudaTensor):
            source = CudaTensor.reading(source, "Tensor")
        if device is not None or not isinstance(source, CudaTensor):
            self._device = _device_index("Tensor", 3, device)
        else:
            self._device = source._device
        wanted = np.dtype(dtype) if isinstance(source, Tensor) and dtype else None
        if isinstance(source, Tensor):
            wanted = wanted or source.dtype
            shape: tuple[int, ...] = source.shape if source.size else ()
        else:
            wanted, shape = Tensor(dtype=dtype).dtype, ()
        kind = kind_of_dtype(wanted)
        if kind is None:
            Tensor(dtype=wanted)  # raises
            raise AssertionError
        self._kind, self._c = kind.index, _new(kind.index, self._device, shape)
        if isinstance(source, Tensor) and source.size:
            self.copy_from(source)

    @classmethod
    def over(cls, pointer: Any, kind: int, device: int) -> CudaTensor:
        """A Tensor for a C tensor; the pointer owns it."""
        self: CudaTensor = object.__new__(cls)
        self._kind, self._c, self._device = kind, pointer, device
        return self

    @classmethod
    def from_array(
        cls, array: Any, function: str = "Tensor.from_array", position: int = 1
    ) -> CudaTensor:
        """A tensor over the memory of an array on a device; such a tensor cannot grow."""

        def refuse(found: str) -> THNNArgumentError:
            wanted = "an array with positive strides, of float32, float64, int64 or int32"
            return THNNArgumentError.expected(function, position, "array", wanted, found)

        try:
            found = look_at(array)
        except ValueError as error:
            raise refuse(str(error)) from None
        kind = kind_of_dtype(found.dtype)
        if kind is None:
            raise refuse(f"one of {found.dtype}")
        if not found.size:
            return cls(dtype=kind.dtype, device=f"cuda:{found.device_index}")
        return cls._over_array(found, kind, refuse)

    @classmethod
    def reading(cls, array: Any, function: str) -> CudaTensor:
        """A tensor with the elements of any array on a device: over its memory where possible."""
        try:
            return cls.from_array(array, function)
        except THNNArgumentError:
            if not hasattr(array, "copy"):
                raise
            return cls.from_array(array.copy(), function)

    @classmethod
    def _over_array(cls, found: DeviceArray, kind: Kind, refuse: Any) -> CudaTensor:
        shape, item = found.shape or (1,), kind.itemsize
        strides = found.strides or (item,)
        moving = [d for n, d in zip(shape, strides, strict=True) if n > 1]
        if found.address % item or any(d <= 0 or d % item for d in moving):
            raise refuse(f"strides of {found.strides} bytes")
        if found.read_only:
            raise refuse("a read-only one")
        if overlaps_itself(found):
            raise refuse("elements that share memory")
        steps = [d // item if n > 1 else 1 for n, d in zip(shape, strides, strict=True)]
        span = 1 + sum((n - 1) * d for n, d in zip(shape, steps, strict=True))
        state = state_of(found.device_index)
        if found.stream is not None:
            state.order(found.stream, state.stream)
        owner = state.package.ffi.cast("void *", id(found.keep))
        storage = _own(kind.index, state, "Storage", "ArrayStorage", found.address, span, owner)
        pointer = _strided(kind.index, found.device_index, storage, 0, shape, steps)
        return cls.over(pointer, kind.index, found.device_index)

    # ---- What it is

    def _call(self, function: str, *arguments: Any) -> Any:
        pointer = self._open()
        return _call(self._kind, self._device, f"Tensor_{function}", pointer, *arguments)

    @property
    def device(self) -> str:
        """Where the memory is: "cuda:0" and so on."""
        return f"cuda:{self._device}"

    @property
    def device_index(self) -> int:
        """The number of the device."""
        return self._device

    @property
    def storage(self) -> Storage | None:
        """The memory, which other tensors may share."""
        pointer = self._open().storage
        return CudaStorage.over(pointer, self._kind, self._device) if pointer else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; (0,) when empty."""
        c = self._open()
        return tuple(c.size[i] for i in range(c.nDimension)) or (0,)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, in elements."""
        c = self._open()
        return tuple(c.stride[i] for i in range(c.nDimension)) or (1,)

    @property
    def address(self) -> int:
        """Where the first element is, on the device; 0 without memory."""
        start = self._storage_address()
        return start + self.storage_offset * KINDS[self._kind].itemsize if start else 0

    def _storage_address(self) -> int:
        storage = self._open().storage
        ffi = state_of(self._device).package.ffi
        return int(ffi.cast("uintptr_t", storage.data)) if storage else 0

    @property
    def is_exported(self) -> bool:
        """Whether somebody may still look at the memory through an array, or it is an array's."""
        address = self._storage_address()
        return bool(address) and (not self._is_resizable() or cupy.is_exported(address))

    def _is_resizable(self) -> bool:
        native = state_of(self._device).package.native
        return bool(ord(self._open().storage.flag) & native.TH_STORAGE_RESIZABLE)

    # ---- Arrays

    def array(self) -> Any:
        """A CuPy array that shares the tensor's memory, and keeps it. Imports CuPy."""
        item = KINDS[self._kind].itemsize
        if not self.size:
            module = cupy.library()
            with module.cuda.Device(self._device):
                return module.empty((0,), self.dtype)
        storage = self.storage
        return cupy.array_over(
            self._storage_address(),
            self.storage_offset * item,
            int(self._open().storage.size) * item,
            self._device,
            self.shape,
            tuple(stride * item for stride in self.strides),
            self.dtype,
            storage,
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        item = KINDS[self._kind].itemsize
        stream = state_of(self._device).stream
        return {
            "version": 3,
            "typestr": self.dtype.str,
            "shape": self.shape,
            "strides": tuple(stride * item for stride in self.strides),
            "data": (self.address, False),
            "stream": stream or 1,
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        raise AttributeError("the Tensor is on a device")

    def __array__(self, *_: Any, **__: Any) -> Array:
        return self.numpy()

    def __dlpack__(self, **options: Any) -> Any:
        return self.array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._device)

    def numpy(self) -> Array:
        """Raises THNNError: ``tensor.cpu().numpy()`` copies."""
        raise THNNError(
            f"the Tensor is on {self.device}: .cpu().numpy() copies it to the CPU's memory, "
            ".array() is a CuPy array that shares it"
        )

    def host_array(self) -> Array:
        """The elements, copied to the CPU's memory."""
        if not self.size:
            return np.empty((0,), self.dtype)
        dense = self.contiguous()
        if dense._open().storage.size != self.size:
            dense = dense.clone()
        memory = np.empty(self.shape, self.dtype)
        state = state_of(self._device)
        pointer = state.package.ffi.from_buffer(f"{_C_TYPES[self._kind]} *", memory)
        _call(self._kind, self._device, "Storage_copyToHost", dense._open().storage, pointer)
        return memory

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self.host_array().tolist()

    def item(self) -> float | int:
        """The only element; THNNError when there is not exactly one."""
        if self.size != 1:
            raise THNNError(f"item() wants one element, the Tensor has {self.size}")
        value: float | int = self.host_array().item()
        return value

    # ---- Contents

    def zero(self) -> Tensor:
        """Sets all elements to 0; returns the tensor."""
        return self.fill(0)

    def fill(self, value: float) -> Tensor:
        """Sets all elements; returns the tensor."""
        if self._open().nDimension == 0:
            return self
        return super().fill(value)

    def copy_from(self, source: Tensor | ArrayLike) -> Tensor:
        """Copies as many elements as the tensor has, in any shape and type; returns the tensor.

        Between element types, and from another device, the elements go through the CPU's memory.
        Raises THNNArgumentError when the numbers of elements differ.
        """
        if is_on_device(source) and not isinstance(source, CudaTensor):
            source = CudaTensor.reading(source, "Tensor.copy_from")
        found = source.size if isinstance(source, Tensor) else np.asarray(source).size
        if found != self.size:
            raise THNNArgumentError.expected(
                "Tensor.copy_from", 1, "source", f"{self.size} elements", f"{found}"
            )
        if not found:
            return self
        near = isinstance(source, CudaTensor) and source._device == self._device
        if not (near and isinstance(source, CudaTensor) and source._kind == self._kind):
            source = self._upload(source)
        self._call("copy", source._open())
        return self

    def _upload(self, source: Any) -> CudaTensor:
        """A contiguous tensor with the elements of one in other memory."""
        values = source.host_array() if isinstance(source, CudaTensor) else source
        values = values.numpy() if isinstance(values, Tensor) else np.asarray(values)
        dense = np.ascontiguousarray(values, self.dtype)
        storage = _new_storage(self._kind, self._device, dense.size)
        ffi = state_of(self._device).package.ffi
        pointer = ffi.from_buffer(f"{_C_TYPES[self._kind]} *", dense)
        _call(self._kind, self._device, "Storage_copyFromHost", storage, pointer)
        c = _strided(self._kind, self._device, storage, 0, (dense.size,), (1,))
        return CudaTensor.over(c, self._kind, self._device)

    # ---- Views

    def set(self, source: Tensor) -> Tensor:
        """Makes this tensor the same view of the same storage as another; returns the tensor."""
        if not isinstance(source, CudaTensor) or source._device != self._device:
            raise THNNArgumentError.expected(
                "Tensor.set",
                1,
                "source",
                f"a Tensor on {self.device}",
                getattr(source, "device", type(source).__name__),
            )
        return super().set(source)

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Tensor:
        """Any view of the storage, which must be large enough; strides in elements."""
        pointer = _strided(self._kind, self._device, self._open().storage, offset, shape, strides)
        return CudaTensor.over(pointer, self._kind, self._device)

    def _view(self, function: str | None = None, *arguments: Any) -> Tensor:
        shape, strides, offset = list(self.shape), list(self.strides), self.storage_offset
        if not self.size:
            return CudaTensor(dtype=self.dtype, device=self.device)
        if function is not None:
            offset += LAYOUTS[function](shape, strides, *arguments)
        return self.as_strided(shape, strides, offset)

    # ---- Life

    def __reduce__(self) -> tuple[Any, ...]:
        empty = not self._open().nDimension
        shape, strides = ((), ()) if empty else (self.shape, self.strides)
        storage = None if empty else self.storage
        state = (self._kind, self._device, storage, self.storage_offset, shape, strides)
        return (_rebuild, state)

    def __repr__(self) -> str:
        if self._c is None:
            return "Tensor(closed)"
        values = self.host_array()
        body = np.array2string(values, separator=", ", prefix="Tensor(", threshold=200)
        return f"Tensor({body}, shape={self.shape}, dtype={self.dtype}, device='{self.device}')"


_C_TYPES = ("float", "double", "int64_t", "int")


def _rebuild(
    kind: int,
    device: int,
    storage: CudaStorage | None,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> CudaTensor:
    if storage is None:
        return CudaTensor(dtype=DTYPES[kind], device=f"cuda:{device}")
    pointer = _strided(kind, device, storage._c, offset, shape, strides)
    return CudaTensor.over(pointer, kind, device)
