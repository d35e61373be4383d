"""Each CUDA function against its twin on the CPU, on sizes that fit no block evenly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from twins import DEVICE, RANDOM, Calls, compare, indices, normal, signs, uniform

CALLS = Calls()
call = CALLS.add


def pair(module: str, case: str = "", *shape: int, **scalars: Any) -> None:
    """Forward and backward of an element-by-element module."""
    shape = shape or (5003,)
    call(f"{module}_updateOutput", case, input=normal(*shape), **scalars)
    call(
        f"{module}_updateGradInput",
        case,
        input=normal(*shape),
        gradOutput=normal(*shape),
        output=uniform(*shape, low=0.1),
        **scalars,
    )


pair("Abs")
pair("ELU", alpha=0.7, inplace=False)
pair("HardTanh", min_val=-0.4, max_val=0.6, inplace=False)
pair("LeakyReLU", negval=0.3, inplace=False)
pair("LogSigmoid")
pair("Sigmoid")
pair("SoftPlus", beta=1.5, threshold=2)
pair("SoftShrink", **{"lambda": 0.5})
pair("Square")
pair("Tanh")
pair("Threshold", threshold=0.1, val=-2, inplace=False)
pair("HardShrink", **{"lambda": 0.5})
call("Sqrt_updateOutput", input=uniform(5003), eps=0)
call(
    "Sqrt_updateGradInput", input=normal(5003), gradOutput=normal(5003), output=uniform(5003) + 0.1
)
for dim in (1, 2, 3):
    call("GatedLinear_updateOutput", str(dim), input=normal(6, 34, 38), dim=dim)
    shape = [6, 34, 38]
    shape[dim - 1] //= 2
    call(
        "GatedLinear_updateGradInput",
        str(dim),
        input=normal(6, 34, 38),
        gradOutput=normal(*shape),
        dim=dim,
    )
for planes, shape in [(0, [67, 301]), (67, [301, 67]), (5, [3, 5, 6001]), (35, [301, 35, 3])]:
    weight = normal(max(planes, 1))
    case = "x".join(map(str, shape)) + f" {planes}"
    call("PReLU_updateOutput", case, input=normal(*shape), weight=weight, nOutputPlane=planes)
    backward = {"input": normal(*shape), "gradOutput": normal(*shape), "weight": weight}
    call("PReLU_updateGradInput", case, **backward, nOutputPlane=planes)
    call(
        "PReLU_accGradParameters",
        case,
        **backward,
        gradWeight=normal(max(planes, 1)),
        nOutputPlane=planes,
        scale=0.7,
    )
call("RReLU_updateOutput", input=normal(5003), lower=0.1, upper=0.4, train=False, inplace=False)
call(
    "RReLU_updateGradInput",
    input=normal(5003),
    gradOutput=normal(5003),
    noise=normal(5003),
    lower=0.1,
    upper=0.4,
    train=True,
    inplace=False,
)

# ---- Normalising --------------------------------------------------------------------------------

for module in ("SoftMax", "LogSoftMax"):
    for shape in (
        [7],
        [77, 43],
        [13, 401],
        [11, 900],
        [3, 2500],
        [3, 5001],
        [3, 21, 35],
        [2, 23, 9, 11],
        [2, 70, 5, 7],
        [1, 300, 5, 9],
    ):
        case = "x".join(map(str, shape))
        call(f"{module}_updateOutput", case, input=5 * normal(*shape))
        output = uniform(*shape) if module == "SoftMax" else -uniform(*shape, high=5)
        call(f"{module}_updateGradInput", case, gradOutput=normal(*shape), output=output)
for shape in ([37, 5, 617], [601, 43], [301, 35, 3], [2, 3, 9, 31]):
    planes = shape[1]
    vectors = {name: normal(planes) for name in ("weight_", "bias_", "runningMean_")}
    for train in (True, False):
        case = "x".join(map(str, shape)) + (" train" if train else "")
        statistics = {"runningVar_": uniform(planes) + 0.5}
        saved = {"saveMean_": normal(planes), "saveStd_": uniform(planes) + 0.5}
        call(
            "BatchNormalization_updateOutput",
            case,
            input_=normal(*shape) + 3,
            **vectors,
            **statistics,
            **saved,
            train=train,
            momentum=0.2,
            eps=1e-3,
        )
        call(
            "BatchNormalization_backward",
            case,
            input_=normal(*shape),
            gradOutput_=normal(*shape),
            gradWeight_=normal(planes),
            gradBias_=normal(planes),
            weight_=vectors["weight_"],
            runningMean_=vectors["runningMean_"],
            **statistics,
            **saved,
            train=train,
            scale=0.7,
            eps=1e-3,
        )
for shape, width, stride in (([3, 19, 23, 7], 5, 2), ([61, 301], 4, 1), ([9, 11, 37], 3, 4)):
    case = "x".join(map(str, shape))
    size = list(shape)
    size[1] = (size[1] - width) // stride + 1
    for power in (1, 2, 3.5):
        scalars = {"power": power, "width": width, "stride": stride, "batchMode": True}
        source = uniform(*shape) + 0.1
        call("FeatureLPPooling_updateOutput", f"{case} {power}", inputTH=source, **scalars)
        call(
            "FeatureLPPooling_updateGradInput",
            f"{case} {power}",
            gradOutputTH=normal(*size),
            inputTH=source,
            outputTH=uniform(*size) + 1,
            **scalars,
        )
for size in (1, 4, 5, 40):
    shape = [2, 19, 7, 13]
    scalars = {"size": size, "alpha": 0.3, "beta": 0.75, "k": 1.2}
    call("SpatialCrossMapLRN_updateOutput", str(size), input=normal(*shape), **scalars)
    call(
        "SpatialCrossMapLRN_updateGradInput",
        str(size),
        input=normal(*shape),
        gradOutput=normal(*shape),
        scale=uniform(*shape) + 1,
        output=normal(*shape),
        **scalars,
    )

# ---- Criterions ---------------------------------------------------------------------------------


def criterion(module: str, target: np.ndarray, source: np.ndarray, **scalars: Any) -> None:
    for average in (False, True):
        shared = {"input": source, "target": target, "sizeAverage": average, **scalars}
        call(f"{module}_updateOutput", str(average), **shared, output=normal(1))
        call(f"{module}_updateGradInput", str(average), **shared)


COUNT = 40011
criterion("AbsCriterion", normal(COUNT), normal(COUNT))
criterion("MSECriterion", normal(COUNT), normal(COUNT))
criterion("SmoothL1Criterion", normal(COUNT), 2 * normal(COUNT))
criterion("DistKLDivCriterion", normal(COUNT), normal(COUNT))
criterion("SoftMarginCriterion", signs(COUNT), normal(COUNT))
criterion("MarginCriterion", signs(COUNT), normal(COUNT), margin=0.8)
criterion("BCECriterion", uniform(COUNT), uniform(COUNT, low=0.01, high=0.99), weights=None)
criterion("BCECriterion", uniform(700), uniform(700, low=0.01, high=0.99), weights=normal(700))
call("L1Cost_updateOutput", input=normal(COUNT), output=normal(1))
call("L1Cost_updateGradInput", input=normal(COUNT))
for classes in (7, 613):
    for average in (False, True):
        total = uniform(1) + 1
        shared = {"sizeAverage": average, "weights": uniform(classes), "total_weight": total}
        flat = {"input": normal(97, classes), "target": indices(classes, 97), "ignore_index": 3}
        case = f"{classes} {average}"
        call("ClassNLLCriterion_updateOutput", case, **flat, output=normal(1), **shared)
        to = normal(97, classes)
        call("ClassNLLCriterion_updateGradInput", case, **flat, gradInput=to, **shared)
        planes = {"input": normal(3, classes, 5, 7), "target": indices(classes, 3, 5, 7)}
        call("SpatialClassNLLCriterion_updateOutput", case, **planes, output=normal(1), **shared)
        to = normal(3, classes, 5, 7)
        call("SpatialClassNLLCriterion_updateGradInput", case, **planes, gradInput=to, **shared)
        shared = {"input": normal(29, classes), "sizeAverage": average, "margin": 0.9}
        shared |= {"target": indices(classes, 29), "weights": uniform(classes)}
        for p in (1, 2):
            output = normal(1)
            call("MultiMarginCriterion_updateOutput", f"{case} {p}", **shared, p=p, output=output)
            call("MultiMarginCriterion_updateGradInput", f"{case} {p}", **shared, p=p)
call(
    "MultiMarginCriterion_updateOutput",
    "wide",
    input=normal(3, 3001),
    target=indices(3001, 3),
    output=normal(1),
    weights=None,
    sizeAverage=True,
    p=1,
    margin=1,
)
for classes in (11, 39):
    target = indices(classes, 17, classes)
    target[np.arange(17), RANDOM.integers(0, classes, 17)] = 0
    marks = np.zeros((17, classes))
    for row, wanted in enumerate(target):
        listed = wanted[: np.argmin(wanted)]
        marks[row, listed - 1] = 1
    shared = {"input": normal(17, classes), "target": target, "sizeaverage": True}
    case = str(classes)
    call("MultiLabelMarginCriterion_updateOutput", case, **shared, output=normal(1))
    call("MultiLabelMarginCriterion_updateGradInput", case, **shared, istarget=marks)

# ---- Linear and sparse --------------------------------------------------------------------------

for columns in (3, 45, 200):
    # Enough indices for several tiles of the sort, enough rows for two of its digits.
    for rows, count in ((9, 301), (700, 4300)):
        for frequency in (False, True):
            call(
                "LookupTable_accGradParameters",
                f"{columns} {rows} {frequency}",
                input=indices(rows, count),
                gradOutput=normal(count, columns),
                gradWeight=normal(rows, columns),
                scaleGradByFreq=frequency,
                paddingValue=5,
                scale=0.7,
            )
    for p in (1, 2, 2.5):
        call(
            "LookupTable_renorm",
            f"{columns} {p}",
            idx=indices(50, 70),
            weight=normal(50, columns),
            maxNorm=2,
            normType=p,
        )
    offsets = np.sort(np.concatenate([[1], indices(400, 60)]))
    bags = np.searchsorted(offsets, np.arange(1, 402), side="right")
    lengths = np.diff(np.append(offsets, 402))
    for mode in (0, 1):
        table = {"input": indices(300, 401), "mode": mode}
        call(
            "LookupTableBag_updateOutput",
            f"{columns} {mode}",
            **table,
            offsets=offsets,
            weight=normal(300, columns),
            seq_length=np.empty(0) if mode else None,
        )
        call(
            "LookupTableBag_accGradParameters",
            f"{columns} {mode}",
            **table,
            gradOutput=normal(61, columns),
            gradWeight=normal(300, columns),
            offset2bag=bags,
            scaleGradByFreq=mode == 1,
            seq_length=lengths,
            scale_=0.3,
        )
for outputs in (5, 50):
    inputs, batch = 70, 23
    entries = np.stack([indices(batch, 900), indices(inputs, 900), normal(900)], 1)
    entries[::50, 2] = 0
    matrices = {"weight": normal(outputs, inputs), "bias": normal(outputs)}
    gradients = {"gradWeight": normal(outputs, inputs), "gradBias": normal(outputs)}
    case = str(outputs)
    call(
        "SparseLinear_updateOutput", case, input=entries, output=normal(batch, outputs), **matrices
    )
    last = entries[entries[:, 1] < 20]
    call("SparseLinear_zeroGradParameters", case, **gradients, lastInput=last)
    call(
        "SparseLinear_updateParameters",
        case,
        **matrices,
        **gradients,
        lastInput=last,
        learningRate=0.1,
    )
    gradients |= {"gradOutput": normal(batch, outputs), "weightDecay": 0.1, "scale": 0.7}
    call("SparseLinear_accGradParameters", case, input=entries, **gradients, **matrices)
    legacy = np.stack([indices(inputs, batch, 31), normal(batch, 31)], 2)
    call("SparseLinear_legacyUpdateOutput", case, input=legacy, **matrices)
    call("SparseLinear_legacyAccGradParameters", case, input=legacy, **gradients, **matrices)
for outputs in (1, 7, 67):
    for extra in (0, 4):
        lengths = RANDOM.integers(0, 9, 300)
        count = int(lengths.sum())
        shared = {
            "keys": indices(60, count, first=0),
            "keysOffset": 2,
            "values": normal(count),
            "sizes": lengths,
            "cumSumSizes": np.cumsum(lengths),
        }
        weight = uniform(63, extra + outputs) + 0.1
        matrices = {"weight": weight, "bias": normal(outputs)}
        case = f"{outputs} {extra}"
        call("IndexLinear_updateOutput", case, **shared, **matrices, train=1)
        call("IndexLinear_updateOutput", f"{case} evaluation", **shared, **matrices, train=0)
        gradients = {**shared, **matrices, "gradOutput": 0.1 * normal(300, outputs)}
        rates = {"weightDecay": 0.01, "scale": 0.05}
        call("IndexLinear_accGradParameters", case, **gradients, **rates, gradBias=normal(outputs))
        call("IndexLinear_accUpdateGradParameters", case, **gradients, **rates)
        call(
            "IndexLinear_updateParameters",
            case,
            **matrices,
            gradWeight=normal(90, outputs * (2 if extra else 1)),
            gradBias=normal(outputs),
            runningKeys=indices(60, 90, first=0),
            cumSumSizes=np.arange(90),
            keysOffset=2,
            weightDecay=0.01,
            learningRate=0.05,
        )

matrices = {"weight": normal(45, 67), "bias": normal(45)}
rows = {"input": normal(83, 67), "gradOutput": normal(83, 45)}
call("Linear_updateOutput", input=rows["input"], **matrices)
call("Linear_updateGradInput", **rows, gradInput=normal(83, 67), weight=matrices["weight"])
call(
    "Linear_accGradParameters",
    **rows,
    **matrices,
    gradWeight=normal(45, 67),
    gradBias=normal(45),
    scale=0.7,
)

# ---- Recurrent ----------------------------------------------------------------------------------

BATCH, UNITS = 37, 53
for biased in (False, True):
    case = "biases" if biased else ""
    for gates, module in ((3, "GRUFused"), (4, "LSTMFused")):
        call(
            f"{module}_updateOutput",
            case,
            input=normal(BATCH, gates * UNITS),
            hidden=normal(BATCH, gates * UNITS),
            bias1=normal(gates * UNITS) if biased else None,
            bias2=normal(gates * UNITS) if biased else None,
            hx=normal(BATCH, UNITS),
            cx=normal(BATCH, UNITS),
        )
call("GRUFused_updateGradInput", gradOutput=normal(BATCH, UNITS), storage=normal(BATCH, 5 * UNITS))
call(
    "LSTMFused_updateGradInput",
    storage=normal(BATCH, 4 * UNITS),
    prevC=normal(BATCH, UNITS),
    cy=normal(BATCH, UNITS),
    gradOutput=normal(BATCH, UNITS),
    gradOutputCell=normal(BATCH, UNITS),
)


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize(("function", "given"), CALLS)
def test_twins(function: str, given: dict[str, Any], real: str) -> None:
    compare(function, given, real)
