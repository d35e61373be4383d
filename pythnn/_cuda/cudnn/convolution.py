"""Convolutions by cuDNN: which of its algorithms apply, which one it advises, and running them.

An operation is named by what it computes of an ordinary convolution: "output", "grad_input" or
"grad_weight". A transposed convolution computes its output by "grad_input".
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

from .. import cupy
from . import descriptors
from .handle import Handle, address, dense

__all__ = [
    "ALGORITHMS",
    "Geometry",
    "add_bias",
    "advised",
    "fits",
    "grad_of_bias",
    "is_deterministic",
    "run",
    "workspace",
]


class Geometry(NamedTuple):
    """What cuDNN is told of a convolution: shapes with two or three sizes, settings for each."""

    real: str
    image: tuple[int, ...]
    """batch x planes x sizes; the output of a transposed convolution."""
    weight: tuple[int, ...]
    map: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    flip: bool

    def is_too_large(self) -> bool:
        """Whether sizes exceed what cuDNN counts with."""
        elements = map(math.prod, (self.image, self.weight, self.map))
        return max(elements) > descriptors.LARGEST


ALGORITHMS: dict[str, dict[str, int]] = {
    "output": {
        "cudnn_implicit_gemm": 0,
        "cudnn_implicit_precomp_gemm": 1,
        "cudnn_gemm": 2,
        "cudnn_direct": 3,
        "cudnn_fft": 4,
        "cudnn_fft_tiling": 5,
        "cudnn_winograd": 6,
        "cudnn_winograd_nonfused": 7,
    },
    "grad_input": {
        "cudnn_algo_0": 0,
        "cudnn_algo_1": 1,
        "cudnn_fft": 2,
        "cudnn_fft_tiling": 3,
        "cudnn_winograd": 4,
        "cudnn_winograd_nonfused": 5,
    },
    "grad_weight": {
        "cudnn_algo_0": 0,
        "cudnn_algo_1": 1,
        "cudnn_fft": 2,
        "cudnn_algo_3": 3,
        "cudnn_winograd": 4,
        "cudnn_winograd_nonfused": 5,
        "cudnn_fft_tiling": 6,
    },
}
"""cuDNN's numbers of its algorithms, by operation."""
_ADDING_ATOMICALLY = {
    ("grad_input", "cudnn_algo_0"),
    ("grad_weight", "cudnn_algo_0"),
    ("grad_weight", "cudnn_algo_3"),
}
_FUNCTIONS = {
    "output": "Forward",
    "grad_input": "BackwardData",
    "grad_weight": "BackwardFilter",
}
_MOST_KNOWN = 4096
"""Geometries that a handle remembers answers for, before it forgets them all."""


def is_deterministic(operation: str, name: str) -> bool:
    """Whether an algorithm has the same result every time."""
    return (operation, name) not in _ADDING_ATOMICALLY


class _Advice(ctypes.Structure):
    """cudnnConvolutionFwdAlgoPerf_t, which is the same for the gradients."""

    _fields_ = (
        ("algorithm", ctypes.c_int),
        ("status", ctypes.c_int),
        ("time", ctypes.c_float),
        ("memory", ctypes.c_size_t),
        ("determinism", ctypes.c_int),
        ("math", ctypes.c_int),
        ("reserved", ctypes.c_int * 3),
    )


def _described(handle: Handle, operation: str, g: Geometry) -> tuple[Any, Any, Any, Any]:
    """The descriptors of both operands, of the window and of the result."""
    library = handle.library
    image = descriptors.tensor(library, g.real, g.image).pointer
    map_ = descriptors.tensor(library, g.real, g.map).pointer
    weight = descriptors.filter_of(library, g.real, g.weight).pointer
    window = descriptors.convolution(
        library, g.real, g.padding, g.stride, g.dilation, g.groups, g.flip
    ).pointer
    if operation == "output":
        return image, weight, window, map_
    if operation == "grad_input":
        return weight, map_, window, image
    return image, map_, window, weight


