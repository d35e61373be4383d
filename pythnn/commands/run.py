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

from .. import nn
from .._files import replacing
from ._arrays import ARRAYS, read_arrays
from ._errors import entry_of, explained, load_value, module_in
from ._images import Recipe, read_image, write_image
from ._modules import Row, first_layer, refuse_unknown, rows_of, shape_text, tensors_in
from ._scores import last_layer, probabilities, read_labels, scores_in

__all__ = ["Task", "run_model"]

Array = NDArray[Any]

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


@dataclass
class Task:
    """What the command line asks for."""

    model: Path
    input: Path
    recipe: Recipe | None  # None: by what the model's first layer takes
    key: str | None = None
    labels: Path | None = None
    top: int = 5
    output: Path | None = None
    softmax: bool = False
    batch: bool = True  # whether to put a batch dimension of 1 in front of images


def run_model(task: Task) -> None:
    """Runs the model on the input, or on each file of a folder; prints or saves what it gives."""
    model = module_in(entry_of(load_value(task.model), task.key, task.model), task.model)
    rows = rows_of(model)
    refuse_unknown(rows)
    runner = _Runner(task, model, rows)
    files = _files(task.input)
    places = _places(files, task.output) if len(files) > 1 else {}
    results: list[Array] = []
    for path in files if len(files) == 1 else _with_progress(files):
        output = runner.run(path)
        name = "" if len(files) == 1 else f"{path.name}: "
        if task.output is None:
            runner.show(name, output)
        elif len(files) == 1:
            _save(task.output, output, runner.recipe)
        elif task.output.suffix == ".npy":
            results.append(_only(output))
        else:
            task.output.mkdir(parents=True, exist_ok=True)
            _save(places[path], output, runner.recipe)
    if results and task.output is not None:
        with explained(f"{task.output} cannot be written"), replacing(task.output) as file:
            np.save(file, np.stack(results))


def _files(path: Path) -> list[Path]:
    """The input, or the images and arrays of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in (*ARRAYS, *IMAGES))
    if not found:
        raise click.ClickException(f"{path} has no images and no .npy or .npz files.")
    return found


def _places(files: list[Path], output: Path | None) -> dict[Path, Path]:
    """Where the result of each file of a folder goes; all to one place, or into another folder.

    There the results have the names of their inputs: a.npy, unless there are several inputs a.png,
    a.jpg and so on. ClickException where an input would be overwritten.
    """
    if output is None:
        return {}
    if output.suffix == ".npy":
        places = dict.fromkeys(files, output)
    else:
        places = {path: output / f"{name}.npy" for path, name in _names(files).items()}
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
    whole = [path.name for path, name in names.items() if name == path.name]
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
    yield from track(files, "running", console=console, disable=not console.is_terminal)


class _Runner:
    def __init__(self, task: Task, model: Any, rows: list[Row]) -> None:
        self.task = task
        self.model = model
        self.first = first_layer(rows)
        self.last = last_layer(rows)
        self.recipe = task.recipe or _recipe_for(self.first)
        self.labels: list[str] | None = None
        with explained(f"{task.model} cannot be run"):
            self.dtype = model.dtype
        with explained("the model cannot be put into evaluation mode"):
            model.evaluate()

    def run(self, path: Path) -> Any:
        """The output for one file."""
        x = self._input(path)
        hint = "" if path.suffix.lower() in ARRAYS else " (--preset, --size, --channels change it)"
        what = f"{path}: the model does not take an input of {shape_text(x)}{hint}"
        with explained(what):
            return self.model.forward(x)

    def _input(self, path: Path) -> Any:
        kind = path.suffix.lower()
        with explained(f"{path} cannot be read"):
            if kind in ARRAYS:
                inputs = [self._cast(array) for array in read_arrays(path)]
                return inputs[0] if len(inputs) == 1 else inputs
            image = read_image(path, self.recipe)
            return self._cast(image[None] if self.task.batch else image)

    def _cast(self, array: Array) -> Array:
        if array.dtype.kind not in "fiub":
            raise ValueError(f"an array of {array.dtype}, not of numbers")
        is_index = isinstance(self.first, getattr(nn, "LookupTable", ()))
        return np.ascontiguousarray(array, np.int64 if is_index else self.dtype)

    def show(self, name: str, output: Any) -> None:
        """Prints the best classes, for each row of a batch; of anything else the shape."""
        scores = scores_in(output)
        if scores is None or not self.task.top:
            click.echo(f"{name}output {shape_text(output)}. --output FILE.npy saves it.")
        elif scores.ndim == 2:
            for number, row in enumerate(scores, 1):
                self._show_scores(f"{name}{number}: ", row)
        else:
            self._show_scores(name, scores)

    def _show_scores(self, name: str, scores: Array) -> None:
        scores, are_probabilities = probabilities(scores, self.last, self.task.softmax)
        if self.task.labels is not None and self.labels is None:
            self.labels = read_labels(self.task.labels, len(scores))
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

    def _label(self, index: int) -> str:
        return f"class {index + 1}" if self.labels is None else self.labels[index]


def _recipe_for(first: Any) -> Recipe:
    """The usual recipe for what the first layer takes: one channel, or three."""
    from ._images import PRESETS

    return PRESETS["gray" if getattr(first, "nInputPlane", 3) == 1 else "imagenet"]


def _only(output: Any) -> Array:
    arrays = tensors_in(output)
    if len(arrays) != 1:
        raise click.ClickException(
            f"the output is a table, {shape_text(output)}; save it as .npz, one file at a time."
        )
    return np.asarray(arrays[0])


def _save(path: Path, output: Any, recipe: Recipe) -> None:
    with explained(f"{path} cannot be written"):
        if path.suffix == ".npz":
            with replacing(path) as file:
                np.savez(file, *map(np.asarray, tensors_in(output)))
        elif path.suffix == ".npy":
            with replacing(path) as file:
                np.save(file, _only(output))
        elif path.suffix.lower() in IMAGES:
            write_image(path, _only(output), recipe)
        else:
            raise ValueError("its name must end in .npy, .npz, .png or another kind of image")
