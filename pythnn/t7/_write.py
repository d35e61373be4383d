"""Writing: from a value to a path or file."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from .._files import replacing
from ._collect import (
    FunctionPart,
    HashPart,
    ObjectPart,
    Part,
    StoragePart,
    TablePart,
    TensorPart,
    VecPart,
    collect,
)
from ._format import TORCH_NAMES, Tag
from ._sink import AsciiSink, BinarySink, Sink

__all__ = ["save"]


def save(
    file: str | os.PathLike[str] | BinaryIO,
    obj: Any,
    format: Literal["binary", "ascii"] = "binary",
) -> None:
    """Saves a value so that ``torch.load`` of Lua Torch reads it.

    Takes what :func:`load` gives: None, bool, int, float, str, bytes, lists and tuples, dicts,
    numpy arrays and Tensors, the values of this module, in any graph. Entries that are None are
    left out.
    A file at that path is replaced when the new one is complete: until then, and where saving fails
    or is interrupted, the old one stays.
    Arrays that share memory share a storage in the file; as in Torch, a view is saved with all of
    the memory it is a view of (``view.copy()`` is not).

    Raises
    ------
    T7Error
        The value cannot be saved; the message says where. Nothing has been written then.
    OSError
        The file cannot be written, as on a full disk.
    """
    if format not in ("binary", "ascii"):
        raise ValueError(f"format is {format!r}; it is 'binary' or 'ascii'")
    if isinstance(file, io.TextIOBase):
        raise TypeError("save wants a file opened for bytes, such as open(path, 'wb')")
    root = collect(obj)
    if isinstance(file, (str, os.PathLike)):
        with replacing(file) as opened:
            _save(opened, root, format)
    else:
        _save(file, root, format)


def _save(file: BinaryIO, root: Any, format: str) -> None:
    writer = _Writer(BinarySink(file) if format == "binary" else AsciiSink(file))
    open_parts: list[Iterator[Any]] = [iter([root])]
    while open_parts:
        for value in open_parts[-1]:
            children = writer.value(value)
            if children:
                open_parts.append(iter(children))
                break
        else:
            open_parts.pop()


class _Writer:
    """Writes values up to where their children begin."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.count = 0  # of objects that have an index

    def value(self, value: Any) -> list[Any]:
        """Writes a value; returns what must follow."""
        sink = self.sink
        if isinstance(value, Part):
            return self._part(value)
        if value is None:
            sink.int_(Tag.NIL)
        elif isinstance(value, bool):
            sink.int_(Tag.BOOLEAN)
            sink.int_(int(value))
        elif isinstance(value, float):
            sink.int_(Tag.NUMBER)
            sink.double(value)
        else:
            sink.int_(Tag.STRING)
            self._string(value)
        return []

    def _string(self, data: bytes) -> None:
        self.sink.int_(len(data))
        self.sink.chars(data)

    def _part(self, part: Part) -> list[Any]:
        sink = self.sink
        if isinstance(part, StoragePart):
            part = part.same
        if isinstance(part, FunctionPart):
            tag = part.function.tag
            if tag == Tag.OLD_FUNCTION and part.uses > 1:
                tag = Tag.LEGACY_FUNCTION  # the same, with an index to share it by
            part.tag = tag
        sink.int_(part.tag)
        if part.tag != Tag.OLD_FUNCTION:
            if part.index:
                sink.int_(part.index)
                return []
            self.count += 1
            part.index = self.count
            sink.int_(part.index)
        self._beginning(part)
        return part.children

    def _beginning(self, part: Part) -> None:
        sink = self.sink
        if isinstance(part, HashPart):
            self._class("tds.Hash")
            self._count(len(part.children) // 2, part.long_count)
        elif isinstance(part, TablePart):
            sink.int_(len(part.children) // 2)
        elif isinstance(part, VecPart):
            self._class("tds.Vec")
            self._count(len(part.children), part.long_count)
        elif isinstance(part, FunctionPart):
            self._string(part.function.code)
        elif isinstance(part, ObjectPart):
            self._class(part.name, part.version)
        elif isinstance(part, StoragePart):
            self._class(f"torch.{TORCH_NAMES[part.array.dtype]}Storage")
            sink.longs([len(part.array)])
            sink.elements(part.array)
        elif isinstance(part, TensorPart):
            self._class(f"torch.{TORCH_NAMES[part.array.dtype]}Tensor")
            sink.int_(len(part.shape))
            sink.longs(part.shape)
            sink.longs(part.strides)
            sink.longs([part.start + 1])

    def _count(self, count: int, is_long: bool) -> None:
        if is_long:
            self.sink.longs([count])
        else:
            self.sink.int_(count)

    def _class(self, name: str, version: int = 1) -> None:
        if version:
            self._string(b"V %d" % version)
        self._string(name.encode("utf-8", "surrogateescape"))
