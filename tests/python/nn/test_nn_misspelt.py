"""A name that was meant to be a field's is an error; others become fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import THNNArgumentError, nn

MISSPELT = [
    (lambda: nn.Linear(3, 2), "wieght", "weight"),
    (lambda: nn.Linear(3, 2), "weigth", "weight"),
    (lambda: nn.Linear(3, 2), "Weight", "weight"),
    (lambda: nn.Linear(3, 2), "gradwieght", "gradWeight"),
    (lambda: nn.Linear(3, 2), "grad_weight", "gradWeight"),
    (lambda: nn.Linear(3, 2), "biass", "bias"),
    (lambda: nn.SpatialConvolution(1, 2, 3, 3), "kw", "kW"),
    (lambda: nn.SpatialMaxPooling(2, 2), "celi_mode", "ceil_mode"),
    (lambda: nn.BatchNormalization(3), "runing_mean", "running_mean"),
    (lambda: nn.BatchNormalization(3), "momentun", "momentum"),
    (lambda: nn.Sequential(), "module", "modules"),
    (lambda: nn.MSECriterion(), "sizeaverage", "sizeAverage"),
    (lambda: nn.Linear(3, 2), "updateOutptu", "updateOutput"),
]


@pytest.mark.parametrize(("make", "name", "meant"), MISSPELT, ids=[m[1] for m in MISSPELT])
def test_misspelt_fields(make: Any, name: str, meant: str) -> None:
    owner = make()
    before = set(owner.__dict__)
    with pytest.raises(THNNArgumentError, match=f"no field '{name}': did you mean '{meant}'") as e:
        setattr(owner, name, 1)
    assert isinstance(e.value, AttributeError)
    assert (e.value.function, e.value.argument) == (owner.typename(), name)
    assert set(owner.__dict__) == before


def test_other_names_become_fields() -> None:
    net: Any = nn.Sequential(nn.Linear(3, 2))
    net.imageSize, net.name, net._wieght = 224, "small", 1
    assert (net.imageSize, net.clone().name) == (224, "small")
    net.modules[0].assign("wieght", np.ones(2))
    assert net.modules[0].wieght.tolist() == [1, 1]


def test_methods_are_replaced_by_functions_only() -> None:
    layer: Any = nn.Linear(3, 2)
    with pytest.raises(AttributeError, match=r"it is a method: nn\.Linear\.training"):
        layer.training = False
    with pytest.raises(AttributeError, match="it follows from other fields"):
        layer.dtype = np.float32
    layer.updateGradInput = min
    assert layer.updateGradInput(1, 0) == 0


def test_classes_of_users_have_any_fields() -> None:
    class Weighted(nn.Linear):
        def __init__(self, size: int) -> None:
            super().__init__(size, size)
            self.weights: Any = [1]
            self.training: Any = False

        def updateOutput(self, input: Any) -> Any:
            self.outputs = super().updateOutput(input)
            return self.outputs

    layer = Weighted(2)
    layer.forward(np.ones(2))
    assert layer.outputs.shape == (2,)


def test_an_object_that_was_refused_is_checked_again() -> None:
    layer: Any = nn.Linear(3, 2)
    with pytest.raises(THNNArgumentError):
        layer.__init__("3", 2)
    with pytest.raises(THNNArgumentError, match="weight"):
        layer.wieght = 1
