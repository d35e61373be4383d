"""``pythnn inspect`` and ``pythnn run``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import nn
from pythnn._cli import main
from pythnn._models import images
from pythnn._models.recipe import wanted_of
from pythnn.t7 import TorchFunction, TorchObject


class PlaneMeans(nn.Module):
    """batch x planes x height x width to batch x planes."""

    def updateOutput(self, input):  # noqa: N802
        self.output = input.mean((2, 3))
        return self.output


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def done(*arguments):
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments, code=1):
    result = call(*arguments)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model of arrays, one of images, and inputs for them."""
    monkeypatch.setitem(nn.registry, "nn.PlaneMeans", PlaneMeans)
    pythnn.manual_seed(1)
    model = nn.Sequential().add(nn.Linear(3, 4)).add(nn.ReLU(True))
    model.add(nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Linear(4, 3)))
    pythnn.save(tmp_path / "table.t7", model)
    classifier = nn.Sequential().add(PlaneMeans()).float()
    pythnn.save(tmp_path / "classes.t7", classifier)
    pythnn.save(tmp_path / "identity.t7", nn.Identity())
    pythnn.save(tmp_path / "checkpoint.t7", {"epoch": 3, "opt": {"net": model}, "best": model})
    np.save(tmp_path / "vector.npy", np.array([[1, 2, 3]], np.int32))
    np.save(tmp_path / "four.npy", np.zeros((1, 4)))
    colour = np.zeros((50, 40, 3), np.uint8) + np.array([255, 51, 0], np.uint8)
    Image.fromarray(colour).save(tmp_path / "image.png")
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n")
    return tmp_path


# ---- inspect


def test_inspect_module(folder):
    text = done("inspect", folder / "table.t7")
    lines = text.splitlines()
    assert lines[0].startswith(str(folder / "table.t7"))
    assert [line.split("  ")[0] for line in lines[2:4]] == ["nn.Sequential", ""]
    assert "  (1) nn.Linear(3 -> 4)" in text
    assert "    (2) nn.Linear(4 -> 3)" in text
    assert lines[-1] == "41 parameters, 328 B, float64"


def test_inspect_with_input(folder):
    text = done("inspect", folder / "table.t7", "--input", "3")
    assert "input 1 x 3" in text
    (linear,) = [line for line in text.splitlines() if "(1) nn.Linear(3 -> 4)" in line]
    assert "1 x 4" in linear
    assert "32 B" in linear
    (relu,) = [line for line in text.splitlines() if "ReLU" in line]
    assert "in place" in relu
    assert "{1 x 2, 1 x 3}" in text
    model = pythnn.load(folder / "table.t7")
    model.training()
    pythnn.save(folder / "training.t7", model)
    assert "saved for training" in done("inspect", folder / "training.t7", "--input", "3")


def test_inspect_graph(folder):
    x = nn.Identity()()
    graph = nn.gModule([x], [nn.CAddTable()([nn.Linear(3, 3)(x), x])])
    pythnn.save(folder / "graph.t7", graph)
    text = done("inspect", folder / "graph.t7", "--input", "3")
    lines = [line.split() for line in text.splitlines()[2:]]
    assert [line[:2] for line in lines[1:5]] == [
        ["nn.gModule", "12"],
        ["(1)", "nn.Identity"],
        ["(2)", "nn.Linear(3"],
        ["(3)", "nn.CAddTable"],
    ]
    assert text.splitlines()[-1].startswith("12 parameters, 96 B, float64")


def test_measuring_leaves_the_model_alone(folder):
    from pythnn._models.measuring import measuring
    from pythnn._models.rows import rows_of

    model = pythnn.load(folder / "table.t7")
    with measuring(rows_of(model)) as results:
        model.forward(np.ones((1, 3)))
    assert len(results) == 6
    assert "updateOutput" not in model.__dict__
    assert results[id(model)].seconds > 0


def test_shared_parameters_count_once(folder):
    linear = nn.Linear(2, 2)
    twin = linear.clone("weight", "bias")
    model = nn.Sequential().add(linear).add(linear).add(twin)
    pythnn.save(folder / "shared.t7", model)
    text = done("inspect", folder / "shared.t7")
    assert "6 parameters," in text
    assert "(2) nn.Linear, the same as (1)" in text
    assert "shared" in text.splitlines()[-2]


