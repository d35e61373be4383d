"""Writes the table of functions that random_calls.c calls: their arguments as the headers describe
them, and calls to begin with, from the recorded ones and from seeds.txt.

    python tables.py --compiler gcc --include thnn --recorded tests/data/golden --output tables.c

Needs no package: it runs before numpy may be there.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import shlex
import struct
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[3] / "pythnn"))

from _build.headers import parse, preprocess
from _build.steps import call_of_words
from _build.table import Argument, Entry, read_table

SEEDS = Path(__file__).with_name("seeds.txt")
HEADERS = (
    "generic/THNN.h",
    "generic/THNNExtraModules.h",
    "generic/THNNExtraSequences.h",
)
REALS = ("Float", "Double")
LARGEST = 2000
"""Elements of all tensors of a call, at most: calls are to take microseconds."""
INDEX_COLUMNS = 3
"""SparseLinear's rows are a sample, a column and a value."""
DIMENSIONS = 6
"""MOST_DIMENSIONS of fuzz.h."""
FORMATS = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "|u1": "B"}


@dataclass
class Value:
    """An argument of a call: a tensor, of shape None for NULL, or a number."""

    shape: tuple[int, ...] | None = ()
    elements: Iterable[float] = ()
    number: float = 0


def read_array(file: Any) -> Value:
    """An array of a .npz, whose format is numpy's own."""
    file.read(8)
    (length,) = struct.unpack("<H", file.read(2))
    header = ast.literal_eval(file.read(length).decode())
    data = file.read()
    elements = [x for (x,) in struct.iter_unpack("<" + FORMATS[header["descr"]], data)]
    if header["fortran_order"] and len(header["shape"]) > 1:
        elements = sorted(elements)  # no order that indices would have to be in
    return Value(header["shape"], elements)


def recorded_calls(folder: Path) -> Iterable[tuple[str, list[Value]]]:
    """The functions of the recorded calls that were accepted, and their arguments."""
    for path in sorted(folder.glob("*.json")):
        file = json.loads(path.read_text())
        if not isinstance(file, dict):
            continue
        with zipfile.ZipFile(path.with_suffix(".npz")) as archive:
            for case in file["cases"]:
                if "function" in case and not case.get("error"):
                    yield case["function"], [recorded_value(a, archive) for a in case["args"]]


def recorded_value(argument: dict[str, Any], archive: zipfile.ZipFile) -> Value:
    if argument["kind"] == "null":
        return Value(None)
    if argument["kind"] == "tensor":
        if not argument.get("before"):
            return Value(())
        with archive.open(f"{argument['before']}.npy") as file:
            return read_array(file)
    return Value(number=float(argument.get("value") or argument.get("seed") or 0))


def seeds(entries: dict[str, Entry]) -> Iterable[tuple[str, list[Value]]]:
    """The calls of seeds.txt."""
    for line in SEEDS.read_text().splitlines():
        if line and not line.startswith("#"):
            function, *words = line.split()
            arguments = entries[function].arguments[1:]
            values = [seed(a, w) for a, w in zip(arguments, words, strict=True)]
            yield function, [Value(), *values]


def seed(argument: Argument, word: str) -> Value:
    if not argument.role:
        return Value(number=float(word))
    if word in ("NULL", "-"):
        return Value(None if word == "NULL" else ())
    if word.startswith("["):
        numbers = ast.literal_eval(word)
        return Value((len(numbers),), numbers)
    return Value(tuple(map(int, word.split("x"))), (-1.0, 0.5, 1.0))


def has_indices(value: Value) -> bool:
    """Whether elements are whole numbers, or those of a column: they may be indices, and are kept.
    Of others the range is enough."""
    elements, columns = list(value.elements), (value.shape or (1,))[-1]
    step = columns if columns <= INDEX_COLUMNS else 1
    return any(all(x == int(x) for x in elements[i::step]) for i in range(step))


class Tables:
    """The C source, as it grows."""

    def __init__(self) -> None:
        self.elements: list[float] = []
        self.values: list[str] = []

    def add(self, call: list[Value]) -> None:
        for value in call:
            self.values.append(self.value(value))

    def value(self, value: Value) -> str:
        shape, elements = value.shape, list(value.elements)
        is_null = int(shape is None)
        sizes = ", ".join(map(str, shape or (0,)))
        finite = [x for x in elements if math.isfinite(x)] or [0.0]
        least, most = min(finite), max(finite)
        first = -1
        if shape and least != most and math.prod(shape) == len(finite) and has_indices(value):
            first = len(self.elements)
            self.elements += finite
        return (
            f"{{{is_null}, {len(shape or ())}, {{{sizes}}}, {float(least)!r}, {float(most)!r}, "
            f"{int(least == int(least) and most == int(most))}, {first}, {value.number!r}}}"
        )

    def source(self, parts: Iterable[str]) -> str:
        elements = ", ".join(f"{x:.17g}" for x in self.elements)
        values = ",\n  ".join(self.values)
        return "\n\n".join(
            [
                '/* Generated by tables.py. */\n#include "fuzz.h"\n\n#include <THNNExtra.h>',
                f"const double recordedElements[] = {{{elements}}};",
                f"const Recorded recorded[] = {{\n  {values}}};",
                *parts,
                "",
            ]
        )


def parameters(entry: Entry) -> str:
    rows = [
        f'{{"{a.name}", KIND_{a.kind.upper()}, ROLE_{(a.role or "none").upper()}, '
        f"{int(a.optional)}}}"
        for a in entry.arguments
    ]
    return f"static const Parameter parameters_{entry.name}[] = {{\n  " + ",\n  ".join(rows) + "};"


def small(call: list[Value]) -> bool:
    shapes = [value.shape for value in call if value.shape]
    return (
        sum(map(math.prod, shapes)) <= LARGEST
        and max(map(len, shapes), default=0) <= DIMENSIONS
        and all(map(all, shapes))
    )


def tables(root: Path, compiler: list[str], recorded: Path) -> str:
    header = parse(preprocess(compiler, [root], ["TH/TH.h", "THNN.h", "THNNExtra.h"]), root)
    entries = {e.name: e for file in HEADERS for e in read_table(header, file)}
    functions = {f.name: f for f in header.functions}
    calls: dict[str, list[list[Value]]] = {name: [] for name in entries}
    for name, call in [*recorded_calls(recorded), *seeds(entries)]:
        if small(call) and len(call) == len(entries[name].arguments):
            calls[name].append(call)
    written, parts, rows = Tables(), [], []
    for name, entry in entries.items():
        if not calls[name]:
            sys.exit(f"{name} has neither a recorded call nor one in {SEEDS}")
        first = len(written.values)
        for call in calls[name]:
            written.add(call)
        parts.append(parameters(entry))
        names = [f"THNN_{real}{name}" for real in REALS]
        parts += [call_of_words(functions[f], f"call_{f}", "Word") for f in names]
        rows.append(
            f'  {{"{name}", {len(entry.arguments)}, parameters_{name}, '
            f"{{{', '.join(f'call_{f}' for f in names)}}}, {first}, {len(calls[name])}}}"
        )
    table = ",\n".join(rows)
    parts.append(f"const Function functions[] = {{\n{table}}};")
    parts.append(f"const int functionCount = {len(rows)};")
    return written.source(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True, help="C compiler, with options")
    parser.add_argument("--include", required=True, type=Path, help="folder of THNN.h")
    parser.add_argument("--recorded", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    compiler = shlex.split(options.compiler)
    options.output.write_text(tables(options.include.resolve(), compiler, options.recorded))


if __name__ == "__main__":
    main()
