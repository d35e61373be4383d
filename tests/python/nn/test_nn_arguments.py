"""What constructors, ``add`` and fields of nn refuse, and containers that take their modules."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn

SIZE = re.compile(
    r"nInputPlane|nOutput(Plane)?$|input.*[sS]ize|output.*[sS]ize|[kd][WHT]$|dilation|nIndex$"
)
CLASSES = sorted(name.removeprefix("nn.") for name in nn.registry if name.startswith("nn."))


def constructor(name: str) -> tuple[Any, list[inspect.Parameter]]:
    cls = getattr(nn, name)
    return cls, list(inspect.signature(cls.__init__).parameters.values())[1:]


PLAUSIBLE: dict[str, Any] = {
    "ArrayLike": [1.0, 2.0],
    "Criterion": nn.MSECriterion(),
    "Module": nn.Linear(2, 2),
    "Sequence[int]": [2, 2],
    "SpatialMaxPooling": nn.SpatialMaxPooling(2, 2),
    "VolumetricMaxPooling": nn.VolumetricMaxPooling(2, 2, 2),
    "bool": True,
    "float": 0.5,
    "int": 2,
    "str": "bdhw",
}


def plausible(parameters: list[inspect.Parameter]) -> list[Any]:
    """Arguments of the types that a signature names."""
    return [PLAUSIBLE.get(str(p.annotation).split(" | ")[0]) for p in parameters]


def takes_any_number(name: str) -> bool:
    return any(p.kind is p.VAR_POSITIONAL for p in constructor(name)[1])


@pytest.mark.parametrize("name", [name for name in CLASSES if not takes_any_number(name)])
def test_too_many_arguments(name: str) -> None:
    cls, parameters = constructor(name)
    given = plausible(parameters)
    with pytest.raises(TypeError, match=rf"nn\.{name}\(.*too many positional arguments"):
        cls(*given, 1)
    with pytest.raises(TypeError, match="unexpected keyword"):
        cls(*given, colour="red")


WRONG: dict[str, list[Any]] = {
    "ArrayLike": ["x", [float("nan")], [[1.0], [1.0, 2.0]], nn.Linear(2, 2), True],
    "Criterion": ["x", nn.MSECriterion, nn.Linear(2, 2), 3],
    "Module": ["x", nn.ReLU, nn.MSECriterion(), np.zeros(3), lambda x: x],
    "bool": ["x", 1, 0.0, [True]],
    "float": ["x", float("nan"), True, [0.5], 1j],
    "int": ["x", 2.5, float("nan"), float("inf"), True, [2], nn.Linear(2, 2)],
    "str": [3, True, ["b*"], b"b*"],
}


@pytest.mark.parametrize("name", CLASSES)
def test_wrong_types(name: str) -> None:
    """One argument at a time, all others being plausible."""
    cls, parameters = constructor(name)
    for position, parameter in enumerate(parameters):
        kinds = str(parameter.annotation).split(" | ")
        for value in WRONG.get(kinds[0], []):
            if len(kinds) > 1 and kinds[1] != "None":
                continue
            given = plausible(parameters)
            given[position] = value
            wanted = rf"nn\.{name}: argument #{position + 1} '{parameter.name}': expected"
            with pytest.raises(THNNArgumentError, match=wanted):
                cls(*given)


@pytest.mark.parametrize("name", CLASSES)
def test_sizes_are_positive(name: str) -> None:
    cls, parameters = constructor(name)
    for position, parameter in enumerate(parameters):
        if not SIZE.match(parameter.name) or not str(parameter.annotation).startswith("int"):
            continue
        for value in (-1, 0, -(2**31)):
            if value == parameter.default:
                continue
            given = plausible(parameters)
            given[position] = value
            with pytest.raises(THNNArgumentError, match=f"'{parameter.name}': expected"):
                cls(*given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.CMul(),
        lambda: nn.WeightNorm(nn.ReLU()),
        lambda: nn.UpSampling(2, "cubic"),
        lambda: nn.SelectTable(0),
        lambda: nn.Narrow(1, 0, 1),
        lambda: nn.Select(1, 0),
        lambda: nn.View(0),
        lambda: nn.View(2.5),
        lambda: nn.Reshape(-2),
        lambda: nn.Transpose((1, 2, 3)),
        lambda: nn.ConcatTable([nn.ReLU()]),
        lambda: nn.SpatialFractionalMaxPooling(2, 2, 3.5, 3),
        lambda: nn.Reshape(np.array(4.0)),
        lambda: nn.SpatialConvolutionMap(np.zeros((0, 2)), 3, 3),
        lambda: nn.FireModule(3, 2, 2, 2, "Sigmoid"),
        lambda: nn.MuFuRu(2, 3, ["keep", "sub"]),
        lambda: nn.MuFuRu(2, 3, "keep"),
    ],
)
def test_what_no_layer_can_be_made_of(make: Any) -> None:
    with pytest.raises(THNNArgumentError, match=r"^nn\.\w+: "):
        make()


def test_zeros_that_mean_something_are_taken() -> None:
    assert nn.ShaveImage(0).forward(np.ones((1, 2, 2))).shape == (1, 2, 2)
    assert nn.PReLU(0).weight.shape == (1,)
    assert nn.SpatialConvolution(1, 1, 3, 3, 1, 1, -1).padH == -1


def test_none_and_whole_floats_are_taken() -> None:
    assert nn.Linear(3.0, np.float64(2), None).weight.shape == (2, 3)
    assert nn.HardTanh(None, None).min_val == -1
    assert nn.SpatialMaxPooling(2, 2, None).dW == 2
    assert nn.Linear(np.int32(3), 2, np.bool_(False)).bias is None
    with pytest.raises(THNNArgumentError, match="'inputSize': expected an int of at least 1.*None"):
        nn.Linear(None, 2)
    with pytest.raises(THNNArgumentError, match="'maxNorm': expected a number of at least 0"):
        nn.LookupTable(3, 2, 0, -1.0)


CONTAINERS: dict[str, tuple[Any, ...]] = {
    "Concat": (2,),
    "ConcatTable": (),
    "Container": (),
    "DepthConcat": (2,),
    "Parallel": (2, 2),
    "ParallelTable": (),
    "Sequential": (),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_take_their_modules(name: str) -> None:
    made = getattr(nn, name)
    first, second = nn.Linear(3, 2), nn.ReLU()
    net = made(*CONTAINERS[name], first, second)
    assert net.modules == [first, second]
    assert repr(net) == repr(made(*CONTAINERS[name]).add(first).add(second))
    place = len(CONTAINERS[name]) + 2
    wanted = rf"nn\.{name}: argument #{place} 'modules': expected a Module, found the class ReLU"
    with pytest.raises(THNNArgumentError, match=wanted):
        made(*CONTAINERS[name], first, nn.ReLU)


def test_a_network_in_one_expression() -> None:
    pythnn.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.ConcatTable(nn.ReLU(), nn.Tanh()), nn.JoinTable(2))
    assert net.forward(np.ones((5, 3))).shape == (5, 8)


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize(
    "value", ["x", nn.ReLU, None, 3, [nn.ReLU()], nn.MSECriterion(), lambda x: x, np.ones(3)]
)
def test_add_refuses_what_is_no_module(name: str, value: Any) -> None:
    net = getattr(nn, name)(*CONTAINERS[name])
    with pytest.raises(THNNArgumentError, match=rf"nn\.{name}\.add: .*expected a Module"):
        net.add(value)
    assert net.modules == []


def test_a_container_is_not_its_own_module() -> None:
    net = nn.Sequential(nn.ReLU())
    with pytest.raises(THNNArgumentError, match="found the container itself"):
        net.add(net)
    with pytest.raises(THNNArgumentError, match=r"nn\.Sequential\.insert: .*expected a Module"):
        net.insert("x", 1)
    with pytest.raises(THNNArgumentError, match=r"nn\.MapTable\.add: .*expected a Module"):
        nn.MapTable().add(nn.ReLU)


@pytest.mark.parametrize("made", [nn.MultiCriterion, nn.ParallelCriterion])
def test_criterions_refuse_what_is_no_criterion(made: Any) -> None:
    both = made().add(nn.MSECriterion(), 0.5)
    for value in ("x", nn.MSECriterion, nn.ReLU(), None, both):
        with pytest.raises(THNNArgumentError, match="'criterion': expected"):
            both.add(value)
    for weight in ("x", float("nan"), None):
        with pytest.raises(THNNArgumentError, match="'weight': expected a number"):
            both.add(nn.MSECriterion(), weight)
    assert len(both.criterions) == 1


def test_users_classes_take_what_they_like() -> None:
    class Scale(nn.Module):
        def __init__(self, kW: int, mode: str = "up") -> None:
            super().__init__()
            self.kW, self.mode = kW, mode

    assert Scale(-1, None).mode == "up"
    assert Scale("x").kW == "x"


# ---- Fields


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((3, 2)),
        np.zeros(6),
        np.zeros((2, 1, 4)),
        np.zeros((1, 3, 1, 2)),
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        [[1.0], [2.0, 3.0]],
        pythnn.Tensor(np.zeros((3, 2))),
        1.0,
        "x",
        ["a", "b"],
        nn.ReLU(),
        {"a": 1},
    ],
)
def test_fields_refuse_other_shapes(value: Any) -> None:
    module = nn.Linear(3, 2)
    before = module.weight.copy()
    with pytest.raises(THNNArgumentError, match=r"nn\.Linear: field 'weight': .*shape \(2, 3\)"):
        module.weight = value
    np.testing.assert_array_equal(module.weight, before)


def test_fields_take_shapes_that_differ_by_ones() -> None:
    module = nn.Linear(3, 2)
    module.weight = np.arange(6.0).reshape(2, 1, 3)
    np.testing.assert_array_equal(module.weight, np.arange(6.0).reshape(2, 3))
    module.bias = np.array([[1], [2]])
    assert module.bias.tolist() == [1, 2]
    module.gradBias = [3, 4]
    assert module.gradBias.tolist() == [3, 4]
    module.weight = None
    module.weight = np.ones((3, 2))
    assert module.weight.shape == (3, 2)
    scale = nn.Mul()
    scale.weight = 2.0
    assert scale.weight.tolist() == [2]
