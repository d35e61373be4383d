"""Outputs as files: arrays, images, maps of classes, and batches of them."""

from __future__ import annotations

import colorsys
import math
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .._files import replacing
from .._models.errors import explained
from .._models.images import Recipe, pixels_of, write_image
from .._models.rows import shape_text, tensors_in
from ._results import Result

__all__ = ["IMAGES", "only", "save", "save_samples"]

Array = NDArray[Any]

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
GAP = 2  # pixels between the images of a sheet
CLASSES = 256  # of a map, at most: the colours of a palette


def only(output: Any) -> Array:
    """The tensor of an output; ClickException where it is a table of several."""
    arrays = tensors_in(output)
    if len(arrays) != 1:
        raise click.ClickException(
            f"the output is a table, {shape_text(output)}; save it as .npz, one file at a time."
        )
    return np.asarray(arrays[0])


def save(path: Path, output: Any, result: Result, recipe: Recipe) -> None:
    """Saves an output in the format that the name asks for.

    As an image, a batch of images becomes a sheet of them, and scores of many classes at each place
    a map of the best ones.
    """
    suffix = path.suffix.lower()
    with explained(f"{path} cannot be written"):
        if suffix == ".npz":
            with replacing(path) as file:
                np.savez(file, *map(np.asarray, tensors_in(output)))
        elif suffix == ".npy":
            array = only(output)
            with replacing(path) as file:
                np.save(file, array)
        elif suffix in IMAGES:
            _save_picture(path, output, result, recipe)
        elif not suffix and result.is_batch:
            save_samples(path, result, recipe)
        else:
            raise ValueError(
                "its name must end in .npy, .npz, .png or another kind of image"
                + (", or have no ending, for a folder" if result.is_batch else "")
            )


def save_samples(folder: Path, result: Result, recipe: Recipe) -> None:
    """Saves the samples of a batch in a folder: 1.png, 2.png, … of images, else 1.npy, …."""
    folder.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(result.samples)))
    for number, sample in enumerate(result.samples, 1):
        path = folder / f"{number:0{digits}}"
        if result.kind in ("image", "map"):
            _write(path.with_suffix(".png"), _picture(sample, result.kind, recipe))
        else:
            with replacing(path.with_suffix(".npy")) as file:
                np.save(file, sample)


def _save_picture(path: Path, output: Any, result: Result, recipe: Recipe) -> None:
    if result.kind not in ("image", "map"):
        write_image(path, only(output), recipe)
        return
    _write(path, _sheet([_picture(sample, result.kind, recipe) for sample in result.samples]))


def _picture(sample: Array, kind: str, recipe: Recipe) -> Image.Image:
    """An image with the recipe undone; of a map the best class at each place, as a colour."""
    return _map_of_classes(sample) if kind == "map" else Image.fromarray(pixels_of(sample, recipe))


def _map_of_classes(scores: Array) -> Image.Image:
    """The number of the best class less 1 at each place, as an image with a palette."""
    if len(scores) > CLASSES:
        raise ValueError(f"a map of {len(scores)} classes is no image; save it as .npy")
    image = Image.fromarray(scores.argmax(axis=0).astype(np.uint8))
    image.putpalette(_colours(len(scores)))
    return image


def _colours(count: int) -> list[int]:
    """Colours for classes: black for the first, which is the background of most data sets.

    Hues go round in steps of the golden section, so that classes next to each other differ.
    """
    golden = (math.sqrt(5) - 1) / 2
    colours = [(0.0, 0.0, 0.0)]
    colours += [colorsys.hsv_to_rgb(i * golden % 1, 0.75, 0.95) for i in range(count - 1)]
    return [round(255 * part) for colour in colours for part in colour]


def _sheet(images: list[Image.Image]) -> Image.Image:
    """Images of one size side by side, in rows that make a square of them."""
    if len(images) == 1:
        return images[0]
    columns = math.ceil(math.sqrt(len(images)))
    rows = math.ceil(len(images) / columns)
    mode = "RGB" if images[0].mode == "P" else images[0].mode
    across, down = (size + GAP for size in images[0].size)
    sheet = Image.new(mode, (columns * across - GAP, rows * down - GAP), "white")
    for i, image in enumerate(images):
        sheet.paste(image.convert(mode), (i % columns * across, i // columns * down))
    return sheet


def _write(path: Path, image: Image.Image) -> None:
    kind = Image.registered_extensions()[path.suffix.lower()]
    if image.mode == "P" and kind not in ("PNG", "GIF", "BMP", "TIFF"):
        image = image.convert("RGB")
    with replacing(path) as file:
        image.save(file, kind)
