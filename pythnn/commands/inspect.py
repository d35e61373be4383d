"""``pythnn inspect``: what is in a .t7 file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..t7 import TorchObject
from ._errors import entry_of, explained, items_of, load_value, module_in
from ._inputs import asked_or_guessed
from ._measuring import Measured, measure
from ._modules import (
    Row,
    is_object,
    refuse_unknown,
    rows_of,
    shape_text,
    size_text,
    type_text,
)
from ._values import lines_of

__all__ = ["inspect_file"]

MAX_DEPTH = 50  # of modules in modules


def inspect_file(path: Path, shapes: list[str], key: str | None, depth: int, width: int) -> None:
    """Prints the tree of a file; for modules with parameters, and with `shapes` what runs give."""
    value = load_value(path, to_look_at=not shapes)
    click.echo(f"{path}: {size_text(path.stat().st_size)}")
    value = entry_of(value, key, path)
    if shapes:
        value = module_in(value, path, key)
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


def _run(module: Any, rows: list[Row], shapes: list[str]) -> dict[int, Measured]:
    """Runs the module on noise and notes what each layer did."""
    refuse_unknown(rows)
    with explained("the model cannot be put into evaluation mode"):
        module.evaluate()
    example = asked_or_guessed(module, rows, shapes)
    with explained(f"the model cannot be run on an input of {example.text}"):
        results, runs = measure(module, rows, example.given)
    guess = ", a guess" if example.is_guess else ""
    click.echo(f"input {example.text}{guess}; times are medians of {runs} runs")
    return results


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
            memory = "in place" if result.in_place else size_text(result.nbytes)
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
        facts = [f"{rows[0].count:,} parameters, {size_text(rows[0].nbytes)}", type_text(value)]
        train = getattr(value, "train", None)
        if train is not None:
            facts.append("saved for training" if train else "saved for evaluation")
    unknown = {row.value.torch_class for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        facts.append(f"cannot run: pythnn does not know {', '.join(sorted(unknown))}")
    return ", ".join(facts)
