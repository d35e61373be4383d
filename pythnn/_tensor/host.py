"""Tensors: memory of the C library, seen from Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._closing import Closing
from .._errors import THNNArgumentError, THNNError
from .._later import device_tensors
from .._library import ffi
from .._plain import MASKED, UNMASKED, is_masked, is_ndarray, plain
from .arguments import ints, one_int, refused_array, shape_of, steps_in, wanted_kind
from .kinds import DTYPE_NAMES, DTYPES, KINDS, Array, Kind, kind_of_dtype
from .noting import current
from .storage import (
    Storage,
    _storage_from,  # noqa: F401 (older pickles look for it here)
    dense_strides,
    export,
    is_shared,
    strided,
)

__all__ = ["Tensor", "array_module", "is_on_device", "on_host"]

_DLPACK_CUDA, _DLPACK_MANAGED = 2, 13


def is_on_device(value: Any) -> bool:
    """Whether a value is an array or Tensor on a CUDA device."""
    if value is None or issubclass(type(value), (np.ndarray, int, float, list, tuple)):
        return False
    if isinstance(value, Tensor):
        return value.is_cuda
    if hasattr(value, "__cuda_array_interface__"):
        return True
    ask = getattr(value, "__dlpack_device__", None)
    return ask is not None and ask()[0] in (_DLPACK_CUDA, _DLPACK_MANAGED)


def array_module(value: Any) -> Any:
    """The library (`xp`) of an array: cupy on a device, else numpy."""
    if not is_on_device(value):
        return np
    from .._cuda.cupy import library

    return library()


def _array_of(source: Any, function: str) -> Array:
    """The array of a Tensor, or what numpy makes of something else; never one with a mask."""
    if isinstance(source, Tensor):
        return source.numpy()
    if is_masked(source):
        raise THNNArgumentError.expected(function, 1, "source", UNMASKED, MASKED)
    try:
        return plain(np.asarray(source))
    except (TypeError, ValueError) as error:  # lists of different lengths, or in themselves
        found = f"what numpy makes no array of: {error}"
        raise THNNArgumentError.expected(function, 1, "source", "numbers", found) from error


def on_host(value: Any) -> Any:
    """The elements of an array or Tensor on a device, as a numpy array."""
    on_device = device_tensors.CudaTensor
    tensor = value if isinstance(value, on_device) else on_device.reading(value, "Tensor")
    return tensor.host_array()


class Tensor(Closing):
    """A tensor of the C library: float32, float64, int64 or int32.

    Parameters
    ----------
    source : array_like or Tensor, optional
        What to copy. Without it the tensor is empty: it has the shape (0,) and no memory.
    dtype : optional
        The type of the elements; by default the source's. An empty tensor needs it.
    device : str, optional
        Where it is: "cpu", or "cuda:0" and so on; by default where the source does.

    C functions resize tensors that they write to; arrays made of a tensor before keep their shape
    and contents then, since growing takes fresh memory while an array still refers to the old.

    A tensor has no dimensions of size 0: arrays without elements become the empty tensor. Arrays
    without dimensions become one element. ``strides`` count elements. Dimensions and indices count
    from 0, negative ones from the end.

    Raises THNNArgumentError for other element types.
    """

    __slots__ = ("__weakref__", "_c", "_kind")

    _c: Any
    _kind: int
    is_cuda = False
    """Whether it is on a CUDA device."""

    def __new__(
        cls,
        source: Any = None,
        *,
        dtype: DTypeLike | None = None,  # noqa: ARG004
        device: str | None = None,
    ) -> Tensor:
        """A tensor of the class for its device."""
        if cls is Tensor and (device is not None or is_on_device(source)) and device != "cpu":
            made: Tensor = object.__new__(device_tensors.CudaTensor)
            return made
        return object.__new__(cls)

    def __init__(
        self,
        source: ArrayLike | Tensor | None = None,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,  # noqa: ARG002 (__new__ has looked at it)
    ) -> None:
        if is_on_device(source):
            source = on_host(source)
        if source is None:
            if dtype is None:
                raise THNNArgumentError.expected("Tensor", 2, "dtype", DTYPE_NAMES, "None")
            kind = wanted_kind("Tensor", 2, dtype)
            self._kind, self._c = kind.index, kind.new(())
            return
        array = _array_of(source, "Tensor")
        kind = wanted_kind("Tensor", 2, array.dtype if dtype is None else dtype)
        if array.dtype.kind not in "fiub":
            raise THNNArgumentError.expected(
                "Tensor", 1, "source", "numbers", f"an array of {array.dtype}"
            )
        self._kind = kind.index
        self._c = kind.new(array.shape or (1,) if array.size else ())
        if array.size:
            self.numpy()[...] = array

    @classmethod
    def _of(cls, pointer: Any, kind: Kind) -> Tensor:
        """A Tensor for a C tensor; the pointer owns it."""
        self = object.__new__(cls)
        self._kind, self._c = kind.index, pointer
        return self

    @classmethod
    def empty(cls, *shape: Any, dtype: DTypeLike) -> Tensor:
        """A tensor of this shape with undefined elements."""
        kind = wanted_kind("Tensor.empty", 2, dtype)
        return cls._of(kind.new(shape_of("Tensor.empty", 1, shape)), kind)

    @classmethod
    def zeros(cls, *shape: Any, dtype: DTypeLike) -> Tensor:
        """A tensor of this shape with all elements 0."""
        return cls.empty(*shape, dtype=dtype).zero()

    @classmethod
    def from_numpy(cls, array: Array) -> Tensor:
        """A tensor over an array's memory: writing to one changes the other.

        The array must be writable, aligned, of native byte order, and its strides must be
        positive, so that no two elements share memory; else THNNArgumentError. Such a tensor
        cannot grow.
        """
        if not is_ndarray(array) or is_masked(array):
            raise refused_array(MASKED if is_masked(array) else type(array).__name__)
        array = plain(array)
        kind = kind_of_dtype(array.dtype)
        if kind is None:
            raise refused_array(f"one of {array.dtype}", f"an array of {DTYPE_NAMES}")
        flags = array.flags
        if not flags.writeable:
            raise refused_array("a read-only one")
        if array.size == 0:
            return cls(dtype=kind.dtype)
        shape = array.shape or (1,)
        if flags.carray:
            storage = kind.new_array_storage(array, array.size)
            return cls._of(strided(kind, storage, 0, shape, ()), kind)
        steps = steps_in(array)
        span = 1 + sum((n - 1) * d for n, d in zip(shape, steps, strict=True))
        storage = kind.new_array_storage(array, span)
        return cls._of(strided(kind, storage, 0, shape, steps), kind)

    @classmethod
    def from_array(cls, array: Any) -> Tensor:
        """A tensor over the memory of an array, of numpy or on a device: see :meth:`from_numpy`.

        On a device the array is CuPy's, or has ``__cuda_array_interface__`` or DLPack.
        """
        if not is_on_device(array):
            return cls.from_numpy(array)
        tensor: Tensor = device_tensors.CudaTensor.from_array(array)
        return tensor

    # ---- Devices

    @property
    def device(self) -> str:
        """Where the memory is: "cpu", or "cuda:0" and so on."""
        return "cpu"

    def to(self, device: str) -> Tensor:
        """The tensor itself when it is on this device, else a contiguous copy there."""
        if device in (self.device, "cuda" if self.is_cuda else self.device):
            return self
        return Tensor(self, device=device)

    def cuda(self, device: int | None = None) -> Tensor:
        """:meth:`to` a CUDA device, by default CuPy's current one, else the first."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Tensor:
        """:meth:`to` the CPU's memory."""
        return self.to("cpu")

    def array(self) -> Any:
        """An array that shares the tensor's memory: :meth:`numpy`'s, or CuPy's on a device."""
        return self.numpy()

    # ---- What it is

    def _open(self) -> Any:
        if self._c is None:
            raise THNNError("the Tensor is closed")
        return self._c

    def _call(self, function: str, *arguments: Any) -> Any:
        """Calls a C function on this tensor."""
        c = self._open() if self._c is None else self._c
        result = KINDS[self._kind].functions[function](c, *arguments)
        if current.tape is not None:
            tape = current.of_thread()
            if tape is not None:
                tape.note(self, function, arguments)
        return result

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return DTYPES[self._kind]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; (0,) when empty."""
        c = self._open() if self._c is None else self._c
        return tuple(ffi.unpack(c.size, c.nDimension)) if c.nDimension else (0,)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, in elements."""
        c = self._open()
        return tuple(ffi.unpack(c.stride, c.nDimension)) if c.nDimension else (1,)

    @property
    def ndim(self) -> int:
        """Number of dimensions; 1 when empty."""
        return int(self._open().nDimension) or 1

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._call("nElement"))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * KINDS[self._kind].itemsize

    @property
    def storage_offset(self) -> int:
        """Where in its storage the tensor begins, in elements."""
        return int(self._open().storageOffset)

    @property
    def storage(self) -> Storage | None:
        """The memory, which other tensors may share; None when a C function took it away."""
        pointer = self._open().storage
        return Storage._of(pointer, KINDS[self._kind]) if pointer else None

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements are next to each other in memory, in C order."""
        return bool(self._call("isContiguous"))

    def shares_storage(self, other: Tensor) -> bool:
        """Whether both are views of one storage."""
        mine, theirs = self._open().storage, other._open().storage
        return bool(mine) and bool(ffi.cast("void *", mine) == ffi.cast("void *", theirs))

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._c is None

    @property
    def address(self) -> int:
        """Where the first element is; 0 without memory."""
        c = self._open()
        data = c.storage.data if c.storage else ffi.NULL
        first = int(ffi.cast("intptr_t", data))
        return first + self.storage_offset * KINDS[self._kind].itemsize if first else 0

    @property
    def is_exported(self) -> bool:
        """Whether somebody may still look at the memory through an array, or it is an array's."""
        return is_shared((self._open() if self._c is None else self._c).storage)

    # ---- Arrays

    def numpy(self) -> Array:
        """An array that shares the tensor's memory.

        It keeps the memory alive, whatever becomes of the tensor.
        """
        if current.tape is not None:
            tape = current.of_thread()
            if tape is not None:
                tape.refuse()
        c = self._open()
        return export(KINDS[self._kind], c.storage, c.storageOffset, self.shape, self.strides)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        array = self.numpy()
        base = array if array.base is None else array.base
        start = 0 if array.base is None else self.storage_offset * array.itemsize
        return {
            "version": 3,
            "typestr": array.dtype.str,
            "shape": array.shape,
            "strides": array.strides,
            "data": base,  # which holds the memory; an address would not
            "offset": start,
        }

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.numpy().__dlpack_device__()
        return int(kind), int(number)

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self.numpy().tolist()

    def item(self) -> float | int:
        """The only element; THNNError when there is not exactly one."""
        if self.size != 1:
            raise THNNError(f"item() wants one element, the Tensor has {self.size}")
        value: float | int = self.numpy().item()
        return value

    def __len__(self) -> int:
        return self.shape[0]

    # ---- Contents

    def fill(self, value: float) -> Tensor:
        """Sets all elements; returns the tensor."""
        try:
            self._call("fill", value)
        except (TypeError, OverflowError) as error:
            raise THNNArgumentError.expected(
                "Tensor.fill", 1, "value", f"a number for {self.dtype}", repr(value)
            ) from error
        return self

    def zero(self) -> Tensor:
        """Sets all elements to 0; returns the tensor."""
        self._call("zero")
        return self

    def copy_from(self, source: Tensor | ArrayLike) -> Tensor:
        """Copies as many elements as the tensor has, in any shape and type; returns the tensor.

        Raises THNNArgumentError when the numbers of elements differ.
        """
        if (
            type(source) is type(self) is Tensor
            and source._kind == self._kind
            and source.size == self.size > 0
            and not self.shares_storage(source)
        ):
            self._call("copy", source._open())
            return self
        if is_on_device(source):
            source = on_host(source)
        array = _array_of(source, "Tensor.copy_from")
        if array.size != self.size:
            raise THNNArgumentError.expected(
                "Tensor.copy_from", 1, "source", f"{self.size} elements", f"{array.size}"
            )
        if array.size:
            self.numpy()[...] = array.reshape(self.shape)
        return self

    def clone(self) -> Tensor:
        """A contiguous copy in memory of its own."""
        if self.is_cuda or not self.size:
            return type(self)(self)
        made = Tensor._of(KINDS[self._kind].new(self.shape), KINDS[self._kind])
        made._call("copy", self._open())
        return made

    def contiguous(self) -> Tensor:
        """A view of the same memory when it is contiguous, else a copy."""
        return self._view() if self.is_contiguous else self.clone()

    def astype(self, dtype: DTypeLike) -> Tensor:
        """A contiguous copy with elements of another type."""
        return type(self)(self, dtype=dtype)

    # ---- Sizes and views

    def resize(self, *shape: Any) -> Tensor:
        """Changes the shape, contents undefined; without arguments to empty. Returns the tensor.

        The storage grows when it is too small and never shrinks. Raises THNNError when it must
        grow and cannot, as that of :meth:`from_numpy`.
        """
        sizes = shape_of("Tensor.resize", 1, shape)
        self._call("resizeNd", len(sizes), list(sizes) or ffi.NULL, ffi.NULL)
        return self

    def set(self, source: Tensor) -> Tensor:
        """Makes this tensor the same view of the same storage as another; returns the tensor."""
        if not isinstance(source, Tensor) or source._kind != self._kind:
            found = str(source.dtype) if isinstance(source, Tensor) else type(source).__name__
            raise THNNArgumentError.expected(
                "Tensor.set", 1, "source", f"a Tensor of {self.dtype}", found
            )
        self._call("set", source._open())
        return self

    def _view(self, function: str | None = None, *arguments: Any) -> Tensor:
        """Another view of the storage, changed by a C function."""
        kind = KINDS[self._kind]
        view = Tensor._of(kind.new_view(self._open()), kind)
        if function is not None:
            view._call(function, ffi.NULL, *arguments)
        elif current.tape is not None:
            tape = current.of_thread()
            if tape is not None:
                tape.meet(view)
        return view

    def _dimension(self, function: str, position: int, dim: int, extra: int = 0) -> int:
        """A dimension counted from 0; `extra` dimensions are about to be added."""
        number = one_int(function, position, "dim", dim)
        count = self.ndim + extra
        if not -count <= number < count:
            raise THNNArgumentError.expected(
                function, position, "dim", f"a dimension from {-count} to {count - 1}", str(dim)
            )
        return number % count

    def select(self, dim: int, index: int) -> Tensor:
        """The slice at an index, as a view with one dimension less; one element stays 1-D."""
        d = self._dimension("Tensor.select", 1, dim)
        place = one_int("Tensor.select", 2, "index", index)
        size = self.shape[d]
        if not -size <= place < size:
            raise THNNArgumentError.expected(
                "Tensor.select", 2, "index", f"an index from {-size} to {size - 1}", str(index)
            )
        if self.ndim == 1:
            return self.narrow(d, place % size, 1)
        return self._view("select", d, place % size)

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        """`length` slices from `start` on, as a view."""
        d = self._dimension("Tensor.narrow", 1, dim)
        first = one_int("Tensor.narrow", 2, "start", start)
        count = one_int("Tensor.narrow", 3, "length", length)
        return self._view("narrow", d, first, count)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """A view with two dimensions exchanged."""
        first = self._dimension("Tensor.transpose", 1, dim0)
        return self._view("transpose", first, self._dimension("Tensor.transpose", 2, dim1))

    def unfold(self, dim: int, size: int, step: int) -> Tensor:
        """All windows of `size` slices, `step` apart, as a view with the window last."""
        d = self._dimension("Tensor.unfold", 1, dim)
        window = one_int("Tensor.unfold", 2, "size", size)
        distance = one_int("Tensor.unfold", 3, "step", step)
        return self._view("unfold", d, window, distance)

    def squeeze(self, dim: int | None = None) -> Tensor:
        """A view without the dimensions of size 1, or without that one if it has size 1."""
        if dim is None:
            return self._view("squeeze")
        return self._view("squeeze1d", self._dimension("Tensor.squeeze", 1, dim))

    def unsqueeze(self, dim: int) -> Tensor:
        """A view with a new dimension of size 1 before `dim`."""
        d = self._dimension("Tensor.unsqueeze", 1, dim, extra=1)
        return self._view("unsqueeze1d", d)

    def view(self, *shape: Any) -> Tensor:
        """The same elements in another shape, for contiguous tensors; one size may be -1."""
        function = "Tensor.view"
        sizes = list(ints(function, 1, "shape", shape))
        count = self.size
        if sizes.count(-1) == 1:
            rest = math.prod(size for size in sizes if size != -1)
            sizes[sizes.index(-1)] = count // rest if rest > 0 else 0
        if math.prod(sizes) != count or (sizes and min(sizes) < 1) or not count:
            raise THNNArgumentError.expected(
                function, 1, "shape", f"sizes for {count} elements", repr(shape)
            )
        if not self.is_contiguous:
            raise THNNError(f"{function}: the Tensor is not contiguous")
        if self.is_cuda:
            return self.as_strided(sizes, dense_strides(sizes), self.storage_offset)
        view = self._view()
        view._call("resizeNd", len(sizes), sizes, ffi.NULL)
        return view

    def expand(self, *shape: Any) -> Tensor:
        """A view with dimensions of size 1 repeated, and new ones in front."""
        function = "Tensor.expand"
        sizes = shape_of(function, 1, shape)
        added = len(sizes) - self.ndim
        mine, strides = (1,) * added + self.shape, (0,) * added + self.strides
        if added < 0 or any(n not in (1, m) for n, m in zip(mine, sizes, strict=True)):
            raise THNNArgumentError.expected(
                function, 1, "shape", f"a shape that {self.shape} expands to", repr(shape)
            )
        steps = [d if n == m else 0 for n, m, d in zip(mine, sizes, strides, strict=True)]
        return self.as_strided(sizes, steps, self.storage_offset)

    def as_strided(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Tensor:
        """Any view of the storage, which grows when it is too small; strides in elements."""
        function = "Tensor.as_strided"
        sizes = shape_of(function, 1, (tuple(shape),))
        steps = ints(function, 2, "strides", (tuple(strides),))
        first = one_int(function, 3, "offset", offset)
        if len(steps) != len(sizes) or (steps and min(steps) < 0):
            raise THNNArgumentError.expected(
                function, 2, "strides", f"{len(sizes)} strides, none negative", repr(steps)
            )
        kind = KINDS[self._kind]
        return Tensor._of(strided(kind, self._open().storage, first, sizes, steps), kind)

    # ---- Life

    def close(self) -> None:
        """Gives up the tensor's memory, once no call, array or other tensor uses it any more.

        Any later use raises THNNError.
        """
        self._c = None

    free = close

    def __reduce__(self) -> tuple[Any, ...]:
        c = self._open()
        shape = self.shape if c.nDimension else ()
        strides = self.strides if c.nDimension else ()
        return (_rebuild, (self._kind, self.storage, self.storage_offset, shape, strides))

    def __repr__(self) -> str:
        if self._c is None:
            return "Tensor(closed)"
        body = np.array2string(self.numpy(), separator=", ", prefix="Tensor(", threshold=200)
        return f"Tensor({body}, shape={self.shape}, dtype={self.dtype})"

    def _repr_html_(self) -> str:
        """The shape and type, and folded away the numbers, for notebooks."""
        from .._html import element, folded, join, lines, quiet

        numbers = repr(self)
        if self._c is None:
            return element("div", numbers)
        sizes, where = " x ".join(map(str, self.shape)), self.device if self.is_cuda else ""
        facts = quiet(sizes if self.size else "empty", str(self.dtype), where)
        return folded(join(element("b", "Tensor"), facts), lines(numbers))


def _rebuild(
    kind: int,
    storage: Storage | None,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> Tensor:
    of = KINDS[kind]
    if storage is None:
        return Tensor(dtype=of.dtype)
    return Tensor._of(strided(of, storage._c, offset, shape, strides), of)
