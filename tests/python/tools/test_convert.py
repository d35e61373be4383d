"""``pythnn convert``: the files that it writes, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pythnn
from pythnn import nn
from pythnn._cli import main
from pythnn.t7 import TorchObject

T7 = Path(__file__).parents[2] / "data" / "t7"


def convert(*arguments):
    return CliRunner().invoke(main, ["convert", *map(str, arguments)])


@pytest.fixture
def saved(tmp_path):
    model = nn.Sequential().add(nn.Linear(4, 3)).add(nn.ConcatTable().add(nn.Linear(3, 2)))
    pythnn.save(tmp_path / "model.t7", model)
    return model, tmp_path / "model.t7"


def test_npz(saved, tmp_path):
    model, file = saved
    assert convert(file, tmp_path / "w.npz").exit_code == 0
    with np.load(tmp_path / "w.npz") as arrays:
        assert sorted(arrays) == ["1.bias", "1.weight", "2.1.bias", "2.1.weight"]
        np.testing.assert_array_equal(arrays["2.1.weight"], model.modules[1].modules[0].weight)


@pytest.mark.parametrize("options", [(), ("--ascii",)])
def test_t7(saved, tmp_path, options):
    model, file = saved
    assert convert(file, tmp_path / "again.t7", *options).exit_code == 0
    again = pythnn.load(tmp_path / "again.t7")
    np.testing.assert_array_equal(again.modules[0].weight, model.modules[0].weight)
    assert (tmp_path / "again.t7").read_bytes()[:1].isdigit() == bool(options)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("resnet_like", "batch x 3 x 9 x 9"),
        ("alexnet_small", "batch x 3 x 33 x 33"),
        ("lenet_legacy", "1 x 16 x 16"),
        ("textnet", "batch x 20"),
        ("mixture", "batch x 5"),
    ],
)
def test_onnx_guesses_the_input(tmp_path, name, shape):
    found = convert(T7 / f"{name}.t7", tmp_path / "model.onnx")
    assert found.exit_code == 0, found.output
    assert found.output.endswith(f"input {shape}\n")
    assert (tmp_path / "model.onnx").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.txt"], "should end in one of .npz, .onnx, .t7"),
        (["w.npz", "--input", "3"], "--input is for .onnx only"),
        (["w.npz", "--any-size"], "--any-size and --fixed-size are for .onnx only"),
        (["w.npz", "--ascii"], "--ascii is for .t7 only"),
        (["m.onnx", "--input", "7"], "say it with --input"),
        (["m.onnx", "--key", "net"], "no 'net'"),
    ],
)
def test_mistakes(saved, tmp_path, arguments, message):
    found = convert(saved[1], tmp_path / arguments[0], *arguments[1:])
    assert found.exit_code != 0
    assert message in " ".join(found.output.split())
    assert not (tmp_path / arguments[0]).exists()


@pytest.mark.parametrize(
    ("option", "last", "shape"),
    [
        ([], nn.SpatialMaxPooling(2, 2), "batch x 3 x height x width"),
        (["--any-size"], nn.SpatialAdaptiveMaxPooling(1, 1), "batch x 3 x height x width"),
        (["--fixed-size"], nn.SpatialMaxPooling(2, 2), "batch x 3 x 12 x 12"),
        ([], nn.View(-1, 4), "batch x 3 x 12 x 12"),
    ],
)
def test_onnx_of_any_size(tmp_path, option, last, shape):
    model = nn.Sequential().add(nn.SpatialConvolution(3, 4, 3, 3)).add(last)
    pythnn.save(tmp_path / "model.t7", model)
    arguments = [tmp_path / "model.t7", tmp_path / "model.onnx", "--input", "3x12x12"]
    found = convert(*arguments, *option)
    assert found.exit_code == 0, found.output
    assert found.output.endswith(f"input {shape}\n")


def test_any_size_where_a_layer_has_sizes(tmp_path):
    model = nn.Sequential().add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.View(400))
    pythnn.save(tmp_path / "model.t7", model)
    arguments = [tmp_path / "model.t7", tmp_path / "model.onnx", "--input", "3x12x12"]
    found = convert(*arguments, "--any-size")
    assert found.exit_code == 1
    text = " ".join(found.output.split())
    assert "height and width cannot be free" in text
    assert "nn.View" in text


def test_npz_of_anything(tmp_path):
    """Unknown objects, what is in them, modules used twice, tables: all arrays have a name."""
    rng = np.random.default_rng(0)
    arrays = {name: rng.random(3, np.float32) for name in ("weight", "peephole", "mean", "gate")}
    net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.SpatialBatchNormalization(3)).float()
    inner = {"net": net, "gates": [arrays["gate"], {"deep": arrays["mean"]}]}
    fields = {"weight": arrays["weight"], "peephole": arrays["peephole"], "name": "lstm", **inner}
    computed = {"output": arrays["gate"], "gradInput": arrays["gate"], "gradWeight": arrays["gate"]}
    unknown = TorchObject("nn.PeepholeLSTM", {**fields, **computed, "buffer": np.zeros(0)})
    pythnn.save(tmp_path / "base.t7", nn.Sequential().add(nn.Linear(4, 2)).float())
    raw = pythnn.load(tmp_path / "base.t7", classes=False)
    raw["modules"] += [unknown, raw["modules"][0]]
    pythnn.save(tmp_path / "model.t7", raw)
    found = convert(tmp_path / "model.t7", tmp_path / "w.npz")
    assert found.exit_code == 0, found.output
    assert "Note: pythnn does not know nn.PeepholeLSTM." in found.output
    of_net = ["1.bias", "1.weight", "2.bias", "2.running_mean", "2.running_var", "2.weight"]
    wanted = ["2.weight", "2.peephole", "2.gates.1", "2.gates.2.deep", "1.weight", "1.bias"]
    with np.load(tmp_path / "w.npz") as written:
        assert sorted(written) == sorted([*wanted, *(f"2.net.{name}" for name in of_net)])
        np.testing.assert_array_equal(written["2.peephole"], arrays["peephole"])
        np.testing.assert_array_equal(written["2.net.1.weight"], net.get(1).weight)
    pythnn.save(tmp_path / "both.t7", {"a": raw, "b": raw["modules"][0], "file": arrays["mean"]})
    assert convert(tmp_path / "both.t7", tmp_path / "w.npz").exit_code == 0
    with np.load(tmp_path / "w.npz") as written:
        assert {"a.1.weight", "a.2.peephole", "file"} <= set(written)
    pythnn.save(tmp_path / "alone.t7", unknown)
    assert convert(tmp_path / "alone.t7", tmp_path / "w.npz").exit_code == 0
    with np.load(tmp_path / "w.npz") as written:
        assert "peephole" in written
    pythnn.save(tmp_path / "none.t7", {"epoch": 3})
    assert convert(tmp_path / "none.t7", tmp_path / "none.npz").exit_code == 1


def test_inspect_of_unknown_says_it_in_the_rows_alone(tmp_path, recwarn):
    pythnn.save(tmp_path / "base.t7", nn.Sequential().add(nn.Linear(4, 2)))
    raw = pythnn.load(tmp_path / "base.t7", classes=False)
    raw["modules"].append(TorchObject("nn.PeepholeLSTM", {"weight": np.ones((2, 8))}))
    pythnn.save(tmp_path / "model.t7", raw)
    found = CliRunner().invoke(main, ["inspect", str(tmp_path / "model.t7")])
    assert "26 parameters" in found.output
    assert not recwarn.list