def test_inspect_values(folder):
    value = {"name": "x" * 200, "list": list(range(50)), "array": np.zeros((2, 30)), "n": None}
    value["me"] = value
    value["deep"] = [[[[[[1]]]]]]
    value["function"] = TorchFunction(b"1234", [7], 8)
    pythnn.save(folder / "value.t7", value)
    text = done("inspect", folder / "value.t7", "--width", "10")
    assert "'" + "x" * 59 + "… of 200 characters" in text
    assert "… and 40 more" in text
    assert "array: float64 tensor of 2 x 30" in text
    assert "me: table of 6, the same as the whole" in text
    assert "function: function of 4 bytes" in text
    assert "1: list of 1, …" in text
    assert "1: 1" in done("inspect", folder / "value.t7", "--depth", "9", "--key", "deep")


def test_inspect_checkpoint(folder):
    text = done("inspect", folder / "checkpoint.t7")
    assert "epoch: 3" in text
    assert "best: nn.Sequential" in text
    assert "41 parameters" in text
    assert "1 x 4" in done("inspect", folder / "checkpoint.t7", "--key", "opt.net", "--input", "3")


def test_inspect_unknown_classes(folder):
    unknown = TorchObject("my.Layer", {"weight": np.zeros((3, 4)), "kW": 3})
    pythnn.save(folder / "unknown.t7", unknown)
    assert "kW: 3" in done("inspect", folder / "unknown.t7")
    model = nn.Sequential().add(nn.Linear(2, 2))
    model.modules.append(unknown)
    pythnn.save(folder / "unknown.t7", model)
    text = done("inspect", folder / "unknown.t7")
    assert "(2) my.Layer, unknown" in text
    assert "cannot run: pythnn does not know my.Layer" in text
    text = refused("inspect", folder / "unknown.t7", "--input", "2")
    assert "pythnn does not know my.Layer" in text
    assert "pythnn.nn.register" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.t7"], 2, "does not exist"),
        (["labels.txt"], 1, "not a .t7 file of Lua Torch but plain text"),
        (["table.t7", "--input", "abc"], 2, "'abc' is no shape such as 3x224x224"),
        (["table.t7", "--input", "0"], 2, "is no shape"),
        (["table.t7", "--input", "7"], 1, r"does not take an input of 1 x 7"),
        (["checkpoint.t7", "--key", "opt.missing"], 2, "has no 'missing'; there is net."),
    ],
)
def test_inspect_mistakes(folder, arguments, code, message):
    assert message in refused("inspect", folder / arguments[0], *arguments[1:], code=code)


def test_inspect_fields_of_any_kind(folder):
    model = nn.Linear(2, 2)
    model._type = "torch.NoTensor"
    pythnn.save(folder / "type.t7", model)
    assert "torch.NoTensor" in refused("inspect", folder / "type.t7")


# ---- run


def test_run_array(folder):
    output = folder / "out.npz"
    assert "{1 x 2, 1 x 3}" in done("run", folder / "table.t7", folder / "vector.npy")
    done("run", folder / "table.t7", folder / "vector.npy", "--output", output)
    expected = pythnn.load(folder / "table.t7").forward(np.array([[1.0, 2, 3]]))
    with np.load(output) as found:
        np.testing.assert_array_equal(found["arr_0"], expected[0])
        np.testing.assert_array_equal(found["arr_1"], expected[1])


def test_run_batch_prints_each_row(folder):
    np.save(folder / "batch.npy", np.array([[0.5, 0.25], [1.0, 3.0], [2.0, 1.0]]))
    text = done("run", folder / "identity.t7", folder / "batch.npy", "--top", 1)
    assert text.splitlines() == ["1: class 1 0.5", "2: class 2 3", "3: class 1 2"]


def test_run_table_of_arrays(folder):
    pythnn.save(folder / "add.t7", nn.CAddTable())
    np.savez(folder / "two.npz", b=np.full(3, 2.0), a=np.ones(3))
    done("run", folder / "add.t7", folder / "two.npz", "--output", folder / "sum.npy")
    assert np.load(folder / "sum.npy").tolist() == [3, 3, 3]


