"""Behaviour of Lua Torch's nn that spans modules: flat parameters, sharing, types, training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.nn_recorded import Replay, read

import pythnn
from pythnn import nn

SCENARIOS: dict[str, Callable[[Replay], None]] = {}


def scenario(*names: str) -> Callable[[Any], Any]:
    """Marks the check of the scenarios of these ids."""

    def mark(check: Any) -> Any:
        SCENARIOS.update(dict.fromkeys(names, check))
        return check

    return mark


@pytest.mark.parametrize("name", [case["name"] for case in read("scenarios")])
def test_scenario(name: str) -> None:
    r = Replay(name)
    family = r.case["id"].split("_")[0]
    (SCENARIOS.get(r.case["id"]) or SCENARIOS[family])(r)


def build(r: Replay, key: str = "module", seed: str = "construction_seed") -> Any:
    module = r.construct(key, seed)
    module.zeroGradParameters()
    return module


def address(array: np.ndarray) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def offsets(arrays: list[np.ndarray], flat: np.ndarray) -> list[int]:
    return [(address(array) - address(flat)) // flat.itemsize for array in arrays]


def same_memory(first: list[np.ndarray], second: list[np.ndarray]) -> list[bool]:
    return [address(a) == address(b) for a, b in zip(first, second, strict=True)]


def check_all(r: Replay, found: list[np.ndarray], key: str) -> None:
    assert len(found) == len(r.case[key]), key
    r.check(found, r.case[key], key)


# ---- Flat parameters


@scenario("getParameters", "getParameters_wide")
def flat_parameters(r: Replay) -> None:
    module = build(r)
    flat, flat_gradient = module.getParameters()
    parameters, gradients = module.parameters()
    r.check(flat, r.case["flat"], "flat")
    assert offsets(parameters, flat) == r.case["offsets"]
    assert [list(p.shape) for p in parameters] == r.case["sizes"]
    if "grad_offsets" in r.case:
        assert offsets(gradients, flat_gradient) == r.case["grad_offsets"]
    if r.case["id"] == "getParameters":
        flat.fill(0.1)
    given = r.value(r.case["input"])
    r.check(module.forward(given), r.case["output"], "output")
    found = module.backward(given, r.value(r.case["gradOutput"]))
    if "gradInput" in r.case:
        r.check(found, r.case["gradInput"], "gradInput")
    r.check(flat_gradient, r.case["flat_grad"], "flat_grad")


@scenario("getParameters_twice")
def flat_parameters_twice(r: Replay) -> None:
    module = build(r)
    first, _ = module.getParameters()
    second, _ = module.getParameters()
    r.check(second, r.case["flat"], "flat")
    assert offsets(module.parameters()[0], second) == r.case["offsets"]
    assert (address(first) == address(second)) == r.case["same_memory"]
    first.fill(9)
    r.check(module.getParameters()[0], r.case["flat_after_filling_the_first"], "flat after")


@scenario("getParameters_none")
def no_parameters(r: Replay) -> None:
    flat, flat_gradient = build(r).getParameters()
    r.check(flat, r.case["flat"], "flat")
    r.check(flat_gradient, r.case["flat_grad"], "flat_grad")


@scenario("parameters_absent")
def absent_parameters(r: Replay) -> None:
    assert (nn.Tanh().parameters() is None) == r.case["tanh_is_nil"]
    assert list(map(len, nn.Sequential().parameters())) == r.case["sequential_lengths"]


# ---- Sharing and copies


@scenario("share")
def share(r: Replay) -> None:
    a, b = build(r, "a", "a_construction_seed"), build(r, "b", "b_construction_seed")
    b.share(a, "weight")
    assert getattr(a, "shared", None) == r.case["a_shared_field"]
    assert getattr(b, "shared", None) == r.case["b_shared_field"]
    a.weight.fill(0.5)
    r.check(b.weight, r.case["b_weight"], "weight")
    r.check(b.bias, r.case["b_bias"], "bias")
    r.check(b.forward(r.value(r.case["input"])), r.case["b_output"], "output")


@scenario("share_container")
def share_container(r: Replay) -> None:
    a, b = build(r, "a", "a_construction_seed"), build(r, "b", "b_construction_seed")
    b.share(a, "weight", "bias")
    (mine, my_gradients), (theirs, their_gradients) = b.parameters(), a.parameters()
    assert same_memory(mine, theirs) == r.case["parameters_share_memory"]
    assert same_memory(my_gradients, their_gradients) == r.case["gradients_share_memory"]
    theirs[1].fill(-0.25)
    r.check(b.forward(r.value(r.case["input"])), r.case["b_output"], "output")


@scenario("clone")
def clone(r: Replay) -> None:
    module = build(r)
    copied = module.clone()
    module.weight.fill(0)
    r.check(copied.forward(r.value(r.case["input"])), r.case["clone_output"], "output")


@scenario("clone_sharing")
def clone_sharing(r: Replay) -> None:
    module = build(r)
    copied = module.clone("weight", "bias")
    for parameter in module.parameters()[0]:
        parameter -= 0.1
    given = r.value(r.case["input"])
    r.check(copied.forward(given), r.case["clone_output"], "output")
    copied.backward(given, r.value(r.case["gradOutput"]))
    check_all(r, copied.parameters()[1], "clone_gradParameters")
    check_all(r, module.parameters()[1], "gradParameters")


@scenario("mapTable_sharing")
def map_table(r: Replay) -> None:
    module = build(r)
    acts = {
        "construction": lambda: None,
        "forward of 3": lambda: module.forward([np.ones((1, 2))] * 3),
        "forward of 1": lambda: module.forward([np.ones((1, 2))]),
        "clearState": module.clearState,
        "resize(2)": lambda: module.resize(2),
    }
    for step in r.case["steps"]:
        acts[step["after"]]()
        assert module.size() == step["modules"], step
        assert len(module.parameters()[0]) == step["parameters"], step
    weights = [m.weight for m in module.modules]
    assert (address(weights[0]) == address(weights[1])) == r.case["copies_share"]
    assert module.getParameters()[0].size == r.case["flat_size"]


# ---- Gradients


@scenario("accUpdate")
def step_without_gradients(r: Replay) -> None:
    module = build(r)
    given, gradient = r.value(r.case["input"]), r.value(r.case["gradOutput"])
    module.forward(given)
    r.check(module.updateGradInput(given, gradient), r.case["gradInput"], "gradInput")
    module.accUpdateGradParameters(given, gradient, r.case["lr"])
    check_all(r, module.parameters()[0], "parameters_after")
    check_all(r, module.parameters()[1], "gradParameters_after")


@scenario("accumulation")
def accumulation(r: Replay) -> None:
    module = build(r)
    for i, scale in (("1", 1), ("2", -0.5)):
        given = r.value(r.case[f"input{i}"])
        module.forward(given)
        module.backward(given, r.value(r.case[f"gradOutput{i}"]), scale)
    check_all(r, module.parameters()[1], "gradParameters_after")


# ---- The tree


def typenames(modules: list[Any]) -> list[str]:
    return [module.typename() for module in modules]


@scenario("traversal")
def traversal(r: Replay) -> None:
    module = build(r)
    seen: list[Any] = []
    module.apply(seen.append)
    assert typenames(seen) == r.case["apply"]
    assert typenames(module.listModules()) == r.case["listModules"]
    for kind in ("relu", "linear", "sequential"):
        name = {"relu": "ReLU"}.get(kind, kind.capitalize())
        found, containers = module.findModules(f"nn.{name}")
        assert typenames(containers) == r.case[f"{kind}_containers"]
        assert len(found) == r.case.get(f"{kind}_count", len(found))
    inputs = [linear.weight.shape[1] for linear in module.findModules("nn.Linear")[0]]
    assert inputs == r.case["linear_inputs"]


@scenario("replace")
def replace(r: Replay) -> None:
    module = build(r)
    root = module.replace(lambda m: nn.Tanh() if m.typename() == "nn.ReLU" else m)
    assert (root is module) == r.case["same_root"]
    assert typenames(module.listModules()) == r.case["apply_after"]
    r.check(module.forward(r.value(r.case["input"])), r.case["output"], "output")


@scenario("container_edit")
def container_edit(r: Replay) -> None:
    module = nn.Sequential()
    acts: list[Callable[[], Any]] = [
        lambda: module.add(nn.Tanh()),
        lambda: module.add(nn.ReLU()),
        lambda: module.insert(nn.Sigmoid(), 1),
        lambda: module.insert(nn.Abs()),
        lambda: module.insert(nn.Exp(), 3),
        lambda: module.remove(2),
        lambda: module.remove(),
    ]
    for act, step in zip(acts, r.case["steps"], strict=True):
        act()
        assert module.size() == step["size"], step
        assert typenames(module.modules) == step["classes"], step
    assert module.get(2).typename() == r.case["get_2"]
    assert (module.get(9) is None) == r.case["get_9_is_nil"]
    with pytest.raises(pythnn.THNNArgumentError):
        module.insert(nn.Tanh(), 7)
    with pytest.raises(pythnn.THNNArgumentError):
        module.remove(7)


@scenario("modes")
def modes(r: Replay) -> None:
    module = build(r)

    def trains() -> list[Any]:
        return [inside.train for inside in module.listModules()]

    assert trains() == r.case["built"]
    module.evaluate()
    assert trains() == r.case["evaluate"]
    module.training()
    assert trains() == r.case["training"]


# ---- Types


@scenario("type_float")
def type_float(r: Replay) -> None:
    module = build(r)
    module.modules[2].share(module.modules[0], "weight")
    assert module.float() is module
    assert module.type() == r.case["type_after"]
    parameters = module.parameters()[0]
    assert [str(p.dtype) for p in parameters] == ["float32"] * len(r.case["types"])
    check_all(r, parameters, "parameters_float")
    assert (address(parameters[0]) == address(parameters[2])) == r.case["still_shared"]
    r.tolerance = 1e-5
    r.check(module.forward(r.value(r.case["input"])), r.case["output"], "output")
    check_all(r, module.double().parameters()[0], "parameters_double")


@scenario("type_flattened")
def type_flattened(r: Replay) -> None:
    module = build(r)
    module.getParameters()
    module.float()
    parameters = module.parameters()[0]
    assert offsets(parameters, parameters[0]) == r.case["offsets_after_float"]
    r.check(module.getParameters()[0], r.case["flat"], "flat")


# ---- Initial values


@scenario("reset")
def reset(r: Replay) -> None:
    module = build(r)
    pythnn.manual_seed(r.case["reset_seed"])
    if r.case["stdv"] is None:
        module.reset()
    else:
        module.reset(r.case["stdv"])
    check_all(r, module.parameters()[0], "parameters_after")


@scenario("tables_full")
def tables_full(r: Replay) -> None:
    r.check(nn.tables.full(*r.case["args"]), r.case["table"], "table")
    r.check(nn.tables.full(*r.case["args2"]), r.case["table2"], "table2")


@scenario("tables_random")
def tables_random(r: Replay) -> None:
    pythnn.manual_seed(r.case["seed"])
    r.check(nn.tables.random(*r.case["args"]), r.case["table"], "table")
    pythnn.manual_seed(r.case["seed2"])
    r.check(nn.tables.random(*r.case["args2"]), r.case["table2"], "table2")


@scenario("classSimplex_predictions")
def class_simplex(r: Replay) -> None:
    criterion = nn.ClassSimplexCriterion(r.case["n"])
    r.check(criterion.simplex, r.case["simplex"], "simplex")
    for suffix in ("", "1"):
        given = r.value(r.case[f"input{suffix}"])
        predictions = criterion.getPredictions(given)
        r.check(predictions, r.case[f"predictions{suffix}"], f"predictions{suffix}")
        r.check(criterion.getTopPrediction(given), r.case[f"top{suffix}"], f"top{suffix}")


@scenario("linearWeightNorm_convert")
def linear_weight_norm(r: Replay) -> None:
    module = nn.LinearWeightNorm.fromLinear(build(r))
    check_all(r, module.parameters()[0], "parameters")
    module.g = module.g * 2
    linear = module.toLinear()
    r.check([linear.weight, linear.bias], r.case["toLinear"], "toLinear")


# ---- Training


@scenario("training_loop", "training")
def training_loop(r: Replay) -> None:
    r.tolerance = max(r.tolerance, 1e-10)
    module = build(r)
    criterion = r.argument(r.case["criterion"])
    if r.type != "torch.DoubleTensor":
        criterion.float()
    given, target = r.value(r.case["input"]), r.value(r.case["target"])
    pythnn.manual_seed(r.case["seed_before_loop"])
    losses = []
    for _ in r.case["losses"]:
        module.zeroGradParameters()
        losses.append(criterion.forward(module.forward(given), target))
        module.backward(given, criterion.backward(module.output, target))
        module.updateParameters(r.case.get("lr", 0.1))
    r.compare(losses, r.case["losses"], "losses")
    check_all(r, module.parameters()[0], "parameters_after")
    module.evaluate()
    r.check(module.forward(given), r.case["evaluate_output"], "output")
