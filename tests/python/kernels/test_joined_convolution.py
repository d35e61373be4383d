"""Convolutions with what follows them: the numbers of the functions one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import State, Tensor, THNNArgumentError, ffi, lib, thnn

ROWS = [
    "",
    "pointwise",
    "direct",
    "lines",
    "packedProducts",
    "linear",
    "gemm",
    "winograd",
    "winograd4",
    "fourier",
]
GEOMETRIES = [
    # image planes, map planes, height, width, kernel, stride, pad, dilation
    (3, 5, 9, 20, 3, 1, 1, 1),
    (17, 33, 14, 13, 3, 1, 1, 1),
    (16, 16, 9, 21, 3, 1, 2, 2),
    (20, 70, 13, 11, 1, 1, 0, 1),
    (9, 40, 7, 7, 1, 2, 0, 1),
    (4, 6, 11, 12, 5, 2, 2, 1),
    (6, 4, 3, 3, 3, 1, 0, 1),
]


ACTIVATIONS: list[tuple[int, str, tuple[float, ...]]] = [
    (lib.THNN_ACTIVATION_NONE, "", ()),
    (lib.THNN_ACTIVATION_THRESHOLD, "Threshold", (0, 0)),
    (lib.THNN_ACTIVATION_THRESHOLD, "Threshold", (0.5, -1)),
    (lib.THNN_ACTIVATION_LEAKY_RELU, "LeakyReLU", (0.1,)),
    (lib.THNN_ACTIVATION_HARD_TANH, "HardTanh", (-1, 0.75)),
    (lib.THNN_ACTIVATION_ELU, "ELU", (0.7,)),
    (lib.THNN_ACTIVATION_TANH, "Tanh", ()),
    (lib.THNN_ACTIVATION_SIGMOID, "Sigmoid", ()),
]
"""The number of an activation, its module, and parameters."""
RECTIFIED = (lib.THNN_ACTIVATION_THRESHOLD, 0, 0)


def operands(
    geometry: tuple[int, ...], batch: int, dtype: str, transposed: bool = False
) -> list[Any]:
    random = np.random.default_rng(0)
    inputs, outputs, height, width, kernel, stride, pad, dilation = geometry
    reach = dilation * (kernel - 1) + 1
    if transposed:
        sizes = [(n - 1) * stride - 2 * pad + reach for n in (height, width)]
    else:
        sizes = [(n + 2 * pad - reach) // stride + 1 for n in (height, width)]
    planes = (inputs, outputs) if transposed else (outputs, inputs)
    shapes = [
        (batch, inputs, height, width), (*planes, kernel, kernel), (outputs,),
        (batch, outputs, *sizes),
    ]  # fmt: skip
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def activated(x: Any, module: str, parameters: tuple[float, ...]) -> Any:
    """What the module of an activation makes of an array."""
    if not module:
        return x
    y = Tensor(dtype=x.dtype)
    inplace = () if module in ("Tanh", "Sigmoid") else (False,)
    getattr(thnn, f"{module}_updateOutput")(None, x, y, *parameters, *inplace)
    return y.numpy()


def window(geometry: tuple[int, ...]) -> list[int]:
    return [number for number in geometry[4:] for _ in range(2)]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("transposed", [False, True])
def test_joined(transposed: bool, dtype: str, batch: int, row: str) -> None:
    kind, adjustment = ("Full", (0, 0)) if transposed else ("", ())
    alone = getattr(thnn, f"Spatial{kind}DilatedConvolution_updateOutput")
    joined = getattr(thnn, f"Spatial{kind}ConvolutionJoined_updateOutput")
    for number, geometry in enumerate(GEOMETRIES):
        x, w, b, addend = operands(geometry, batch, dtype, transposed)
        y, found = Tensor(dtype=dtype), Tensor(dtype=dtype)
        rest = (*window(geometry), *adjustment)
        for case in range(2 * len(ACTIVATIONS)):
            more = addend if case % 2 else None
            activation, module, parameters = ACTIVATIONS[case // 2]
            given = (activation, *parameters, 0, 0)[:3]
            with State(threads=1 + (case + number) % 3, minimum_work=1) as state:
                lib.THNN_State_setConvolutionRow(state._open(), row.encode() or ffi.NULL)
                alone(state, x, y, w, b, None, None, *rest)
                joined(state, x, found, w, b, more, *given, *rest)
            total = y.numpy() + addend if case % 2 else y.numpy()
            wanted = activated(total, module, parameters)
            assert found.numpy().tobytes() == wanted.tobytes(), (geometry, case)


@pytest.mark.parametrize("activation", [-1, 7, 2**31 - 1])
def test_what_is_no_activation(activation: int) -> None:
    x, w, b, _ = operands(GEOMETRIES[0], 2, "float32")
    y = Tensor(dtype="float32")
    expected = f"argument #7 'activation': expected a THNNActivation, 0 to 6, found {activation}$"
    with pytest.raises(THNNArgumentError, match=expected):
        thnn.SpatialConvolutionJoined_updateOutput(
            None, x, y, w, b, None, activation, 0, 0, *window(GEOMETRIES[0])
        )
    assert y.size == 0


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite(value: float) -> None:
    """Where Winograd's algorithm gives up, nothing is added twice."""
    geometry = GEOMETRIES[1]
    x, w, b, addend = operands(geometry, 2, "float32")
    x[0, 3, 5, 6] = value
    y, found = Tensor(dtype="float32"), Tensor(dtype="float32")
    with State(convolution="winograd") as state:
        thnn.SpatialDilatedConvolution_updateOutput(
            state, x, y, w, b, None, None, *window(geometry)
        )
        thnn.SpatialConvolutionJoined_updateOutput(
            state, x, found, w, b, addend, *RECTIFIED, *window(geometry)
        )
    wanted = y.numpy() + addend
    np.testing.assert_array_equal(found.numpy(), np.where(wanted > 0, wanted, 0))


def test_an_addend_in_the_memory_of_the_output() -> None:
    geometry = GEOMETRIES[1]
    x, w, b, addend = operands(geometry, 2, "float32")
    wanted, found = Tensor(dtype="float32"), Tensor(addend)
    arguments = (*RECTIFIED, *window(geometry))
    thnn.SpatialConvolutionJoined_updateOutput(None, x, wanted, w, b, addend, *arguments)
    thnn.SpatialConvolutionJoined_updateOutput(None, x, found, w, b, found, *arguments)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_an_addend_of_another_shape() -> None:
    x, w, b, addend = operands(GEOMETRIES[0], 2, "float32")
    y = Tensor(dtype="float32")
    expected = r"argument #6 'addend': expected \[2 x 5 x 9 x 20\]"
    with pytest.raises(THNNArgumentError, match=expected):
        thnn.SpatialConvolutionJoined_updateOutput(
            None, x, y, w, b, addend[1:], *RECTIFIED, *window(GEOMETRIES[0])
        )
    assert y.size == 0
