"""``pythnn inspect``: what is in a .t7 file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import nn
from ..t7 import TorchObject
from ._errors import entry_of, explained, items_of, load_value, module_in
from ._modules import (
    Measured,
    Row,
    first_layer,
    is_object,
    measuring,
    refuse_unknown,
    rows_of,
    shape_text,
)
from ._values import lines_of

__all__ = ["inspect_file"]

RUNS = 3  # of which the quickest is shown
MAX_DEPTH = 50  # of modules in modules


def inspect_file(path: Path, shapes: list[str], key: str | None, depth: int, width: int) -> None:
    """Prints the tree of a file; for modules with parameters, and with `shapes` what runs give."""
    value = load_value(path, to_look_at=not shapes)
    click.echo(f"{path}: {_size(path.stat().st_size)}")
    value = entry_of(value, key, path)
    if shapes:
        value = module_in(value, path)
    if not is_object(value):
        for line in lines_of(value, depth, width):
            click.echo(line)
        objects = [item for _, item in items_of(value) if is_object(item)]
        if len(objects) != 1:
            return
        click.echo()
        value = objects[0]
    _print_object(value, shapes, depth, width)


def _print_object(value: Any, shapes: list[str], depth: int, width: int) -> None:
    rows = rows_of(value)
    if isinstance(value, TorchObject) and len(rows) == 1:
        for line in lines_of(value, depth, width):
            click.echo(line)
        return
    summary = _summary(value, rows)  # before a run changes the mode
    results = _run(value, rows, shapes) if shapes else {}
    _print_rows(rows, results)
    click.echo(summary)


def parse_shape(text: str) -> tuple[int, ...]:
    """The sizes of ``3x224x224``."""
    try:
        sizes = tuple(int(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is no shape such as 3x224x224", param_hint="--input")
    return sizes


def _run(module: Any, rows: list[Row], shapes: list[str]) -> dict[int, Measured]:
    """Runs the module on noise and notes what each layer did."""
    refuse_unknown(rows)
    sizes = [parse_shape(text) for text in shapes]
    first = first_layer(rows)
    inputs = [_noise((1, *shape), module, first) for shape in sizes]
    best: dict[int, Measured] = {}
    text = ", ".join(" x ".join(map(str, array.shape)) for array in inputs)
    with explained(f"the model does not take an input of {text}"):
        module.evaluate()
        for _ in range(RUNS):
            with measuring(rows) as results:
                module.forward(inputs[0] if len(inputs) == 1 else inputs)
            for key, result in results.items():
                if key not in best or result.seconds < best[key].seconds:
                    best[key] = result
    click.echo(f"input {text}")
    return best


def _noise(shape: tuple[int, ...], module: Any, first: Any) -> np.ndarray[Any, Any]:
    """An input: normal numbers, or the index 1 where the first layer looks indices up."""
    if isinstance(first, getattr(nn, "LookupTable", ())):
        return np.ones(shape, np.int64)
    array: np.ndarray[Any, Any] = np.random.default_rng(0).standard_normal(shape)
    return array.astype(module.dtype)


def _print_rows(rows: list[Row], results: dict[int, Measured]) -> None:
    table = [["", "parameters", *(["output", "ms", "memory"] if results else [])]]
    for row in rows:
        if row.depth > MAX_DEPTH:
            continue
        count = f"{row.count:,}" if row.count else ""
        more = ", …" if row.depth == MAX_DEPTH else ""
        cells = ["  " * row.depth + row.text + more, count + (" shared" if row.shared else "")]
        result = results.get(id(row.value))
        if result is not None:
            memory = "in place" if result.in_place else _size(result.nbytes)
            cells += [shape_text(result.output), f"{result.seconds * 1000:.2f}", memory]
        elif results:
            cells += ["", "", ""]
        table.append(cells)
    widths = [max(len(cells[i]) for cells in table) for i in range(len(table[0]))]
    for cells in table:
        line = cells[0].ljust(widths[0])
        for i, cell in enumerate(cells[1:], 1):
            line += "  " + (cell.ljust(widths[i]) if i == 2 else cell.rjust(widths[i]))
        click.echo(line.rstrip())


def _summary(value: Any, rows: list[Row]) -> str:
    if isinstance(value, TorchObject):
        facts = [f"{rows[0].count:,} parameters in weight and bias"]
    else:
        facts = [f"{rows[0].count:,} parameters, {_size(rows[0].nbytes)}", str(value.dtype)]
        train = getattr(value, "train", None)
        if train is not None:
            facts.append("saved for training" if train else "saved for evaluation")
    unknown = {row.value.torch_class for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        facts.append(f"cannot run: pythnn does not know {', '.join(sorted(unknown))}")
    return ", ".join(facts)


def _size(count: int) -> str:
    number, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:.0f} {unit}"
