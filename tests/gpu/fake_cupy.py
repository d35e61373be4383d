"""As much of CuPy as pythnn uses, on the emulated devices.

Arrays lie in the emulation's device memory, which only copies and kernels can touch: code that
reads them as host memory ends the process. Arithmetic goes through numpy, and refuses numpy's
arrays as CuPy does; indices out of range come back in at the other end. What is asked for is
counted. There is nothing here that CuPy 13, the oldest that pythnn takes, does not have.
"""

from __future__ import annotations

import ctypes
import math
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import pythnn_cuda_emulated._cffi  # noqa: F401 (loads the emulation)

_runtime = ctypes.CDLL("libcuemu.so")


class CUDAError(RuntimeError):
    pass


def _call(name: str, *arguments: Any) -> None:
    if getattr(_runtime, name)(*arguments):
        _runtime.cudaGetLastError()
        raise CUDAError(name)


def _copy(to: int, source: int, nbytes: int) -> None:
    any_direction = 4
    _call(
        "cudaMemcpy", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(nbytes),
        any_direction,
    )  # fmt: skip


# ---- cupy.cuda


class OutOfMemoryError(MemoryError):
    pass


class Device:
    """A device; current within a ``with`` block."""

    def __init__(self, number: int | None = None) -> None:
        current = ctypes.c_int()
        _call("cudaGetDevice", ctypes.byref(current))
        self.id = current.value if number is None else int(number)

    def __enter__(self) -> Device:
        self._before = Device().id
        _call("cudaSetDevice", self.id)
        return self

    def __exit__(self, *_: object) -> None:
        _call("cudaSetDevice", self._before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id


class Stream:
    """A stream of the current device; current for that within a ``with`` block."""

    def __init__(self) -> None:
        handle = ctypes.c_void_p()
        _call("cudaStreamCreateWithFlags", ctypes.byref(handle), 0)
        self.ptr = handle.value or 0
        self.device = Device().id

    def __enter__(self) -> Stream:
        _streams.setdefault(self.device, []).append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _streams[self.device].pop()


_streams: dict[int, list[Any]] = {}
_null = types.SimpleNamespace(ptr=0)


def get_current_stream(device: int | None = None) -> Any:
    stack = _streams.get(Device().id if device is None else device)
    return stack[-1] if stack else _null


class Memory:
    """A block of device memory."""

    def __init__(self, size: int, pool: Pool) -> None:
        pointer = ctypes.c_void_p()
        try:
            _call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
        except CUDAError:
            raise OutOfMemoryError(f"{size} bytes") from None
        self.ptr, self.size, self.pool = pointer.value or 0, size, pool
        self.device_id = Device().id

    def __del__(self) -> None:
        if getattr(self, "ptr", 0):
            self.pool.live -= 1
            _runtime.cudaFree(ctypes.c_void_p(self.ptr))


class UnownedMemory:
    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr, self.size, self.owner, self.device_id = ptr, size, owner, device_id


class MemoryPointer:
    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset

    @property
    def device(self) -> Device:
        return Device(self.mem.device_id)


class Pool:
    """Counts what it gives out; fails when asked to."""

    def __init__(self) -> None:
        self.given = self.live = 0
        self.streams: list[int] = []
        self.error: BaseException | None = None

    def malloc(self, size: int) -> MemoryPointer:
        if self.error is not None:
            raise self.error
        memory = Memory(size, self)
        self.given += 1
        self.live += 1
        self.streams.append(get_current_stream().ptr)
        return MemoryPointer(memory, 0)


pool = Pool()


def alloc(size: int) -> MemoryPointer:
    return pool.malloc(size)


# ---- cupy.ndarray

waits: list[str] = []
"""One entry for each time that elements were asked for, which waits for a device."""


def _dense(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    return (
        np.empty(shape, np.dtype(f"V{itemsize}")).strides if math.prod(shape) else (0,) * len(shape)
    )


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):  # noqa: N801
    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None
    ) -> None:
        self.shape: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise TypeError(f"Unsupported dtype {self.dtype}")
        self.strides = _dense(self.shape, self.itemsize) if strides is None else tuple(strides)
        self.data = alloc(max(self.nbytes, 1)) if memptr is None else memptr

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def device(self) -> Device:
        return self.data.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "typestr": self.dtype.str,
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.data.ptr if self.size else 0, False),
            "stream": get_current_stream(self.device.id).ptr or 1,
        }

    def _span(self) -> tuple[int, int]:
        """First byte, relative to the first element, and number of bytes."""
        reach = [(n - 1) * d for n, d in zip(self.shape, self.strides, strict=True)]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        return low, high - low + self.itemsize

    def _host(self) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of the span, and the elements as a view of them."""
        low, nbytes = self._span()
        memory = np.empty(nbytes, np.uint8)
        _copy(memory.ctypes.data, self.data.ptr + low, nbytes)
        return memory, np.ndarray(self.shape, self.dtype, memory, -low, self.strides)

    def get(self) -> np.ndarray:
        waits.append("get")
        return self._values()

    def _values(self) -> np.ndarray:
        return self._host()[1].copy() if self.size else np.empty(self.shape, self.dtype)

    def copy(self) -> ndarray:
        return array(self._values())

    def __reduce__(self) -> Any:
        return (array, (self._values(),))

    def __getitem__(self, index: Any) -> ndarray:
        index = index if isinstance(index, tuple) else (index,)
        _refuse_numpy(index)
        if any(isinstance(entry, (ndarray, list)) for entry in index):
            return array(self._values()[_host_index(index, self.shape)])
        shadow = self._shadow()
        view = shadow[index if Ellipsis in index else (*index, Ellipsis)]
        start, first = (x.__array_interface__["data"][0] for x in (view, shadow))
        memptr = MemoryPointer(self.data.mem, self.data.ptr - self.data.mem.ptr + start - first)
        return ndarray(np.shape(view), self.dtype, memptr, view.strides)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = index if isinstance(index, tuple) else (index,)
        _refuse_numpy([value])
        self._assign(index, asnumpy(value))

    def _assign(self, index: tuple[Any, ...], value: Any) -> None:
        if not self.size:
            return
        low, nbytes = self._span()
        memory, elements = self._host()
        elements[_host_index(index, self.shape)] = value
        _copy(self.data.ptr + low, memory.ctypes.data, nbytes)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any
    ) -> Any:
        _refuse_numpy(inputs)
        if method != "__call__":
            return NotImplemented
        result = getattr(ufunc, method)(*map(asnumpy, inputs), **options)
        if out:
            out[0]._assign((...,), result)
            return out[0]
        return array(result)

    def __array_function__(self, function: Any, _: Any, inputs: Any, options: Any) -> Any:
        return getattr(sys.modules[__name__], function.__name__)(*inputs, **options)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __format__(self, specification: str) -> str:
        return format(self.get(), specification)

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def __getattr__(self, name: str) -> Any:
        """Methods that change nothing and make no views: numpy's, on a copy."""
        if name not in _METHODS:
            raise AttributeError(name)

        def method(*arguments: Any, **options: Any) -> Any:
            _refuse_numpy(arguments)
            return _wrap(getattr(self._values(), name)(*map(asnumpy, arguments), **options))

        return method

    def _shadow(self) -> np.ndarray:
        """An array of this layout, whose elements must not be touched."""
        somewhere = np.empty(1, self.dtype)
        return np.lib.stride_tricks.as_strided(somewhere, self.shape, self.strides)

    def _view(self, function: Any) -> ndarray:
        """What a numpy function that makes views makes of this array."""
        view = function(self._shadow())
        return ndarray(view.shape, self.dtype, self.data, view.strides)

    def transpose(self, *axes: Any) -> ndarray:
        return self._view(lambda a: a.transpose(*axes))

    @property
    def T(self) -> ndarray:  # noqa: N802
        return self.transpose()

    def swapaxes(self, *axes: Any) -> ndarray:
        return self._view(lambda a: a.swapaxes(*axes))

    def squeeze(self, *axes: Any) -> ndarray:
        return self._view(lambda a: a.squeeze(*axes))

    def reshape(self, *shape: Any) -> ndarray:
        """A view where the layout allows it, else a copy."""
        if not self.size:
            return array(self._values().reshape(*shape))
        memory, elements = self._host()
        found = elements.reshape(*shape)
        if not np.may_share_memory(found, memory):
            return array(found)
        return ndarray(found.shape, self.dtype, self.data, found.strides)

    def ravel(self) -> ndarray:
        return self.reshape(-1)


