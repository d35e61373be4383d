"""Images of extreme shapes and of all modes, as inputs of ``pythnn run`` and ``pythnn report``."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pythnn._models import images
from pythnn._models.images import PRESETS, Recipe, read_image


def waves(height, width):
    """A smooth image with a period of 40 pixels, different in each channel."""
    rows, columns = np.mgrid[:height, :width]
    planes = [np.sin((rows + 2 * columns) * np.pi / 20 + phase) for phase in (0, 1, 2)]
    return Image.fromarray((127.5 + 100 * np.stack(planes, 2)).astype(np.uint8))


@pytest.fixture
def little_memory():
    """A gigabyte more than there is now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("size", [(60_000, 1), (1, 60_000), (60_000, 2), (3, 20_000)])
def test_thin_images(tmp_path, size):
    image = Image.new("RGB", size, (255, 0, 0))
    image.save(tmp_path / "thin.png")
    found = read_image(tmp_path / "thin.png", PRESETS["caffe"])
    assert found.shape == (3, 224, 224)
    np.testing.assert_allclose(found[2], 255 - 123.68, rtol=1e-5)


@pytest.mark.usefixtures("little_memory")
def test_thin_images_that_are_not_cut(tmp_path):
    Image.new("RGB", (60_000, 1)).save(tmp_path / "thin.png")
    with pytest.raises(ValueError, match=r"1 x 60000 would become 256 x 15360000; .* --size"):
        read_image(tmp_path / "thin.png", Recipe(resize=256))


@pytest.mark.parametrize("recipe", [Recipe(64, (56, 56)), Recipe(30, (56, 40)), Recipe(90, (9, 8))])
@pytest.mark.parametrize("size", [(50, 400), (300, 40), (77, 77)])
def test_what_is_cut_away_makes_no_difference(tmp_path, monkeypatch, recipe, size):
    """Each pixel is at most a rounding away from that of the whole image, scaled and then cut."""
    waves(*size).save(tmp_path / "waves.png")
    whole = read_image(tmp_path / "waves.png", recipe)
    monkeypatch.setattr(images, "MAX_PIXELS", 56 * 56)
    np.testing.assert_allclose(read_image(tmp_path / "waves.png", recipe), whole, atol=1.5 / 255)


def test_usual_images_are_scaled_and_then_cut(tmp_path):
    image = waves(123, 217)
    image.save(tmp_path / "waves.png")
    scaled = image.resize((113, 64), Image.Resampling.BICUBIC).crop((28, 4, 84, 60))
    found = read_image(tmp_path / "waves.png", Recipe(64, (56, 56), scale=255))
    np.testing.assert_array_equal(found, np.asarray(scaled).transpose(2, 0, 1))


# ---- Modes of images


def ramp():
    """A gray ramp as shares of white."""
    return np.linspace(0, 1, 48).reshape(6, 8)


def read(path, **changes):
    return read_image(path, Recipe(**changes))


def deep_image(kind, path):
    """The ramp in a file of more than 8 bits."""
    shares = ramp()
    arrays = {
        "png": np.rint(shares * 65535).astype(np.uint16),
        "tiff16": np.rint(shares * 65535).astype(np.uint16),
        "big": np.rint(shares * 65535).astype(">u2"),
        "int": np.rint(shares * 65535).astype(np.int32),
        "int32": np.rint(shares * (2**31 - 1)).astype(np.int32),
        "one": shares.astype(np.float32),
        "byte": (shares * 255).astype(np.float32),
        "word": (shares * 65535).astype(np.float32),
    }
    Image.fromarray(arrays[kind]).save(path, "PNG" if kind == "png" else "TIFF")


@pytest.mark.parametrize("kind", ["png", "tiff16", "big", "int", "int32", "one", "byte", "word"])
def test_deep_gray_images_are_scaled(tmp_path, kind):
    deep_image(kind, tmp_path / "deep")
    np.testing.assert_allclose(read(tmp_path / "deep", channels="gray")[0], ramp(), atol=1e-4)
    found = read(tmp_path / "deep", channels="BGR", scale=255.0)
    np.testing.assert_allclose(found, np.stack([ramp() * 255] * 3), atol=0.02)
    scaled = read(tmp_path / "deep", channels="gray", resize=30, crop=(20, 20))
    assert scaled.shape == (1, 20, 20)
    assert scaled.min() >= 0
    assert scaled.max() <= 1


def test_deep_and_shallow_images_are_scaled_alike(tmp_path):
    shallow = np.rint(ramp() * 255).astype(np.uint8)
    Image.fromarray(shallow).save(tmp_path / "8.png")
    Image.fromarray(shallow.astype(np.uint16) * 257).save(tmp_path / "16.png")
    for recipe in (Recipe(), Recipe(resize=12, crop=(12, 12)), Recipe(resize=3, channels="gray")):
        found = [read_image(tmp_path / name, recipe) for name in ("8.png", "16.png")]
        np.testing.assert_allclose(found[0], found[1], atol=1 / 255)


def test_an_image_of_no_numbers_is_refused(tmp_path):
    Image.fromarray(np.full((3, 3), np.nan, np.float32)).save(tmp_path / "nan.tif")
    with pytest.raises(ValueError, match="infinite or nan"):
        read(tmp_path / "nan.tif")


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(tmp_path, mode):
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    image.paste((255, 0, 0, 255) if mode != "LA" else (80, 80, 80, 255), (0, 0, 2, 4))
    if mode == "P":
        image = image.quantize(4)
        assert image.mode == "P"
    elif mode != "RGBA":
        image = image.convert(mode)
    image.save(tmp_path / "image.png")
    found = read(tmp_path / "image.png")
    np.testing.assert_allclose(found[:, :, 3], 1)
    solid = [1, 0, 0] if mode != "LA" else [80 / 255] * 3
    np.testing.assert_allclose(found[:, 0, 0], solid, atol=1e-2)


def test_a_colour_that_stands_for_transparent(tmp_path):
    Image.new("L", (4, 4), 7).save(tmp_path / "key.png", transparency=7)
    np.testing.assert_array_equal(read(tmp_path / "key.png", channels="gray"), 1)


@pytest.mark.parametrize(("mode", "colour"), [("1", 1), ("L", 255), ("P", 255), ("RGB", "white")])
def test_white_of_each_mode(tmp_path, mode, colour):
    image = Image.new(mode, (5, 4), colour)
    if mode == "P":
        image.putpalette([0] * 765 + [255] * 3)
    image.save(tmp_path / "white.png")
    for channels in ("RGB", "gray"):
        np.testing.assert_array_equal(read(tmp_path / "white.png", channels=channels), 1)


def test_cmyk(tmp_path):
    Image.new("CMYK", (4, 4), (0, 255, 255, 0)).save(tmp_path / "red.tif")
    np.testing.assert_allclose(read(tmp_path / "red.tif")[:, 0, 0], [1, 0, 0], atol=0.01)


@pytest.mark.parametrize("kind", ["deep", "shallow"])
def test_orientation_of_each_depth(tmp_path, kind):
    pixels = np.rint(ramp() * 255).astype(np.uint8)
    pixels = pixels.astype(np.uint16) * 257 if kind == "deep" else pixels
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    Image.fromarray(pixels).save(tmp_path / "turned.png", exif=exif)
    found = read(tmp_path / "turned.png", channels="gray")[0]
    np.testing.assert_allclose(found, np.rot90(ramp(), -1), atol=1 / 255)
