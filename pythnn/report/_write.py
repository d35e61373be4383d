"""The command: reads a file, runs the model, writes the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from .._files import replacing
from ..commands._errors import entry_of, explained, items_of, load_value, module_in
from ..commands._guessing import guessed_shape
from ..commands._images import PRESETS, Recipe, read_image
from ..commands._measuring import noise, parse_shape
from ..commands._modules import Row, class_of, first_layer, is_object, rows_of, shape_text
from ..commands._scores import last_layer, probabilities, read_labels, scores_in
from ..t7 import TorchObject
from ._page import page
from ._report import Report
from ._running import Stage, run_on

__all__ = ["Task", "write_report"]


CLASSES = 5  # shown


@dataclass
class Task:
    """What the command line asks for."""

    model: Path
    output: Path
    shapes: tuple[str, ...] = ()
    image: Path | None = None
    recipe: Recipe | None = None  # None: by what the model's first layer takes
    key: str | None = None
    labels: Path | None = None
    run: bool = True


def write_report(task: Task) -> None:
    """Writes a page about the model of a file."""
    with _stages() as stage, explained(f"no page can be made about {task.model}"):
        _tell(stage, f"reading {task.model}")
        report = _report(task, stage)
        _tell(stage, "drawing")
        content = page(report).encode("utf-8")
    with explained(f"{task.output} cannot be written"):
        if task.output.exists() and task.output.samefile(task.model):
            raise ValueError("it is the model itself")
        with replacing(task.output) as file:
            file.write(content)
    click.echo(f"{task.output}: {len(content):,} bytes")


@contextmanager
def _stages() -> Iterator[Stage | None]:
    """A function that shows on a terminal what is being done; None where nobody looks."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("") as status:
        yield lambda text: status.update(Text(text))


def _tell(stage: Stage | None, text: str) -> None:
    if stage is not None:
        stage(text)


def _report(task: Task, stage: Stage | None) -> Report:
    wants_run = bool(task.shapes) or task.image is not None
    loaded = load_value(task.model, to_look_at=not wants_run)
    value = _object_in(entry_of(loaded, task.key, task.model), task.model)
    rows = rows_of(value)
    report = Report(task.model.name, task.model.stat().st_size, value, rows, task.key)
    train = getattr(value, "train", None)
    report.was_training = train if isinstance(train, bool) else None
    unknown = {class_of(row.value) for row in rows if isinstance(row.value, TorchObject)}
    if unknown:
        report.note = (
            f"Not run: pythnn does not know {', '.join(sorted(unknown))}. Write such classes in "
            "Python and register them (pythnn.nn.register)."
        )
    elif not hasattr(value, "forward") or not hasattr(value, "evaluate"):
        report.note = "Not run: a criterion compares an output with a target."
    elif not task.run:
        report.note = "Not run, as --no-run asked."
    else:
        _run(task, report, stage)
    if report.run is None and wants_run:
        raise click.ClickException(f"{task.model}: {report.note}")
    return report


def _object_in(value: Any, path: Path) -> Any:
    """The object that a value is, or the only one in a table; preferably a module."""
    if is_object(value):
        return value
    objects = [item for _, item in items_of(value) if is_object(item)]
    return objects[0] if len(objects) == 1 else module_in(value, path)


def _run(task: Task, report: Report, stage: Stage | None) -> None:
    """Runs the model on what was asked for, or on noise of a shape that it takes."""
    module, rows = report.value, report.rows
    with explained("the model cannot be put into evaluation mode"):
        module.evaluate()
    if task.shapes and task.image is None:
        shapes = [parse_shape(text) for text in task.shapes]
        report.origin = "noise"
        inputs = [noise(shape, module, first_layer(rows)) for shape in shapes]
    elif task.image is not None:
        recipe = _recipe(task, module, rows)
        report.origin, report.recipe = task.image.name, recipe
        with explained(f"{task.image} cannot be read"):
            inputs = [np.ascontiguousarray(read_image(task.image, recipe), module.dtype)]
    else:
        _tell(stage, "trying shapes of inputs")
        shape = guessed_shape(module, rows)
        if shape is None:
            report.note = "Not run: what it takes could not be guessed. Say it: --input 3x224x224."
            click.echo(f"{report.note}", err=True)
            return
        report.origin = "noise of a shape that was guessed; --input sets another"
        inputs = [noise(shape, module, first_layer(rows))]
    given = ", ".join(" x ".join(map(str, array.shape)) for array in inputs)
    hint = " (--size, --preset and --channels change it)" if task.image else ""
    try:
        with explained(f"the model does not take an input of {given}{hint}"):
            report.run = run_on(module, rows, inputs, pictures=task.image is not None, stage=stage)
    except click.ClickException as error:
        if task.shapes or task.image is not None:
            raise
        report.note = f"Not run: {error.message}"  # nobody asked for a run
        return
    if task.image is not None:
        _note_classes(task, report, report.run.output)


def _recipe(task: Task, module: Any, rows: list[Row]) -> Recipe:
    """What was asked for; else the usual recipe, at a size that the model takes."""
    if task.recipe is not None:
        return task.recipe
    shape = parse_shape(task.shapes[0]) if task.shapes else guessed_shape(module, rows)
    if shape is None:
        planes = getattr(first_layer(rows), "nInputPlane", 3)
        return PRESETS["gray" if planes == 1 else "imagenet"]
    if len(shape) != 3 or shape[0] not in (1, 3):
        taken = " x ".join(map(str, shape))
        raise click.ClickException(
            f"{task.model} takes {taken}, which is no image; leave out --image."
        )
    return PRESETS["gray" if shape[0] == 1 else "imagenet"].with_size(shape[1:])


def _note_classes(task: Task, report: Report, output: Any) -> None:
    """Notes the best classes, where the output is a score of each."""
    scores = scores_in(output)
    if scores is None or scores.ndim != 1:
        if task.labels is not None:
            raise click.ClickException(
                f"--labels: the output, {shape_text(output)}, is no score of each class."
            )
        return
    scores, report.are_odds = probabilities(scores, last_layer(report.rows))
    labels = read_labels(task.labels, len(scores)) if task.labels is not None else None
    best = np.argsort(-scores, kind="stable")[:CLASSES]
    report.classes = [(labels[i] if labels else f"class {i + 1}", float(scores[i])) for i in best]
