"""Files of before the field `_type`: modules have the type of their parameters."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_identical

import pythnn
from pythnn import nn
from pythnn.t7 import TorchObject

FORMATS = ["binary", "ascii"]
DTYPES = [np.float32, np.float64]
TORCH = {np.float32: "torch.FloatTensor", np.float64: "torch.DoubleTensor"}


def old(value: Any) -> Any:
    """Objects as old versions had them: without `_type`."""
    if isinstance(value, list):
        return [old(entry) for entry in value]
    if not isinstance(value, TorchObject):
        return value
    fields = {name: old(field) for name, field in value.fields.items() if name != "_type"}
    return TorchObject(value.torch_class, fields, version=value.version)


def saved(value: Any, format: str = "binary") -> Any:
    file = io.BytesIO()
    pythnn.save(file, value, format)
    file.seek(0)
    return file


def read_old(value: Any, format: str = "binary") -> Any:
    raw = pythnn.load(saved(value), classes=False)
    raw = {k: old(v) for k, v in raw.items()} if isinstance(raw, dict) else old(raw)
    return pythnn.load(saved(raw, format))


def network() -> Any:
    """Layers with parameters, without, in containers, in a field, with state alone."""
    net = (
        nn.Sequential()
        .add(nn.SpatialZeroPadding(1, 1, 1, 1))
        .add(nn.SpatialConvolution(3, 4, 3, 3))
    )
    net.add(nn.SpatialBatchNormalization(4, None, None, False)).add(nn.ReLU())
    net.add(nn.SpatialSubtractiveNormalization(4, np.ones((3, 3))))
    net.add(nn.ConcatTable().add(nn.Identity()).add(nn.Sequential().add(nn.Tanh())))
    return net.add(nn.CAddTable())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_modules_of_a_tree_have_the_type_of_its_parameters(dtype: Any, format: str) -> None:
    model = network().type(dtype)
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 6)).astype(dtype)
    model.evaluate()
    wanted = model.forward(x)
    found = read_old(model, format)
    assert {(m.type(), m.dtype) for m in found.listModules()} == {(TORCH[dtype], np.dtype(dtype))}
    found.evaluate()
    assert_identical(found.forward(x), wanted)
    assert found.getParameters()[0].dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_speaks_for_a_type(dtype: Any) -> None:
    """Parameters, then what is inside, what is around, other tensors."""
    other = next(one for one in DTYPES if one != dtype)

    def as_saved(module: Any, **fields: Any) -> Any:
        raw = old(pythnn.load(saved(module), classes=False))
        raw.fields.update(fields)
        return raw

    def types(raw: Any) -> list[str]:
        return [module.type() for module in pythnn.load(saved(raw)).listModules()]

    buffers = {"output": np.zeros(3, other), "gradInput": np.zeros(0, other)}
    linear, tanh = as_saved(nn.Linear(3, 2).type(dtype), **buffers), as_saved(nn.Tanh(), **buffers)
    empty = {"output": np.zeros(0, other)}
    assert types(linear) == [TORCH[dtype]]
    assert types(tanh) == [TORCH[other]]
    assert types(as_saved(nn.Sequential(), modules=[tanh, linear], **empty)) == [TORCH[dtype]] * 3
    unknown = TorchObject("nn.Unknown", {"weight": np.ones(2, dtype), **buffers})
    alone = as_saved(nn.Sequential(), modules=[unknown], **empty)
    assert pythnn.load(saved(alone)).type() == TORCH[dtype]
    typed = as_saved(nn.Sequential(), modules=[tanh], _type=TORCH[dtype], **empty)
    assert types(typed) == [TORCH[dtype]] * 2
    both = as_saved(nn.Linear(3, 2).type(other))
    mixed = as_saved(nn.Sequential(), modules=[linear, both, tanh], **empty)
    assert types(mixed) == [TORCH[dtype], TORCH[dtype], TORCH[other], TORCH[dtype]]
    checkpoint = pythnn.load(saved({"model": linear, "scaling": tanh}))
    assert checkpoint["scaling"].type() == TORCH[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "criterion",
    [
        nn.ParallelCriterion().add(nn.MSECriterion()),
        nn.MultiCriterion().add(nn.ClassNLLCriterion(np.ones(3))),
        nn.ModuleCriterion(nn.MSECriterion(), nn.Linear(2, 2)),
        nn.CrossEntropyCriterion(),
        nn.CriterionTable(nn.MSECriterion()),
        nn.MSECriterion(),
    ],
    ids=lambda criterion: criterion.typename(),
)
def test_criterions(criterion: Any, dtype: Any) -> None:
    found = read_old(criterion.clone().type(dtype))
    assert found.dtype == dtype
    module = getattr(found, "inputModule", None)
    assert module is None or module.dtype == dtype


def test_a_type_that_is_named_stays() -> None:
    model = nn.Sequential().add(nn.Tanh().float()).add(nn.Linear(3, 2))
    found = pythnn.load(saved(model))
    assert [module.type() for module in found.listModules()] == [
        "torch.DoubleTensor", "torch.FloatTensor", "torch.DoubleTensor",
    ]  # fmt: skip
