"""Writes .t7 files by hand, also wrong ones, for the tests."""

from __future__ import annotations

import struct


def integer(value: int) -> bytes:
    return struct.pack("<i", value)


def longs(*values: int, size: int = 8) -> bytes:
    return b"".join(value.to_bytes(size, "little", signed=True) for value in values)


def chars(data: bytes) -> bytes:
    return integer(len(data)) + data


def number(value: float) -> bytes:
    return integer(1) + struct.pack("<d", value)


def string(data: bytes) -> bytes:
    return integer(2) + chars(data)


NIL = integer(0)


def table(index: int, *items: bytes, count: int | None = None) -> bytes:
    """A table of keys and values in turn."""
    entries = len(items) // 2 if count is None else count
    return integer(3) + integer(index) + integer(entries) + b"".join(items)


def reference(tag: int, index: int) -> bytes:
    return integer(tag) + integer(index)


def torch(index: int, name: str, body: bytes, version: bytes = b"V 1") -> bytes:
    """An object; without a version as the oldest files have it."""
    head = chars(version) if version else b""
    return integer(4) + integer(index) + head + chars(name.encode()) + body


def storage(index: int, kind: str, elements: bytes, count: int, size: int = 8) -> bytes:
    return torch(index, f"torch.{kind}Storage", longs(count, size=size) + elements)


def tensor(
    index: int,
    kind: str,
    sizes: list[int],
    strides: list[int],
    first: int,
    memory: bytes,
    size: int = 8,
) -> bytes:
    """A tensor; `first` counts from 1 as in the file."""
    places = longs(*sizes, *strides, first, size=size)
    return torch(index, f"torch.{kind}Tensor", integer(len(sizes)) + places + memory)
