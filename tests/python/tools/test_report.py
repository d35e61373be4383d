"""``pythnn report``: the page, as a parser reads it."""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import _html, nn
from pythnn._cli import main
from pythnn.graph import costs, lower
from pythnn.report import _charts, _layers, _pictures, _report, _running, _statistics
from pythnn.t7 import TorchObject

DATA = Path(__file__).parents[2] / "data" / "t7"
MODELS = [e for e in json.loads((DATA / "index.json").read_text()) if e["kind"] == "model"]
IMAGE_MODELS = ("alexnet_small", "resnet_like", "autoencoder", "lenet_legacy")
VOID = {"img", "link", "meta", "path"}


class Page(HTMLParser):
    """The elements of a page; fails where one is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.texts = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag, **attributes):
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [a for t, a in self.elements if t == tag and wanted.items() <= a.items()]


def call(*arguments):
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def page_of(*arguments):
    """The page that a call writes, which must stand alone and hold nothing that runs."""
    output = Path("page.html")
    result = call(*arguments, "-o", output)
    assert result.exit_code == 0, result.output
    page = Page(output.read_text("utf-8"))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "iframe", "object", "embed", "form", "base", "foreignobject"}
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), attributes
        if tag == "img":
            assert attributes["alt"]
            assert attributes["src"].startswith("data:image/png;base64,")
        if tag == "svg":
            assert attributes["aria-label"]
        if "href" in attributes:
            target = attributes["href"]
            assert target == "data:," or target[1:] in ids, target
    assert "url(" not in output.read_text("utf-8")
    assert "nan%" not in output.read_text("utf-8")
    return page


def refused(*arguments, code=1):
    result = call(*arguments)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    return result.output


def pixels_of(source):
    data = base64.b64decode(source.removeprefix("data:image/png;base64,"), validate=True)
    return Image.open(io.BytesIO(data))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A photograph and a small model."""
    monkeypatch.chdir(tmp_path)
    rows, columns = np.mgrid[:60, :80]
    colour = np.stack([3 * columns, 4 * rows, 255 - 3 * columns], 2).astype(np.uint8)
    Image.fromarray(colour).save("photo.jpg")
    pythnn.manual_seed(1)
    model = nn.Sequential().add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.ReLU(True))
    model.add(nn.View(-1)).add(nn.Linear(4 * 6 * 6, 5)).add(nn.LogSoftMax())
    pythnn.save("model.t7", model)
    return tmp_path


# ---- The page


@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry["name"])
@pytest.mark.parametrize("form", ["binary", "ascii"])
def test_recorded_models(entry, form):
    page = page_of(DATA / entry[form])
    for name in entry["modules"]:
        assert name in page.text
    assert "multiply-adds" in page.text, page.text  # it was run, on a shape that was guessed
    assert "Not run" not in page.text
    assert len(page.all("span", class_="line")) >= len(entry["modules"])
    assert page.all("svg")


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_recorded_models_with_an_image(name):
    page = page_of(DATA / f"{name}.t7", "--image", "photo.jpg")
    assert page.all("img", class_="input")
    assert page.all("img", class_="filter")
    assert page.all("img", class_="plane")
    assert "photo.jpg, as the model sees it" in page.text