def test_run_image_prints_classes(folder):
    options = ["--preset", "unit", "--labels", folder / "labels.txt", "--top", 2]
    text = done("run", folder / "classes.t7", folder / "image.png", *options)
    assert [line.split() for line in text.splitlines()] == [["red", "1"], ["green", "0.2"]]
    text = done("run", folder / "classes.t7", folder / "image.png", "--preset", "unit", "--softmax")
    odds = np.exp([1, 0.2, 0]) / np.exp([1, 0.2, 0]).sum()
    found = [line.split() for line in text.splitlines()]
    assert [line[1] for line in found] == ["1", "2", "3"]
    assert [float(line[2]) for line in found] == pytest.approx(100 * odds, abs=0.01)


def test_run_folder(folder):
    images = folder / "images"
    images.mkdir()
    for name, colour in (("b.png", (0, 0, 255)), ("a.jpg", (0, 255, 0)), ("c.npy", None)):
        if colour is None:
            np.save(images / name, np.ones((1, 3, 1, 1)) * [[[[9]], [[0]], [[0]]]])
        else:
            Image.new("RGB", (8, 8), colour).save(images / name)
    (images / "notes.txt").write_text("no image")
    options = ["--preset", "unit", "--labels", folder / "labels.txt", "--top", 1]
    *lines, last = done("run", folder / "classes.t7", images, *options).splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["a.jpg:", "green"],
        ["b.png:", "blue"],
        ["c.npy:", "red"],
    ]
    assert re.fullmatch(r"3 files in [\d.e-]+ s, [\d.e+]+ a second", last)
    done("run", folder / "classes.t7", images, *options, "--output", folder / "all.npy")
    assert np.load(folder / "all.npy").shape == (3, 1, 3)
    done("run", folder / "classes.t7", images, *options, "--output", folder / "each")
    assert np.load(folder / "each" / "c.npy").tolist() == [[9, 0, 0]]


