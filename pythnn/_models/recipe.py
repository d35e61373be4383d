"""The recipe for images: what the options of commands ask for, and what the model takes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import click

from .entries import input_of
from .guessing import candidates
from .images import PRESETS, Recipe, Size
from .inputs import guess, is_image, what_it_takes
from .rows import Row

__all__ = ["Wanted", "recipe_for", "wanted_of"]


@dataclass(frozen=True)
class Wanted:
    """What options say about the recipe; what they leave open follows from the model."""

    preset: str | None = None
    size: Size | None = None
    changes: dict[str, Any] = field(default_factory=dict)  # of the recipe's fields

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left open."""
        return self.preset is not None or (self.size is not None and "channels" in self.changes)

    def recipe(self, shape: tuple[int, ...] | None = None) -> Recipe:
        """The recipe, for a model that takes images of this shape, channels x height x width.

        Raises BadParameter where numbers do not fit the channels.
        """
        channels = self.changes.get("channels")
        is_gray = channels == "gray" or (channels is None and shape is not None and shape[0] == 1)
        recipe = PRESETS[self.preset or ("gray" if is_gray else "imagenet")]
        size = self.size or (shape[1:] if shape is not None and self.preset is None else None)
        if size is not None:
            recipe = recipe.with_size((size[0], size[1]))
        recipe = replace(recipe, **self.changes)
        _check_channels(recipe)
        return recipe


def wanted_of(
    preset: str | None,
    size: str | None,
    resize: int | None,
    channels: str | None,
    scale: float | None,
    mean: str | None,
    std: str | None,
) -> Wanted | None:
    """What the options ask for; None when there is no option at all. Raises BadParameter."""
    changes: dict[str, Any] = {"resize": resize, "channels": channels, "scale": scale}
    changes |= {"mean": _numbers("--mean", mean), "std": _numbers("--std", std)}
    changes = {name: value for name, value in changes.items() if value is not None}
    if preset is None and size is None and not changes:
        return None
    wanted = Wanted(preset, _size(size) if size is not None else None, changes)
    _check_values(wanted)
    return wanted


def recipe_for(module: Any, rows: list[Row], wanted: Wanted | None) -> Recipe:
    """The recipe for images that a model takes: as wanted, else of a size that it takes.

    Raises ClickException where the model takes no images.
    """
    wanted = wanted or Wanted()
    if wanted.is_complete:
        return wanted.recipe()
    entry = input_of(module)
    planes = getattr(entry.teller, "nInputPlane", None)
    if wanted.size is not None:
        sizes = [(planes, *wanted.size)] if planes in (1, 3) else _images(wanted.size)
        found = guess(module, rows, entry, sizes) if len(sizes) > 1 else None
        return wanted.recipe(sizes[0] if found is None else found.shapes[0])
    found = guess(module, rows, entry, filter(is_image, candidates(entry)))
    if found is not None:
        return wanted.recipe(found.shapes[0])
    if entry.is_table:
        raise click.ClickException(
            f"the model takes {what_it_takes(entry)}, not an image: give it an .npz file with an "
            "array for each entry, in the order of their names."
        )
    found = guess(module, rows, entry, itertools.filterfalse(is_image, candidates(entry)))
    if found is not None:
        taken = " x ".join(map(str, found.shapes[0]))
        raise click.ClickException(f"the model takes {taken}, which is no image.")
    return (wanted if planes != 1 else replace(wanted, preset="gray")).recipe()


def _images(size: Size) -> list[tuple[int, ...]]:
    return [(planes, *size) for planes in (3, 1)]


def _check_values(wanted: Wanted) -> None:
    """Raises BadParameter for numbers that no recipe can have."""
    if wanted.changes.get("scale", 1) <= 0 or 0 in wanted.changes.get("std", ()):
        raise click.BadParameter("must not be 0", param_hint="--scale or --std")
    if wanted.is_complete or "channels" in wanted.changes:
        wanted.recipe()
    for name in ("mean", "std"):
        numbers = wanted.changes.get(name, (0.0,))
        if len(numbers) not in (1, 3):
            message = f"{len(numbers)} numbers for 3 channels"
            raise click.BadParameter(message, param_hint=f"--{name}")


def _check_channels(recipe: Recipe) -> None:
    planes = 1 if recipe.channels == "gray" else 3
    for name, numbers in (("--mean", recipe.mean), ("--std", recipe.std)):
        if len(numbers) not in (1, planes):
            raise click.BadParameter(
                f"{len(numbers)} numbers for {planes} channels", param_hint=name
            )


def _size(text: str) -> Size:
    try:
        sizes = [int(part) for part in text.lower().split("x")]
    except ValueError:
        sizes = []
    if len(sizes) not in (1, 2) or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is no size such as 224 or 240x320", param_hint="--size")
    return sizes[0], sizes[-1]


def _numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        message = f"{text!r} is no list of numbers such as 0.5,0.5,0.5"
        raise click.BadParameter(message, param_hint=option) from None
