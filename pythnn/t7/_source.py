"""Numbers, strings and elements from a file, none beyond its end."""

from __future__ import annotations

import math
import re
import struct
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from .._tensor import KINDS, Storage, kind_of_dtype
from ._errors import T7Error
from ._format import Tag

__all__ = ["AsciiSource", "BinarySource", "Elements", "Source"]

LONG = np.dtype("<i8")
_DOUBLE = struct.Struct("<d")


class Elements:
    """The elements of a storage of the file.

    ``array`` holds them, one-dimensional. Where there are Tensors of the dtype it is in the C
    library's memory, and ``storage`` is that; else ``storage`` is None.
    """

    __slots__ = ("array", "storage")

    def __init__(self, dtype: np.dtype[Any], count: int) -> None:
        kind = kind_of_dtype(dtype)
        self.storage: Storage | None = None
        self.array: NDArray[Any]
        if kind is None or count == 0:
            self.array = np.empty(count, dtype)
        else:
            self.storage = Storage._of(KINDS[kind.index].new_storage(count), kind)
            self.array = self.storage.numpy()


class Source(Protocol):
    """Where values come from; every method raises T7Error where the file does not hold them."""

    pos: int
    smallest: int  # bytes that any value takes at least

    @property
    def remaining(self) -> int: ...
    def int_(self) -> int: ...
    def long_(self) -> int: ...
    def longs(self, count: int) -> list[int]: ...
    def int_or_long(self) -> tuple[int, bool]: ...
    def double(self) -> float: ...
    def chars(self, count: int) -> bytes: ...
    def elements(self, dtype: np.dtype[Any], count: int) -> Elements: ...


class BinarySource:
    """The binary format, little-endian, with longs of 8 or 4 bytes."""

    smallest = 4

    def __init__(self, file: BinaryIO, size: int, long_size: int) -> None:
        self._file = file
        self._read = file.read
        self._size = size
        self._long_size = long_size
        self.pos = 0

    @property
    def remaining(self) -> int:
        """Bytes to the end of the file."""
        return self._size - self.pos

    def _take(self, count: int) -> bytes:
        data = self._read(count)
        if len(data) != count:
            raise T7Error(f"the file ends where {count} more bytes should be", self.pos)
        self.pos += count
        return data

    def int_(self) -> int:
        """A 4-byte int."""
        return int.from_bytes(self._take(4), "little", signed=True)

    def long_(self) -> int:
        """A C long."""
        return int.from_bytes(self._take(self._long_size), "little", signed=True)

    def longs(self, count: int) -> list[int]:
        """Several C longs."""
        size = self._long_size
        data = self._take(count * size)
        return [
            int.from_bytes(data[i : i + size], "little", signed=True)
            for i in range(0, len(data), size)
        ]

    def int_or_long(self) -> tuple[int, bool]:
        """A count of values that follow, and whether it is a long; tds has written both.

        After an int comes the type of a value, which as half of a long makes an impossible count.
        """
        low = self.int_()
        if self._long_size == 4 or self.remaining < 4:
            return low, self._long_size == 4
        place = self._file.tell()
        high = self.int_()
        if not 1 <= high <= Tag.FUNCTION:
            return (low & 0xFFFFFFFF) + (high << 32), True
        self._file.seek(place)
        self.pos -= 4
        return low, False

    def double(self) -> float:
        """An 8-byte float."""
        value: float = _DOUBLE.unpack(self._take(8))[0]
        return value

    def chars(self, count: int) -> bytes:
        """The bytes of a string."""
        if count > self.remaining:
            raise T7Error(f"a string of {count} bytes in the last {self.remaining}", self.pos)
        return self._take(count)

    def elements(self, dtype: np.dtype[Any], count: int) -> Elements:
        """The elements of a storage, read into their place."""
        found = np.dtype("<i4") if dtype == LONG and self._long_size == 4 else dtype
        if count * found.itemsize > self.remaining:
            what = f"{count} elements of {found.itemsize} bytes"
            raise T7Error(f"a storage of {what} in the last {self.remaining} bytes", self.pos)
        elements = Elements(dtype, count)
        if found != dtype:
            elements.array[...] = np.frombuffer(self._take(count * found.itemsize), found)
            return elements
        memory = elements.array.view("u1").data
        while memory:
            filled = self._file.readinto(memory)  # type: ignore[attr-defined]
            if not filled:
                raise T7Error("the file ends within a storage", self.pos)
            self.pos += filled
            memory = memory[filled:]
        return elements


# Underscores, which Python takes in numbers, are no part of one.
_TOKEN = re.compile(rb"\s*([^\s_]{1,400})(?=\s|\Z)")
_LINE_END = re.compile(rb"[ \t\r]*(\n|\Z)")

