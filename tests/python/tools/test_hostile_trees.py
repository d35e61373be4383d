"""Trees of modules and of objects with more paths than anyone can follow, or that never end."""

from __future__ import annotations

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from support.t7_bytes import chars, integer, number, reference, string, table, torch

import pythnn
from pythnn import THNNError, nn
from pythnn._cli import main
from pythnn._shown import shown
from pythnn.t7 import TorchObject

LEVELS = 60  # 2^60 paths
DEPTH = 3000  # three times as deep as Python's calls


def twice():
    """Each level holds the next one twice."""
    module = nn.Linear(2, 2)
    for _ in range(LEVELS):
        module = nn.Sequential(module, module)
    return module


def deep_of_one_class():
    module = nn.Linear(2, 2)
    for _ in range(DEPTH):
        module = nn.Sequential(module)
    return module


def endless():
    """A module that is inside a module that is inside it."""
    outer = nn.Sequential(nn.Linear(2, 2))
    outer.modules.append(nn.Sequential(outer))
    return outer


TREES = {
    "twice": (twice, LEVELS + 1),
    "deep": (deep_of_one_class, DEPTH + 1),
    "endless": (endless, 3),
}

WALKS = {
    "repr": lambda m: len(repr(m)) < 100_000,
    "str": lambda m: len(str(m)) < 100_000,
    "parameters": lambda m: len(m.parameters()[0]) == 2,
    "getParameters": lambda m: m.getParameters()[0].size == 6,
    "findModules": lambda m: {id(x) for x in m.findModules("nn.Linear")[0]} != set(),
    "evaluate": lambda m: m.evaluate() or all(x.train is False for x in m.listModules()),
    "training": lambda m: m.training() or all(x.train is True for x in m.listModules()),
    "float": lambda m: {x.type() for x in m.float().listModules()} == {"torch.FloatTensor"},
    "zeroGradParameters": lambda m: m.zeroGradParameters() or not m.parameters()[1][0].any(),
    "clearState": lambda m: m.clearState() is m,
    "reset": lambda m: m.reset() in (None, m),
    "replace": lambda m: m.replace(lambda x: x) is m,
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("walk", WALKS)
def test_walks(name, walk):
    make, _ = TREES[name]
    assert WALKS[walk](make())


@pytest.mark.parametrize("name", TREES)
def test_each_module_is_met_once(name):
    make, count = TREES[name]
    module, met = make(), []
    module.apply(met.append)
    assert len(met) == len({id(one) for one in met}) == count
    assert met == module.listModules()


@pytest.mark.parametrize("name", TREES)
def test_copies(name):
    make, count = TREES[name]
    module = make()
    for copied in (
        module.clone(),
        copy.deepcopy({"net": module})["net"],
        pickle.loads(pickle.dumps({"net": module}))["net"],
    ):
        pairs = list(zip(module.listModules(), copied.listModules(), strict=True))
        assert len(pairs) == count
        assert all(a is not b and type(a) is type(b) for a, b in pairs)
        assert not np.shares_memory(module.parameters()[0][0], copied.parameters()[0][0])
    shared = module.clone("weight")
    assert np.shares_memory(module.parameters()[0][0], shared.parameters()[0][0])


@pytest.mark.parametrize("name", TREES)
def test_files(name, tmp_path):
    make, count = TREES[name]
    pythnn.save(tmp_path / "m.t7", make())
    assert len(pythnn.load(tmp_path / "m.t7").listModules()) == count
    for arguments in (
        ["inspect", "m.t7"],
        ["convert", "m.t7", "m.npz"],
        ["report", "m.t7", "--no-run"],
    ):
        arguments = [str(tmp_path / a) if "." in a else a for a in arguments]
        if arguments[0] == "report":
            arguments += ["-o", str(tmp_path / "m.html")]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        assert len(result.output) < 1_000_000
    assert sum(a.size for a in np.load(tmp_path / "m.npz").values()) == 6


def test_runs_that_would_not_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pythnn.save("m.t7", twice())
    np.save("x.npy", np.zeros((1, 2)))
    for arguments in (
        ["inspect", "m.t7", "--input", "2"],
        ["convert", "m.t7", "m.onnx", "--input", "2"],
        ["run", "m.t7", "x.npy"],
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1
        assert f"would call {2 ** (LEVELS + 1) - 1:,} modules" in result.output


def test_parameters_are_listed_in_each_place():
    """As in Lua, where a module that is used twice is listed twice."""
    linear = nn.Linear(2, 2)
    inner = nn.Sequential(linear, nn.Tanh())
    parameters, gradients = nn.Sequential(inner, nn.Sequential(inner), linear).parameters()
    assert [p.shape for p in parameters] == [(2, 2), (2,)] * 3
    assert len(gradients) == 6
    flat, _ = nn.Sequential(inner, linear).getParameters()
    assert flat.shape == (6,)


def test_a_module_is_updated_once():
    layer = nn.Linear(2, 2)
    before = layer.weight.copy()
    layer.gradWeight.fill(1)
    nn.Sequential(layer, nn.Sequential(layer)).updateParameters(0.5)
    np.testing.assert_allclose(layer.weight, before - 0.5)


def test_replacements_stand_wherever_the_module_stood():
    layer = nn.Tanh()
    model = nn.Sequential(layer, nn.Sequential(layer))
    model.replace(lambda m: nn.ReLU() if m is layer else m)
    assert type(model.modules[0]) is nn.ReLU
    assert model.modules[1].modules[0] is model.modules[0]


@pytest.mark.parametrize("make", [deep_of_one_class, endless])
def test_calls_that_cannot_end(make):
    module = make()
    with pytest.raises(THNNError, match="nested deeper than Python's calls can be"):
        module.forward(np.zeros((1, 2)))


def test_overrides_see_what_super_did():
    """What a method calls happens before it goes on."""

    class Frozen(nn.Sequential):
        def training(self):
            super().training()
            self.modules[0].evaluate()

    model = nn.Sequential(Frozen(nn.Sequential(nn.Tanh()), nn.Tanh()))
    model.training()
    assert [m.train for m in model.listModules()] == [True, True, False, False, True]


# ---- Objects of unknown classes


def objects_in_keys(levels):
    """Two objects on each level, which are keys of the fields of both above."""
    true = integer(5) + integer(1)
    index = iter(range(1, 10_000))

    def made(fields):
        number = next(index)
        return number, torch(number, "x.A", fields)

    pair = [made(table(next(index))), made(table(next(index)))]
    for _ in range(levels):
        (first, a), (second, b) = pair
        whole = table(next(index), a, true, b, true)
        again = table(next(index), reference(4, first), true, reference(4, second), true)
        pair = [made(whole), made(again)]
    return table(next(index), pair[0][1], true, pair[1][1], true)


def test_objects_as_keys(tmp_path):
    data = objects_in_keys(60)
    value = pythnn.load(io.BytesIO(data))
    assert all(len(repr(key)) < 100 for key in value)
    (tmp_path / "keys.t7").write_bytes(data)
    for arguments in (["inspect"], ["inspect", "--depth", "100"], ["run"]):
        done = [
            *arguments,
            str(tmp_path / "keys.t7"),
            *([str(tmp_path / "keys.t7")] * (arguments == ["run"])),
        ]
        result = CliRunner().invoke(main, done)
        assert len(result.output) < 100_000
        assert not isinstance(result.exception, RecursionError)


def test_objects_that_hold_themselves():
    one = TorchObject("x.A")
    one.fields = {one: one, "list": [one]}
    assert repr(one) == "<x.A: <x.A>, list>"
    copied = copy.deepcopy(one)
    assert copied is not one
    assert copied[copied] is copied["list"][0] is copied
    file = io.BytesIO()
    pythnn.save(file, one)
    assert file.getvalue()


def test_objects_in_objects_are_copied():
    one = TorchObject("x.A", {"n": 0})
    for i in range(DEPTH):
        one = TorchObject("x.A", {"inside": [one], "n": i})
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), copy.copy(one)):
        count = 0
        while "inside" in copied:
            copied, count = copied["inside"][0], count + 1
        assert count == DEPTH
    assert copy.copy(one).fields is one.fields


