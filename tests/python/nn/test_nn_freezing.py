"""A module's own ``parameters`` decides what containers train."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn


class BiasAlone(nn.Linear):
    def parameters(self) -> Any:
        (_, bias), (_, gradBias) = super().parameters()
        return [bias], [gradBias]


class Frozen(nn.Linear):
    def parameters(self) -> Any:
        return None


class FrozenBranch(nn.Sequential):
    def parameters(self) -> Any:
        return [], []


def plain() -> nn.Module:
    return nn.Linear(3, 3)


def replaced() -> nn.Module:
    layer = nn.Linear(3, 3)
    layer.parameters = lambda: None  # type: ignore[method-assign]
    return layer


def replaced_branch() -> nn.Module:
    branch = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    branch.parameters = lambda: ()  # type: ignore[method-assign]
    return branch


MADE: dict[str, tuple[Any, int]] = {
    "plain": (plain, 12),
    "replaced": (replaced, 0),
    "replaced branch": (replaced_branch, 0),
    "class": (lambda: Frozen(3, 3), 0),
    "branch": (lambda: FrozenBranch(nn.Linear(3, 3), nn.Linear(3, 3)), 0),
    "bias alone": (lambda: BiasAlone(3, 3), 3),
    "decorated": (lambda: nn.Bottle(replaced()), 0),
    "in a table": (lambda: nn.Sequential(nn.ConcatTable(replaced()), nn.SelectTable(1)), 0),
    "in a graph": (lambda: _graph(replaced()), 0),
    "copied": (lambda: copy.deepcopy(replaced()), 0),
}


def _graph(layer: nn.Module) -> nn.Module:
    x = nn.Identity()()
    return nn.gModule([x], [layer(x)])


@pytest.mark.parametrize("name", MADE)
def test_what_is_trained(name: str) -> None:
    pythnn.manual_seed(1)
    make, count = MADE[name]
    part = make()
    net = nn.Sequential(nn.Linear(2, 3), part, nn.Linear(3, 1))
    others = 2 * 3 + 3 + 3 + 1
    parameters, gradients = net.parameters()
    assert sum(p.size for p in parameters) == sum(g.size for g in gradients) == others + count
    before = [w.copy() for w in _weights(part)]
    flat, gradient = net.getParameters()
    assert flat.size == gradient.size == others + count
    x = np.ones((4, 2))
    for _ in range(2):
        net.zeroGradParameters()
        net.forward(x)
        net.backward(x, np.ones((4, 1)))
        assert gradient[:6].any()
        net.updateParameters(0.1)
    trained = {0: 0, 3: 1, 12: 2}[count]  # of the weight and the bias
    after = _weights(part)
    same = [(w == b).all() for w, b in zip(after, before, strict=True)]
    assert same.count(False) == trained
    flat[...] = 0
    assert [w.any() for w in _weights(part)].count(False) == trained


def _weights(part: Any) -> list[np.ndarray]:
    found = []
    for module in part.listModules():
        if module.field("weight") is not None and not module.listModules()[1:]:
            found += [module.weight, module.bias]
    return found


def test_thawed_and_saved() -> None:
    net = nn.Sequential(nn.Linear(2, 3), replaced())
    assert net.getParameters()[0].size == 9
    file = io.BytesIO()
    pythnn.save(file, net)
    file.seek(0)
    assert pythnn.load(file).getParameters()[0].size == 21
    del net.modules[1].parameters
    assert net.getParameters()[0].size == 21
    assert net.float().getParameters()[0].dtype == np.float32


@pytest.mark.parametrize(
    "returned",
    [
        ([np.zeros(3)], [np.zeros(3)]),
        ([np.zeros(3)],),
        ([], [np.zeros(3)]),
        "weight",
        ([None], [None]),
    ],
)
def test_what_parameters_may_return(returned: Any) -> None:
    layer = nn.Linear(3, 3)
    layer.parameters = lambda: returned  # type: ignore[method-assign]
    with pytest.raises(THNNArgumentError, match=r"nn\.Linear\.parameters: expected"):
        nn.Sequential(layer).getParameters()
