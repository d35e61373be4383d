"""Images of extreme shapes, as inputs of ``pythnn run`` and ``pythnn report``."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pythnn.commands import _images
from pythnn.commands._images import PRESETS, Recipe, read_image


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
    monkeypatch.setattr(_images, "MAX_PIXELS", 56 * 56)
    np.testing.assert_allclose(read_image(tmp_path / "waves.png", recipe), whole, atol=1.5 / 255)


def test_usual_images_are_scaled_and_then_cut(tmp_path):
    image = waves(123, 217)
    image.save(tmp_path / "waves.png")
    scaled = image.resize((113, 64), Image.Resampling.BICUBIC).crop((28, 4, 84, 60))
    found = read_image(tmp_path / "waves.png", Recipe(64, (56, 56), scale=255))
    np.testing.assert_array_equal(found, np.asarray(scaled).transpose(2, 0, 1))
