"""Reading: from a path or file to the value in it."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ._build import build
from ._errors import T7Error
from ._foreign import HEAD, describe_foreign, goes_on, is_numbers, looks_ascii, looks_binary
from ._parse import Graph, parse
from ._source import AsciiSource, BinarySource

__all__ = ["load"]


def load(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    classes: bool = True,
    long_size: Literal[4, 8] | None = None,
) -> Any:
    """Loads what ``torch.save`` of Lua Torch wrote, in the binary or the ascii format.

    Nothing in the file is run. Tensors become numpy arrays that share memory as they did in Torch;
    those of the GPU are in ordinary memory. Tables become lists where their keys are 1 to n, else
    dicts, or a :class:`Table` where Python's keys cannot tell Lua's apart; an empty one is ``{}``.
    Numbers are ints where they are whole, up to 2**53, else floats. Strings are str, bytes that are
    no UTF-8 as surrogate escapes. What pythnn knows no class for becomes a :class:`TorchObject`.

    Parameters
    ----------
    file : path or binary file
        A file is read from where it stands, and left after the value: more may follow. A text
        file given by its path that goes on after a value of numbers alone is none of Lua Torch's.
    classes : bool
        Whether objects of nn become those of :mod:`pythnn.nn`. Else they stay what the file holds,
        as TorchObjects.
    long_size : 4 or 8, optional
        Bytes of a C ``long`` in a binary file: 8 on 64-bit Linux and macOS, 4 on Windows and 32-bit
        machines. By default 8 is tried first.

    Raises
    ------
    T7Error
        The file is something else, or damaged. Memory taken is at most a multiple of its size.
    """
    if long_size not in (None, 4, 8):
        raise ValueError(f"long_size is {long_size!r}; it is 4 or 8")
    if isinstance(file, (str, os.PathLike)):
        with Path(file).open("rb") as opened:
            return _load(opened, classes, long_size, whole=True)
    if isinstance(file, io.TextIOBase) or not hasattr(file, "read"):
        raise TypeError("load wants a path, or a file opened for bytes such as open(path, 'rb')")
    return _load(file, classes, long_size, whole=False)


def _load(file: BinaryIO, classes: bool, long_size: int | None, whole: bool) -> Any:
    """The value where the file stands; `whole` says that no others were asked for after it."""
    if not (hasattr(file, "seekable") and file.seekable() and hasattr(file, "readinto")):
        file = io.BytesIO(file.read())
    start = file.tell()
    size = file.seek(0, io.SEEK_END) - start
    file.seek(start)
    head = file.read(HEAD)
    file.seek(start)
    if looks_binary(head):
        graph = _parse_binary(file, start, size, long_size)
    elif looks_ascii(head):
        text = file.read()
        source = AsciiSource(text)
        graph = Graph()
        try:
            parse(source, graph)
        except T7Error:
            if not (whole and is_numbers(text)):
                raise
            raise T7Error(_foreign(head)) from None
        if whole and goes_on(text, source.pos):
            raise T7Error(_foreign(head))
        file.seek(start + source.pos)
    else:
        raise T7Error(_foreign(head))
    return build(graph, classes)


def _foreign(head: bytes) -> str:
    return f"not a .t7 file of Lua Torch but {describe_foreign(head)}"


def _parse_binary(file: BinaryIO, start: int, size: int, long_size: int | None) -> Graph:
    failed: list[tuple[int, T7Error]] = []
    # A wrong guess is found out at the first tensor or storage.
    for guess in (8, 4) if long_size is None else (long_size,):
        file.seek(start)
        graph, source = Graph(), BinarySource(file, size, guess)
        try:
            parse(source, graph)
            if guess == 8 or source.remaining == 0 or long_size is not None:
                return graph
        except T7Error as error:
            failed.append((len(graph.ended), error))
    raise max(failed, key=lambda result: result[0])[1]
