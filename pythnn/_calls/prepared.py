"""Functions that do at once what a recording has: they fill in addresses and call C.

The function is written for the arrays that a recording has and the order of its steps; sizes,
types and constants come beside it. So recordings that differ in these alone share the code.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .._library import ffi, native
from .._table import STEPS
from .host import layout_of
from .recorded import (
    Buffer,
    EitherCall,
    Kept,
    NativeCall,
    NumpyCall,
    Recorded,
    Recording,
    Scalar,
    StateAddress,
    Unrecordable,
)

__all__ = ["prepare"]

run = native.pythnn_runPrepared
_SEVERAL = 3
"""Operations of numpy that take longer than a call of C with its addresses."""
_LINE = 16
"""Elements, at least a cache line: where arrays in one memory may begin."""
_DENSE, _WRITABLE = 0x1, 0x400
"""Flags of numpy's arrays: elements one after the other, and whether they may be written."""


def _expect(place: Any, array: Any) -> Any:
    """Has arrays be of the type and the sizes of one; returns what has to live as long."""
    sizes = ffi.new("int64_t[]", array.shape)
    place.elementType, place.nDimension, place.size = id(array.dtype), len(array.shape), sizes
    return sizes, array.dtype


def _reads_arrays() -> bool:
    """Whether C finds what it reads of an array where it looks for it."""
    probe, expected = np.zeros((3, 5), np.float32), ffi.new("pythnn_Expected *")
    _keep = _expect(expected, probe)
    expected.flags = int(probe.flags.num)
    return bool(native.pythnn_readsArray(id(probe), ffi.from_buffer(probe), expected))


_READS_ARRAYS = _reads_arrays()


def prepare(recording: Recording, arguments: Sequence[Any], result: Any) -> Callable[..., Any]:
    """The function of the arrays in the place of `arguments` that returns the result.

    An argument is an array, None, or arrays in tuples or in a dict.
    It returns None where the C library refuses, and before it changes anything, for arrays that are
    not contiguous or must not be written.
    """
    if not _READS_ARRAYS:
        raise Unrecordable("arrays of another layout")
    return _Writer(recording, arguments).function(result)


