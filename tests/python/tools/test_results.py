"""What ``pythnn run`` makes of outputs: numbers, classes, images, maps and batches of them."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import nn
from pythnn._cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pythnn.manual_seed(1)
    Image.fromarray(np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)).save("p.png")
    return tmp_path


def run(model, *arguments):
    pythnn.save("m.t7", model)
    result = CliRunner().invoke(main, ["run", "m.t7", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def stacked(*modules):
    model = nn.Sequential()
    for module in modules:
        model.add(module)
    return model.float()


UNIT = ["p.png", "--preset", "unit"]


def test_rows_of_one_photo_are_said():
    """A View of a fixed size makes rows of what is larger."""
    model = stacked(nn.SpatialConvolution(3, 4, 1, 1), nn.View(64), nn.Linear(64, 5))
    text = run(model, "p.png", "--size", "16")
    assert "p.png gave 16 rows of results for each image" in text
    assert "--size" in text
    assert "16: class" in text
    text = run(model, "p.png", "--size", "32", "--top", "1")
    assert "gave 64 rows" in text
    assert "… and 44 more. --output FILE.npy saves all." in text
    assert len(run(model, "p.png").splitlines()) == 5  # of the size that gives one


def test_one_number_is_printed():
    model = stacked(nn.SpatialConvolution(3, 2, 1, 1), nn.Mean(4), nn.Mean(3), nn.Linear(2, 1))
    (line,) = run(model, *UNIT).splitlines()
    x = np.asarray(Image.open("p.png"), np.float32).transpose(2, 0, 1)[None] / 255
    assert float(line) == pytest.approx(model.forward(x).item(), rel=1e-5)
    np.save("two.npy", np.concatenate([x, 2 * x]))
    assert [line.split(":")[0] for line in run(model, "two.npy").splitlines()] == ["1", "2"]
    np.save("rows.npy", np.ones((3, 2)))
    flat = stacked(nn.Linear(2, 1), nn.View(-1))
    assert len(run(flat, "rows.npy").splitlines()) == 3


def test_an_image_is_offered_and_saved():
    text = run(stacked(nn.Identity()), *UNIT)
    assert "output 1 x 3 x 16 x 16, an image. --output FILE.png saves it" in text
    run(stacked(nn.Identity()), *UNIT, "--output", "out.png")
    with Image.open("out.png") as found, Image.open("p.png") as expected:
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_a_map_of_classes():
    model = stacked(nn.SpatialConvolution(3, 5, 1, 1))
    text = run(model, *UNIT)
    assert "output 1 x 5 x 16 x 16, scores of 5 classes at each place" in text
    assert "Best: class " in text
    assert " %" in text
    run(model, *UNIT, "--output", "map.png")
    run(model, *UNIT, "--output", "scores.npy")
    with Image.open("map.png") as found:
        assert found.mode == "P"
        best = np.load("scores.npy")[0].argmax(axis=0)
        np.testing.assert_array_equal(np.asarray(found), best)
        colours = found.convert("RGB").getcolors()
        assert len(colours) == len(np.unique(best))
    run(model, *UNIT, "--output", "map.jpg")
    softmax = stacked(nn.SpatialConvolution(3, 3, 1, 1), nn.SpatialLogSoftMax())
    assert "scores of 3 classes" in run(softmax, *UNIT)


def test_a_batch_of_images_is_a_sheet_or_a_folder():
    batch = np.stack([np.full((3, 4, 6), i / 4, np.float32) for i in range(5)])
    np.save("batch.npy", batch)
    model = stacked(nn.Identity())
    assert "5 x 3 x 4 x 6, images. --output FILE.png saves in one sheet" in run(model, "batch.npy")
    run(model, "batch.npy", "--output", "sheet.png")
    with Image.open("sheet.png") as sheet:
        pixels = np.asarray(sheet)
    assert pixels.shape == (2 * 4 + 2, 3 * 6 + 4, 3)
    assert pixels[0, 0, 0] == 0
    assert pixels[9, 8, 0] == 255
    run(model, "batch.npy", "--output", "each")
    for i in range(5):
        with Image.open(f"each/{i + 1}.png") as image:
            assert (np.asarray(image) == round(255 * i / 4)).all()
    np.save("scores.npy", np.arange(6.0).reshape(2, 3))
    run(model, "scores.npy", "--output", "rows")
    assert np.load("rows/2.npy").tolist() == [3, 4, 5]


@pytest.mark.parametrize(("options", "ending"), [([], "npy"), (["--format", "png"], "png")])
def test_results_of_a_folder(folder, options, ending):
    (folder / "in").mkdir()
    for name in "ab":
        Image.new("RGB", (6, 6)).save(folder / "in" / f"{name}.png")
    run(stacked(nn.Identity()), "in", "--preset", "unit", "--output", "out", *options)
    assert sorted(p.name for p in (folder / "out").iterdir()) == [f"a.{ending}", f"b.{ending}"]