_METHODS = frozenset(
    """all any argmax argmin argsort astype clip cumsum dot flatten max mean min prod repeat round
    std sum take var""".split()  # noqa: SIM905
)


def _refuse_numpy(values: Any) -> None:
    """CuPy never takes numpy's arrays for its own."""
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if isinstance(value, (list, tuple)):
            _refuse_numpy(value)


def _host_index(index: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index for numpy; ints in arrays are taken modulo the size, as CuPy takes them."""
    _refuse_numpy(index)
    used = sum(0 if entry is None or entry is Ellipsis else _is_mask(entry) or 1 for entry in index)
    found, axis = [], 0
    for entry in index:
        if entry is Ellipsis:
            axis += len(shape) - used
        elif _is_mask(entry):
            entry = entry._values()
            axis += entry.ndim
        elif isinstance(entry, (ndarray, list)):
            entry = np.asarray(asnumpy(entry)) % shape[axis]
            axis += 1
        elif entry is not None:
            axis += 1
        found.append(entry)
    return tuple(found)


def _is_mask(entry: Any) -> int:
    """The number of dimensions of a mask; 0 for what is none."""
    return entry.ndim if isinstance(entry, ndarray) and entry.dtype == bool else 0


# ---- Functions


def asnumpy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(asnumpy, value))
    return value._values() if isinstance(value, ndarray) else value


def array(value: Any, dtype: Any = None) -> ndarray:
    """A copy of an array of numpy's, of CuPy's, or of lists."""
    values = np.asarray(asnumpy(value), dtype)
    made = ndarray(values.shape, values.dtype)
    if made.size:
        made._assign((...,), values)
    return made


def asarray(value: Any, dtype: Any = None) -> ndarray:
    if hasattr(value, "__cuda_array_interface__") and not isinstance(value, ndarray):
        value = _over(value)
    if isinstance(value, ndarray) and dtype in (None, value.dtype):
        return value
    return array(value, dtype)


def _over(value: Any) -> ndarray:
    """An array over another one's memory."""
    interface = value.__cuda_array_interface__
    dtype, shape = np.dtype(interface["typestr"]), interface["shape"]
    strides = interface.get("strides") or _dense(shape, dtype.itemsize)
    low = sum((n - 1) * d for n, d in zip(shape, strides, strict=True) if d < 0)
    memory = UnownedMemory(interface["data"][0] + low, 0, value, _device_of(interface["data"][0]))
    return ndarray(shape, dtype, MemoryPointer(memory, -low), strides)


def _device_of(address: int) -> int:
    from pythnn._cuda.package import load

    package = load()
    return int(package.value("THCState_deviceOfMemory", package.ffi.cast("void *", address)))


def from_dlpack(value: Any) -> ndarray:
    from pythnn import Tensor

    return Tensor.from_array(value).array()


def copyto(to: ndarray, source: Any) -> None:
    to[...] = source


def empty(shape: Any, dtype: Any = float) -> ndarray:
    return ndarray(shape, dtype)


def _wrap(result: Any) -> Any:
    return array(result) if isinstance(result, (np.ndarray, np.generic)) else result


# Functions that make views; that make arrays of arrays; and those that are told a shape and a type.
_VIEWS = ("broadcast_to", "expand_dims", "moveaxis", "squeeze", "swapaxes", "transpose")
_FUNCTIONS = frozenset(
    """allclose argmax argmin argsort array_equal ascontiguousarray atleast_1d atleast_2d bincount
    clip concatenate cumsum dot empty_like flip full_like matmul maximum mean minimum ones_like pad
    prod repeat shape sort split stack sum take take_along_axis tensordot tile unique where
    zeros_like""".split()  # noqa: SIM905
)
_MAKING = frozenset({"arange", "full", "ones", "zeros"})


def __getattr__(name: str) -> Any:
    found = getattr(np, name)
    if name in _VIEWS:
        return lambda a, *rest, **named: a._view(lambda shadow: found(shadow, *rest, **named))
    if isinstance(found, (type, np.ufunc)) or not callable(found):
        return found
    if name not in _FUNCTIONS | _MAKING:
        raise AttributeError(f"fake_cupy has no {name}: has CuPy 13?")

    def function(*arguments: Any, **options: Any) -> Any:
        target = options.pop("out", None)
        _refuse_numpy([arguments, target, *options.values()])
        if target is not None:
            target._assign((...,), found(*map(asnumpy, arguments), **options))
            return target
        result = found(*map(asnumpy, arguments), **options)
        return [_wrap(part) for part in result] if name == "split" else _wrap(result)

    return function


cuda = types.SimpleNamespace(
    Device=Device,
    MemoryPointer=MemoryPointer,
    Stream=Stream,
    UnownedMemory=UnownedMemory,
    alloc=alloc,
    get_current_stream=get_current_stream,
)


def install() -> None:
    """Makes ``import cupy`` find this module."""
    sys.modules["cupy"] = sys.modules[__name__]