def test_pickles_keep_what_is_one_object():
    """Also where objects hold each other, and after a pickle that failed."""
    first = module = nn.Linear(2, 2)
    for _ in range(200):
        module = nn.Sequential(module, first)
    module.first, first.around = first, module
    first.what = lambda: 0
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(module)
    del first.what
    copied, inner = pickle.loads(pickle.dumps([module, module.modules[0]]))
    assert copied.modules[0] is inner
    assert copied.first.around is copied
    linears = [one for one in copied.listModules() if isinstance(one, nn.Linear)]
    assert linears == [copied.first]
    np.testing.assert_array_equal(copied.first.weight, first.weight)
    shallow = copy.copy(module)
    assert type(shallow) is nn.Sequential
    assert shallow.modules is module.modules


def test_the_pickle_module_in_python_takes_them_too():
    """Which other packages derive theirs from."""
    module = nn.Linear(2, 2)
    for _ in range(200):
        module = nn.Sequential(module)
    assert len(pickle.loads(pickle._dumps(module)).listModules()) == 201


def test_many_fields_are_not_all_listed():
    one = TorchObject("x.A", {f"field {i}": i for i in range(10_000)})
    assert repr(one).endswith("field 49, … and 9950 more>")
    assert len(repr(TorchObject("x" * 10**6))) < 300