# What C libraries print for what is no number, beside the words that float() takes: Microsoft's
# "nan(ind)" and "nan(snan)" since 2015 and "-1.#IND" before, with zeros to the precision and an
# exponent; C99's "nan(0x...)"; "NaNQ" and "NaNS" of AIX.
_MICROSOFT = rb"1\.#%s0*(?:e[+-]?\d+)?"
_NAN = re.compile(
    rb"[+-]?(?:nan(?:\([\w.+-]*\)|[qs])?|%s)" % (_MICROSOFT % rb"(?:[qs]nan|ind)"), re.I
)
_INFINITY = re.compile(rb"[+-]?%s" % (_MICROSOFT % rb"inf"), re.I)


def _float(token: bytes) -> float:
    """A number as any C library prints it; ValueError for anything else."""
    try:
        return float(token)
    except ValueError:
        if _NAN.fullmatch(token):
            return math.nan
        if _INFINITY.fullmatch(token):
            return -math.inf if token.startswith(b"-") else math.inf
        raise


class AsciiSource:
    """The ascii format: numbers in decimal, one newline after each item."""

    smallest = 2

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.pos = 0

    @property
    def remaining(self) -> int:
        """Bytes to the end of the file, with a newline that may be missing there."""
        return len(self._data) - self.pos + 1

    def _tokens(self, count: int) -> list[bytes]:
        """Words on what is usually one line of its own."""
        tokens = []
        for _ in range(count):
            match = _TOKEN.match(self._data, self.pos)
            if match is None:
                raise T7Error("no number where one should be", self.pos)
            tokens.append(match[1])
            self.pos = match.end()
        line_end = _LINE_END.match(self._data, self.pos)
        if line_end is not None:
            self.pos = line_end.end()
        return tokens

    def _line(self, count: int) -> list[bytes] | None:
        """The words of this line, where it has exactly that number; the quick way."""
        start, limit = self.pos, self.pos + 64 * count + 64
        end = self._data.find(b"\n", start, limit)
        if end < 0 and limit < len(self._data):
            return None
        line = self._data[start : end if end >= 0 else len(self._data)]
        tokens = line.split()
        if len(tokens) != count or b"_" in line:
            return None
        self.pos += len(line) + (end >= 0)
        return tokens

    def _ints(self, count: int, bits: int) -> list[int]:
        start = self.pos
        tokens = self._tokens(count)
        try:
            values = [int(token) for token in tokens]
        except ValueError:
            raise T7Error("no whole number where one should be", start) from None
        if any(not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) for value in values):
            raise T7Error(f"a number of more than {bits} bits", start)
        return values

    def int_(self) -> int:
        """A 4-byte int."""
        return self._ints(1, 32)[0]

    def long_(self) -> int:
        """A C long."""
        return self._ints(1, 64)[0]

    def longs(self, count: int) -> list[int]:
        """Several C longs."""
        return self._ints(count, 64) if count else []

    def int_or_long(self) -> tuple[int, bool]:
        """A count, which looks the same in both sizes."""
        return self.long_(), True

    def double(self) -> float:
        """A float."""
        start = self.pos
        (token,) = self._tokens(1)
        try:
            return _float(token)
        except ValueError:
            raise T7Error("no number where one should be", start) from None

    def chars(self, count: int) -> bytes:
        """The bytes of a string."""
        end = self.pos + count
        if end > len(self._data):
            left = len(self._data) - self.pos
            raise T7Error(f"a string of {count} bytes in the last {left}", self.pos)
        found = self._data[self.pos : end]
        self.pos = end
        if count and self._data[end : end + 1] == b"\n":
            self.pos += 1
        return found

    def elements(self, dtype: np.dtype[Any], count: int) -> Elements:
        """The elements of a storage. Bytes and chars stand as they are."""
        start = self.pos
        if dtype.itemsize == 1:
            elements = Elements(dtype, len(data := self.chars(count)))
            elements.array[...] = np.frombuffer(data, dtype)
            return elements
        if 2 * count > self.remaining:
            raise T7Error(
                f"a storage of {count} elements in the last {self.remaining} bytes", start
            )
        if not count:
            return Elements(dtype, 0)
        tokens = self._line(count) or self._tokens(count)
        elements = Elements(dtype, count)
        number = _float if dtype.kind == "f" else int
        try:
            numbers = [number(token) for token in tokens]
            if dtype.kind != "f":  # which older numpy wraps without a word
                limits = np.iinfo(dtype)
                if min(numbers) < limits.min or max(numbers) > limits.max:
                    raise OverflowError
            with np.errstate(over="ignore", invalid="ignore"):
                elements.array[...] = np.array(numbers, dtype)
        except (ValueError, OverflowError):
            raise T7Error(f"an element that is no number of type {dtype}", start) from None
        return elements
