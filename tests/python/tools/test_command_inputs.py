"""What the commands give a model to run on: what is asked for, what is guessed, and the hints."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import nn
from pythnn._cli import main
from pythnn._models.budget import Budget, TooCostlyError
from pythnn._models.entries import input_of
from pythnn._models.errors import entry_of, modules_inside
from pythnn._models.inputs import guess
from pythnn._models.rows import rows_of
from pythnn.t7 import Table, TorchObject


def call(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def done(*arguments):
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = call(*arguments)
    assert result.exit_code in (1, 2), result.output
    return " ".join(result.output.split())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pythnn.manual_seed(1)
    return tmp_path


# ---- The parts of an input


def kinds(module):
    return [leaf.kind for leaf in input_of(module).leaves()]


def recurrent_cell(embed):
    i, h = nn.Identity()(), nn.Identity()()
    total = nn.CAddTable()([nn.Linear(10, 4)(embed(i)), nn.Linear(4, 4)(h)])
    return nn.gModule([i, h], [nn.Tanh()(total)])


def parallel(*modules):
    table = nn.ParallelTable()
    for module in modules:
        table.add(module)
    return table


def lookup():
    return nn.LookupTable(10, 4)


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (nn.Linear(3, 2), ["numbers"]),
        (lookup(), ["indices"]),
        (nn.Sequential().add(nn.Identity()).add(nn.View(-1)).add(lookup()), ["indices"]),
        (nn.Sequential().add(nn.Tanh()).add(lookup()), ["numbers"]),
        (nn.Sequential().add(nn.Copy()).add(nn.OneHot(10)), ["indices"]),
        (recurrent_cell(nn.OneHot(10)), ["indices", "numbers"]),
        (parallel(nn.Linear(3, 4), lookup()), ["numbers", "indices"]),
        (
            nn.Sequential().add(parallel(nn.Sequential().add(lookup()), nn.Linear(3, 4))),
            ["indices", "numbers"],
        ),
        (nn.Concat(2).add(lookup()).add(lookup()), ["indices"]),
        (
            nn.ConcatTable()
            .add(nn.Sequential().add(nn.SelectTable(1)).add(lookup()))
            .add(nn.Sequential().add(nn.SelectTable(2)).add(nn.Linear(3, 2))),
            ["indices", "numbers"],
        ),
        (
            parallel(parallel(lookup(), nn.Linear(2, 2)), lookup()),
            ["indices", "numbers", "indices"],
        ),
        (nn.Bottle(nn.Sequential().add(nn.OneHot(5))), ["indices"]),
        (nn.MapTable(lookup()), ["indices"]),
        (nn.Sequential().add(nn.SplitTable(2)).add(parallel(lookup(), lookup())), ["indices"]),
        (nn.Index(1), ["numbers", "indices"]),
        (nn.IndexLinear(5, 2), ["indices", "numbers"]),
        (nn.SparseLinear(5, 2), ["sparse"]),
        (nn.ModuleFromCriterion(nn.ClassNLLCriterion()), ["numbers", "indices"]),
        (nn.Sequential().add(nn.NarrowTable(2, 1)).add(parallel(lookup())), ["indices"]),
        (nn.CSubTable(), ["numbers", "numbers"]),
    ],
)
def test_kinds_of_entries(module, expected):
    assert kinds(module) == expected


STEPS = {
    "LSTM": lambda: nn.LSTM(3, 2),
    "FastLSTM": lambda: nn.FastLSTM(3, 2),
    "GRU with padding": lambda: nn.GRU(3, 2).maskZero(),
    "MuFuRu": lambda: nn.MuFuRu(3, 2),
    "LinearRNN": lambda: nn.LinearRNN(3, 2),
    "Recurrent": lambda: nn.Recurrent(2, nn.Linear(3, 2), nn.Linear(2, 2)),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_state_of_a_recurrent_module_is_no_input(name, folder):
    step, words = STEPS[name](), nn.Sequential(nn.LookupTable(7, 3), nn.SplitTable(1, 2))
    assert not input_of(step).is_table
    assert kinds(nn.Sequential(words, nn.Sequencer(STEPS[name]()))) == ["indices"]
    pythnn.save("step.t7", step)
    done("report", "step.t7", "--input", "4x3")
    assert (folder / "step.html").stat().st_size


def test_shared_containers_are_not_walked_without_end():
    module = nn.Identity()
    for _ in range(60):
        module = nn.ConcatTable().add(module).add(module)
    assert kinds(module) == ["numbers"]
    for _ in range(5000):
        module = nn.Sequential().add(module)
    assert kinds(module) == ["numbers"]


INDEX_MODELS = {
    "one_hot": (nn.Sequential().add(nn.OneHot(10)).add(nn.Linear(10, 4)), ["5"]),
    "cell": (recurrent_cell(nn.OneHot(10)), ["1", "4"]),
    "second": (parallel(nn.Linear(3, 4), lookup()), ["3", "5"]),
    "first": (parallel(lookup(), nn.Linear(3, 4)), ["5", "3"]),
    "sparse": (nn.Sequential().add(nn.SparseLinear(6, 2)), ["4x2"]),
}


@pytest.mark.parametrize("name", INDEX_MODELS)
@pytest.mark.parametrize("command", ["convert", "inspect", "report"])
def test_each_entry_is_what_its_first_layer_takes(name, command):
    module, shapes = INDEX_MODELS[name]
    if (name, command) == ("sparse", "convert"):
        pytest.skip("ONNX has no sparse linear layer")
    pythnn.save("m.t7", module.clone().float())
    out = {"convert": ["m.onnx"], "inspect": [], "report": ["-o", "r.html"]}[command]
    done(command, "m.t7", *out, *(part for shape in shapes for part in ("--input", shape)))


def test_run_keeps_whole_numbers_whole_and_others_as_they_are():
    pythnn.save("m.t7", parallel(lookup(), nn.Linear(3, 4)).float())
    np.savez("two.npz", a=np.array([[1, 2]]), b=np.full((1, 3), 0.7, np.float32))
    done("run", "m.t7", "two.npz", "--output", "out.npz")
    with np.load("out.npz") as found:
        model = pythnn.load("m.t7")
        expected = model.forward([np.array([[1, 2]]), np.full((1, 3), 0.7, np.float32)])
        np.testing.assert_array_equal(found["arr_0"], expected[0])
        np.testing.assert_array_equal(found["arr_1"], expected[1])
    np.save("part.npy", np.array([[1.5]]))
    pythnn.save("lookup.t7", lookup())
    assert "not whole, where the model looks up indices" in refused("run", "lookup.t7", "part.npy")
    np.save("complex.npy", np.ones(3, complex))
    assert "give it .real or .imag" in refused("run", "lookup.t7", "complex.npy")


def test_entries_of_npz_are_in_the_order_of_their_numbers():
    pythnn.save("join.t7", nn.JoinTable(1))
    np.savez("many.npz", *(np.full(1, i, np.float64) for i in range(12)))
    done("run", "join.t7", "many.npz", "--output", "out.npy")
    assert np.load("out.npy").tolist() == list(range(12))


def test_nested_tables():
    pythnn.save("m.t7", parallel(parallel(nn.Identity(), nn.Identity()), nn.Linear(2, 2)))
    np.savez("three.npz", *(np.ones((1, 2)) for _ in range(3)))
    assert "{{1 x 2, 1 x 2}, 1 x 2}" in done("run", "m.t7", "three.npz")
    assert "{{1 x 2, 1 x 2}, 1 x 2}" in done("inspect", "m.t7", *["--input", "2"] * 3)


# ---- What is said of tables, shapes and arrays that do not fit


def test_tables_say_how_many_inputs_they_need():
    command = ["convert", "m.t7", "m.onnx"]
    pythnn.save("m.t7", parallel(nn.Linear(3, 4), lookup()).float())
    text = refused(*command)
    assert "a table of 2 (1: numbers for nn.Linear(3 -> 4); 2: indices for nn.LookupTable" in text
    assert "--input 3 --input 20" in text
    assert "--input 3 --input 20" in done("report", "m.t7")  # a page without a run
    text = refused(*command, "--input", "3")
    assert "--input is there once, but the model takes a table of 2" in text
    assert "an --input for each of its entries" in text


def test_shapes_that_were_tried_are_said():
    pythnn.save("m.t7", nn.Linear(3, 4))
    for command in (["inspect", "m.t7"], ["convert", "m.t7", "m.onnx"], ["report", "m.t7"]):
        text = refused(*command, "--input", "7")
        assert "does not take an input of 1 x 7 or 7:" in text
        assert "--input 3" in text
        assert "--input is there twice" not in text
        text = refused(*command, "--input", "3", "--input", "3")
        assert "--input is there 2 times, but the model takes one input, numbers for nn." in text


def test_arrays_that_do_not_fit():
    pythnn.save("two.t7", parallel(nn.Linear(3, 4), lookup()))
    np.save("one.npy", np.ones((1, 3)))
    text = refused("run", "two.t7", "one.npy")
    assert "there is one array, but the model takes a table of 2 (1: numbers" in text
    assert "one .npz file" in text
    np.savez("three.npz", *[np.ones((1, 3))] * 3)
    pythnn.save("linear.t7", nn.Linear(3, 4))
    assert "there are 3 arrays, but the model takes one" in refused("run", "linear.t7", "three.npz")
    np.save("other.npy", np.ones((1, 7)))
    assert "it takes 1 x 3, a batch of one" in refused("run", "linear.t7", "other.npy")
    pythnn.save(
        "pad.t7", nn.Sequential().add(nn.SpatialZeroPadding(1, 1, 1, 1)).add(nn.Select(4, 1))
    )
    np.save("image.npy", np.ones((3, 8, 8)))
    assert "it takes a batch, 1 x 3 x 8 x 8: give arrays" in refused("run", "pad.t7", "image.npy")
    Image.new("RGB", (9, 9)).save("image.png")
    text = refused("run", "two.t7", "image.png")
    assert "not an image: give it an .npz file" in text


# ---- Guesses


def test_run_takes_the_size_and_channels_that_report_finds():
    gray = (
        nn.Sequential()
        .add(nn.SpatialZeroPadding(2, 2, 2, 2))
        .add(nn.SpatialConvolution(1, 4, 5, 5))
    )
    gray.add(nn.SpatialMaxPooling(2, 2, 2, 2)).add(nn.View(4 * 14 * 14)).add(nn.Linear(784, 3))
    colour = nn.Sequential().add(nn.MulConstant(2)).add(nn.SpatialConvolution(3, 4, 5, 5))
    colour.add(nn.SpatialMaxPooling(2, 2, 2, 2)).add(nn.View(4 * 14 * 14)).add(nn.Linear(784, 3))
    vector = nn.Sequential().add(nn.View(-1)).add(nn.Linear(3 * 16 * 16, 3))
    Image.new("RGB", (60, 50), (9, 99, 199)).save("p.png")
    for model, channels in ((gray, 1), (colour, 3), (vector, 3)):
        pythnn.save("m.t7", model.float())
        done("report", "m.t7", "--image", "p.png", "-o", "r.html")
        assert len(done("run", "m.t7", "p.png").splitlines()) == 3
        done("run", "m.t7", "p.png", "--mean", "0", "--std", ",".join(["2"] * channels))
    text = refused("run", "m.t7", "p.png", "--size", "20")
    assert "it takes 1 x 3 x 16 x 16, a batch of one (--size 16x16 for images)" in text


def generator():
    model = nn.Sequential().add(nn.SpatialFullConvolution(100, 64, 4, 4)).add(nn.ReLU(True))
    for size in (64, 32):
        model.add(nn.SpatialFullConvolution(size, size // 2, 4, 4, 2, 2, 1, 1))
    return model.add(nn.SpatialFullConvolution(16, 3, 4, 4, 2, 2, 1, 1)).float()


def test_a_generator_is_not_guessed_large():
    model = generator()
    found = guess(model, rows_of(model))
    assert found is not None
    assert found.shapes == ((100, 1, 1),)
    pythnn.save("g.t7", model)
    assert "guess; --input says another" in done("convert", "g.t7", "g.onnx")
    Image.new("RGB", (9, 9)).save("p.png")
    assert "takes 100 x 1 x 1, which is no image" in refused("run", "g.t7", "p.png")


class Counting(nn.Module):
    """Counts its calls."""

    calls = 0

    def updateOutput(self, input):  # noqa: N802
        type(self).calls += 1
        return input


def test_costly_guesses_are_not_run():
    """The layer that would exceed the budget is never called."""
    huge = nn.Sequential().add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.Replicate(10**9))
    model = huge.add(Counting()).float()
    assert guess(model, rows_of(model)) is None
    assert Counting.calls == 0
    budget = Budget(multiply_adds=1000)
    linear = nn.Linear(40, 40)
    with pytest.raises(TooCostlyError), budget.watching(rows_of(linear)):
        linear.forward(np.ones((1, 40)))
    assert "updateOutput" not in linear.__dict__
    module = nn.Identity()
    for _ in range(10):  # 2^10 calls
        module = nn.Sequential().add(module).add(module)
    with Budget(nbytes=1000).watching(rows_of(linear)) as begin:
        for _ in range(4):  # 320 bytes each
            begin()
            linear.forward(np.ones((1, 40)))
    with pytest.raises(TooCostlyError), Budget(calls=100).watching(rows_of(module)):
        module.forward(np.ones(3))


# ---- Keys of modules


def unknown_with(**fields):
    return TorchObject("nn.LanguageModel", {"_type": "torch.FloatTensor", **fields})


@pytest.mark.parametrize(
    ("value", "arguments", "key"),
    [
        ({"i": 1, "model": unknown_with(view=nn.View(-1), net=nn.Linear(4, 2))}, [], "model.net"),
        (
            {"model": unknown_with(view=nn.View(-1), net=nn.Linear(4, 2))},
            ["--key", "model"],
            "model.net",
        ),
        ({"epoch": 1.5, "protos": {"a": nn.Identity(), "rnn": nn.Linear(4, 2)}}, [], "protos.rnn"),
        ({"a": [{"b": {"c": [nn.Identity(), nn.Linear(4, 2)]}}]}, ["--key", "a.1"], "a.1.b.c.2"),
        ({"x": {"my.net": nn.Linear(4, 2)}}, [], "x.my.net"),
        ({"x": {"my net": nn.Linear(4, 2)}}, [], "x.my net"),
        ({"small": nn.Identity(), "large": nn.Linear(4, 2)}, [], "large"),
        ({"t": Table([(1, {"n": nn.Linear(4, 2)}), (True, {"n": 3})])}, [], "t.1.n"),
    ],
)
@pytest.mark.parametrize("command", ["run", "convert", "report", "inspect"])
def test_hints_are_keys_that_work(command, value, arguments, key):
    pythnn.save("ck.t7", value)
    np.save("x.npy", np.ones((1, 4)))
    rest = {
        "run": ["x.npy"],
        "convert": ["m.onnx"],
        "report": ["-o", "r.html", "--input", "4"],
        "inspect": ["--input", "4"],
    }[command]
    text = refused(command, "ck.t7", *rest, *arguments)
    found = re.search(r"--key ('[^']+'|\S+?)\.?$", text)
    assert found is not None, text
    (word,) = shlex.split(found[1])
    assert word == key
    done(command, "ck.t7", *rest, "--key", word)


def test_modules_inside_are_found_once_and_without_end():
    linear = nn.Linear(2, 2)
    value = {"a": linear}
    for _ in range(300):
        value = {"deeper": value, "again": value}
    value["self"] = value
    (inside,) = modules_inside(value)
    assert inside.module is linear
    assert entry_of(value, inside.key, "x") is linear