@pytest.mark.parametrize("rows", [1, 2])
def test_images_of_a_folder_are_computed_together(folder, rows):
    model = nn.Sequential(nn.SpatialConvolution(3, 4, 3, 3), nn.View(4 * 6 * 6 // rows))
    pythnn.save(folder / "model.t7", model)
    (folder / "images").mkdir()
    numbers = np.random.default_rng(0)
    for i in range(7):  # one is of another size, and scaled
        pixels = numbers.integers(0, 255, (9 if i == 4 else 8, 8, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{i}.png")
    options = ["--preset", "unit", "--size", "8", "--output"]
    for batch in (1, 3, 8):
        out = folder / f"out{batch}"
        done("run", folder / "model.t7", folder / "images", "--batch", batch, *options, out)
        for i in range(7):
            alone = np.load(folder / "out1" / f"{i}.npy")
            together = np.load(out / f"{i}.npy")
            assert together.shape == alone.shape
            limit = 27 * np.finfo(float).eps * np.abs(alone).max()  # sums of 27 products
            np.testing.assert_allclose(together, alone, rtol=0, atol=limit)


def test_a_damaged_image_ends_a_folder_after_those_before_it(folder):
    (folder / "images").mkdir()
    for name in ("a.png", "c.png"):
        Image.new("RGB", (8, 8), (255, 0, 0)).save(folder / "images" / name)
    (folder / "images" / "b.png").write_bytes(b"\x89PNG")
    result = call("run", folder / "classes.t7", folder / "images", "--preset", "unit")
    assert result.exit_code == 1
    assert "a.png: " in result.output
    assert "b.png cannot be read" in result.output
    assert "c.png: " not in result.output


@pytest.mark.parametrize("preset", ["unit", "byte", "signed", "caffe"])
def test_run_image_to_image(folder, preset):
    recipe = ["--preset", preset, *(["--size", "50x40", "--resize", "40"] * (preset == "caffe"))]
    output = folder / "out.png"
    done("run", folder / "identity.t7", folder / "image.png", *recipe, "--output", output)
    with Image.open(output) as found, Image.open(folder / "image.png") as expected:
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_run_key_and_threads(folder):
    before = pythnn.get_num_threads()
    try:
        text = done(
            "run", folder / "checkpoint.t7", folder / "vector.npy", "--key", "best", "--threads", 1
        )
        assert pythnn.get_num_threads() == 1
    finally:
        pythnn.set_num_threads(before)
    assert "{1 x 2, 1 x 3}" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.t7", "image.png"], 2, "does not exist"),
        (["labels.txt", "image.png"], 1, "plain text"),
        (["classes.t7", "missing.png"], 2, "does not exist"),
        (["classes.t7", "labels.txt"], 1, "labels.txt cannot be read: not an image but plain text"),
        (["classes.t7", "table.t7"], 1, "not an image but a .t7 file of Lua Torch"),
        (["classes.t7", "empty.png"], 1, "not an image but an empty file"),
        (["classes.t7", "damaged.png"], 1, "not an image but a PNG image that is damaged"),
        (["classes.t7", "empty"], 1, "has no images"),
        (["classes.t7", "text.npy"], 1, "cannot be read: an array of <U1, not of numbers"),
        (["classes.t7", "pickled.npy"], 1, "it holds Python objects, not numbers; write it again"),
        (["classes.t7", "words.npy"], 1, "not a .npy file of numpy but plain text"),
        (["classes.t7", "words.npz"], 1, "not a .npz file of numpy but plain text"),
        (["classes.t7", "short.npy"], 1, "it is damaged; write it again with numpy.save"),
        (["classes.t7", "short.npz"], 1, "it is damaged; write it again with numpy.save"),
        (["long.t7", "four.npy"], 1, "long.t7 cannot be run: type: argument #1 'type'"),
        (["classes.t7", "image.png", "--key", "net"], 2, "is a nn.Sequential, no table. Leave it"),
        (["table.t7", "four.npy"], 1, "does not take an input of 1 x 4: in module 1"),
        (["classes.t7", "image.png", "--labels", "two.txt"], 1, "has 2 lines, the model 3 classes"),
        (["classes.t7", "image.png", "--output", "o.txt"], 1, "must end in .npy, .npz"),
        (["classes.t7", "image.png", "--output", "missing/o.npy"], 1, "no folder missing; make"),
        (["classes.t7", "image.png", "--output", "o.png"], 1, "1 x 3 is no image"),
        (["table.t7", "vector.npy", "--output", "o.npy"], 1, "the output is a table"),
        (["checkpoint.t7", "image.png", "--key", "epoch"], 1, "holds no module but int"),
        (["function.t7", "image.png"], 1, "`pythnn inspect"),
        (["classes.t7", "image.png", "--size", "a"], 2, "'a' is no size"),
        (["classes.t7", "image.png", "--mean", "1,2"], 2, "2 numbers for 3 channels"),
        (["classes.t7", "image.png", "--std", "0"], 2, "must not be 0"),
        (["classes.t7", "image.png", "--std", "x"], 2, "'x' is no list of numbers"),
        (["classes.t7", "image.png", "--preset", "none"], 2, "is not one of"),
        (["classes.t7", "four.npy", "--preset", "unit"], 2, "four.npy is an array, taken as it is"),
        (["classes.t7", "four.npy", "--no-batch"], 2, "Options for images go with images"),
        (["classes.t7", "arrays", "--mean", "1", "--output", "o"], 2, "arrays holds arrays"),
        (["two.t7", "image.png"], 2, "several modules: a, b. Choose one with --key"),
        (["unknown.t7", "image.png"], 1, "holds a my.Layer, a class that pythnn does not know"),
        (["unknown.t7", "image.png"], 1, "run a module inside, with --key modules.1."),
    ],
)
def test_run_mistakes(folder, monkeypatch, arguments, code, message):
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    (folder / "arrays").mkdir()
    for name in ("a.npy", "b.npy"):
        np.save(folder / "arrays" / name, np.zeros((1, 4)))
    (folder / "two.txt").write_text("a\nb\n")
    np.save(folder / "text.npy", np.array(["a"]))
    np.save(folder / "pickled.npy", np.array([None]), allow_pickle=True)
    for name in ("words.npy", "words.npz"):
        (folder / name).write_text("words")
    (folder / "empty.png").write_bytes(b"")
    (folder / "damaged.png").write_bytes(b"\x89PNG and no more")
    np.save(folder / "short.npy", np.zeros(9))
    whole = nn.Identity()
    whole._type = "torch.LongTensor"
    pythnn.save(folder / "long.t7", whole)
    np.savez(folder / "short.npz", np.zeros(9))
    for name in ("short.npy", "short.npz"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-20])
    pythnn.save(folder / "function.t7", [TorchFunction(b"", None, 8)])
    pythnn.save(folder / "two.t7", {"a": nn.Identity(), "b": nn.Identity()})
    pythnn.save(folder / "unknown.t7", TorchObject("my.Layer", {"modules": [nn.Identity()]}))
    assert message in refused("run", *arguments, code=code)


def test_model_of_a_type_that_nothing_computes_in(folder, monkeypatch):
    monkeypatch.chdir(folder)
    whole = nn.Sequential().add(nn.Identity())
    whole._type = "torch.LongTensor"
    pythnn.save(folder / "whole.t7", whole)
    assert "torch.LongTensor" in CliRunner().invoke(main, ["inspect", "whole.t7"]).output
    result = CliRunner().invoke(main, ["report", "whole.t7", "--no-run"])
    assert result.exit_code == 0, result.output
    assert "torch.LongTensor" in (folder / "whole.html").read_text()


# ---- Images


def gradient(height, width):
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows, columns, rows + columns], 2).astype(np.uint8)


