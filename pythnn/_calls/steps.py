"""Calls of C functions that are made one after the other, in one call from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._library import ffi, last_error, native
from .._table import STEPS

__all__ = ["StepCall", "Steps"]


@dataclass(frozen=True)
class StepCall:
    """A call: the name of a C function, and its arguments as C objects and numbers."""

    function: str
    arguments: tuple[Any, ...]


class Steps:
    """Calls in memory of C; their arguments have to live as long."""

    def __init__(self, calls: Sequence[StepCall]) -> None:
        words = ffi.new("pythnn_Word[]", sum(len(call.arguments) for call in calls))
        steps = ffi.new("pythnn_Step[]", len(calls))
        first = 0
        for step, call in zip(steps, calls, strict=True):
            step.function, fields = STEPS[call.function]
            step.arguments = words + first
            for place, (field, value) in enumerate(zip(fields, call.arguments, strict=True), first):
                setattr(words[place], field, _converted(field, value))
            first += len(fields)
        self.c, self._words, self._count = steps, words, len(calls)
        self._calls = calls

    def __len__(self) -> int:
        return self._count

    def run(self) -> None:
        """Makes all calls. Raises THNNError for the first that fails; the others are not made."""
        if native.pythnn_runSteps(self.c, self._count):
            raise last_error("Program")

    def run_one(self, index: int) -> None:
        """Makes one of the calls."""
        if native.pythnn_runSteps(self.c + index, 1):
            raise last_error("Program")


def _converted(field: str, value: Any) -> Any:
    if field == "object":
        return ffi.NULL if value is None else value
    return int(value) if field == "whole" else float(value)