def test_documented_commands(folder):
    text = (Path(__file__).parents[3] / "docs" / "report.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "labels.txt").write_text("a\nb\nc\nd\ne\n")
    for line in block.splitlines():
        program, command, *arguments = shlex.split(line)
        assert (program, command) == ("pythnn", "report")
        assert call(*arguments).exit_code == 0
    assert Path("model.html").exists()
    assert Path("page.html").exists()


def test_no_run():
    page = page_of("model.t7", "--no-run")
    assert "Not run, as --no-run asked." in page.text
    assert "multiply-adds" not in page.text
    assert len(page.all("svg")) == 4


def test_costs_are_shown():
    page = page_of("model.t7", "--input", "3x8x8")
    assert "1 x 3 x 8 x 8" in page.text
    assert "3.89 k" in page.text  # 4 * 3 * 3 * 3 * 6 * 6 by the convolution
    assert "4.61 k" in page.text  # and 144 * 5
    assert "837" in page.text
    assert "in place" in page.text
    assert "Run on noise," in page.text


def test_guessed_shape():
    page = page_of("model.t7")
    assert "1 x 3 x 8 x 8" in page.text
    assert "that was guessed" in page.text


def test_guess_is_of_one_result():
    """A View of a fixed size cuts larger images into rows."""
    model = nn.Sequential().add(nn.SpatialConvolution(1, 4, 3, 3)).add(nn.View(4 * 10 * 10))
    model.add(nn.Linear(400, 5))
    pythnn.save("rows.t7", model)
    assert "1 x 1 x 12 x 12" in page_of("rows.t7").text


def test_in_place_models_leave_their_input(folder):
    pythnn.save(folder / "relu.t7", nn.Sequential().add(nn.ReLU(True)))
    page = page_of("relu.t7", "--image", "photo.jpg", "--preset", "signed", "--size", "16")
    (source,) = [a["src"] for a in page.all("img", class_="input")]
    with pixels_of(source) as image:
        assert len(set(np.asarray(image)[:, :, 0].ravel().tolist())) > 14


def test_shape_that_cannot_be_guessed():
    pythnn.save("two.t7", nn.ParallelTable().add(nn.Linear(3, 2)).add(nn.Linear(4, 2)))
    result = call("two.t7")
    assert result.exit_code == 0
    assert "--input 3x224x224" in result.output
    assert "could not be guessed" in Page(Path("two.html").read_text("utf-8")).text


def test_table_of_inputs():
    model = nn.Sequential().add(nn.ParallelTable().add(nn.Linear(3, 2)).add(nn.Linear(4, 2)))
    pythnn.save("two.t7", model.add(nn.CAddTable()))
    assert "{1 x 3, 1 x 4}" in page_of("two.t7", "--input", "3", "--input", "4").text


def test_without_a_batch():
    pythnn.save("plain.t7", nn.Sequential().add(nn.Reshape(12, False)).add(nn.Linear(12, 2)))
    page = page_of("plain.t7", "--input", "3x4")
    assert page.text.count("3 x 4") == 1


def test_image_shows_input_classes_and_planes(folder):
    (folder / "labels.txt").write_text("a\nb\nc\nd\n<e>\n")
    page = page_of("model.t7", "--image", "photo.jpg", "--labels", "labels.txt")
    assert "Most probable classes" in page.text
    assert "<e>" in page.text
    (source,) = [a["src"] for a in page.all("img", class_="input")]
    with pixels_of(source) as image:
        assert image.size == (8, 8)
        corner, other = image.getpixel((0, 0)), image.getpixel((7, 0))
    assert corner[0] < other[0]
    assert corner[2] > other[2]
    planes = [a["src"] for a in page.all("img", class_="plane")]
    assert len(planes) == 8  # four of the convolution, and of ReLU
    with pixels_of(planes[0]) as image:
        assert image.size == (6, 6)


def test_in_place_layers_keep_their_input_pictures():
    page = page_of("model.t7", "--image", "photo.jpg")
    captions = [text for text in page.texts if text.startswith("Output: all 4 planes")]
    assert len(captions) == 2
    assert "Dark is -" in captions[0]
    assert "Dark is 0," in captions[1]


def test_options_for_images():
    page = page_of("model.t7", "--image", "photo.jpg", "--preset", "caffe", "--size", "8")
    assert "filters of 3 x 3 in BGR" in page.text


def test_checkpoint():
    model = pythnn.load("model.t7")
    pythnn.save("checkpoint.t7", {"opt": {"net": model}, "a": model, "b": nn.Identity()})
    assert "nn.Linear" in page_of("checkpoint.t7", "--key", "opt.net").text
    assert "several modules: a, b. Choose one with --key" in refused("checkpoint.t7", code=2)


def test_criterion():
    pythnn.save("criterion.t7", nn.ClassNLLCriterion())
    page = page_of("criterion.t7")
    assert "a criterion compares" in page.text


def test_unknown_class_is_shown():
    model = pythnn.load("model.t7")
    model.modules.append(TorchObject("my.Layer", {"weight": np.zeros((3, 4))}))
    pythnn.save("unknown.t7", model)
    page = page_of("unknown.t7")
    assert "(6) my.Layer, unknown" in page.text
    assert "Not run: pythnn does not know my.Layer" in page.text
    assert "100 % zeros" in page.text


def test_many_and_deep_layers(monkeypatch):
    model = nn.Linear(2, 2)
    for _ in range(200):
        model = nn.Sequential().add(model)
    pythnn.save("deep.t7", model)
    assert "… and 150 more" in page_of("deep.t7").text
    monkeypatch.setattr(_report, "MAX_ROWS", 10)
    wide = nn.Sequential()
    for _ in range(30):
        wide.add(nn.Linear(2, 2))
    pythnn.save("wide.t7", wide)
    page = page_of("wide.t7")
    assert "… and 21 more" in page.text
    assert not page.all("details", open=None)[_layers.OPEN_LAYERS :]


def test_pictures_are_bounded(monkeypatch):
    monkeypatch.setattr(_running, "MAX_PICTURES", 6)
    page = page_of("model.t7", "--image", "photo.jpg")
    assert 0 < len(page.all("img", class_="plane")) <= 6
    pythnn.save("many.t7", nn.Sequential().add(nn.SpatialConvolution(3, 200, 3, 3)))
    page = page_of("many.t7", "--input", "3x8x8")
    assert len(page.all("img", class_="filter")) == 64
    assert "64 of 200 filters" in page.text


# ---- Hostile files


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&</style>"


def test_text_of_a_file_is_escaped(folder):
    model = pythnn.load("model.t7")
    model.modules.append(TorchObject(EVIL, {"weight": np.zeros(3)}))
    model.tensors.__dict__[EVIL] = nn.Identity()
    name = "<script>a&'\"b.t7"
    pythnn.save(folder / name, {EVIL: model})
    page = page_of(name)
    assert EVIL in page.text
    assert name in page.text
    page_of(name, "--key", EVIL)


def test_labels_and_images_are_escaped(folder):
    (folder / "labels.txt").write_text(5 * f"{EVIL}\n")
    (folder / "photo.jpg").rename(folder / "<b onclick='x'>.jpg")
    options = ["--image", "<b onclick='x'>.jpg", "--labels", "labels.txt"]
    assert EVIL in page_of("model.t7", *options).text


def test_text_without_signs():
    assert _html.text("a\0b\ud800c\u202ed\n") == "a?b?c?d?".replace(
        "?", "\N{REPLACEMENT CHARACTER}"
    )
    assert _html.element("p", _html.Html("<b>"), title='"<') == '<p title="&quot;&lt;"><b></p>'


def test_parameters_that_are_not_finite():
    model = pythnn.load("model.t7")
    model.modules[0].weight[...] = np.nan
    model.modules[3].weight[0, :2] = np.inf, -1e308
    model.modules[3].weight[1, 0] = 1e308
    pythnn.save("nan.t7", model)
    page = page_of("nan.t7", "--image", "photo.jpg")
    assert "108 of 108 are infinite or nan" in page.text
    assert "1 of 720 are infinite or nan" in page.text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.t7"], 2, "does not exist"),
        (["photo.jpg"], 1, "not a .t7 file"),
        (["cut.t7"], 1, "cut.t7 cannot be read"),
        (["values.t7"], 1, "holds no module but epoch"),
        (["model.t7", "--input", "x"], 2, "is no shape such as 3x224x224"),
        (["model.t7", "--input", "7"], 1, "does not take an input of 1 x 7 or 7: in module 1"),
        (["model.t7", "--key", "x"], 2, "has no 'x'"),
        (["model.t7", "--image", "cut.t7"], 1, "cut.t7 cannot be read"),
        (["model.t7", "--image", "photo.jpg", "--size", "9"], 1, "--size, --preset and --channels"),
        (["model.t7", "--image", "photo.jpg", "--labels", "labels.txt"], 1, "has 1 lines, the mod"),
        (["model.t7", "--preset", "unit"], 2, "Options for images go with --image"),
        (["model.t7", "--no-run", "--input", "3"], 2, "--no-run goes with neither"),
        (["vector.t7", "--image", "photo.jpg"], 1, "takes 3, which is no image"),
        (["unknown.t7", "--input", "3"], 1, "my.Layer, a class that pythnn does not know"),
        (["model.t7", "-o", "model.t7"], 1, "it is the model itself"),
        (["model.t7", "-o", "missing/page.html"], 1, "cannot be written"),
    ],
)
def test_mistakes(folder, arguments, code, message):
    (folder / "cut.t7").write_bytes((folder / "model.t7").read_bytes()[:-300])
    (folder / "labels.txt").write_text("one\n")
    pythnn.save("values.t7", {"epoch": 3})
    pythnn.save("vector.t7", nn.Linear(3, 2))
    pythnn.save("unknown.t7", TorchObject("my.Layer", {"modules": [nn.Identity()]}))
    assert message in refused(*arguments, code=code)
    assert pythnn.load("model.t7").size() == 5


