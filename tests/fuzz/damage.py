"""Damaging .t7 files: their bytes, and the numbers and strings that they consist of."""

from __future__ import annotations

import contextlib
import io
import random
import re
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from pythnn import T7Error
from pythnn.t7._foreign import looks_ascii
from pythnn.t7._parse import Graph, parse
from pythnn.t7._source import AsciiSource, BinarySource

# Numbers that break things: counts just outside of what fits, and type tags.
INTERESTING = [*range(-2, 10), 31, 33, 64, 127, 255, 256, 2**16, 2**31 - 1, -(2**31), 2**31, 2**32]
INTERESTING += [2**60, 2**61, 2**62, 2**63 - 1, -(2**63), 2**64 - 1]
INTERESTING_REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 2.0**31, 2.0**53, -(2.0**63), 1e300]
INTERESTING_REALS += [float("inf"), float("-inf"), float("nan")]

LONG_SIZE = 8


class Item(NamedTuple):
    """A number or a string in a file."""

    start: int
    end: int
    kind: str
    """int, long, double, chars (whose length is the int before) or elements."""


_KINDS = {
    "int_": "int",
    "long_": "long",
    "int_or_long": "int",
    "longs": "long",
    "double": "double",
    "chars": "chars",
    "elements": "elements",
}
"""The methods of a source, and what they read."""
_WORD = re.compile(rb"\S+\s*")


def _recording(base: type) -> type:
    """A source that notes what is read from it."""

    def record(name: str) -> Any:
        read = getattr(base, name)

        def method(self: Any, *arguments: Any) -> Any:
            start, known = self.pos, len(self.items)
            value = read(self, *arguments)
            del self.items[known:]  # what it read with other methods, and maybe read again
            places = [(start, self.pos)]
            if name == "longs" and base is AsciiSource:
                places = [m.span() for m in _WORD.finditer(self._data, start, self.pos)]
            elif name == "longs":
                places = [(at, at + LONG_SIZE) for at in range(start, self.pos, LONG_SIZE)]
            self.items += [Item(*place, _KINDS[name]) for place in places]
            return value

        return method

    return type("Recording", (base,), {name: record(name) for name in _KINDS})


_RecordingAscii, _RecordingBinary = _recording(AsciiSource), _recording(BinarySource)


class Entry:
    """A file and its items, as far as they can be read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_ascii = looks_ascii(data[:64])
        source: Any
        if self.is_ascii:
            source = _RecordingAscii(data)
        else:
            source = _RecordingBinary(io.BytesIO(data), len(data), LONG_SIZE)
        source.items = []
        with contextlib.suppress(T7Error):
            parse(source, Graph())
        self.items: list[Item] = source.items

    def strings(self) -> list[bytes]:
        """The strings in it: names of classes and of fields among them."""
        found = (self.data[i.start : i.end] for i in self.items if i.kind == "chars")
        return [text.rstrip(b"\n") if self.is_ascii else text for text in found]


def damaged(
    entry: Entry, others: Sequence[Entry], strings: list[bytes], rng: random.Random
) -> bytes:
    """A damaged copy of a file, with parts of others and with strings of theirs."""
    if not entry.items or rng.random() < 0.25:
        return damage_bytes(entry.data, rng)
    out = bytearray(entry.data)
    places = sorted({rng.randrange(len(entry.items)) for _ in range(rng.choice((1, 1, 1, 2, 4)))})
    for place in reversed(places):  # from the end, so that earlier items stay where they are
        _damage_item(out, entry, place, others, strings, rng)
    return damage_bytes(bytes(out), rng) if rng.random() < 0.1 else bytes(out)


def _damage_item(
    out: bytearray,
    entry: Entry,
    place: int,
    others: Sequence[Entry],
    strings: list[bytes],
    rng: random.Random,
) -> None:
    items = entry.items
    item = items[place]
    last = items[min(place + rng.choice((0, 0, 1, 2, 5, 12)), len(items) - 1)]
    way = rng.randrange(8)
    if way == 0:
        del out[item.start : last.end]
    elif way == 1:
        out[item.start : item.start] = entry.data[item.start : last.end]
    elif way == 2:
        other = rng.choice(others)
        if other.items and other.is_ascii == entry.is_ascii:
            first = rng.randrange(len(other.items))
            end = other.items[min(first + rng.choice((0, 1, 3, 8, 30)), len(other.items) - 1)].end
            out[item.start : rng.choice((item.start, last.end))] = other.data[
                other.items[first].start : end
            ]
    elif item.kind == "chars" and place:
        text = rng.choice(strings) if rng.random() < 0.8 else damage_bytes(rng.choice(strings), rng)
        counted = _number(len(text), "int", entry.is_ascii) + text
        out[items[place - 1].start : item.end] = counted + b"\n" * entry.is_ascii
    elif item.kind == "double":
        out[item.start : item.end] = _real(rng.choice(INTERESTING_REALS), entry.is_ascii)
    elif item.kind == "elements":
        out[item.start : item.end] = damage_bytes(entry.data[item.start : item.end], rng)
    else:
        value = rng.choice(INTERESTING)
        if rng.random() < 0.5:  # a number that is about as large as what the file has
            value = rng.randrange(0, 3 + len(items))
        out[item.start : item.end] = _number(value, item.kind, entry.is_ascii)


def _number(value: int, kind: str, is_ascii: bool) -> bytes:
    if is_ascii:
        return b"%d\n" % value
    size = 4 if kind == "int" else LONG_SIZE
    return (value % (1 << 8 * size)).to_bytes(size, "little")


def _real(value: float, is_ascii: bool) -> bytes:
    return b"%r\n" % value if is_ascii else struct.pack("<d", value)


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """A copy with some bytes changed, moved, doubled or left out."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            out[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            size = rng.choice((4, 8))
            value = rng.choice(INTERESTING) % (1 << 8 * size)
            at -= at % 4 if rng.random() < 0.5 else 0
            out[at : at + size] = value.to_bytes(size, "little")
        elif kind == 2:
            del out[at : at + rng.choice((1, 4, 8, 64))]
        elif kind == 3:
            out = out[: max(at, 1)]
        elif kind == 4:
            start = rng.randrange(len(out) + 1)
            out[at:at] = out[start : start + rng.choice((4, 8, 40, 200))]
        elif kind == 5:
            out[at : at + rng.randrange(12)] = str(rng.choice(INTERESTING)).encode()
        else:
            start, size = rng.randrange(len(out) + 1), rng.choice((4, 8, 12))
            out[at : at + size] = out[start : start + size]
        if not out:
            break
    return bytes(out)
