"""The recipe for images that the options of ``pythnn run`` ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from ._images import PRESETS, Recipe, Size

__all__ = ["recipe_of"]


def recipe_of(
    preset: str | None,
    size: str | None,
    resize: int | None,
    channels: str | None,
    scale: float | None,
    mean: str | None,
    std: str | None,
) -> Recipe | None:
    """The preset with what the other options change; None when there is no option at all.

    Raises BadParameter.
    """
    changes: dict[str, Any] = {"resize": resize, "channels": channels, "scale": scale}
    changes |= {"mean": _numbers("--mean", mean), "std": _numbers("--std", std)}
    changes = {name: value for name, value in changes.items() if value is not None}
    if preset is None and size is None and not changes:
        return None
    default = "gray" if channels == "gray" else "imagenet"
    recipe = PRESETS[preset or default]
    if size is not None:
        recipe = recipe.with_size(_size(size))
    recipe = replace(recipe, **changes)
    planes = 1 if recipe.channels == "gray" else 3
    for name, numbers in (("--mean", recipe.mean), ("--std", recipe.std)):
        if len(numbers) not in (1, planes):
            raise click.BadParameter(
                f"{len(numbers)} numbers for {planes} channels", param_hint=name
            )
    if recipe.scale <= 0 or 0 in recipe.std:
        raise click.BadParameter("must not be 0", param_hint="--scale or --std")
    return recipe


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