class _Writer:
    """Writes the code of a recording."""

    def __init__(self, recording: Recording, arguments: Sequence[Any]) -> None:
        self.recording, self.arguments = recording, arguments
        self.names: dict[int, str] = {}
        self.scope: dict[str, Any] = {}
        self.checks: dict[int, str] = {}
        """For arguments, what returns unless they have the flags that C looks for too late."""
        self.changes = False
        """Whether steps before have changed arrays."""
        self.seen: set[int] = set()
        """Arguments at which C looks before anything is changed."""
        self.unpacking: list[str] = []
        self.lines: list[str] = []

    def function(self, result: Any) -> Callable[..., Any]:
        parameters = []
        for i, argument in enumerate(self.arguments):
            parameters.append(f"a{i}")
            self._unpack(argument, f"a{i}")
        self._decide()
        self._merge(result)
        self._allocate()
        steps = self.recording.steps
        at = 0
        while at < len(steps):
            step = steps[at]
            if isinstance(step, NativeCall):
                end = at
                while end < len(steps) and isinstance(steps[end], NativeCall):
                    end += 1
                self._native(steps[at:end])
                at = end
            elif isinstance(step, NumpyCall):
                values = [self._value(a) for a in step.arguments]
                values += [f"{n}={self._constant(v)}" for n, v in step.options.items()]
                call = f"{self._constant(step.operation)}({', '.join(values)})"
                if step.result is None:
                    self.changes = True
                else:
                    name = self.names[id(step.result)] = f"n{len(self.names)}"
                    if not step.result.shape:
                        call = f"asarray({call})"  # numpy makes a number of it
                    call = f"{name} = {call}"
                self.lines.append(call)
                at += 1
        self.lines.append(f"return {self._result(result)}")
        for buffer in self.recording.buffers:
            if not (buffer.is_known or id(buffer) in self.seen):
                self._check(buffer)
        lines = [*self.unpacking, *self.checks.values(), *self.lines]
        body = "\n".join(f"        {line}" for line in lines)
        names = ", ".join(self.scope)
        source = (
            f"def make({names}):\n    def run({', '.join(parameters)}):\n{body}\n    return run\n"
        )
        made: Callable[..., Any] = _maker(source)(*self.scope.values())
        return made

    def _unpack(self, argument: Any, name: str) -> None:
        """Names the arrays of an argument."""
        if isinstance(argument, Recorded):
            self.names[id(argument.buffer)] = name
        elif isinstance(argument, dict):
            for key, entry in argument.items():
                inner = f"{name}_{len(self.names)}"
                self.unpacking.append(f"{inner} = {name}[{self._constant(key)}]")
                self._unpack(entry, inner)
        elif isinstance(argument, tuple) and argument:
            self.unpacking.append(f"{self._target(argument, name)} = {name}")

    def _target(self, argument: Any, name: str) -> str:
        """What a tuple is assigned to, which gives its arrays their names."""
        if isinstance(argument, tuple) and argument:
            return f"({''.join(f'{self._target(entry, name)}, ' for entry in argument)})"
        if isinstance(argument, Recorded):
            inner = self.names[id(argument.buffer)] = f"{name}_{len(self.names)}"
            return inner
        return "_"

    def _decide(self) -> None:
        """Leaves operations to C that are between its calls, or several in a row."""
        steps, at = self.recording.steps, 0
        while at < len(steps):
            end = at
            while end < len(steps) and not isinstance(steps[end], NumpyCall):
                end += 1
            run = steps[at:end]
            by_c = len(run) >= _SEVERAL or any(isinstance(step, NativeCall) for step in run)
            for i, step in enumerate(run, at):
                if isinstance(step, EitherCall):
                    steps[i] = step.native if by_c else step.numpy
                    if not by_c and step.numpy.result is not None:
                        step.numpy.result.origin = "numpy"
            at = end + 1

    def _merge(self, result: Any) -> None:
        """Puts all memory that C alone works on into one array."""
        shown = {id(array.buffer) for array in _arrays(result)}
        for step in self.recording.steps:
            if isinstance(step, NumpyCall):
                shown |= {id(a.buffer) for a in step.arguments if isinstance(a, Recorded)}
        merged: dict[Any, list[Buffer]] = {}
        for buffer in self.recording.buffers:
            if buffer.origin == "empty" and id(buffer) not in shown:
                merged.setdefault(buffer.dtype, []).append(buffer)
        for dtype, buffers in merged.items():
            if len(buffers) > 1:
                memory, start = Buffer((0,), dtype, "empty"), 0
                for buffer in buffers:
                    buffer.home = memory, start
                    count = math.prod(buffer.shape)
                    start += -(-count // _LINE) * _LINE
                memory.shape = (start,)
                self.recording.buffers.append(memory)

    def _allocate(self) -> None:
        for i, buffer in enumerate(self.recording.buffers):
            if buffer.home[0] is not buffer:
                continue
            if buffer.origin in ("empty", "zeros"):
                name = self.names[id(buffer)] = f"o{i}"
                shape, dtype = self._constant(buffer.shape), self._constant(buffer.dtype)
                self.lines.append(f"{name} = {buffer.origin}({shape}, {dtype})")
            elif buffer.origin == "constant":
                self.names[id(buffer)] = self._constant(buffer.constant)

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def _value(self, value: Any) -> str:
        """An array that numpy takes, or a number."""
        if not isinstance(value, Recorded):
            return self._constant(value)
        name = self.names[id(value.buffer)]
        if value.buffer.origin == "argument":
            # Of elements in another order numpy makes results in that order.
            self._check(value.buffer)
        if value.is_whole:
            return name
        if value.is_dense and value.size == np.prod(value.buffer.shape):
            return f"{name}.reshape({self._constant(value.shape)})"
        item = value.dtype.itemsize
        place = (value.offset * item, tuple(stride * item for stride in value.strides))
        shape, dtype = self._constant(value.shape), self._constant(value.dtype)
        return f"ndarray({shape}, {dtype}, {name}, *{self._constant(place)})"

    def _result(self, result: Any) -> str:
        if isinstance(result, Scalar):
            return f"{self._value(result.array)}.item()"
        if isinstance(result, Recorded):
            if result.buffer.origin == "constant":
                raise Unrecordable("a result that would be shared")
            return self._value(result)
        if isinstance(result, Kept):
            memory = "".join(f", {self.names[id(buffer)]}" for buffer in result.buffers)
            return f"{self._constant(result.of_memory)}({self._constant(result)}{memory})"
        if type(result) is tuple:
            return f"({''.join(f'{self._result(entry)}, ' for entry in result)})"
        if result is None or type(result) in (int, float, bool, str):
            return self._constant(result)
        raise Unrecordable(f"a result of type {type(result).__name__}")

    def _native(self, calls: Sequence[Any]) -> None:
        """One call of C, for calls that follow one another."""
        buffers: dict[int, Buffer] = {}
        for call in calls:
            for value in call.arguments:
                if isinstance(value, Recorded):
                    buffer = value.home[0]
                    buffers.setdefault(id(buffer), buffer)
        if not self.changes:
            self.seen |= buffers.keys()
        for key, buffer in buffers.items():
            if buffer.origin == "argument" and key not in self.seen:
                self._check(buffer)
        idle: list[Any] = []

        def make() -> _Calls:
            return _Calls(calls, list(buffers.values()))

        pool, fresh = self._constant(idle), self._constant(make)
        every = "".join(f"id({self.names[key]}), " for key in buffers)
        self.lines += [
            f"calls = {pool}.pop() if {pool} else {fresh}()",
            f"calls.fill(calls.arrays, 0, {every})",
            "code = run_prepared(calls.prepared)",
            f"{pool}.append(calls)",
            "if code:",
            "    return None",
        ]
        self.changes = True

    def _check(self, buffer: Buffer) -> None:
        """Looks at an argument before anything is done."""
        name = self.names[id(buffer)]
        wrong = [f"not {name}.flags.c_contiguous"]
        if buffer.is_written:
            wrong.append(f"not {name}.flags.writeable")
        if not buffer.is_known:
            wrong.append(f"{name}.shape != {self._constant(buffer.shape)}")
            wrong.append(f"{name}.dtype is not {self._constant(buffer.dtype)}")
        self.checks[id(buffer)] = f"if {' or '.join(wrong)}: return"


def _arrays(result: Any) -> Iterator[Recorded]:
    """The arrays that a caller gets as they are."""
    if isinstance(result, Scalar):
        yield result.array
    elif isinstance(result, Recorded):
        yield result
    elif type(result) is tuple:
        for entry in result:
            yield from _arrays(entry)


class _Calls:
    """Calls in memory of C, for one thread at a time."""

    __slots__ = ("_keep", "arrays", "fill", "prepared")

    def __init__(self, calls: Sequence[NativeCall], buffers: Sequence[Buffer]) -> None:
        tensors = sum(isinstance(v, Recorded) for call in calls for v in call.arguments)
        places = {id(buffer): i for i, buffer in enumerate(buffers)}
        arrays = ffi.new("intptr_t[]", len(buffers))
        self.arrays, self.fill = ffi.buffer(arrays), struct.Struct(f"{len(buffers)}n").pack_into
        data = ffi.new("const void *[]", len(buffers))
        slots = ffi.new("pythnn_Tensor[]", tensors)
        words = ffi.new("pythnn_Word[]", sum(len(call.arguments) for call in calls))
        steps = ffi.new("pythnn_Step[]", len(calls))
        keep: list[Any] = [arrays, data, slots, words, steps]
        expected = ffi.new("pythnn_Expected[]", len(buffers))
        for place, buffer in zip(expected, buffers, strict=True):
            place.flags = _DENSE | (_WRITABLE if buffer.is_written else 0)
            if not buffer.is_known:
                keep.append(_expect(place, buffer))
        keep.append(expected)
        word = tensor = 0
        for step, call in zip(steps, calls, strict=True):
            step.function, fields = STEPS[call.name]
            step.arguments = words + word
            for field, value in zip(fields, call.arguments, strict=True):
                if isinstance(value, Recorded):
                    layout = layout_of(value.shape, value.strides)
                    keep.append(layout)
                    slot = slots[tensor]
                    buffer, offset = value.home
                    slot.array, slot.layout = places[id(buffer)], layout
                    slot.elementSize = value.dtype.itemsize
                    slot.offset = offset * value.dtype.itemsize
                    words[word].object = slots + tensor
                    tensor += 1
                elif field == "object":
                    if isinstance(value, StateAddress):
                        words[word].object = value.address
                        keep.append(value.kept)
                    elif value is not None:
                        raise Unrecordable("an object")
                elif field == "whole":
                    words[word].whole = int(value)
                else:
                    words[word].real = float(value)
                word += 1
        self.prepared = ffi.new("pythnn_Prepared *")
        prepared = self.prepared
        prepared.arrays, prepared.expected, prepared.data = arrays, expected, data
        prepared.arrayCount, prepared.type = len(buffers), id(np.ndarray)
        prepared.tensors, prepared.tensorCount = slots, tensors
        prepared.steps, prepared.stepCount = steps, len(calls)
        self._keep = keep


@lru_cache(maxsize=1024)
def _maker(source: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        "asarray": np.asarray,
        "empty": np.empty,
        "id": id,
        "ndarray": np.ndarray,
        "run_prepared": run,
        "zeros": np.zeros,
    }
    exec(compile(source, "<pythnn.functional>", "exec"), scope)  # noqa: S102
    found: Callable[..., Any] = scope["make"]
    return found