def test_recipe_of_imagenet(tmp_path):
    Image.new("RGB", (300, 400), (255, 0, 51)).save(tmp_path / "plain.png")
    found = images.read_image(tmp_path / "plain.png", images.PRESETS["imagenet"])
    assert found.shape == (3, 224, 224)
    assert found.dtype == np.float32
    expected = [(1 - 0.485) / 0.229, -0.456 / 0.224, (0.2 - 0.406) / 0.225]
    np.testing.assert_allclose(found[:, 100, 100], expected, rtol=1e-5)
    assert np.ptp(found, axis=(1, 2)).max() < 1e-5


def test_upright_as_the_camera_noted(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    Image.fromarray(gradient(30, 60)).save(tmp_path / "turned.png", exif=exif)
    found = images.read_image(tmp_path / "turned.png", images.PRESETS["unit"])
    expected = np.rot90(gradient(30, 60), -1).transpose(2, 0, 1) / np.float32(255)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_recipe_of_caffe(tmp_path):
    Image.new("RGB", (300, 400), (255, 0, 51)).save(tmp_path / "plain.png")
    found = images.read_image(tmp_path / "plain.png", images.PRESETS["caffe"])
    expected = [51 - 103.939, -116.779, 255 - 123.68]
    np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-5)


def test_crop_is_the_middle(tmp_path):
    Image.fromarray(gradient(30, 50)).save(tmp_path / "gradient.png")
    recipe = images.Recipe(crop=(10, 20), scale=255)
    found = images.read_image(tmp_path / "gradient.png", recipe)
    np.testing.assert_array_equal(found, gradient(30, 50)[10:20, 15:35].transpose(2, 0, 1))


def test_gray_and_size(tmp_path):
    Image.fromarray(gradient(30, 60)).save(tmp_path / "gradient.png")
    assert images.read_image(tmp_path / "gradient.png", images.PRESETS["gray"]).shape == (
        1,
        30,
        60,
    )
    recipe = wanted_of("imagenet", "112x64", None, None, None, None, None).recipe()
    assert (recipe.resize, recipe.crop) == (73, (112, 64))
    with pytest.raises(ValueError, match="is no image"):
        images.write_image(tmp_path / "out.png", np.zeros((2, 3, 4, 4)), recipe)


def test_documented_commands(folder, monkeypatch):
    text = (Path(__file__).parents[3] / "docs" / "t7.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "classes.t7").rename(folder / "model.t7")
    with Image.open(folder / "image.png") as image:
        image.save(folder / "photo.jpg")
    monkeypatch.chdir(folder)
    lines = block.splitlines()
    assert len(lines) == 3
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "pythnn"
        done(*arguments)


def test_modules_in_modules_without_end(tmp_path):
    model = nn.Linear(2, 2)
    for _ in range(2000):
        model = nn.Sequential().add(model)
    pythnn.save(tmp_path / "deep.t7", model)
    assert len(done("inspect", tmp_path / "deep.t7").splitlines()) == 54
    np.save(tmp_path / "x.npy", np.ones((1, 2)))
    assert "nested deeper than Python" in refused("inspect", tmp_path / "deep.t7", "--input", "2")
    assert "nested deeper than Python" in refused("run", tmp_path / "deep.t7", tmp_path / "x.npy")
