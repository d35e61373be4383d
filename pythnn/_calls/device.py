"""Calls of C functions with arrays and Tensors on a device."""

from __future__ import annotations

import functools
from typing import Any

from .._cuda import cupy
from .._cuda.arrays import DeviceArray, look_at
from .._cuda.package import Package, load
from .._cuda.state import DeviceState, state_of
from .._errors import THNNError, THNNMemoryError
from .._generator import Generator
from .._overlap import overlaps_itself
from .._state import State
from .._tensor import DTYPES, is_on_device, kind_of_dtype
from .._tensor.device import CudaTensor
from .function import FIXED_KINDS, Argument, Function, check_ranges, describe, refuse_tensor
from .inplace import inplace_pair

__all__ = ["call"]

_POINTERS = ("THCudaTensor *", "THCudaDoubleTensor *", "THCudaLongTensor *", "THCudaIntTensor *")


class Twin:
    """The function of libTHCUNN that belongs to a function of the CPU.

    Its arguments stand where the CPU's stand, whatever their names.
    """

    def __init__(self, package: Package, function: Function) -> None:
        rows = package.functions.get(function.name)
        if rows is None:
            raise THNNError(
                f"{function.name} does not exist on CUDA devices: call it with arrays in the "
                "CPU's memory"
            )
        self.calls = tuple(
            getattr(package.native, f"call_THNN_{real}{function.name}")
            for real in ("Cuda", "CudaDouble")
        )
        # (argument, kind of tensor or None for real)
        self.tensors = tuple(
            (argument, FIXED_KINDS.get(kind))
            for argument, (kind, role, _) in zip(function.arguments, rows, strict=True)
            if role and role != "scratch"
        )
        self.scratch = tuple(place for place, row in enumerate(rows) if row[1] == "scratch")


@functools.cache
def _twin(function: Function) -> Twin:
    return Twin(load(), function)


