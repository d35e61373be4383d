"""Every class of nn against what Lua Torch's did, step by step."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from support.nn_recorded import DATA, DTYPES, Replay, fields, names, shares_memory

import pythnn

# The gradients of these are no dense tensors; the recording lists rows.
SPARSE_GRADIENTS = {"IndexLinear"}
# Lua Torch's backward reshapes the gradOutput of these.
RESHAPED = {"SparseLinear"}
# Recorded defects of Lua Torch's; docs/compatibility.md says what happens here.
DEFECTS = {"LinearWeightNorm.4"}
MODULES = [name for name in names("module") if name not in DEFECTS]


@pytest.mark.parametrize("name", MODULES)
def test_module(name: str) -> None:
    r = Replay(name)
    case = r.case
    module = r.construct()
    assert r.drew_since(case["construction_seed"]) == case["construction_uses_rng"]
    module.zeroGradParameters()
    assert module.typename() == f"nn.{case['module']['class']}"
    assert r.stem in TYPED or module.type() == r.type
    assert getattr(module, "train", None) == case["train_field"]
    check_parameters(r, module, 0, case["parameters"], "parameters")
    for i, step in enumerate(case["steps"]):
        run_step(r, module, step, f"step {i + 1}: ")


FROM_FILE = [name for name in MODULES if Replay(name).case["t7"]]


@pytest.mark.parametrize("name", FROM_FILE)
def test_module_from_file(name: str) -> None:
    """What Lua Torch saved does what Lua Torch's did."""
    r = Replay(name)
    module = pythnn.load(DATA / r.case["t7"])
    assert module.typename() == f"nn.{r.case['module']['class']}"
    check_parameters(r, module, 0, r.case["parameters"], "parameters")
    for i, step in enumerate(r.case["steps"]):
        run_step(r, module, step, f"step {i + 1}: ")


def run_step(r: Replay, module: Any, step: dict[str, Any], where: str) -> None:
    if "mode" in step:
        getattr(module, step["mode"])()
    r.call(module, step.get("calls", []))
    if not step.get("accumulate"):
        module.zeroGradParameters()
    if "forward_seed" in step:
        pythnn.manual_seed(step["forward_seed"])
    given = r.value(step["input"], step.get("input_strides"))
    if step.get("raises") == "forward":
        with pytest.raises((pythnn.THNNError, ValueError, TypeError, IndexError)):
            module.forward(given)
        return
    output = module.forward(given)
    if "output" in step:
        r.check(output, step["output"], f"{where}output")
        given_after = step.get("input_after_forward", step["input"])
        r.check(given, given_after, f"{where}input after forward")
        shared = shares_memory(output, given) if holds_arrays(output, given) else False
        assert shared == step.get("output_shares_input", False), f"{where}output and input share"
    if "gradOutput" in step:
        run_backward(r, module, step, where, given)
    if "update" in step:
        module.updateParameters(step["update"])
        check_parameters(r, module, 0, step["parameters_after_update"], f"{where}parameters after")
    for name, values in step.get("state", {}).items():
        r.check(fields(module, name), values, f"{where}field {name}")


def run_backward(r: Replay, module: Any, step: dict[str, Any], where: str, given: Any) -> None:
    before = copy.deepcopy(given)
    gradient = r.value(step["gradOutput"], step.get("gradOutput_strides"))
    arguments = (step["scale"],) if "scale" in step else ()
    if step.get("raises") == "backward":
        with pytest.raises((pythnn.THNNError, ValueError, TypeError, IndexError)):
            module.backward(given, gradient, *arguments)
        return
    found = module.backward(given, gradient, *arguments)
    r.check(found, step["gradInput"], f"{where}gradInput")
    after = r.value(step["input_after_backward"]) if "input_after_backward" in step else before
    r.compare(given, after, f"{where}input after backward")
    after = step["gradOutput"]
    if r.stem not in RESHAPED:
        after = step.get("gradOutput_after", after)
    r.check(gradient, after, f"{where}gradOutput after")
    shared = shares_memory(found, gradient) if holds_arrays(found, gradient) else False
    assert shared == step.get("gradInput_shares_gradOutput", False), f"{where}gradients share"
    if "gradParameters" in step and r.stem not in SPARSE_GRADIENTS:
        check_parameters(r, module, 1, step["gradParameters"], f"{where}gradParameters")


def holds_arrays(*values: Any) -> bool:
    return all(isinstance(value, np.ndarray) for value in values)


