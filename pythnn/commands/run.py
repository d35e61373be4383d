"""``pythnn run``: a model from a .t7 file on images and arrays."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .._files import replacing
from .._models.entries import Entry, input_of
from .._models.errors import entry_of, explained, load_value, module_in
from .._models.images import Recipe, read_image
from .._models.inputs import array_advice, cast, image_advice
from .._models.recipe import Wanted, recipe_for
from .._models.rows import Row, refuse_unknown, rows_of, shape_text, tensors_in
from .._models.scores import last_layer, probabilities, read_labels
from .._shown import shown
from ._arrays import ARRAYS, read_arrays
from ._results import Result, result_of, rows_of_one
from ._saving import IMAGES, only, save

__all__ = ["Task", "run_model"]

Array = NDArray[Any]

MAX_ROWS = 20  # of results, printed


@dataclass
class Task:
    """What the command line asks for."""

    model: Path
    input: Path
    wanted: Wanted | None  # of images; None: what the model takes
    key: str | None = None
    labels: Path | None = None
    top: int = 5
    output: Path | None = None
    format: str = "npy"  # of results in a folder
    softmax: bool = False
    batch: bool = True  # whether to put a batch dimension of 1 in front of images


def run_model(task: Task) -> None:
    """Runs the model on the input, or on each file of a folder; prints or saves what it gives."""
    value = entry_of(load_value(task.model), task.key, task.model)
    model = module_in(value, task.model, task.key)
    rows = rows_of(model)
    refuse_unknown(rows)
    runner = _Runner(task, model, rows)
    files = _files(task.input)
    _refuse_idle_options(task, files)
    places = _places(files, task.output, task.format) if len(files) > 1 else {}
    results: list[Array] = []
    for path in files if len(files) == 1 else _with_progress(files):
        output, result = runner.run(path)
        name = "" if len(files) == 1 else f"{shown(path.name)}: "
        if task.output is None:
            runner.show(name, output, result)
        elif len(files) == 1:
            save(task.output, output, result, runner.undone)
        elif task.output.suffix == ".npy":
            results.append(only(output))
        else:
            task.output.mkdir(parents=True, exist_ok=True)
            save(places[path], output, result, runner.undone)
    if results and task.output is not None:
        with explained(f"{task.output} cannot be written"):
            stacked = np.stack(results)
            with replacing(task.output) as file:
                np.save(file, stacked)


def _files(path: Path) -> list[Path]:
    """The input, or the images and arrays of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in (*ARRAYS, *IMAGES))
    if not found:
        raise click.ClickException(f"{path} has no images and no .npy or .npz files.")
    return found


def _refuse_idle_options(task: Task, files: list[Path]) -> None:
    """Raises UsageError for options of images where there are none, neither read nor saved."""
    if any(path.suffix.lower() not in ARRAYS for path in files):
        return
    output = task.output
    saves_arrays = output is None or output.suffix.lower() in ARRAYS
    if output is not None and not output.suffix and len(files) > 1:
        saves_arrays = f".{task.format}" in ARRAYS
    if not task.batch or (task.wanted is not None and saves_arrays):
        are = "holds arrays" if len(files) > 1 or task.input.is_dir() else "is an array"
        raise click.UsageError(
            f"Options for images go with images: {task.input} {are}, taken as it is."
        )


def _places(files: list[Path], output: Path | None, suffix: str) -> dict[Path, Path]:
    """Where the result of each file of a folder goes; all to one place, or into another folder.

    There the results have the names of their inputs: a.npy, unless there are several inputs a.png,
    a.jpg and so on. ClickException where an input would be overwritten.
    """
    if output is None:
        return {}
    if output.suffix == ".npy":
        places = dict.fromkeys(files, output)
    else:
        places = {path: output / f"{name}.{suffix}" for path, name in _names(files).items()}
    written = {os.path.realpath(place) for place in places.values()}
    lost = next((path for path in files if os.path.realpath(path) in written), None)
    if lost is not None:
        raise click.ClickException(
            f"{lost} is one of the inputs, and a result would take its place; choose another "
            "--output."
        )
    return places


def _names(files: list[Path]) -> dict[Path, str]:
    """A name for each file that no other has: its own without the ending, where that will do."""
    names = {path: path.stem for path in files}
    while len(set(names.values())) < len(names):
        count = Counter(names.values())
        names = {path: path.name if count[name] > 1 else name for path, name in names.items()}
    whole = [shown(path.name) for path, name in names.items() if name == path.name]
    if whole:
        click.echo(
            f"Results keep the whole name of {', '.join(whole)}: a name is there twice.", err=True
        )
    return names


