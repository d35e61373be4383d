"""Images as the arrays that models were trained on, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from .._files import replacing
from .errors import description_of

__all__ = ["PRESETS", "Recipe", "Size", "pixels_of", "read_image", "write_image"]

Array = NDArray[Any]
Size = tuple[int, int]  # height, width

MAX_PIXELS = 89_478_485  # of an input: what Pillow, too, takes for the most that anybody means


@dataclass(frozen=True)
class Recipe:
    """How an image becomes an input.

    The shorter side is scaled to ``resize`` pixels, the middle of ``crop`` (height, width) cut out,
    the channels put in the order ``channels``; values from 0 to ``scale`` less ``mean``, divided by
    ``std``, one number for all channels or one for each in that order.
    """

    resize: int | None = None
    crop: Size | None = None
    channels: str = "RGB"
    scale: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)

    def with_size(self, size: Size) -> Recipe:
        """The recipe with another size, resized in the same proportion."""
        margin = self.resize / min(self.crop) if self.resize and self.crop else 1
        return replace(self, resize=round(min(size) * margin), crop=size)


PRESETS = {
    # fb.resnet.torch, and torchvision since.
    "imagenet": Recipe(256, (224, 224), mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    # Models from Caffe (loadcaffe), such as VGG.
    "caffe": Recipe(256, (224, 224), "BGR", 255.0, (103.939, 116.779, 123.68)),
    # 0 to 1, or 0 to 255, as they are.
    "unit": Recipe(),
    "byte": Recipe(scale=255.0),
    # -1 to 1, as generative models have it.
    "signed": Recipe(mean=(0.5,), std=(0.5,)),
    "gray": Recipe(channels="gray"),
}


def read_image(path: Path, recipe: Recipe) -> Array:
    """An image as float32, channels x height x width; ValueError where the file is none."""
    try:
        opened = Image.open(path)
    except UnidentifiedImageError as error:
        raise ValueError(f"not an image but {description_of(path)}") from error
    with opened:
        upright = ImageOps.exif_transpose(opened)  # as cameras note it
        image = _of_eight_bits(upright, "L" if recipe.channels == "gray" else "RGB")
    image = _fitted(image, recipe)
    # Scaling a deep image may lead beyond black and white, which stops at them for others.
    pixels = np.clip(np.asarray(image, np.float32), 0, 255) * np.float32(recipe.scale / 255)
    planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    if len(planes) == 1 and recipe.channels != "gray":
        planes = np.repeat(planes, 3, axis=0)
    if recipe.channels == "BGR":
        planes = planes[::-1]
    return np.ascontiguousarray((planes - _planes(recipe.mean)) / _planes(recipe.std))


def _of_eight_bits(image: Image.Image, mode: str) -> Image.Image:
    """An image in a mode, white as 255; a deep gray one as one plane of floats with that white.

    What is transparent is shown on white, as on a page. ValueError for colours that Pillow cannot
    convert.
    """
    if image.mode.startswith(("I", "F")):
        return _deep_gray(image)
    if image.has_transparency_data:
        colours = image.convert("RGBA")
        image = Image.new("RGBA", image.size, "white")
        image.alpha_composite(colours)
    try:
        return image.convert(mode)
    except ValueError as error:
        raise ValueError(f"an image of mode {image.mode}, {error}; save it as RGB") from error


def _deep_gray(image: Image.Image) -> Image.Image:
    """A gray image of more than 8 bits as floats from 0 to 255.

    White is 65,535 for whole numbers, or 2^31 - 1 where one is larger; for others the first of 1,
    255 and 65,535 that none exceeds.
    """
    values = np.asarray(image, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("an image with values that are infinite or nan")
    whites = (1, 255, 65_535) if image.mode == "F" else (65_535, 2**31 - 1)
    largest = values.max(initial=0)
    white = next((white for white in whites if largest <= white), largest)
    return Image.fromarray((values * (255 / white)).astype(np.float32))


def _fitted(image: Image.Image, recipe: Recipe) -> Image.Image:
    """An image, scaled and cut; ValueError where it would become too large."""
    width, height = image.size
    if recipe.resize is not None:
        factor = recipe.resize / min(image.size)
        width, height = (max(1, round(side * factor)) for side in image.size)
    rows, columns = recipe.crop or (height, width)
    if rows * columns > MAX_PIXELS:
        raise ValueError(
            f"an image of {image.height} x {image.width} would become {rows} x {columns}; give the "
            "part to cut out with --size"
        )
    left, top = (width - columns) // 2, (height - rows) // 2
    inside = 0, 0, width, height
    if width * height > MAX_PIXELS:  # as of 1 x 60,000 pixels: what is cut away is never computed
        inside = max(left, 0), max(top, 0), min(left + columns, width), min(top + rows, height)
    if recipe.resize is not None:
        across, down = image.width / width, image.height / height
        box = (
            inside[0] * across,
            inside[1] * down,
            min(inside[2] * across, image.width),  # where rounding would lead outside
            min(inside[3] * down, image.height),
        )
        size = inside[2] - inside[0], inside[3] - inside[1]
        image = image.resize(size, Image.Resampling.BICUBIC, box)
        left, top = left - inside[0], top - inside[1]
    if recipe.crop is not None:
        image = image.crop((left, top, left + columns, top + rows))
    return image


def write_image(path: Path, output: Array, recipe: Recipe) -> None:
    """Writes what a model made of an image, as `pixels_of` gives it."""
    image = Image.fromarray(pixels_of(output, recipe))
    kind = Image.registered_extensions()[path.suffix.lower()]
    with replacing(path) as file:
        image.save(file, kind)


def pixels_of(output: Array, recipe: Recipe) -> Array:
    """What a model made of an image, with the recipe undone: uint8, height x width [x 3].

    Takes [1 x] channels x height x width with 1 or 3 channels, or height x width; else ValueError.
    """
    planes = output[0] if output.ndim == 4 and len(output) == 1 else output
    planes = planes[None] if planes.ndim == 2 and min(planes.shape) > 1 else planes
    if planes.ndim != 3 or len(planes) not in (1, 3):
        sizes = " x ".join(map(str, output.shape))
        raise ValueError(f"an output of {sizes} is no image; save it as .npy")
    if len(planes) == 3 or recipe.channels == "gray":
        planes = planes * _planes(recipe.std) + _planes(recipe.mean)
    if len(planes) == 3 and recipe.channels == "BGR":
        planes = planes[::-1]
    pixels = np.clip(np.rint(planes * (255 / recipe.scale)), 0, 255).astype(np.uint8)
    image: Array = pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0)
    return image


def _planes(numbers: tuple[float, ...]) -> Array:
    return np.array(numbers, np.float32)[:, None, None]
