"""The command: reads a file, runs the model, writes the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from .._files import replacing
from .._models.entries import input_of
from .._models.errors import entry_of, explained, items_of, load_value, module_in
from .._models.images import read_image
from .._models.inputs import (
    Example,
    accepted,
    advice,
    asked_or_guessed,
    guess,
    image_advice,
    is_image,
)
from .._models.measuring import parse_shape, put_into_use
from .._models.recipe import Wanted, recipe_for
from .._models.rows import class_of, is_object, rows_of, shape_text
from .._models.scores import last_layer, probabilities, read_labels, scores_in
from .._shown import shown
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
    wanted: Wanted | None = None  # of the image; None: what the model takes
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
    click.echo(f"{shown(task.output)}: {len(content):,} bytes")


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
    entry = entry_of(loaded, task.key, task.model)
    value = _object_in(entry, task.model, task.key)
    if wants_run and isinstance(value, TorchObject):
        module_in(entry, task.model, task.key)  # raises, and says what there is inside
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


def _object_in(value: Any, path: Path, key: str | None) -> Any:
    """The object that a value is, or the only one in a table; preferably a module."""
    if is_object(value):
        return value
    objects = [item for _, item in items_of(value) if is_object(item)]
    return objects[0] if len(objects) == 1 else module_in(value, path, key)


def _run(task: Task, report: Report, stage: Stage | None) -> None:
    """Runs the model on what was asked for, or on noise of a shape that it takes."""
    module, rows = report.value, report.rows
    with explained("the model cannot be put into evaluation mode"):
        put_into_use(module)
    _tell(stage, "trying shapes of inputs")
    example = _example(task, report)
    if example is None:
        return
    try:
        with explained(f"the model cannot be run on an input of {example.text}"):
            pictures = task.image is not None
            report.run = run_on(module, rows, example, pictures=pictures, stage=stage)
    except click.ClickException as error:
        if task.shapes or task.image is not None:
            raise
        report.note = f"Not run: {error.message}"  # nobody asked for a run
        return
    if task.image is not None:
        _note_classes(task, report, report.run.output)


def _example(task: Task, report: Report) -> Example | None:
    """What the model is run on; None, with a note, where nobody says it and no guess fits."""
    module, rows = report.value, report.rows
    if task.image is not None:
        wanted = task.wanted
        if task.shapes:
            wanted = _sized(wanted or Wanted(), parse_shape(task.shapes[0]))
        recipe = recipe_for(module, rows, wanted)
        report.origin, report.recipe = task.image.name, recipe
        with explained(f"{task.image} cannot be read"):
            inputs = [np.ascontiguousarray(read_image(task.image, recipe), module.dtype)]
        given, entry = shape_text(inputs[0]), input_of(module)
        hint = "--size, --preset and --channels change it"
        what = f"the model does not take an input of {given} ({hint})"
        with explained(what, lambda: image_advice(module, rows, entry, inputs)):
            return accepted(module, inputs, entry)
    if task.shapes:
        report.origin = "noise"
        return asked_or_guessed(module, rows, task.shapes)
    report.origin = "noise of a shape that was guessed; --input sets another"
    found = guess(module, rows)
    if found is None:
        text = advice(input_of(module))
        report.note = f"Not run: what it takes could not be guessed; {text}."
        click.echo(shown(report.note), err=True)
    return found


def _sized(wanted: Wanted, shape: tuple[int, ...]) -> Wanted:
    """The same with the size and the channels of a shape that the user says."""
    if not is_image(shape):
        raise click.ClickException(
            f"--input {'x'.join(map(str, shape))} is no image; leave out --image."
        )
    channels = {"channels": "gray" if shape[0] == 1 else "RGB"}
    return replace(wanted, size=(shape[1], shape[2]), changes={**channels, **wanted.changes})


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
