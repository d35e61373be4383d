"""Inputs for a model: of the shapes that a user says, or of some that the model takes."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .budget import Budget, TooCostlyError
from .entries import Entry, input_of
from .errors import explained
from .guessing import MAX_GUESS, Shape, candidates, told_shapes
from .measuring import parse_shape
from .rows import Row, shape_text, tensors_in

__all__ = [
    "Example",
    "accepted",
    "advice",
    "array_advice",
    "asked_or_guessed",
    "cast",
    "guess",
    "image_advice",
    "is_image",
    "what_it_takes",
]

Array = NDArray[Any]


@dataclass(frozen=True)
class Example:
    """An input that a model takes."""

    given: Any
    is_batch: bool  # whether the first dimension is that of the batch
    shapes: tuple[Shape, ...]  # of each tensor, without the batch
    is_guess: bool = False

    @property
    def text(self) -> str:
        """The shapes of what is given: 1 x 3 x 224 x 224."""
        return " and ".join(shape_text(array) for array in tensors_in(self.given))


# ---- Finding an input


def asked_or_guessed(module: Any, rows: list[Row], texts: Sequence[str]) -> Example:
    """An input of noise, of the shapes of ``--input`` or else of some that the model takes.

    Raises UsageError where the model takes another number of inputs, ClickException where it does
    not take these, or where none is found.
    """
    entry = input_of(module)
    if not texts:
        found = guess(module, rows, entry)
        if found is None:
            raise click.ClickException(f"cannot tell what input the model takes; {advice(entry)}")
        return found
    shapes = [parse_shape(text) for text in texts]
    leaves = _leaves(entry, shapes)
    inputs = [_noise(leaf, shape, module) for leaf, shape in zip(leaves, shapes, strict=True)]
    what = f"the model does not take an input of {_tried(inputs)}"
    with explained(what, lambda: advice(entry)):
        try:
            return accepted(module, inputs, entry)
        except Exception as error:  # of whatever kind: the number of inputs may be its cause
            complaint = count_complaint(entry, len(shapes))
            if complaint:
                times = "once" if len(shapes) == 1 else f"{len(shapes)} times"
                more = f"; {advice(entry).partition(': ')[0]}" if entry.is_table else ""
                message = f"--input is there {times}, but {complaint}{more}."
                raise click.UsageError(message) from error
            raise


def guess(
    module: Any,
    rows: list[Row],
    entry: Entry | None = None,
    shapes: Iterable[Shape] | None = None,
) -> Example | None:
    """Noise of a shape that the model takes; None where none is found that costs little.

    `shapes` are those to try, without a batch; by default what the first layers say, and the usual
    ones. The model is run, in the mode that it is in.
    """
    entry = input_of(module) if entry is None else entry
    budget = Budget()
    with budget.watching(rows) as begin:
        for shape in candidates(entry) if shapes is None else shapes:
            if budget.calls < 0:
                break
            if not 0 < math.prod(shape) <= MAX_GUESS:
                continue
            for given, is_batch in _forms([_noise(entry, shape, module)], entry):
                begin()
                try:
                    takes_it = _gives_one(module, given, is_batch=is_batch)
                except TooCostlyError:
                    break
                if takes_it:
                    return Example(given, is_batch, (shape,), is_guess=True)
    return None


def is_image(shape: Shape) -> bool:
    """Whether a shape without a batch is that of a gray or colour image."""
    return len(shape) == 3 and shape[0] in (1, 3)


def accepted(module: Any, inputs: list[Array], entry: Entry) -> Example:
    """Inputs, without a batch dimension, as the module takes them.

    A batch dimension of 1 is put in front where it does. Several inputs become a table. Raises what
    the module raises for a batch when it takes neither.
    """
    shapes = tuple(array.shape for array in inputs)
    forms = _forms(inputs, entry)
    for given, is_batch in forms:
        if _gives_one(module, given, is_batch=is_batch):
            return Example(given, is_batch, shapes)
    given, is_batch = forms[0]
    module.forward(copy.deepcopy(given))
    return Example(given, is_batch, shapes)


def _forms(inputs: list[Array], entry: Entry) -> list[tuple[Any, bool]]:
    """The inputs as a batch of one, and as they are; whether they are a batch.

    Where there is one index for each sample, as for a network of one time step, the batch has
    one dimension for indices and two for numbers.
    """
    leaves = _leaves(entry, inputs)
    is_lone = [
        leaf.kind == "indices" and array.shape == (1,)
        for leaf, array in zip(leaves, inputs, strict=True)
    ]
    forms = [(entry.nested([array[None] for array in inputs]), True)]
    if any(is_lone):
        mixed = [a if lone else a[None] for a, lone in zip(inputs, is_lone, strict=True)]
        forms.append((entry.nested(mixed), True))
    if not all(is_lone):
        forms.append((entry.nested(list(inputs)), False))
    return forms


def _gives_one(module: Any, given: Any, *, is_batch: bool) -> bool:
    """Whether the module takes what it is given, and makes one result of it.

    A module that cuts its input into rows takes many sizes, but then gives several results: more
    than one for a batch of one, or a matrix for an image.
    """
    try:
        output = module.forward(copy.deepcopy(given))  # some modules work in place
    except TooCostlyError:
        raise
    except Exception:  # a file decides what runs, so its errors may be any
        return False
    results = tensors_in(output)
    if is_batch:
        return all(tensor.ndim < 2 or tensor.shape[0] == 1 for tensor in results)
    is_planes = isinstance(given, np.ndarray) and given.ndim == 3
    return not (is_planes and any(tensor.ndim == 2 for tensor in results))


def _leaves(entry: Entry, values: Sequence[Any]) -> list[Entry]:
    """The tensors of an input, one for each value; those of which nothing is known as numbers."""
    leaves = entry.leaves()[: len(values)]
    return leaves + [Entry() for _ in values[len(leaves) :]]


def _noise(leaf: Entry, shape: Shape, module: Any) -> Array:
    """Normal numbers, or the index 1 where the first layers look indices up."""
    if leaf.kind == "indices":
        return np.ones(shape, np.int64)
    array = np.random.default_rng(0).standard_normal(shape).astype(module.dtype)
    if leaf.kind == "sparse":
        array[..., 0] = 1  # pairs of an index and a number
    return array


# ---- Arrays of users


def cast(array: Array, leaf: Entry, dtype: Any) -> Array:
    """An array in the type that the model takes at a place.

    Whole numbers stay such where indices are looked up, or where no layer of the package says what
    it does with them. Raises ValueError for what are no numbers.
    """
    if array.dtype.kind == "c":
        raise ValueError("complex numbers, which no layer takes; give it .real or .imag")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"an array of {array.dtype}, not of numbers")
    if leaf.kind == "indices" and array.dtype.kind == "f" and (array != np.rint(array)).any():
        raise ValueError(
            "numbers that are not whole, where the model looks up indices, which count from 1"
        )
    is_whole = array.dtype.kind in "iu" and (leaf.kind == "indices" or not _is_known(leaf))
    return np.ascontiguousarray(array, np.int64 if is_whole else dtype)


def _is_known(leaf: Entry) -> bool:
    """Whether layers of the package compute with a tensor."""
    takers = [*leaf.takers, *([leaf.teller] if leaf.teller is not None else [])]
    return any(type(layer).__module__.startswith("pythnn.") for layer in takers)


# ---- Messages


def what_it_takes(entry: Entry) -> str:
    """What a model takes, in words: "a table of 2: 1: indices for …; 2: numbers for …"."""
    if not entry.is_table:
        return f"one input, {entry.text}"
    leaves = entry.leaves()
    listed = "; ".join(f"{i}: {leaf.text}" for i, leaf in enumerate(leaves, 1))
    if entry.is_open:
        return f"a table{f' of {len(leaves)} or more ({listed})' if leaves else ''}"
    return f"a table of {len(leaves)} ({listed})"


def advice(entry: Entry) -> str:
    """How to say the shapes of an input."""
    if not entry.is_table:
        shape = next(told_shapes(entry.teller), None) or (3, 224, 224)
        return f"say it with --input, such as --input {'x'.join(map(str, shape))}"
    shapes = [next(told_shapes(leaf.teller), None) for leaf in entry.leaves()]
    options = ["--input " + "x".join(map(str, shape)) for shape in shapes if shape]
    is_told = bool(options) and len(options) == len(shapes) and not entry.is_open
    return (
        f"say it with an --input for each of its entries, such as --input 3x224x224: the model "
        f"takes {what_it_takes(entry)}" + (f". Perhaps {' '.join(options)}" if is_told else "")
    )


def count_complaint(entry: Entry, count: int) -> str:
    """What to say where a model takes another number of inputs than `count`; "" where it may not.

    For a model that has refused them.
    """
    wanted = len(entry.leaves())
    if count == wanted or (entry.is_open and count > wanted):
        return ""
    if not entry.is_table and not entry.takers and entry.teller is None:
        return ""  # nothing is known
    return f"the model takes {what_it_takes(entry)}"


def array_advice(module: Any, rows: list[Row], entry: Entry, inputs: list[Array]) -> str:
    """What to do about arrays that a model has refused; "" where that does not show."""
    complaint = count_complaint(entry, len(inputs))
    if complaint:
        found = "one array" if len(inputs) == 1 else f"{len(inputs)} arrays"
        text = f"there {'is' if len(inputs) == 1 else 'are'} {found}, but {complaint}"
        if entry.is_table:
            text += (
                ". Put its entries into one .npz file, numpy.savez(file, a, b, …): they are taken "
                "in the order of their names."
            )
        return text
    batch = [array[None] for array in inputs]
    with contextlib.suppress(Exception), Budget().watching(rows):
        module.forward(entry.nested(copy.deepcopy(batch)))
        text = " and ".join(map(shape_text, batch))
        return f"it takes a batch, {text}: give arrays another dimension in front, array[None]"
    return image_advice(module, rows, entry, inputs)


def image_advice(module: Any, rows: list[Row], entry: Entry, inputs: list[Array]) -> str:
    """What to do about an image that a model has refused; "" where that does not show."""
    found = guess(module, rows, entry, filter(is_image, candidates(entry)))
    found = found or guess(module, rows, entry, itertools.filterfalse(is_image, candidates(entry)))
    if found is None or found.shapes == tuple(array.shape[1:] for array in inputs):
        return ""
    (shape,) = found.shapes
    of_images = f" (--size {shape[1]}x{shape[2]} for images)" if is_image(shape) else ""
    return f"it takes {found.text}{', a batch of one' if found.is_batch else ''}{of_images}"


def _tried(inputs: list[Array]) -> str:
    """The shapes that were tried: with a batch of 1 in front, and without."""
    batches, alone = (
        " and ".join(map(shape_text, arrays))
        for arrays in ([array[None] for array in inputs], inputs)
    )
    return f"{batches} or {alone}"