# ---- What must not reach a terminal

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b\u202e\nall is well"
RAW = EVIL.encode()


def test_shown():
    assert shown(EVIL) == r"\x1b]0;PWNED\x07\x1b[2J\x9b\u202e\nall is well"
    assert shown("\udc80ä漢 𝄞") == r"\udc80ä漢 𝄞"
    assert shown("abc\ndef\r", keep="\n") == "abc\ndef\\r"
    assert shown("x" * 100, 30) == "x" * 20 + "…" + "x" * 10


def layer(name, *fields):
    kind = (string(b"_type"), string(b"torch.DoubleTensor"))
    return torch(1, name, table(2, *kind, *fields))


FILES = {
    "class": torch(1, f"x.{EVIL}", table(2)),
    "class in a module": layer(
        "nn.Sequential", string(b"modules"), table(3, number(1), torch(4, EVIL, table(5)))
    ),
    "name of a field": torch(1, "x.A", table(2, string(RAW), torch(3, "x.B", table(4)))),
    "list of a field": torch(
        1, "x.A", table(2, string(RAW), table(3, number(1), torch(4, "x.B", table(5))))
    ),
    "keys": table(
        1,
        string(RAW),
        layer("nn.Tanh")[:0] + torch(2, "x.A", table(3)),
        string(b"b"),
        torch(4, "x.B", table(5)),
    ),
    "text": table(1, string(b"a"), string(RAW)),
    "field of a layer": layer("nn.SelectTable", string(b"index"), string(RAW)),
    "field of a decorator": layer(
        "nn.NaN",
        string(b"id"),
        string(RAW),
        string(b"modules"),
        table(3, number(1), torch(4, "nn.Tanh", table(5))),
    ),
    "prefix": layer("nn.PrintSize", string(b"prefix"), string(RAW)),
    "type": table(1, string(RAW), torch(2, "nn.Tanh", table(3, string(b"_type"), string(RAW)))),
    "tensor": torch(1, f"torch.{EVIL}Tensor", b""),
    "function": integer(8) + integer(1) + chars(RAW) + table(2),
}


def is_safe(text):
    lines = text.split("\n")
    return text.replace("\n", "").isprintable() and not any(
        x.startswith("all is well") for x in lines
    )


@pytest.mark.parametrize("name", FILES)
def test_files_do_not_reach_the_terminal(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.t7").write_bytes(FILES[name])
    np.save("x.npy", np.ones((2, 3)))
    for arguments in (
        ["inspect", "evil.t7"],
        ["inspect", "evil.t7", "--key", "x"],
        ["inspect", "evil.t7", "--input", "3"],
        ["run", "evil.t7", "x.npy"],
        ["convert", "evil.t7", "out.npz"],
        ["convert", "evil.t7", "out.onnx", "--input", "3"],
        ["report", "evil.t7"],
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = CliRunner().invoke(main, arguments)
        assert is_safe(result.output), (arguments, result.output)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert all(is_safe(str(warning.message)) for warning in told)
    try:
        value = pythnn.load("evil.t7")
    except pythnn.t7.T7Error as error:
        assert is_safe(str(error))
    else:
        assert is_safe(repr(value))


def test_names_of_files_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "\x1b[2J\nall is well.t7"
    pythnn.save(path, {"a": 1})
    for arguments in (["inspect", path], ["run", path, path], ["convert", path, f"{path}.t7"]):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert is_safe(result.output), result.output


def test_errors_are_bounded():
    message = "x" * 10**6
    assert len(str(pythnn.t7.T7Error(message))) < 3000
    error = pythnn.THNNArgumentError.expected("f", 1, "x", EVIL, message)
    assert len(str(error)) < 2000
    assert is_safe(str(error))