def workspace(handle: Handle, operation: str, name: str, geometry: Geometry) -> int | None:
    """The bytes of scratch memory of an algorithm; None where it does not apply."""
    key = (operation, name, geometry)
    if key not in handle.known:
        first, second, window, result = _described(handle, operation, geometry)
        size = ctypes.c_size_t()
        status = handle.library.status(
            f"cudnnGetConvolution{_FUNCTIONS[operation]}WorkspaceSize",
            handle.pointer, first, second, window, result,
            ALGORITHMS[operation][name], ctypes.byref(size),
        )  # fmt: skip
        _remember(handle, key, None if status else size.value)
    found: int | None = handle.known[key]
    return found


def _remember(handle: Handle, key: Any, answer: Any) -> None:
    if len(handle.known) >= _MOST_KNOWN:
        handle.known.clear()
    handle.known[key] = answer


def fits(handle: Handle, operation: str, name: str, geometry: Geometry, limit: int) -> bool:
    """Whether a deterministic algorithm applies, with no more scratch memory than `limit`."""
    if not is_deterministic(operation, name):
        return False
    size = workspace(handle, operation, name, geometry)
    return size is not None and size <= limit


def advised(handle: Handle, operation: str, geometry: Geometry, limit: int) -> str | None:
    """The algorithm that cuDNN expects to be the fastest of the deterministic ones.

    `limit` bounds its scratch memory. None: no algorithm applies.
    """
    key = (operation, limit, geometry)
    if key not in handle.known:
        names = {number: name for name, number in ALGORITHMS[operation].items()}
        advice, count = (_Advice * len(names))(), ctypes.c_int()
        first, second, window, result = _described(handle, operation, geometry)
        status = handle.library.status(
            f"cudnnGetConvolution{_FUNCTIONS[operation]}Algorithm_v7",
            handle.pointer, first, second, window, result,
            len(names), ctypes.byref(count), advice,
        )  # fmt: skip
        ranked = [names.get(a.algorithm) for a in advice[: count.value] if not a.status]
        fit = (name for name in ranked if name and fits(handle, operation, name, geometry, limit))
        _remember(handle, key, None if status else next(fit, None))
    found: str | None = handle.known[key]
    return found


def run(
    handle: Handle,
    operation: str,
    name: str,
    geometry: Geometry,
    first: Any,
    second: Any,
    result: Any,
    *,
    add: bool,
) -> None:
    """Computes a dense result of two arrays, or adds it to what is there."""
    one, other, window, target = _described(handle, operation, geometry)
    size = workspace(handle, operation, name, geometry) or 0
    scratch = cupy.library().cuda.alloc(size) if size else None
    first, second = dense(first), dense(second)
    handle.run(
        f"cudnnConvolution{_FUNCTIONS[operation]}",
        descriptors.factor(geometry.real, 1.0),
        one, address(first), other, address(second), window, ALGORITHMS[operation][name],
        scratch.ptr if scratch else None, size,
        descriptors.factor(geometry.real, 1.0 if add else 0.0), target, address(result),
    )  # fmt: skip


# ---- Biases


def add_bias(handle: Handle, real: str, shape: tuple[int, ...], bias: Any, result: Any) -> None:
    """Adds to each plane of a dense result, which has this shape, its bias."""
    one, bias = descriptors.factor(real, 1.0), dense(bias)
    handle.run(
        "cudnnAddTensor",
        one, _of_bias(handle, real, shape), address(bias),
        one, descriptors.tensor(handle.library, real, shape).pointer, address(result),
    )  # fmt: skip


def grad_of_bias(handle: Handle, real: str, shape: tuple[int, ...], grad: Any, bias: Any) -> None:
    """Adds to a dense gradient of biases the sums over planes of a gradient of this shape."""
    one, grad = descriptors.factor(real, 1.0), dense(grad)
    handle.run(
        "cudnnConvolutionBackwardBias",
        one, descriptors.tensor(handle.library, real, shape).pointer, address(grad),
        one, _of_bias(handle, real, shape), address(bias),
    )  # fmt: skip


def _of_bias(handle: Handle, real: str, shape: tuple[int, ...]) -> Any:
    sizes = (1, shape[1], *(1 for _ in shape[2:]))
    return descriptors.tensor(handle.library, real, sizes).pointer
