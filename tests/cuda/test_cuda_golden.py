"""Replays the recorded calls of the original library on the CUDA kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from device import EMULATED, PREFIXES, DeviceError, DeviceTensor, library, tensor_kind
from support import recorded
from support.deviations import adapted, deviation

LIBRARY = library()
CASES = [c for m in recorded.modules() for c in recorded.cases(m) if LIBRARY.implements(c.function)]
VALUE_CASES = [c for c in CASES if not c.is_error]
ERROR_CASES = [c for c in CASES if c.is_error]
# As recorded; every tensor with gaps; outputs that have their final size, with gaps, already.
LAYOUTS = ["recorded", "strided", "preset"]


def name_of(case: recorded.Case) -> str:
    return f"{case.function}-{case.name}"


class Call:
    """A recorded call with its tensors on the device."""

    def __init__(self, case: recorded.Case, real: str, layout: str) -> None:
        self.case = case
        self.real = real
        self.name = PREFIXES[real] + case.function
        self.tensors: dict[str, DeviceTensor] = {}
        self.values: list[Any] = []
        parameters = LIBRARY.functions[self.name].parameters
        for argument, parameter in zip(case.arguments, parameters, strict=True):
            kind = tensor_kind(parameter.ctype)
            if argument.kind == "state":
                self.values.append(LIBRARY.state)
            elif argument.is_tensor and kind:
                tensor = self._tensor(argument, kind, layout)
                self.tensors[argument.name] = tensor
                self.values.append(tensor.address)
            else:
                self.values.append(argument.value if argument.kind != "null" else None)

    def _tensor(self, argument: recorded.Argument, kind: str, layout: str) -> DeviceTensor:
        values = recorded.typed(argument, self.real)
        preset = layout == "preset" and argument.role == "out" and not argument.shares
        if preset and isinstance(argument.after, np.ndarray):
            values = np.full(argument.after.shape, 77)
        strides = argument.strides
        if values is not None and values.size and (preset or layout == "strided"):
            strides = strides or recorded.spread_strides(values.shape)
        if values is not None and strides and len(strides) != values.ndim:
            strides = None
        return DeviceTensor(LIBRARY, kind, values, strides)

    def run(self, waiting: bool = True) -> None:
        call = LIBRARY.call if waiting else LIBRARY.call_without_waiting
        call(self.name, *self.values)
        LIBRARY.synchronize()

    def check(self) -> None:
        if self.case.function == "RReLU_updateOutput" and self.case["train"].value:
            self.check_slopes()
            return
        for argument in self.case.arguments:
            if argument.name in self.tensors:
                found = self.tensors[argument.name]
                recorded.check_value(self.case, argument, self.real, found.read())
                if argument.shares:
                    assert found.data == self.tensors[argument.shares].data

    def check_slopes(self) -> None:
        """The random slopes are the device's own: they lie in their range, and were applied."""
        x = recorded.typed(self.case["input"], self.real)
        noise, output = self.tensors["noise"].read(), self.tensors["output"].read()
        if x is None:
            assert noise.size == output.size == 0
            return
        assert noise.shape == x.shape
        negative = noise[x <= 0]
        assert np.all(noise[x > 0] == 1)
        assert np.all(negative >= self.case["lower"].value)
        assert np.all(negative <= self.case["upper"].value)
        assert len(set(negative.tolist())) == negative.size
        np.testing.assert_array_equal(output, noise * x)

    def snapshot(self) -> list[tuple[Any, ...]]:
        return [tensor.snapshot() for tensor in self.tensors.values()]

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        for tensor in self.tensors.values():
            tensor.free()


@contextmanager
def checked_indices() -> Iterator[None]:
    """Bad indices are found before the work, so that a rejected call changes nothing."""
    LIBRARY.call("THCState_setCheckIndices", LIBRARY.state, True)
    try:
        yield
    finally:
        LIBRARY.call("THCState_setCheckIndices", LIBRARY.state, False)


@pytest.fixture(autouse=True)
def usable_afterwards() -> Iterator[None]:
    """No test leaves an error behind."""
    yield
    LIBRARY.synchronize()


@pytest.mark.parametrize("real", recorded.REALS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", VALUE_CASES, ids=name_of)
def test_value(case: recorded.Case, layout: str, real: str) -> None:
    with Call(adapted(case), real, layout) as call:
        call.run(waiting=False)
        call.check()


@pytest.mark.parametrize("real", recorded.REALS)
@pytest.mark.parametrize("case", ERROR_CASES, ids=name_of)
def test_rejected(case: recorded.Case, real: str) -> None:
    with checked_indices(), Call(case, real, "recorded") as call:
        before = call.snapshot()
        with pytest.raises(DeviceError):
            call.run()
        assert call.snapshot() == before
    with Call(case, real, "recorded") as call, pytest.raises(DeviceError):
        call.run()  # at the latest where the stream is waited for


def test_waiting_would_be_noticed() -> None:
    if not EMULATED:
        pytest.skip("a GPU does not count how often it was waited for")
    with pytest.raises(AssertionError, match="waits for the device"):
        LIBRARY.call_without_waiting("THCState_synchronize", LIBRARY.state)


FUNCTIONS = sorted(
    {r["function"] for r in recorded.altered_rows() if LIBRARY.implements(r["function"])}
)


def problem_of(number: int, real: str) -> str | None:
    """What is wrong with an altered call: it must do what the original did where that was
    defined, and be rejected without a trace otherwise."""
    case = recorded.altered(number)
    expected = deviation(case.function, case.name) or case.outcome
    with checked_indices(), Call(case, real, "recorded") as call:
        before = call.snapshot()
        try:
            call.run()
        except DeviceError as error:
            if call.snapshot() != before:
                return "rejected, but changed a tensor"
            rightly = expected != "accepted" or case.undefined
            return None if rightly else f"rejected: {error}"
        if case.undefined or expected == "implemented":
            return None
        if expected != "accepted":
            return f"not rejected (original: {case.outcome})"
        if recorded.altered_rows()[number]["alteration"] == "NULL":
            return None
        try:
            call.check()
        except AssertionError as error:
            return str(error)
    return None


@pytest.mark.parametrize("real", recorded.REALS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_altered(function: str, real: str) -> None:
    rows = [i for i, r in enumerate(recorded.altered_rows()) if r["function"] == function]
    problems = {i: problem for i in rows if (problem := problem_of(i, real))}
    assert not problems


@pytest.mark.parametrize("real", recorded.REALS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_bad_values_are_not_followed(function: str, real: str) -> None:
    """Without a check before the work, the kernels meet bad indices: they read and write nothing
    outside the tensors, which the emulation watches."""
    for number, row in enumerate(recorded.altered_rows()):
        altered = "contains" in row["alteration"] or " index " in row["alteration"]
        if row["function"] != function or not altered:
            continue
        with Call(recorded.altered(number), real, "recorded") as call:
            with suppress(DeviceError):
                call.run()
            with suppress(DeviceError):
                LIBRARY.synchronize()