def _with_progress(files: list[Path]) -> Iterator[Path]:
    """The files, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(files, "running", console=console)
    else:  # where a bar that is disabled is an empty line, before rich 14.3
        yield from files


class _Runner:
    def __init__(self, task: Task, model: Any, rows: list[Row]) -> None:
        self.task = task
        self.model = model
        self.rows = rows
        self.entry: Entry = input_of(model)
        self.last = last_layer(rows)
        self.recipe: Recipe | None = None  # found when the first image comes
        self.labels: list[str] | None = None
        with explained(f"{task.model} cannot be run"):
            self.dtype = model.dtype
        with explained("the model cannot be put into evaluation mode"):
            model.evaluate()

    @property
    def undone(self) -> Recipe:
        """The recipe to undo where results are images."""
        wanted = self.task.wanted or Wanted("unit")
        return self.recipe or wanted.recipe()

    def run(self, path: Path) -> tuple[Any, Result]:
        """The output for one file, and what is in it."""
        is_image = path.suffix.lower() not in ARRAYS
        inputs = [self._image(path)] if is_image else self._arrays(path)
        x = self.entry.nested(inputs)
        hint = " (--preset, --size, --channels change it)" if is_image else ""
        what = f"{path}: the model does not take an input of {shape_text(x)}{hint}"
        advice = image_advice if is_image else array_advice
        with explained(what, lambda: advice(self.model, self.rows, self.entry, inputs)):
            output = self.model.forward(x)
        count = rows_of_one(output, inputs)
        if count:
            click.echo(
                f"{shown(path.name)} gave {count} rows of results for each image: a layer such as "
                "nn.View makes several rows of one image that is larger than the model was made "
                "for. --size sets another.",
                err=True,
            )
        return output, result_of(output, inputs, self.last)

    def _image(self, path: Path) -> Array:
        """An image as the model takes it, for which it may be run on noise first."""
        if self.recipe is None:
            self.recipe = recipe_for(self.model, self.rows, self.task.wanted)
        with explained(f"{path} cannot be read"):
            image = read_image(path, self.recipe)
            return np.ascontiguousarray(image[None] if self.task.batch else image, self.dtype)

    def _arrays(self, path: Path) -> list[Array]:
        with explained(f"{path} cannot be read"):
            arrays = read_arrays(path)
            leaves = self.entry.leaves()
            leaves += [Entry() for _ in arrays[len(leaves) :]]
            return [cast(a, leaf, self.dtype) for a, leaf in zip(arrays, leaves, strict=False)]

    def show(self, name: str, output: Any, result: Result) -> None:
        """Prints the best classes of each sample, numbers, or what else the output is."""
        if result.kind not in ("number", "scores") or not self.task.top:
            click.echo(f"{name}output {shape_text(output)}{self._offer(output, result)}")
            return
        for number, sample in enumerate(result.samples[:MAX_ROWS], 1):
            place = f"{name}{number}: " if result.is_batch else name
            if result.kind == "number":
                click.echo(f"{place}{sample.item():.6g}")
            else:
                self._show_scores(place, sample.astype(np.float64))
        if len(result.samples) > MAX_ROWS:
            more = len(result.samples) - MAX_ROWS
            click.echo(f"{name}… and {more} more. --output FILE.npy saves all.")

    def _offer(self, output: Any, result: Result) -> str:
        """How to save an output that is not printed."""
        several = len(result.samples) > 1
        if result.kind == "image":
            what = "images" if several else "an image"
            where = "in one sheet, --output FOLDER each" if several else "it"
            return f", {what}. --output FILE.png saves {where}; --output FILE.npy the numbers."
        if result.kind == "map":
            count = len(result.samples[0])
            return (
                f", scores of {count} classes at each place. --output FILE.png saves a map of the "
                f"best ones, --output FILE.npy the scores.{self._shares(result)}"
            )
        return f". --output FILE.{'npy' if len(tensors_in(output)) == 1 else 'npz'} saves it."

    def _shares(self, result: Result) -> str:
        """The classes that are best at most places."""
        if not self.task.top:
            return ""
        best = np.concatenate([sample.argmax(axis=0).ravel() for sample in result.samples])
        counts = np.bincount(best, minlength=len(result.samples[0]))
        self._read_labels(len(counts))
        most = [i for i in np.argsort(-counts, kind="stable")[: self.task.top] if counts[i]]
        shares = [f"{self._label(i)} at {100 * counts[i] / best.size:.3g} %" for i in most]
        return f" Best: {', '.join(shares)}."

    def _show_scores(self, name: str, scores: Array) -> None:
        scores, are_probabilities = probabilities(scores, self.last, self.task.softmax)
        self._read_labels(len(scores))
        best = np.argsort(-scores, kind="stable")[: self.task.top]
        width = max(len(self._label(i)) for i in best)
        texts = [
            f"{100 * scores[i]:.2f} %" if are_probabilities else f"{scores[i]:.6g}" for i in best
        ]
        if name:
            parts = [f"{self._label(i)} {text}" for i, text in zip(best, texts, strict=True)]
            click.echo(name + ", ".join(parts))
            return
        for i, text in zip(best, texts, strict=True):
            click.echo(f"{self._label(i):<{width}}  {text:>9}")

    def _read_labels(self, count: int) -> None:
        if self.task.labels is not None and self.labels is None:
            self.labels = read_labels(self.task.labels, count)

    def _label(self, index: int) -> str:
        return f"class {index + 1}" if self.labels is None else shown(self.labels[index])