@pytest.mark.parametrize("value", ["3", -3, 10**12, None, 2.5])
@pytest.mark.parametrize("field", ["nInputPlane", "kW", "weight"])
def test_fields_of_any_kind(field, value):
    model = pythnn.load("model.t7")
    convolution = model.modules[0]
    if field == "weight":
        convolution.tensors.weight = None
    setattr(convolution, field, value)
    pythnn.save("fields.t7", model)
    result = call("fields.t7")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "no page" not in result.output


def test_damaged_files(folder):
    data = (folder / "model.t7").read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(60):
        damaged = bytearray(data)
        for place in rng.integers(0, len(data), 4):
            damaged[place] = rng.integers(256)
        (folder / "damaged.t7").write_bytes(damaged)
        result = call("damaged.t7", "--no-run")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        if result.exception is None:
            Page((folder / "damaged.html").read_text("utf-8"))


# ---- Numbers and pictures


def _cost(module, *shape):
    x = np.zeros(shape) if not isinstance(shape[0], tuple) else [np.zeros(s) for s in shape]
    return sum(map(costs.multiply_adds, lower(module, x).operations))


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        (nn.SpatialConvolution(2, 6, 3, 5), (4, 2, 9, 8), 6 * 2 * 15 * 4 * 5 * 6),
        (nn.SpatialConvolution(2, 6, 3, 5), (2, 9, 8), 6 * 2 * 15 * 5 * 6),
        (nn.SpatialConvolutionMM(2, 6, 3, 5), (2, 9, 8), 6 * 2 * 15 * 5 * 6),
        (nn.SpatialDilatedConvolution(2, 6, 3, 3, 1, 1, 0, 0, 2, 2), (2, 9, 8), 108 * 5 * 4),
        (nn.SpatialDepthWiseConvolution(2, 3, 3, 3), (1, 2, 9, 8), 6 * 9 * 7 * 6),
        (nn.SpatialFullConvolution(2, 6, 3, 3), (1, 2, 9, 8), 108 * 9 * 8),
        (nn.SpatialConvolutionLocal(2, 6, 8, 9, 3, 3), (3, 2, 9, 8), 3 * 108 * 7 * 6),
        (nn.VolumetricConvolution(2, 6, 2, 3, 3), (1, 2, 4, 9, 8), 6 * 2 * 18 * 3 * 7 * 6),
        (nn.VolumetricFullConvolution(2, 6, 2, 3, 3), (1, 2, 4, 9, 8), 6 * 2 * 18 * 4 * 9 * 8),
        (nn.TemporalConvolution(4, 5, 3), (2, 9, 4), 2 * 7 * 4 * 5 * 3),
        (nn.TemporalRowConvolution(4, 3), (2, 9, 4), 2 * 7 * 4 * 3),
        (nn.Linear(4, 5), (7, 4), 140),
        (nn.Linear(4, 5), (4,), 20),
        (nn.MM(), ((2, 3, 4), (2, 4, 5)), 2 * 3 * 4 * 5),
        (nn.MM(True), ((2, 4, 3), (2, 4, 5)), 2 * 3 * 4 * 5),
        (nn.MV(), ((2, 3, 4), (2, 4)), 2 * 3 * 4),
        (nn.DotProduct(), ((2, 3), (2, 3)), 6),
        (nn.ReLU(), (4,), 0),
        (nn.SpatialBatchNormalization(2), (4, 2, 3, 3), 0),
    ],
    ids=lambda value: value.typename() if isinstance(value, nn.Module) else None,
)
def test_multiply_adds(module, shape, expected):
    assert _cost(module, *shape) == expected


