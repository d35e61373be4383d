"""Models that Lua Torch saved compute what they computed there."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from support.bounds import assert_half_of_the_digits, assert_identical

import pythnn
from pythnn import nn
from pythnn.t7 import TorchObject

T7 = Path(__file__).parents[2] / "data" / "t7"
INDEX = json.loads((T7 / "index.json").read_text())
MODELS = [entry for entry in INDEX if entry["kind"] == "model"]
TRAINED = [entry for entry in MODELS if "train" in entry]
FORMATS = ["binary", "ascii"]
ON_GPU = {"saved on a GPU": "binary", "saved on a GPU as ascii": "ascii"}
HOW = [*FORMATS, "saved again", "saved again as ascii", *ON_GPU]


def recorded(entry, names):
    """Arrays of the entry; a list of names gives a list."""
    with np.load(T7 / entry["npz"]) as arrays:
        if isinstance(names, list):
            return [recorded(entry, name) for name in names]
        return arrays[names]


def saved_on_a_gpu(data, format):
    """A file with the names of types that it would have had on a GPU."""
    for real, there in {"Float": "Cuda", "Double": "CudaDouble"}.items():
        for kind in ("Tensor", "Storage"):
            names = [f"torch.{name}{kind}".encode() for name in (real, there)]
            lengths = [
                struct.pack("<i", len(name)) if format == "binary" else b"%d\n" % len(name)
                for name in names
            ]
            old, new = (size + name for size, name in zip(lengths, names, strict=True))
            data = data.replace(old, new)
    assert b"torch.Cuda" in data
    return data


def load(entry, how):
    if how in ON_GPU:
        data = (T7 / entry[ON_GPU[how]]).read_bytes()
        return pythnn.load(io.BytesIO(saved_on_a_gpu(data, ON_GPU[how])))
    model = pythnn.load(T7 / entry[how if how in FORMATS else "binary"])
    if how in FORMATS:
        return model
    file = io.BytesIO()
    pythnn.save(file, model, "ascii" if "ascii" in how else "binary")
    file.seek(0)
    return pythnn.load(file)


def assert_close(entry, found, expected):
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_close(entry, one, other)
        return
    assert_half_of_the_digits(found, expected)


def flattened(arrays):
    return np.concatenate([array.ravel() for array in arrays])


def by_name(entries):
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry["name"])


@pytest.mark.parametrize("how", HOW)
@by_name(MODELS)
def test_evaluation(entry, how):
    model = load(entry, how)
    assert model.type() == f"torch.{entry['real']}Tensor"
    parameters, gradients = model.parameters()
    assert len(parameters) == len(gradients) == entry["n_param_tensors"]
    np.testing.assert_array_equal(flattened(parameters), recorded(entry, entry["params"]))
    model.evaluate()
    for _ in range(2):
        output = model.forward(recorded(entry, entry["input"]))
        assert_close(entry, output, recorded(entry, entry["output"]))


@pytest.mark.parametrize("how", HOW)
@by_name(TRAINED)
def test_training(entry, how):
    model, train = load(entry, how), entry["train"]
    model.training()
    model.zeroGradParameters()
    x, grad_output = recorded(entry, entry["input"]), recorded(entry, train["gradOutput"])
    assert_close(entry, model.forward(x), recorded(entry, train["output"]))
    grad_input = model.backward(x, grad_output)
    if "gradInput" in train:
        assert_close(entry, grad_input, recorded(entry, train["gradInput"]))
    gradients = flattened(model.parameters()[1])
    assert_close(entry, gradients, recorded(entry, train["gradParams"]))
    if "running_after" in train:
        found = [
            array
            for module in model.listModules()
            if isinstance(module, nn.BatchNormalization)
            for array in (module.running_mean, module.running_var)
        ]
        assert_close(entry, flattened(found), recorded(entry, train["running_after"]))


@by_name(MODELS)
def test_one_storage_for_all_parameters(entry):
    model = load(entry, "binary")
    x = recorded(entry, entry["input"])
    model.evaluate()
    before = model.forward(x)
    flat, _ = model.getParameters()
    file = io.BytesIO()
    pythnn.save(file, {"model": model, "flat": flat})
    file.seek(0)
    found = pythnn.load(file)
    assert_close(entry, found["model"].forward(x), before)
    found["flat"][...] = 0
    assert not flattened(found["model"].parameters()[0]).any()


@pytest.mark.parametrize("format", FORMATS)
def test_criterion(format):
    (entry,) = [entry for entry in INDEX if entry["kind"] == "criterion"]
    criterion = load(entry, format)
    x, target = recorded(entry, entry["input"]), recorded(entry, entry["target"])
    assert criterion.forward(x, target) == pytest.approx(entry["loss"], rel=1e-8)
    assert_close(entry, criterion.backward(x, target), recorded(entry, entry["gradInput"]))


OBJECTS = sorted((T7.parent / "nn" / "t7").glob("*.t7"))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("path", OBJECTS[::3], ids=lambda path: path.stem)
def test_recorded_objects_keep_their_fields(path, format):
    raw = pythnn.load(path, classes=False)
    file = io.BytesIO()
    pythnn.save(file, pythnn.load(path), format)
    file.seek(0)
    again = pythnn.load(file, classes=False)
    assert again.torch_class == raw.torch_class
    assert again.version == raw.version
    for name, value in raw.fields.items():
        assert name in again.fields, name
        found = again.fields[name]
        if isinstance(value, np.ndarray) and not name.startswith("_"):  # those follow from others
            assert_identical(found, value)
        elif not isinstance(value, TorchObject):
            assert type(found) is type(value), name


def test_model_of_cudnn_modules():
    """A ResNet as it was saved on a GPU: cudnn's classes, without the fields they do not have."""
    (entry,) = [entry for entry in MODELS if entry["name"] == "resnet_like"]
    raw = pythnn.load(T7 / entry["binary"], classes=False)
    lacking = {
        "nn.SpatialConvolution": ("finput", "fgradInput"),
        "nn.SpatialBatchNormalization": (),
        "nn.ReLU": ("threshold", "val"),
        "nn.SpatialAveragePooling": ("divide", "count_include_pad"),
    }
    pending, renamed = [raw], 0
    while pending:
        module = pending.pop()
        pending += module.fields.get("modules", [])
        module["_type"] = "torch.CudaTensor"
        if module.torch_class in lacking:
            for name in lacking[module.torch_class]:
                module.fields.pop(name, None)
            module.torch_class = module.torch_class.replace("nn.", "cudnn.")
            renamed += 1
    assert renamed > 20
    file = io.BytesIO()
    pythnn.save(file, raw)
    file.seek(0)
    model = pythnn.load(file)
    model.evaluate()
    output = model.forward(recorded(entry, entry["input"]))
    assert_close(entry, output, recorded(entry, entry["output"]))
