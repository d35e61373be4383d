"""Models of nn written to ONNX compute in onnxruntime what they compute here."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from support.nn_recorded import Replay, names

import pythnn
from pythnn import nn, onnx

T7 = Path(__file__).parents[2] / "data" / "t7"

# Cases that have no meaning in ONNX, of classes that have one.
REFUSED = {
    "Convert.5": "dimensions changed and joined",
    "Dropout.5": "random numbers in use",
    "NarrowTable.3": "no output",
    "VolumetricDropout.3": "random numbers in use",
}
# Classes that ONNX has nothing for, and those that ask for something that onnxruntime lacks.
WITHOUT_MEANING = {
    "Container": "a base class",
    "CriterionTable": "a loss",
    "FeatureLPPooling": "no pooling over features",
    "IndexLinear": "sparse inputs",
    "Kmeans": "made for training",
    "MaskedSelect": "the size of the output depends on values",
    "Module": "a base class",
    "PartialLinear": "a part of a layer that is chosen in training",
    "SparseLinear": "sparse inputs",
    "SpatialFractionalMaxPooling": "random windows",
    "TemporalDynamicKMaxPooling": "as many maxima as the length of the input asks for",
    "VolumetricFractionalMaxPooling": "random windows",
}


# Their cases mix element types, which modules refuse or change themselves.
OF_ANOTHER_TYPE = {"Copy", "DontCast"}


def flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [array for entry in value for array in flat(entry)]
    return [np.asarray(value)]


def single(value: Any) -> Any:
    """float32 for all that is float64, in tables too."""
    if isinstance(value, (list, tuple)):
        return [single(entry) for entry in value]
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def run(model: Any, example: Any) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    given = zip(session.get_inputs(), flat(example), strict=True)
    found: list[np.ndarray] = session.run(None, {i.name: array for i, array in given})
    return found


def check(module: Any, model: Any, example: Any) -> None:
    wanted = flat(module.forward(copy.deepcopy(example)))
    found = run(model, example)
    assert len(found) == len(wanted)
    for mine, theirs in zip(wanted, found, strict=True):
        assert theirs.shape == mine.shape
        largest = max(np.abs(mine[np.isfinite(mine)]).max(initial=0), 1e-3)
        np.testing.assert_allclose(theirs, mine, rtol=2e-4, atol=2e-5 * largest)


def comparable(name: str) -> bool:
    """Whether a recorded case is a call in one element type, of numbers that compare."""
    case = Replay(name).case
    mixed = case["module"]["class"] in OF_ANOTHER_TYPE
    return not (mixed or "raises" in case["steps"][0] or case.get("nonfinite_intended"))


@pytest.mark.parametrize("name", list(filter(comparable, names("module"))))
def test_classes(name: str) -> None:
    r = Replay(name)
    step = r.case["steps"][0]
    module = r.construct().float()
    module.evaluate()
    example = single(r.value(step["input"]))
    r.call(module, step.get("calls", []))
    if name in REFUSED or r.case["module"]["class"] in WITHOUT_MEANING:
        with pytest.raises((onnx.NotExportableError, pythnn.THNNError)):
            onnx.to_onnx(module, example, dynamic_batch=False)
        return
    check(module, onnx.to_onnx(module, example, dynamic_batch=False), example)


INDEX = json.loads((T7 / "index.json").read_text())
MODELS = [entry for entry in INDEX if entry["kind"] == "model"]
WITHOUT_BATCH = {"lenet_legacy"}


def fixture(entry: dict[str, Any]) -> tuple[Any, Any]:
    """A saved model in float32 and evaluation, and an input."""
    module = pythnn.load(T7 / entry["binary"]).float()
    module.evaluate()
    with np.load(T7 / entry["npz"]) as arrays:
        names = entry["input"]
        loaded = [arrays[n] for n in names] if isinstance(names, list) else arrays[names]
    return module, single(loaded)


@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry["name"])
def test_models(entry: dict[str, Any]) -> None:
    module, example = fixture(entry)
    batched = entry["name"] not in WITHOUT_BATCH
    model = onnx.to_onnx(module, example, dynamic_batch=batched)
    check(module, model, example)
    if not batched:
        return
    thrice = [np.concatenate([a] * 3) for a in flat(example)]
    check(module, model, thrice if isinstance(example, list) else thrice[0])


def test_graph() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    total = nn.CAddTable()([nn.Linear(4, 6)(x), nn.Tanh()(nn.Linear(3, 6)(y))])
    left, right = nn.SplitTable(2)(total).split(6)[1:3]
    graph = nn.gModule([x, y], [nn.CMulTable()([left, right]), total]).float()
    example = [np.ones((1, 4), np.float32), np.ones((1, 3), np.float32)]
    batch = [np.random.default_rng(0).random((5, n), np.float32) for n in (4, 3)]
    check(graph, onnx.to_onnx(graph, example), batch)


def test_a_network_for_style() -> None:
    model = nn.Sequential().add(nn.SpatialReflectionPadding(4, 4, 4, 4))
    model.add(nn.SpatialConvolution(3, 4, 3, 3)).add(nn.InstanceNormalization(4)).add(nn.ReLU(True))
    model.add(nn.InstanceNormalization(4, 1e-5, 0, False)).add(nn.ShaveImage(2))
    model.add(nn.TotalVariation(1e-6)).float()
    example = np.random.default_rng(0).random((2, 3, 9, 8), np.float32)
    check(model, onnx.to_onnx(model, example), example)


def test_error_names_the_layer_and_its_place() -> None:
    inner = nn.Sequential().add(nn.ReLU()).add(nn.FeatureLPPooling(2, 1, 2, True))
    model = nn.Sequential().add(nn.Linear(4, 8)).add(inner).float()
    with pytest.raises(
        onnx.NotExportableError, match=r"nn.FeatureLPPooling \(2:Sequential.2:Feature"
    ):
        onnx.to_onnx(model, np.zeros((2, 4), np.float32))


def test_the_module_is_as_before() -> None:
    model = nn.Sequential().add(nn.Linear(4, 3)).add(nn.ReLU(True)).float()
    example = np.full((2, 4), -1, np.float32)
    weight = model.modules[0].weight.copy()
    onnx.to_onnx(model, example)
    assert (example == -1).all()
    np.testing.assert_array_equal(model.modules[0].weight, weight)