def test_short_numbers():
    assert [costs.short(n) for n in (0, 999, 1000, 1_819_066_368)] == ["0", "999", "1 k", "1.82 G"]


def test_statistics():
    values = np.array([[0, 1, 2, 3], [np.nan, np.inf, -2, 0]], np.float32)
    found = _statistics.statistics_of(values)
    assert (found.count, found.infinite, found.zeros) == (8, 2, 2)
    assert (found.minimum, found.maximum) == (-2, 3)
    finite = [0, 1, 2, 3, -2, 0]
    assert found.mean == pytest.approx(np.mean(finite))
    assert found.std == pytest.approx(np.std(finite))
    assert sum(found.histogram) == 6
    assert found.histogram[0] == found.histogram[-1] == 1


def test_statistics_of_large_arrays(monkeypatch):
    monkeypatch.setattr(_statistics, "CHUNK", 1000)
    monkeypatch.setattr(_statistics, "SAMPLE", 2000)
    values = np.random.default_rng(1).standard_normal((50, 301))
    found = _statistics.statistics_of(values)
    assert found.maximum == values.max()
    assert found.mean == pytest.approx(values.mean())
    assert found.std == pytest.approx(values.std())
    assert 1500 < sum(found.histogram) <= 2200


@pytest.mark.parametrize("array", [[], [np.nan], [0.0], [5e-324, 0], [-1e308, 1e308], [7, 7]])
def test_statistics_of_odd_arrays(array):
    found = _statistics.statistics_of(np.array(array, np.float64))
    finite = np.isfinite(array).sum()
    assert sum(found.histogram) == finite
    assert np.isfinite([found.mean, found.std]).all()
    if finite:
        chart = _charts.histogram(found, "x")
        Page(chart)
        assert "nan" not in chart