def check_parameters(r: Replay, module: Any, which: int, recorded: Any, where: str) -> None:
    found = module.parameters()
    if recorded is None:
        assert found is None, where
    else:
        assert found is not None, where
        r.check(found[which], recorded, where)


@pytest.mark.parametrize("name", names("criterion"))
def test_criterion(name: str) -> None:
    r = Replay(name)
    criterion = r.construct()
    assert criterion.typename() == f"nn.{r.case['class']}"
    for i, step in enumerate(r.case["steps"]):
        given, target = r.value(step["input"]), r.value(step["target"])
        loss = criterion.forward(given, target)
        r.check(loss, loss_of(step), f"step {i + 1}: loss")
        r.check(criterion.output, step["output_field"], f"step {i + 1}: output")
        if "backward_target" in step:
            target = r.value(step["backward_target"])
        found = criterion.backward(given, target)
        r.check(found, step["gradInput"], f"step {i + 1}: gradInput")
        r.check(given, step["input"], f"step {i + 1}: input after")


def loss_of(step: dict[str, Any]) -> Any:
    loss = step["loss"]
    return {"number": loss} if isinstance(loss, (int, float, str)) else loss


# These have types of their own.
TYPED = {"Convert", "Copy", "DontCast"}
# Results that are limits of double.
DOUBLE_ONLY = {"SpatialMaxPooling.7"}
DOUBLE_MODULES = [
    name
    for name in MODULES
    if Replay(name).type == "torch.DoubleTensor"
    and name.split(".")[0] not in TYPED
    and name not in DOUBLE_ONLY
]
DOUBLE_CRITERIONS = [n for n in names("criterion") if Replay(n).type == "torch.DoubleTensor"]


@pytest.mark.parametrize("name", DOUBLE_MODULES)
def test_module_in_float(name: str) -> None:
    """The output of the recording in double, computed in float."""
    r = Replay(name, "torch.FloatTensor")
    r.tolerance = 1e-4
    module = r.construct()
    for step in r.case["steps"]:
        if "raises" in step:
            return
        if "mode" in step:
            getattr(module, step["mode"])()
        r.call(module, step.get("calls", []))
        module.zeroGradParameters()
        if "forward_seed" in step:
            pythnn.manual_seed(step["forward_seed"])
        given = r.value(step["input"])
        r.check(module.forward(given), step["output"], "output")
        if "gradOutput" in step:
            gradient = r.value(step["gradOutput"])
            found = module.backward(given, gradient, step.get("scale", 1))
            r.check(found, step["gradInput"], "gradInput")
        if "update" in step:
            return


@pytest.mark.parametrize("name", DOUBLE_CRITERIONS)
def test_criterion_in_float(name: str) -> None:
    r = Replay(name, "torch.FloatTensor")
    r.tolerance = 1e-4
    criterion = r.construct()
    for step in r.case["steps"]:
        given, target = r.value(step["input"]), r.value(step["target"])
        r.check(criterion.forward(given, target), loss_of(step), "loss")
        target = r.value(step.get("backward_target", step["target"]))
        r.check(criterion.backward(given, target), step["gradInput"], "gradInput")


def test_types_are_known() -> None:
    assert {Replay(n).type for n in names("module")} <= set(DTYPES)


def new_trainer(r: Replay) -> Any:
    pythnn.manual_seed(r.case["construction_seed"])
    module, criterion = r.build(r.case["module"]), r.build(r.case["criterion"])
    trainer = pythnn.nn.StochasticGradient(module, criterion)
    for field, value in r.case["set"].items():
        setattr(trainer, field, r.argument(value))
    return trainer


@pytest.mark.parametrize("make", [new_trainer, lambda r: pythnn.load(DATA / r.case["t7"])])
@pytest.mark.parametrize("name", names("trainer"))
def test_trainer(name: str, make: Any) -> None:
    r = Replay(name)
    r.tolerance = 1e-10
    case, trainer = r.case, make(r)
    module = trainer.module
    check_parameters(r, module, 0, case["parameters"], "parameters")
    dataset = list(zip(r.value(case["inputs"]), r.value(case["targets"]), strict=True))
    order: list[int] = []
    trainer.hookExample = lambda _, example: order.append(place(dataset, example))
    pythnn.manual_seed(case["train_seed"])
    errors = trainer.train(dataset)
    r.compare(errors, case["errors"], f"{name}: errors")
    assert order == case["order"]
    check_parameters(r, module, 0, case["parameters_after"], "parameters after")


def place(dataset: list[Any], example: Any) -> int:
    return next(i for i, other in enumerate(dataset, 1) if other is example)
