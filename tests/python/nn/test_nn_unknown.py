"""Modules of a file around objects of unknown classes, which walks through the tree pass over."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import nn
from pythnn.t7 import TorchObject


def read(value: Any) -> Any:
    file = io.BytesIO()
    pythnn.save(file, value)
    file.seek(0)
    return pythnn.load(file, classes=isinstance(value, TorchObject))


def model() -> Any:
    """A model with two unknown layers, at two levels."""
    net = nn.Sequential().add(nn.Linear(3, 2)).add(nn.ConcatTable().add(nn.Tanh())).add(nn.Abs())
    raw = read(net.add(nn.Linear(4, 2)))
    lstm = TorchObject("nn.PeepholeLSTM", {"weight": np.ones((2, 8)), "bias": np.zeros(8)})
    raw["modules"].insert(1, lstm)
    raw["modules"][2]["modules"].append(TorchObject("nn.Attention", {"weight": np.ones(2)}))
    return read(raw)


KNOWN = ["nn.Sequential", "nn.Linear", "nn.ConcatTable", "nn.Tanh", "nn.Abs", "nn.Linear"]


def visited(net: Any, method: str) -> list[str]:
    found: list[Any] = []
    getattr(net, method)(found.append)
    return [module.typename() for module in found]


WALKS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "parameters": (lambda net: [len(part) for part in net.parameters()], [4, 4]),
    "getParameters": (lambda net: net.getParameters()[0].size, 18),
    "listModules": (lambda net: [m.typename() for m in net.listModules()], KNOWN),
    "findModules": (lambda net: len(net.findModules(nn.Linear)[0]), 2),
    "apply": (lambda net: visited(net, "apply"), KNOWN),
    "applyToModules": (
        lambda net: visited(net, "applyToModules"),
        ["nn.Linear", "nn.ConcatTable", "nn.Abs", "nn.Linear"],
    ),
    "children": (lambda net: len(net.children()), 4),
    "evaluate": (lambda net: net.evaluate() or net.get(3).get(1).train, False),
    "training": (lambda net: net.training() or net.get(4).train, True),
    "float": (lambda net: net.float().get(1).weight.dtype, np.float32),
    "type": (lambda net: net.type("torch.FloatTensor").get(3).get(1).type(), "torch.FloatTensor"),
    "zeroGradParameters": (lambda net: net.zeroGradParameters(), None),
    "updateParameters": (lambda net: net.updateParameters(0.1), None),
    "clearState": (lambda net: net.clearState() is net, True),
    "reset": (lambda net: net.reset(), None),
    "share": (lambda net: net.share(net.clone(), "weight") is net, True),
    "replace": (lambda net: [m.typename() for m in net.replace(lambda m: m).listModules()], KNOWN),
}


@pytest.mark.parametrize("name", WALKS)
def test_walks_pass_over_what_is_unknown_and_say_so_once(name: str) -> None:
    walk, wanted = WALKS[name]
    net = model()
    with pytest.warns(nn.UnknownClassWarning) as caught:
        assert walk(net) == wanted
    texts = {str(one.message) for one in caught}
    assert len(texts) == 1
    assert "nn.Attention, nn.PeepholeLSTM, which nn.Sequential is made of" in texts.pop()
    assert {one.filename for one in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.evaluate()
        assert len(net.listModules()) == len(KNOWN)
        assert [m.torch_class for m in net.modules if isinstance(m, TorchObject)]


def test_known_models_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.Sequential().add(nn.Linear(3, 2)).float().evaluate()


def test_running_names_the_class_that_is_missing() -> None:
    with pytest.raises(AttributeError, match="nn.PeepholeLSTM, a class that pythnn does not know"):
        model().forward(np.ones((1, 3)))