def test_filter_pictures():
    weight = np.zeros((2, 3, 2, 2))
    weight[0, 0] = 1
    weight[0, 2] = -1
    red, gray = _pictures.filter_pictures(weight, 10)
    assert pixels_of(red).getpixel((0, 0)) == (255, 128, 0)
    assert pixels_of(gray).getpixel((0, 0)) == (128, 128, 128)
    assert pixels_of(_pictures.filter_pictures(weight, 1, bgr=True)[0]).getpixel((1, 1)) == (
        0,
        128,
        255,
    )
    assert len(_pictures.filter_pictures(np.zeros((3, 4, 2, 2)), 5)) == 5


def test_plane_pictures_are_small():
    planes = np.zeros((3, 500, 250))
    planes[1] = 1
    pictures, scale = _pictures.plane_pictures(planes, 2)
    assert scale == (0, 1)
    dark, bright = (pixels_of(picture).convert("RGB") for picture in pictures)
    assert dark.size == bright.size == (32, 64)
    assert (dark.getpixel((5, 5)), bright.getpixel((5, 5))) == ((68, 1, 84), (253, 231, 37))
    assert len(_pictures.plane_pictures(np.zeros(10_000), 4)[0]) == 1
    with pixels_of(_pictures.plane_pictures(np.arange(5.0), 4)[0][0]) as image:
        assert image.size == (5, 1)
    _pictures.plane_pictures(np.array([[np.nan, np.inf], [-np.inf, 1e308]]), 1)
