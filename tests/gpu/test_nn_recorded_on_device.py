"""Every class of nn on a device, step by step, against what Lua Torch's did on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_nn_recorded as on_cpu
from support.nn_recorded import Replay, names

import pythnn

# Classes that are left out, and why.
LEFT_OUT = {
    "Convert": "has types of its own",
    "Copy": "has types of its own",
    "DontCast": "keeps its module on the CPU, as it is there to do",
    "RReLU": "a device draws other numbers",
}


def cases(kind: str) -> list[str]:
    return [name for name in names(kind) if name.split(".")[0] not in LEFT_OUT]


class OnDevice(Replay):
    """A case whose arrays are taken to a device, and come back to be compared."""

    def __init__(self, xp: Any, name: str) -> None:
        super().__init__(name)
        self.xp = xp

    def construct(self, *arguments: Any) -> Any:
        made = super().construct(*arguments)
        return made.type(self.type.replace("torch.", "torch.Cuda").replace("Float", ""))

    def value(self, value: Any, strides: list[int] | None = None) -> Any:
        found = super().value(value, strides)
        if not isinstance(found, np.ndarray):
            return found
        if strides is None:
            return self.xp.asarray(found)
        extent = 1 + sum((n - 1) * s for n, s in zip(found.shape, strides, strict=True))
        flat = np.lib.stride_tricks.as_strided(found, (extent,), (found.itemsize,))
        there = self.xp.asarray(flat)
        return self.xp.ndarray(found.shape, found.dtype, there.data, found.strides)

    def compare(self, found: Any, wanted: Any, where: str) -> None:
        super().compare(self.host(found), self.host(wanted), where)

    def host(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.host, value))
        return value.get() if isinstance(value, self.xp.ndarray) else value


def shares_memory(first: Any, second: Any) -> bool:
    if isinstance(first, list):
        return any(shares_memory(entry, second) for entry in first)
    if isinstance(second, list):
        return any(shares_memory(first, entry) for entry in second)
    start, other = (a.__cuda_array_interface__["data"][0] for a in (first, second))
    return bool(start < other + second.nbytes and other < start + first.nbytes)


@pytest.fixture
def arrays_on_device(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_cpu, "shares_memory", shares_memory)
    monkeypatch.setattr(
        on_cpu, "holds_arrays", lambda *values: all(isinstance(v, xp.ndarray) for v in values)
    )


@pytest.mark.usefixtures("arrays_on_device")
@pytest.mark.parametrize("name", [n for n in cases("module") if n not in on_cpu.DEFECTS])
def test_module(xp: Any, name: str) -> None:
    r = OnDevice(xp, name)
    module = r.construct()
    module.zeroGradParameters()
    for i, step in enumerate(r.case["steps"]):
        on_cpu.run_step(r, module, step, f"step {i + 1}: ")


@pytest.mark.parametrize("name", cases("criterion"))
def test_criterion(xp: Any, name: str) -> None:
    r = OnDevice(xp, name)
    criterion = r.construct()
    for step in r.case["steps"]:
        given, target = r.value(step["input"]), r.value(step["target"])
        r.check(criterion.forward(given, target), on_cpu.loss_of(step), "loss")
        if "backward_target" in step:
            target = r.value(step["backward_target"])
        r.check(criterion.backward(given, target), step["gradInput"], "gradInput")


@pytest.mark.parametrize("name", names("trainer"))
def test_trainer(xp: Any, name: str) -> None:
    r = OnDevice(xp, name)
    r.tolerance = 1e-10
    trainer = on_cpu.new_trainer(r)
    for part in (trainer.module, trainer.criterion):
        part.type("torch.CudaDoubleTensor")
    dataset = list(zip(r.value(r.case["inputs"]), r.value(r.case["targets"]), strict=True))
    pythnn.manual_seed(r.case["train_seed"])
    r.compare(trainer.train(dataset), r.case["errors"], f"{name}: errors")
    on_cpu.check_parameters(r, trainer.module, 0, r.case["parameters_after"], "parameters after")