class _Call:
    """One call, whose arguments become those of the C function step by step."""

    def __init__(self, function: Function, values: list[Any]) -> None:
        self.function = function
        self.values = values
        self.package = load()
        self.twin = _twin(function)
        self.found: dict[int, DeviceArray | CudaTensor] = {}
        self.copies: list[tuple[Any, Any]] = []
        self.keep: list[Any] = []

    # ---- Which device, which type

    def look(self) -> None:
        """Finds out what the tensors are; raises unless all are on one device."""
        first = self.function.first_real
        value = self.values[first.place]
        if not is_on_device(value):
            self._refuse_device(first, value)
        device = self._find(first, value).device_index
        for argument, _ in self.twin.tensors:
            value = self.values[argument.place]
            if value is None or argument is first:
                continue
            if not is_on_device(value):
                found = describe(value)
                where = " in the CPU's memory" if hasattr(value, "dtype") else ""
            else:
                other = self._find(argument, value)
                if other.device_index == device or not other.size:
                    continue
                found, where = f"one on cuda:{other.device_index}", ""
            wanted = f"an array on cuda:{device}, like '{first.name}'"
            raise self.function.refuse(argument, wanted, found + where)

    def _refuse_device(self, first: Argument, value: Any) -> None:
        """Raises since the first real tensor is not on a device, but another argument is."""
        if not hasattr(value, "dtype"):
            raise refuse_tensor(self.function, first, None, value)
        for argument, _ in self.twin.tensors:
            other = self.values[argument.place]
            if is_on_device(other):
                raise self.function.refuse(
                    argument,
                    f"an array in the CPU's memory, like '{first.name}'",
                    f"one on cuda:{self._find(argument, other).device_index}",
                )

    def _find(self, argument: Argument, value: Any) -> DeviceArray | CudaTensor:
        if isinstance(value, CudaTensor):
            found: DeviceArray | CudaTensor = value
        else:
            try:
                found = look_at(value)
            except ValueError as error:
                raise self.function.refuse(argument, "an array of numbers", str(error)) from None
        self.found[argument.place] = found
        return found

    def real_kind(self) -> int:
        """0 for float, 1 for double, by the first real tensor."""
        first = self.function.first_real
        kind = kind_of_dtype(self.found[first.place].dtype)
        if kind is None or kind.index > 1:
            raise refuse_tensor(self.function, first, None, self.values[first.place])
        return kind.index

    # ---- Tensors

    def place(self, argument: Argument, kind: int, written: bool) -> Any:
        """The C tensor of an argument."""
        found = self.found[argument.place]
        if found.dtype != DTYPES[kind]:
            raise refuse_tensor(self.function, argument, kind, self.values[argument.place])
        if isinstance(found, CudaTensor):
            return found._open()
        if written and found.read_only:
            raise self.function.refuse(argument, "a writable array", "a read-only one")
        if written and overlaps_itself(found):
            raise self.function.refuse(
                argument, "an array whose elements lie apart", "one that overlaps itself"
            )
        if not _is_plain(found):
            found = self._copy(argument, found, written)
        return self._tensor(found, kind)

    def _copy(self, argument: Argument, found: DeviceArray, written: bool) -> DeviceArray:
        """A contiguous copy, made by the array's own library."""
        if not hasattr(found.value, "copy") or (
            written and not hasattr(found.value, "__setitem__")
        ):
            raise self.function.refuse(
                argument, "positive strides", f"strides of {found.strides} bytes"
            )
        dense = found.value.copy()
        if written:
            self.copies.append((found.value, dense))
        copied = look_at(dense)
        if (copied.shape, copied.dtype) != (found.shape, found.dtype):
            raise self.function.refuse(
                argument, "an array whose copy() is like it", f"a copy of shape {copied.shape}"
            )
        return copied

    def _tensor(self, array: DeviceArray, kind: int) -> Any:
        shape, strides = array.shape or (1,), array.strides or (array.itemsize,)
        layout = [0, 0]  # TH knows no sizes of 0, only the empty tensor
        if array.size:
            steps = [
                d // array.itemsize if n > 1 else 1 for n, d in zip(shape, strides, strict=True)
            ]
            span = 1 + sum((n - 1) * d for n, d in zip(shape, steps, strict=True))
            layout = [len(shape), span, *shape, *steps]
        slot = self.package.ffi.new("pythnn_CudaSlot *")
        self.package.native.pythnn_placeCuda(slot, array.address, layout, array.device_index)
        self.keep += [slot, array]
        return self.package.ffi.cast(_POINTERS[kind], slot)

    # ---- Calling

    def run(self) -> None:
        self.look()
        kind = self.real_kind()
        source, view = -1, -1
        if self.function.inplace is not None:
            source, view = inplace_pair(self.function, self.values, self.found.get, _same_memory)
        placed = dict.fromkeys(self.twin.scratch, self.package.ffi.NULL)
        for argument, fixed in self.twin.tensors:
            place = argument.place
            if place == view:
                continue
            if self.values[place] is None and argument.optional:
                placed[place] = self.package.ffi.NULL
                continue
            if place not in self.found:
                raise refuse_tensor(self.function, argument, fixed, None)
            written = argument.is_written or place == source
            placed[place] = self.place(argument, kind if fixed is None else fixed, written)
        if view >= 0:
            placed[view] = placed[source]
        state = self._state()
        arrays = (a for a in self.found.values() if isinstance(a, DeviceArray))
        streams = {a.stream for a in arrays if a.stream is not None}
        for place, tensor in placed.items():
            self.values[place] = tensor
        self._handles(state)
        for stream in streams:
            state.order(stream, state.stream)
        self._call(self.twin.calls[kind])
        for array, dense in self.copies:
            array[...] = dense
        for stream in streams:
            state.order(state.stream, stream)

    def _state(self) -> DeviceState:
        first = self.found[self.function.first_real.place]
        stream = first.stream if isinstance(first, DeviceArray) else None
        choices = self.values[0]
        if choices is not None and not (isinstance(choices, State) and not choices.closed):
            raise self.function.refuse(
                self.function.arguments[0], "a State or None", describe(choices)
            )
        return state_of(first.device_index, stream, choices)

    def _handles(self, state: DeviceState) -> None:
        """Puts the state and a seed for its random numbers in their places."""
        for argument in self.function.arguments:
            if argument.kind == "state":
                self.values[argument.place] = state.c
            elif argument.kind == "generator":
                generator = self.values[argument.place]
                if isinstance(generator, Generator) and not generator.closed:
                    seed = generator.random() << 32 | generator.random()
                    self.package.call("THCState_setSeed", state.c, seed)
                elif generator is not None:
                    wanted = "a Generator, or None"
                    raise self.function.refuse(argument, wanted, describe(generator))
                self.values[argument.place] = self.package.ffi.NULL

    def _call(self, function: Any) -> None:
        cupy.take_error()
        try:
            code = function(*self.values)
        except OverflowError:
            check_ranges(self.function, self.values)
            raise
        if not code:
            return
        error = self.package.error(self.function.name)
        cause = cupy.take_error()
        if isinstance(error, THNNMemoryError) and cause is not None:
            if not isinstance(cause, MemoryError):
                raise cause
            raise error from cause
        raise error


def _is_plain(array: DeviceArray) -> bool:
    """Whether a C tensor can be made over an array."""
    steps = [d for n, d in zip(array.shape, array.strides, strict=True) if n > 1]
    aligned = array.address % array.itemsize == 0
    return aligned and all(d >= 0 and d % array.itemsize == 0 for d in steps)


def _as_array(value: DeviceArray | CudaTensor) -> DeviceArray:
    return look_at(value) if isinstance(value, CudaTensor) else value


def _same_memory(a: DeviceArray | CudaTensor, b: DeviceArray | CudaTensor) -> bool:
    return _as_array(a).same_memory(_as_array(b))


def call(function: Function, values: list[Any]) -> None:
    """Calls a function with tensors of which at least one is on a device.

    Raises THNNArgumentError for arguments that do not fit, THNNMemoryError, and THNNError where
    there is no GPU or the function does not exist for it.
    """
    _Call(function, values).run()
