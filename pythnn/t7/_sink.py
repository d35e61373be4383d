"""Numbers, strings and elements into a file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

from numpy.typing import NDArray

__all__ = ["AsciiSink", "BinarySink", "Sink"]

Array = NDArray[Any]


class Sink(Protocol):
    """Where values go."""

    def int_(self, value: int) -> None: ...
    def longs(self, values: Sequence[int]) -> None: ...
    def double(self, value: float) -> None: ...
    def chars(self, data: bytes) -> None: ...
    def elements(self, array: Array) -> None: ...


class BinarySink:
    """The binary format, little-endian, with longs of 8 bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._write = file.write

    def int_(self, value: int) -> None:
        """A 4-byte int."""
        self._write(value.to_bytes(4, "little", signed=True))

    def longs(self, values: Sequence[int]) -> None:
        """C longs."""
        self._write(struct.pack(f"<{len(values)}q", *values))

    def double(self, value: float) -> None:
        """An 8-byte float."""
        self._write(struct.pack("<d", value))

    def chars(self, data: bytes) -> None:
        """The bytes of a string."""
        self._write(data)

    def elements(self, array: Array) -> None:
        """The elements of a storage."""
        self._write(array.view("u1").data)


_CHUNK = 1 << 16
_FORMATS = {"i": "%d", "f4": "%.9g", "f2": "%.9g", "f8": "%.17g"}


class AsciiSink:
    """The ascii format: numbers in decimal, one newline after each item."""

    def __init__(self, file: BinaryIO) -> None:
        self._write = file.write

    def int_(self, value: int) -> None:
        """An int."""
        self._write(b"%d\n" % value)

    def longs(self, values: Sequence[int]) -> None:
        """C longs on one line."""
        if values:
            self._write(" ".join(map(str, values)).encode() + b"\n")

    def double(self, value: float) -> None:
        """A float with all its digits."""
        self._write(b"%.17g\n" % value)

    def chars(self, data: bytes) -> None:
        """The bytes of a string."""
        if data:
            self._write(data + b"\n")

    def elements(self, array: Array) -> None:
        """The elements of a storage on one line; bytes and chars as they are."""
        if array.dtype.itemsize == 1:
            self.chars(array.tobytes())
            return
        kind = array.dtype.str[1:]
        form = _FORMATS.get(kind) or _FORMATS[kind[0]]
        for start in range(0, len(array), _CHUNK):
            values = array[start : start + _CHUNK].tolist()
            end = "\n" if start + _CHUNK >= len(array) else " "
            self._write((" ".join([form] * len(values)) % tuple(values) + end).encode())
