"""``pythnn inspect``: what is in a .t7 file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from .. import nn
from .._models.errors import (
    Inside,
    entry_of,
    explained,
    items_of,
    load_value,
    module_in,
    modules_inside,
)
from .._models.inputs import asked_or_guessed
from .._models.measuring import Measured, measure, put_into_use
from .._models.rows import Row, class_of, is_object, refuse_unknown, rows_of, size_text, type_text
from .._shown import shown
from ..t7 import TorchObject
from ._memory import memory_text
from ._tree import lines_of_rows
from ._values import lines_of

__all__ = ["Task", "inspect_file"]

MAX_DEPTH = 50  # of modules in modules
TABLE_DEPTH = 4  # of tables in tables, by default
LISTED = 20  # modules inside of a table


@dataclass
class Task:
    """What the command line asks for."""

    file: Path
    shapes: list[str]
    run: bool = False  # on noise of a shape that is guessed, where there are no shapes
    key: str | None = None
    depth: int | None = None
    width: int = 20  # entries of tables
    fold: bool = True


def inspect_file(task: Task) -> None:
    """Prints the tree of a file; for modules with parameters, and with what runs give."""
    _Inspector(task).inspect()


class _Inspector:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.console = Console(highlight=False, markup=False, emoji=False)
        self.runs = bool(task.shapes) or task.run

    def print(self, line: str | Text, style: str = "") -> None:
        """A line, on a terminal as several where it is too long."""
        text = Text(shown(line), style) if isinstance(line, str) else line
        self.console.print(text, soft_wrap=not self.console.is_terminal)

    def inspect(self) -> None:
        task = self.task
        value = load_value(task.file, to_look_at=not self.runs)
        held = memory_text(value)
        size = size_text(task.file.stat().st_size)
        self.print(f"{task.file}: {size}{f'; {held}' if held else ''}", "bold")
        value = entry_of(value, task.key, task.file)
        if self.runs:
            value = module_in(value, task.file, task.key)
        if is_object(value):
            self._print_object(value)
            return
        self._print_values(value)
        objects = [item for _, item in items_of(value) if is_object(item)]
        inside = modules_inside(value, task.key)
        if inside:
            self.print("")
            self._print_inside(inside)
        if inside or len(objects) == 1:
            self.print("")
            self._print_object(inside[0].module if inside else objects[0])

    def _print_values(self, value: Any) -> None:
        depth = TABLE_DEPTH if self.task.depth is None else self.task.depth
        for line in lines_of(value, depth, self.task.width):
            self.print(line)

    def _print_inside(self, inside: list[Inside]) -> None:
        """The modules of a table, with their parameters and the key of each."""
        self.print("modules inside, those with most parameters first:", "bold")
        for one in inside[:LISTED]:
            key = f"--key {shlex.quote(one.key)}"
            self.print(f"  {key}: {one.module.typename()}, {one.count:,} parameters")
        if len(inside) > LISTED:
            self.print(f"  … and {len(inside) - LISTED} more")

    def _print_object(self, value: Any) -> None:
        rows = rows_of(value)
        if isinstance(value, TorchObject) and len(rows) == 1:
            self._print_values(value)
            return
        summary = _summary(value, rows)  # before a run changes the mode
        results = self._run(value, rows) if self.runs else {}
        depth = MAX_DEPTH if self.task.depth is None else min(self.task.depth, MAX_DEPTH)
        width = self.console.width if self.console.is_terminal else None
        lines = lines_of_rows(rows, results, depth=depth, width=width, fold=self.task.fold)
        for line in lines:
            self.print(line)
        if isinstance(value, TorchObject):
            inside = modules_inside(value, self.task.key)
            if inside:
                self._print_inside(inside)
        self.print(summary)

    def _run(self, module: Any, rows: list[Row]) -> dict[int, Measured]:
        """Runs the module on noise and notes what each layer did."""
        refuse_unknown(rows)
        with explained("the model cannot be put into evaluation mode"):
            put_into_use(module)
        example = asked_or_guessed(module, rows, self.task.shapes)
        with explained(f"the model cannot be run on an input of {example.text}"):
            results, runs = measure(module, rows, example.given)
        guess = ", a guess" if example.is_guess else ""
        self.print(f"input {example.text}{guess}; times are medians of {runs} runs")
        return results


def _summary(value: Any, rows: list[Row]) -> str:
    if isinstance(value, nn.Object):
        facts = [f"{rows[0].count:,} parameters, {size_text(rows[0].nbytes)}", type_text(value)]
        train = getattr(value, "train", None)
        if train is not None:
            facts.append("saved for training" if train else "saved for evaluation")
    else:
        facts = [f"{rows[0].count:,} parameters in weight and bias"]
    unknown = {class_of(row.value) for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        facts.append(f"cannot run: pythnn does not know {', '.join(sorted(unknown))}")
    return ", ".join(facts)
