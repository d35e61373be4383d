"""``pythnn run``: a model from a .t7 file on images and arrays."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import pythnn

from .._files import replacing
from .._models.entries import Entry, input_of
from .._models.errors import entry_of, explained, load_value, module_in
from .._models.images import Recipe, read_image
from .._models.inputs import array_advice, cast, image_advice
from .._models.measuring import put_into_use
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
    together: int = 8  # images of a folder that are computed at once


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
    begin = time.perf_counter()
    for path, output, result in runner.run_all(files):
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
    if len(files) > 1:
        seconds = time.perf_counter() - begin
        click.echo(
            f"{len(files)} files in {seconds:.3g} s, {len(files) / seconds:.3g} a second", err=True
        )
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


@contextmanager
def _progress(count: int) -> Iterator[Callable[[], None]]:
    """A bar of what is done on a terminal, and what to call for each file."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if count == 1 or not console.is_terminal:
        yield lambda: None
        return
    with Progress(console=console) as progress:
        bar = progress.add_task("running", total=count)
        yield lambda: progress.advance(bar)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() not in ARRAYS


def _apart(output: Any, count: int, alone: Any) -> list[Any] | None:
    """The outputs of samples that were computed together, in the shapes of one computed alone.

    None where they cannot be told apart.
    """
    if isinstance(output, list) and isinstance(alone, list) and len(output) == len(alone):
        entries = [_apart(one, count, like) for one, like in zip(output, alone, strict=True)]
        whole = [entry for entry in entries if entry is not None]
        return list(map(list, zip(*whole, strict=True))) if len(whole) == len(entries) else None
    both_are_arrays = isinstance(output, np.ndarray) and isinstance(alone, np.ndarray)
    if not both_are_arrays or len(output) != count or output.size != count * alone.size:
        return None
    return [part.reshape(alone.shape) for part in output]


class _Runner:
    def __init__(self, task: Task, model: Any, rows: list[Row]) -> None:
        self.task = task
        self.model = model
        self.rows = rows
        self.entry: Entry = input_of(model)
        self.last = last_layer(rows)
        self.recipe: Recipe | None = None  # found when the first image comes
        self.labels: list[str] | None = None
        self.program: pythnn.program.Program | None = None
        self.compiled = False  # whether there are files enough for a program
        self.joins = True  # whether images are computed together
        self.alone: Any = None  # the last output of one file
        with explained(f"{task.model} cannot be run"):
            self.dtype = model.dtype
        with explained("the model cannot be put into evaluation mode"):
            put_into_use(model)

    @property
    def undone(self) -> Recipe:
        """The recipe to undo where results are images."""
        wanted = self.task.wanted or Wanted("unit")
        return self.recipe or wanted.recipe()

    def run_all(self, files: list[Path]) -> Iterator[tuple[Path, Any, Result]]:
        """For each file the output, and what is in it; the next ones are read in the meantime."""
        with _progress(len(files)) as advance, ThreadPoolExecutor(1) as reader:
            ahead = max(2, 2 * self.task.together)
            reading: deque[tuple[Path, Future[list[Array]]]] = deque()
            rest = iter(files)
            first = next(rest)
            group = [(first, self._read(first))]  # which finds how images are prepared
            if len(files) > 1:
                self.compiled = True
            while group:
                reading += (
                    (p, reader.submit(self._read, p)) for p in islice(rest, ahead - len(reading))
                )
                while reading and self._goes_with(group, reading[0]):
                    path, inputs = reading.popleft()
                    group.append((path, inputs.result()))
                for computed in self._computed(group):
                    yield computed
                    advance()
                group = []
                if reading:
                    path, inputs = reading.popleft()
                    group = [(path, inputs.result())]

    def _goes_with(
        self, group: list[tuple[Path, list[Array]]], other: tuple[Path, Future[list[Array]]]
    ) -> bool:
        """Whether a file is an image like those of a group, which is not full yet."""
        can = self.joins and self.task.batch and self.alone is not None
        if not can or len(group) == self.task.together:
            return False
        if not all(_is_image(path) for path in (group[0][0], other[0])):
            return False
        if other[1].exception() is not None:  # which is raised when its turn has come
            return False
        return other[1].result()[0].shape == group[0][1][0].shape

    def _read(self, path: Path) -> list[Array]:
        return [self._image(path)] if _is_image(path) else self._arrays(path)

    def _computed(
        self, group: list[tuple[Path, list[Array]]]
    ) -> Iterator[tuple[Path, Any, Result]]:
        """The outputs of files that are computed together, where the model keeps samples apart."""
        if len(group) > 1:
            together = [np.concatenate([inputs[0] for _, inputs in group])]
            output = self._forward(group[0][0], together)
            parts = _apart(output, len(group), self.alone)
            if parts is None:
                self.joins = False
            else:
                for (path, inputs), part in zip(group, parts, strict=True):
                    yield path, part, self._result(path, part, inputs)
                return
        for path, inputs in group:
            output = self.alone = self._forward(path, inputs)
            yield path, output, self._result(path, output, inputs)

    def _forward(self, path: Path, inputs: list[Array]) -> Any:
        """The output for the inputs that a file, or several beginning with it, have."""
        is_image = _is_image(path)
        x = self.entry.nested(inputs)
        hint = " (--preset, --size, --channels change it)" if is_image else ""
        what = f"{path}: the model does not take an input of {shape_text(x)}{hint}"
        advice = image_advice if is_image else array_advice
        with explained(what, lambda: advice(self.model, self.rows, self.entry, inputs)):
            if not self.compiled:
                return self.model.forward(x)
            if self.program is None:
                self.program = pythnn.compile(self.model, x)
            return self.program(x)

    def _result(self, path: Path, output: Any, inputs: list[Array]) -> Result:
        count = rows_of_one(output, inputs)
        if count:
            click.echo(
                f"{shown(path.name)} gave {count} rows of results for each image: a layer such as "
                "nn.View makes several rows of one image that is larger than the model was made "
                "for. --size sets another.",
                err=True,
            )
        return result_of(output, inputs, self.last)

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
