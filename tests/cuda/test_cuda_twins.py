"""Each CUDA function against its twin on the CPU, on sizes that fit no block evenly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.bounds import AROUND_A_SUM, FUNCTION
from twins import (
    DEVICE,
    RANDOM,
    Calls,
    Limit,
    compare,
    indices,
    normal,
    quarters,
    signs,
    uniform,
)

CALLS = Calls()
call = CALLS.add


def pair(module: str, roundings: float = 0, **scalars: Any) -> None:
    """Forward and backward of an element-by-element module."""
    call(f"{module}_updateOutput", "", roundings, input=normal(5003), **scalars)
    call(
        f"{module}_updateGradInput",
        "",
        roundings,
        input=normal(5003),
        gradOutput=normal(5003),
        output=uniform(5003, low=0.1),
        **scalars,
    )


ELEMENT = 2 * FUNCTION + 8
"""Roundings of a function of an exponential: the last are of its argument, a number up to 8."""

pair("Abs")
pair("ELU", ELEMENT, alpha=0.7, inplace=False)
pair("GELU", ELEMENT)
pair("GELUTanh", ELEMENT)
pair("HardTanh", min_val=-0.4, max_val=0.6, inplace=False)
pair("LeakyReLU", negval=0.3, inplace=False)
pair("LogSigmoid", ELEMENT)
pair("Sigmoid", ELEMENT)
pair("SiLU", ELEMENT)
pair("SoftPlus", ELEMENT, beta=1.5, threshold=2)
pair("SoftShrink", **{"lambda": 0.5})
pair("Square")
pair("Tanh", ELEMENT)
pair("Threshold", threshold=0.1, val=-2, inplace=False)
pair("HardShrink", **{"lambda": 0.5})
call("Sqrt_updateOutput", "", AROUND_A_SUM, input=uniform(5003), eps=0)
call(
    "Sqrt_updateGradInput",
    "",
    AROUND_A_SUM,
    input=normal(5003),
    gradOutput=normal(5003),
    output=uniform(5003) + 0.1,
)
for dim in (1, 2, 3):
    call("GatedLinear_updateOutput", str(dim), ELEMENT, input=normal(6, 34, 38), dim=dim)
    shape = [6, 34, 38]
    shape[dim - 1] //= 2
    call(
        "GatedLinear_updateGradInput",
        str(dim),
        ELEMENT,
        least=2**4,  # the product of two numbers
        input=normal(6, 34, 38),
        gradOutput=normal(*shape),
        dim=dim,
    )
for planes, shape in [(0, [67, 301]), (67, [301, 67]), (5, [3, 5, 6001]), (35, [301, 35, 3])]:
    weight = quarters(max(planes, 1))
    case = "x".join(map(str, shape)) + f" {planes}"
    call("PReLU_updateOutput", case, input=quarters(*shape), weight=weight, nOutputPlane=planes)
    backward = {"input": quarters(*shape), "gradOutput": quarters(*shape), "weight": weight}
    call("PReLU_updateGradInput", case, **backward, nOutputPlane=planes)
    call(
        "PReLU_accGradParameters",
        case,
        **backward,
        gradWeight=quarters(max(planes, 1)),
        nOutputPlane=planes,
        scale=0.75,
    )
in_use = {"lower": 0.1, "upper": 0.4, "train": False, "inplace": False}
call("RReLU_updateOutput", "", AROUND_A_SUM, input=normal(5003), **in_use)
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
for count, p in ((5003, 0.3), (7, 0.5), (64, 1), (65, 0)):
    call("Dropout_updateOutput", f"{count} {p}", input=normal(count), p=p, seed=-5 - 2**40)

# ---- Normalising --------------------------------------------------------------------------------

for module in ("SoftMax", "LogSoftMax"):
    for shape in (
        [7],
        [77, 10],
        [77, 43],
        [13, 64],
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
        axis = (0, 1, 0, 1)[len(shape) - 1]
        source, gradients = 5 * normal(*shape), normal(*shape)
        # The largest element is subtracted first: an exponential is off by that rounding as well.
        roundings = shape[axis] + 2 * FUNCTION + np.ptp(source) + AROUND_A_SUM
        is_share = module == "SoftMax"
        call(f"{module}_updateOutput", case, roundings, int(not is_share), input=source)
        output = uniform(*shape) if is_share else -uniform(*shape, high=5)
        shares, large = output if is_share else np.exp(output), np.abs(gradients)
        if is_share:
            least = shares * (large + (large * shares).sum(axis, keepdims=True))
        else:
            least = large + shares * large.sum(axis, keepdims=True)
        roundings = shape[axis] + FUNCTION + AROUND_A_SUM
        backward = {"gradOutput": gradients, "output": output}
        call(f"{module}_updateGradInput", case, roundings, least, **backward)
for shape in ([37, 5, 617], [601, 43], [301, 35, 3], [2, 3, 9, 31]):
    planes = shape[1]
    count = math.prod(shape) // planes
    for train in (True, False):
        case = "x".join(map(str, shape)) + (" train" if train else "")
        given = {"weight_": normal(planes), "train": train, "eps": 1e-3}
        given |= {"runningMean_": quarters(planes), "runningVar_": uniform(planes) + 0.5}
        given |= {"saveMean_": quarters(planes), "saveStd_": uniform(planes) + 0.5}
        call(
            "BatchNormalization_updateOutput",
            case,
            (count if train else 0) + FUNCTION + 2 * AROUND_A_SUM,
            2**5,  # of the batch, mean 3 and variance 1.5; a weight up to 4
            input_=3 + quarters(*shape),
            bias_=normal(planes),
            momentum=0.2,
            **given,
        )
        # With a mean that is a multiple of 1/4, sums are exact.
        call(
            "BatchNormalization_backward",
            case,
            FUNCTION + 2 * AROUND_A_SUM,
            {"gradInput_": 2**9, "gradWeight_": 4, "gradBias_": 4},
            input_=quarters(*shape),
            gradOutput_=quarters(*shape),
            gradWeight_=normal(planes),
            gradBias_=normal(planes),
            scale=0.75,
            **given,
        )
for rows, columns in ((67, 301), (3, 5001), (5003, 3), (5, 1)):
    for affine in (False, True):
        case = f"{rows}x{columns}" + (" affine" if affine else "")
        layer = {"weight": normal(columns) if affine else None, "eps": 1e-3}
        call(
            "LayerNormalization_updateOutput",
            case,
            columns + FUNCTION + 2 * AROUND_A_SUM,
            2**7,  # means of 3, deviations by 1 / sqrt(eps), a weight up to 4
            input=3 + quarters(rows, columns),
            bias=normal(columns) if affine else None,
            **layer,
        )
        call(
            "LayerNormalization_updateGradInput",
            case,
            columns + FUNCTION + 2 * AROUND_A_SUM,
            2**9,
            input=quarters(rows, columns),
            gradOutput=quarters(rows, columns),
            save_mean=quarters(rows),
            save_std=uniform(rows) + 0.5,
            **layer,
        )
for shape, groups in (
    ((67, 12, 19, 3), 4),
    ((3, 8, 5001), 8),
    ((301, 33), 1),
    ((5, 40, 7), 2),
    ((1, 1), 1),
):
    terms = math.prod(shape) // (shape[0] * groups)
    for affine in (False, True):
        case = f"{'x'.join(map(str, shape))} {groups}" + (" affine" if affine else "")
        weight = normal(shape[1]) if affine else None
        call(
            "GroupNormalization_updateOutput",
            case,
            terms + FUNCTION + 2 * AROUND_A_SUM,
            2**7,  # means of 3, deviations by 1 / sqrt(eps), a weight up to 4
            input=3 + quarters(*shape),
            weight=weight,
            bias=normal(shape[1]) if affine else None,
            groups=groups,
            eps=1e-3,
        )
        call(
            "GroupNormalization_backward",
            case,
            math.prod(shape) // shape[1] + terms + FUNCTION + 2 * AROUND_A_SUM,
            2**9,
            input=quarters(*shape),
            gradOutput=quarters(*shape),
            gradInput=np.empty(0),
            gradWeight=normal(shape[1]),
            gradBias=normal(shape[1]),
            weight=weight,
            save_mean=quarters(shape[0], groups),
            save_std=uniform(shape[0], groups) + 0.5,
            groups=groups,
            scale=0.75,
        )
for batch, centres in ((67, 20), (3, 3001), (301, 3), (1, 1)):
    shape = (batch, centres)
    mixture = {
        "target1": normal(batch),
        "target2": normal(batch),
        "weight": uniform(*shape, low=0.01) / centres,
        "mean1": normal(*shape),
        "mean2": normal(*shape),
        "std1": uniform(*shape, low=0.5, high=2),
        "std2": uniform(*shape, low=0.5, high=2),
        "correlation": uniform(*shape, low=-0.7, high=0.7),
    }
    # Distances of up to 8 over deviations from 1/2, squared, over the rest from 1/2.
    roundings = centres + 4 * FUNCTION + 2**10
    case = f"{batch}x{centres}"
    call(
        "GaussianMixture_updateOutput",
        case,
        roundings,
        2**6,
        **mixture,
        responsibility=np.empty(0),
    )
    for gradient in (normal(batch), normal(1)):
        call(
            "GaussianMixture_updateGradInput",
            f"{case} {gradient.size}",
            roundings,
            2**9,
            **mixture,
            gradOutput=gradient,
            gradWeight=np.empty(0),
            gradMean1=np.empty(0),
            gradMean2=np.empty(0),
            gradStd1=np.empty(0),
            gradStd2=None,
            gradCorrelation=np.empty(0),
        )
for shape, width, stride in (([3, 19, 23, 7], 5, 2), ([61, 301], 4, 1), ([9, 11, 37], 3, 4)):
    case = "x".join(map(str, shape))
    size = list(shape)
    size[1] = (size[1] - width) // stride + 1
    for power in (1, 2, 3.5):
        scalars = {"power": power, "width": width, "stride": stride, "batchMode": True}
        source = uniform(*shape) + 0.1
        roundings = width + 2 * FUNCTION + 2 * AROUND_A_SUM
        shared = {"inputTH": source, **scalars}
        call("FeatureLPPooling_updateOutput", f"{case} {power}", roundings, 0, **shared)
        call(
            "FeatureLPPooling_updateGradInput",
            f"{case} {power}",
            roundings,
            4 * width,  # terms, each up to the largest gradient
            gradOutputTH=normal(*size),
            outputTH=uniform(*size) + 1,
            **shared,
        )
for size in (1, 4, 5, 40):
    shape = [2, 19, 7, 13]
    scalars = {"size": size, "alpha": 0.3, "beta": 0.75, "k": 1.2}
    roundings = size + 2 * FUNCTION + AROUND_A_SUM
    call(
        "SpatialCrossMapLRN_updateOutput", str(size), roundings, 0, input=normal(*shape), **scalars
    )
    call(
        "SpatialCrossMapLRN_updateGradInput",
        str(size),
        roundings,
        2**6,  # the product of three numbers
        input=normal(*shape),
        gradOutput=normal(*shape),
        scale=uniform(*shape) + 1,
        output=normal(*shape),
        **scalars,
    )

# ---- Criterions ---------------------------------------------------------------------------------


def criterion(
    module: str,
    target: np.ndarray,
    source: np.ndarray,
    roundings: float = 0,
    least: float = 0,
    case: str = "",
    **scalars: Any,
) -> None:
    """``least`` is the sum of the magnitudes of the loss."""
    for average in (False, True):
        shared = {"input": source, "target": target, "sizeAverage": average, **scalars}
        share = least / source.size if average else least
        # An average divides the sum, which may be exact.
        loss, slopes = roundings + AROUND_A_SUM, min(roundings, FUNCTION) + 2 * AROUND_A_SUM
        case_name = f"{case} {average}".strip()
        call(f"{module}_updateOutput", case_name, loss, share, **shared, output=normal(1))
        call(f"{module}_updateGradInput", case_name, slopes, 0, **shared)


COUNT = 40011
TERMS = COUNT + FUNCTION  # of a sum that is not exact
criterion("AbsCriterion", quarters(COUNT), quarters(COUNT))
criterion("MSECriterion", quarters(COUNT), quarters(COUNT))
criterion("SmoothL1Criterion", quarters(COUNT), quarters(COUNT))
criterion("MarginCriterion", signs(COUNT), quarters(COUNT), margin=0.75)
criterion("SoftMarginCriterion", signs(COUNT), normal(COUNT), TERMS)
targets, logarithms = uniform(COUNT), normal(COUNT)
size = np.abs(targets * np.log(targets)).sum() + np.abs(targets * logarithms).sum()
criterion("DistKLDivCriterion", targets, logarithms, TERMS, size)
for count in (COUNT, 700):
    odds, weights = uniform(count, low=0.01, high=0.99), None if count == COUNT else normal(700)
    # A term is off by the rounding of 1 - odds too, whose logarithm may be near 0.
    size = ((1 - np.log(odds * (1 - odds))) * (1 if weights is None else np.abs(weights))).sum()
    arguments = {"roundings": count + FUNCTION, "least": size, "weights": weights}
    criterion("BCECriterion", uniform(count), odds, case=str(count), **arguments)
call("L1Cost_updateOutput", input=quarters(COUNT), output=normal(1))
call("L1Cost_updateGradInput", input=normal(COUNT))
for classes in (7, 613):
    for average in (False, True):
        total = uniform(1) + 1
        weights = np.abs(quarters(classes))
        # Sums are exact; an average divides them by the total weight.
        shared = {"sizeAverage": average, "weights": weights, "total_weight": total}
        shared |= {"roundings": AROUND_A_SUM, "least": 0}
        flat = {"input": quarters(97, classes), "target": indices(classes, 97), "ignore_index": 3}
        case = f"{classes} {average}"
        call("ClassNLLCriterion_updateOutput", case, **flat, output=normal(1), **shared)
        to = normal(97, classes)
        call("ClassNLLCriterion_updateGradInput", case, **flat, gradInput=to, **shared)
        planes = {"input": quarters(3, classes, 5, 7), "target": indices(classes, 3, 5, 7)}
        call("SpatialClassNLLCriterion_updateOutput", case, **planes, output=normal(1), **shared)
        to = normal(3, classes, 5, 7)
        call("SpatialClassNLLCriterion_updateGradInput", case, **planes, gradInput=to, **shared)
        shared = {"input": quarters(29, classes), "sizeAverage": average, "margin": 0.75}
        shared |= {"target": indices(classes, 29), "weights": weights}
        for p in (1, 2):
            loss = {"roundings": 29 * classes + AROUND_A_SUM, "least": 0, "output": normal(1)}
            call("MultiMarginCriterion_updateOutput", f"{case} {p}", p=p, **shared, **loss)
            slopes = {"roundings": classes + AROUND_A_SUM, "least": 0}
            call("MultiMarginCriterion_updateGradInput", f"{case} {p}", p=p, **shared, **slopes)
call(
    "MultiMarginCriterion_updateOutput",
    "wide",
    3 * 3001 + AROUND_A_SUM,
    0,
    input=quarters(3, 3001),
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
    shared = {"input": quarters(17, classes), "target": target, "sizeaverage": True}
    case, output = str(classes), normal(1)
    terms = 17 * classes**2 + AROUND_A_SUM
    call("MultiLabelMarginCriterion_updateOutput", case, terms, 0, **shared, output=output)
    # As many shares of 1 / (17 classes), for each class that is listed, of each sign.
    terms = classes**2 + AROUND_A_SUM
    call("MultiLabelMarginCriterion_updateGradInput", case, terms, 1, **shared, istarget=marks)

# ---- Linear and sparse --------------------------------------------------------------------------

for columns in (3, 45, 200):
    # Enough indices for several tiles of the sort, enough rows for two of its digits.
    for rows, count in ((9, 301), (700, 4300)):
        for frequency in (False, True):
            looked = indices(rows, count)
            most = np.bincount(looked).max()
            call(
                "LookupTable_accGradParameters",
                f"{columns} {rows} {frequency}",
                most + AROUND_A_SUM if frequency else 0,
                4,  # a gradient, and what was there
                input=looked,
                gradOutput=quarters(count, columns),
                gradWeight=quarters(rows, columns),
                scaleGradByFreq=frequency,
                paddingValue=5,
                scale=0.75,
            )
    for p in (1, 2, 2.5):
        call(
            "LookupTable_renorm",
            f"{columns} {p}",
            columns + 2 * FUNCTION + AROUND_A_SUM,
            0,
            idx=indices(50, 70),
            weight=normal(50, columns),
            maxNorm=2,
            normType=p,
        )
    for shape in ((401,), (5, 83)):
        call(
            "LookupTable_updateOutput",
            f"{columns} {len(shape)}",
            input=indices(50, *shape),
            weight=normal(50, columns),
        )
    offsets = np.sort(np.concatenate([[1], indices(400, 60)]))
    bags = np.searchsorted(offsets, np.arange(1, 402), side="right")
    lengths = np.diff(np.append(offsets, 402))
    for mode in (0, 1):
        table = {"input": indices(300, 401), "mode": mode}
        most = np.bincount(table["input"]).max()
        call(
            "LookupTableBag_updateOutput",
            f"{columns} {mode}",
            AROUND_A_SUM * mode,
            0,
            **table,
            offsets=offsets,
            weight=quarters(300, columns),
            seq_length=np.empty(0) if mode else None,
        )
        call(
            "LookupTableBag_accGradParameters",
            f"{columns} {mode}",
            (most + 2 * AROUND_A_SUM) * mode,
            2 * (most + 1),
            **table,
            gradOutput=quarters(61, columns),
            gradWeight=quarters(300, columns),
            offset2bag=bags,
            scaleGradByFreq=mode == 1,
            seq_length=lengths,
            scale_=0.25,
        )
for outputs in (5, 50):
    inputs, batch = 70, 23
    entries = np.stack([indices(batch, 900), indices(inputs, 900), quarters(900)], 1)
    entries[::50, 2] = 0
    matrices = {"weight": quarters(outputs, inputs), "bias": quarters(outputs)}
    gradients = {"gradWeight": quarters(outputs, inputs), "gradBias": quarters(outputs)}
    case = str(outputs)
    call(
        "SparseLinear_updateOutput",
        case,
        input=entries,
        output=quarters(batch, outputs),
        **matrices,
    )
    last = entries[entries[:, 1] < 20]
    call("SparseLinear_zeroGradParameters", case, **gradients, lastInput=last)
    call(
        "SparseLinear_updateParameters",
        case,
        **matrices,
        **gradients,
        lastInput=last,
        learningRate=0.125,
    )
    gradients |= {"gradOutput": quarters(batch, outputs), "weightDecay": 0.125, "scale": 0.75}
    call("SparseLinear_accGradParameters", case, input=entries, **gradients, **matrices)
    legacy = np.stack([indices(inputs, batch, 31), quarters(batch, 31)], 2)
    call("SparseLinear_legacyUpdateOutput", case, input=legacy, **matrices)
    call("SparseLinear_legacyAccGradParameters", case, input=legacy, **gradients, **matrices)
for outputs in (1, 7, 67):
    for extra in (0, 4):
        lengths = RANDOM.integers(0, 9, 300)
        count = int(lengths.sum())
        shared = {
            "keys": indices(60, count, first=0),
            "keysOffset": 2,
            "values": quarters(count),
            "sizes": lengths,
            "cumSumSizes": np.cumsum(lengths),
        }
        # Without extra columns nothing is scaled: sums are exact. With them, a row adds up to eight
        # products of numbers up to 4, and an update decays a row once for each of its keys.
        weight = uniform(63, extra + outputs) + 0.1 if extra else quarters(63, outputs)
        matrices, case = {"weight": weight, "bias": quarters(outputs)}, f"{outputs} {extra}"
        forward = {**shared, **matrices, "roundings": 2 * AROUND_A_SUM + 8 if extra else 0}
        forward["least"] = 2**6
        call("IndexLinear_updateOutput", case, train=1, **forward)
        call("IndexLinear_updateOutput", f"{case} evaluation", train=0, **forward)
        gradients = {**shared, **matrices, "gradOutput": quarters(300, outputs) / 8}
        rates = {"weightDecay": 0.01, "scale": 0.05}
        limits = {"roundings": np.bincount(shared["keys"]).max() + 2 * AROUND_A_SUM, "least": 2**6}
        backward = {**gradients, **rates, **limits}
        call("IndexLinear_accGradParameters", case, **backward, gradBias=quarters(outputs))
        call("IndexLinear_accUpdateGradParameters", case, **backward)
        call(
            "IndexLinear_updateParameters",
            case,
            **matrices,
            **limits,
            gradWeight=quarters(90, outputs * (2 if extra else 1)),
            gradBias=quarters(outputs),
            runningKeys=indices(60, 90, first=0),
            cumSumSizes=np.arange(90),
            keysOffset=2,
            weightDecay=0.01,
            learningRate=0.05,
        )

matrices = {"weight": quarters(45, 67), "bias": quarters(45)}
rows = {"input": quarters(83, 67), "gradOutput": quarters(83, 45)}
call("Linear_updateOutput", input=rows["input"], **matrices)
call("Linear_updateGradInput", **rows, gradInput=quarters(83, 67), weight=matrices["weight"])
call(
    "Linear_accGradParameters",
    **rows,
    **matrices,
    gradWeight=quarters(45, 67),
    gradBias=quarters(45),
    scale=0.75,
)


@pytest.mark.parametrize("real", DEVICE)
@pytest.mark.parametrize(("function", "given", "limit"), CALLS)
def test_twins(function: str, given: dict[str, Any], limit: Limit, real: str) -> None:
    compare(function, given, limit, real)
