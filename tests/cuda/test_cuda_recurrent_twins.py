"""Recurrent cells and layers on CUDA against their twins on the CPU."""

from __future__ import annotations

from typing import Any

import pytest
from support.bounds import AROUND_A_SUM, FUNCTION
from twins import DEVICE, Calls, Limit, compare, normal, uniform

CALLS = Calls()
call = CALLS.add

BATCH, UNITS = 37, 53
# A gate is off by the rounding of the sum of up to four numbers; a cell combines a few gates.
CELL, PRODUCT = 3 * FUNCTION + 4 * AROUND_A_SUM, 2**6
for biased in (False, True):
    case = "biases" if biased else ""
    for gates, module in ((3, "GRUFused"), (4, "LSTMFused")):
        call(
            f"{module}_updateOutput",
            case,
            CELL,
            PRODUCT,
            input=normal(BATCH, gates * UNITS),
            hidden=normal(BATCH, gates * UNITS),
            bias1=normal(gates * UNITS) if biased else None,
            bias2=normal(gates * UNITS) if biased else None,
            hx=normal(BATCH, UNITS),
            cx=normal(BATCH, UNITS),
        )
call(
    "GRUFused_updateGradInput",
    "",
    CELL,
    PRODUCT,
    gradOutput=normal(BATCH, UNITS),
    storage=uniform(BATCH, 5 * UNITS),
)
call(
    "LSTMFused_updateGradInput",
    "",
    CELL,
    PRODUCT,
    storage=uniform(BATCH, 4 * UNITS),
    prevC=normal(BATCH, UNITS),
    cy=normal(BATCH, UNITS),
    gradOutput=normal(BATCH, UNITS),
    gradOutputCell=normal(BATCH, UNITS),
)
STEPS = 3
# What a step rounds, the next one multiplies by the weights and adds up, and the gates' slopes are
# at most 1.
LAYER = STEPS * (CELL + UNITS)
for gates, module in ((3, "GRUSteps"), (4, "LSTMSteps")):
    weight = normal(gates * UNITS, UNITS) / UNITS
    for reverse in (False, True):
        layer = {"weight": weight, "reverse": reverse}
        for biased in (False, True):
            call(
                f"{module}_updateOutput",
                f"{reverse}" + (" biases" if biased else ""),
                LAYER,
                PRODUCT,
                **{"gates" if gates == 4 else "input": normal(STEPS, BATCH, gates * UNITS)},
                **layer,
                bias1=normal(gates * UNITS) if biased else None,
                bias2=normal(gates * UNITS) if biased else None,
                output=normal(STEPS + 1, BATCH, UNITS),
                cells=normal(STEPS + 1, BATCH, UNITS),
            )
        for given in (None, normal(STEPS, BATCH, UNITS)):
            call(
                f"{module}_updateGradInput",
                f"{reverse}" + ("" if given is None else " outputs"),
                LAYER,
                PRODUCT,
                gates=uniform(STEPS, BATCH, 4 * UNITS),
                storage=uniform(STEPS, BATCH, 5 * UNITS),
                cells=normal(STEPS + 1, BATCH, UNITS),
                gradOutput=given,
                gradState=normal(BATCH, UNITS),
                gradCell=normal(BATCH, UNITS),
                **layer,
            )
for reverse in (False, True):
    for rectify in (False, True):
        layer = {"weight": normal(UNITS, UNITS) / UNITS, "rectify": rectify, "reverse": reverse}
        for bias in (None, normal(UNITS)):
            call(
                "RNNSteps_updateOutput",
                f"{reverse} {rectify}" + ("" if bias is None else " bias"),
                LAYER,
                PRODUCT,
                input=normal(STEPS, BATCH, UNITS),
                bias=bias,
                output=normal(STEPS + 1, BATCH, UNITS),
                **layer,
            )
        for given in (None, normal(STEPS, BATCH, UNITS)):
            call(
                "RNNSteps_updateGradInput",
                f"{reverse} {rectify}" + ("" if given is None else " outputs"),
                LAYER,
                PRODUCT,
                output=normal(STEPS + 1, BATCH, UNITS),
                gradOutput=given,
                gradState=normal(BATCH, UNITS),
                **layer,
            )
for gates, module in ((3, "SeqGRU"), (4, "SeqLSTM")):
    weight = normal(UNITS, gates * UNITS) / UNITS
    for case, mask in (("", None), ("padding", (uniform(STEPS, BATCH) < 0.3) * 1.0)):
        call(
            f"{module}_updateOutput",
            case,
            LAYER,
            PRODUCT,
            gates=normal(STEPS, BATCH, gates * UNITS),
            weight=weight,
            bias=None if mask is None else normal(gates * UNITS),
            mask=mask,
            output=normal(STEPS + 1, BATCH, UNITS),
            cells=normal(STEPS + 1, BATCH, UNITS),
        )
        call(
            f"{module}_updateGradInput",
            case,
            LAYER,
            PRODUCT,
            gates=uniform(STEPS, BATCH, gates * UNITS),
            weight=weight,
            mask=mask,
            output=normal(STEPS + 1, BATCH, UNITS),
            cells=normal(STEPS + 1, BATCH, UNITS),
            gradOutput=None if mask is None else normal(STEPS, BATCH, UNITS),
            gradState=normal(BATCH, UNITS),
            gradCell=normal(BATCH, UNITS),
        )


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize(("function", "given", "limit"), CALLS)
def test_twins(function: str, given: dict[str, Any], limit: Limit, real: str) -> None:
    compare(function, given, limit, real)
